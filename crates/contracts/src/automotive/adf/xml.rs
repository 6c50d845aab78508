//! From the bytes of a message to its elements. Entities are never declared, expanded or fetched: only those of XML and
//! HTML itself are known.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use quick_xml::escape::{resolve_html5_entity, unescape_with};
use quick_xml::events::{BytesStart, Event};

use super::element::Element;
use super::{AdfError, MAX_DEPTH, MAX_MESSAGE_BYTES};

/// How the part of an e-mail that is the message begins.
const BEGINNINGS: &[&str] = &["<?xml", "<?adf", "<!doctype", "<adf", "<prospect"];

/// Elements of HTML that people paste into comments; their text belongs to the element around them.
const HTML: &[&str] = &["br", "p", "div", "b", "i", "u", "em", "strong", "span", "ul", "ol", "li", "hr"];

/// The text of a message.
pub(super) fn text(message: &[u8]) -> Result<String, AdfError> {
    if message.len() > MAX_MESSAGE_BYTES { Err(AdfError::TooLarge) } else { Ok(decode(message)) }
}

/// An element without a name that holds those of the document.
pub(super) fn parse(text: &str) -> Result<Element, AdfError> {
    if text.len() > MAX_MESSAGE_BYTES {
        return Err(AdfError::TooLarge);
    }
    let lower = text.to_ascii_lowercase();
    let start = BEGINNINGS.iter().filter_map(|beginning| lower.find(beginning)).min().unwrap_or(0);
    let end = lower.rfind("</adf").and_then(|at| Some(at + lower.get(at..)?.find('>')? + 1)).unwrap_or(lower.len());
    let skipped = text.get(..start).unwrap_or_default().matches('\n').count();
    elements(text.get(start..end.max(start)).unwrap_or_default(), skipped)
}

/// By the byte order mark, by what the XML declaration says, or UTF-8 if it is that.
fn decode(message: &[u8]) -> String {
    if Encoding::for_bom(message).is_some() {
        return UTF_8.decode(message).0.into_owned();
    }
    let start = String::from_utf8_lossy(message.get(..message.len().min(200)).unwrap_or_default()).to_ascii_lowercase();
    let declared = start.split_once("<?xml").and_then(|(_, rest)| rest.split_once("?>")).and_then(|(inside, _)| {
        let value = inside.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
        value.split(['"', '\'']).find(|label| !label.trim().is_empty()).map(str::to_owned)
    });
    let declared = declared.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = match declared {
        Some(encoding) if encoding != UTF_8 && encoding.is_ascii_compatible() => encoding,
        Some(_) | None if std::str::from_utf8(message).is_ok() => UTF_8,
        Some(_) | None => WINDOWS_1252,
    };
    encoding.decode_without_bom_handling(message).0.into_owned()
}

fn elements(text: &str, skipped: usize) -> Result<Element, AdfError> {
    let mut reader = quick_xml::Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    // Names are compared below, without case.
    config.check_end_names = false;
    let mut open = vec![Element::default()];
    loop {
        let event = reader.read_event();
        let position = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        let line = || skipped + 1 + text.get(..position).unwrap_or_default().matches('\n').count();
        let malformed = || AdfError::Malformed { line: line() };
        match event.map_err(|_| malformed())? {
            Event::Start(start) => {
                if open.len() > MAX_DEPTH {
                    return Err(AdfError::TooDeep { line: line() });
                }
                open.push(element(&start).ok_or_else(malformed)?);
            }
            Event::Empty(start) => {
                let element = element(&start).ok_or_else(malformed)?;
                close(element, &mut open).ok_or_else(malformed)?;
            }
            Event::End(end) => {
                let element = open.pop().filter(|element| element.name == local(end.name().as_ref()));
                close(element.ok_or_else(malformed)?, &mut open).ok_or_else(malformed)?;
            }
            Event::Text(content) => append(&content.into_inner(), &mut open),
            Event::CData(content) => append(&content.into_inner(), &mut open),
            Event::GeneralRef(reference) => {
                let resolved = match reference.resolve_char_ref().map_err(|_| malformed())? {
                    Some(character) => character.to_string(),
                    None => {
                        let name = reference.into_inner();
                        resolve_html5_entity(&name).map_or_else(|| format!("&{name};"), str::to_owned)
                    }
                };
                append(&resolved, &mut open);
            }
            Event::DocType(content) => {
                if content.into_inner().contains(['[', '%']) {
                    return Err(AdfError::EntityDeclaration);
                }
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => {
                let document = open.pop().filter(|_| open.is_empty());
                return document.ok_or_else(malformed);
            }
        }
    }
}

/// Adds an element to the one around it; `None` if there is none.
fn close(element: Element, open: &mut [Element]) -> Option<()> {
    let [.., around] = open else {
        return None;
    };
    if HTML.contains(&element.name.as_str()) && element.children.is_empty() {
        around.text.push_str(&element.text);
        around.text.push(if matches!(element.name.as_str(), "br" | "p" | "div" | "li" | "hr") { '\n' } else { ' ' });
    } else {
        around.children.push(element);
    }
    Some(())
}

fn append(text: &str, open: &mut [Element]) {
    if let [.., element] = open {
        element.text.push_str(text);
    }
}

/// `None` if an attribute cannot be read. Values without quotes can.
fn element(start: &BytesStart<'_>) -> Option<Element> {
    let mut attributes = Vec::new();
    for attribute in start.html_attributes().with_checks(false) {
        let attribute = attribute.ok()?;
        let raw = attribute.value.to_string();
        let value = unescape_with(&raw, resolve_html5_entity).map_or_else(|_| raw.clone(), |value| value.into_owned());
        attributes.push((local(attribute.key.as_ref()), value));
    }
    Some(Element { name: local(start.name().as_ref()), attributes, ..Element::default() })
}

/// A name in lower case and without its prefix.
fn local(name: &str) -> String {
    name.rsplit_once(':').map_or(name, |(_, local)| local).to_ascii_lowercase()
}
