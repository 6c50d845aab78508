//! Leads as ADF 1.0 XML, in the dialects that are really sent, read into arguments of `leads.create`. What has no
//! argument is kept in the comments; consent is what the message states and is never invented.

mod consent;
mod contact;
mod element;
mod prospect;
mod rest;
mod rows;
mod tool;
mod xml;

use std::fmt;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::vocabulary::ConsentChannel;
use element::Element;
pub use rows::{RESOURCE, rows};
pub(super) use tool::tool;

/// The largest message, and the most prospects in it.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;
pub const MAX_PROSPECTS: usize = 500;
/// How deep elements may be in each other; the format itself needs six.
pub const MAX_DEPTH: usize = 32;
/// How many elements and characters beside the prospects are taken as part of each of them.
const MAX_SHARED: usize = 4_000;

/// What holds for messages that do not say it themselves.
#[derive(Debug, Clone, Default)]
pub struct AdfSettings {
    /// The country calling code of telephone numbers without one, such as `1`.
    pub calling_code: Option<String>,
    /// The channels to which everybody agreed whose message states no consent, or consent without a channel. It is the
    /// operator's own statement, for example about the form that the messages come from.
    pub stated_consent: Option<Vec<ConsentChannel>>,
}

/// One lead of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct AdfProspect {
    /// Arguments of `leads.create`. They are not checked: what the message lacks, they lack.
    pub arguments: Map<String, Value>,
    /// The same for the same prospect: of its ids and their source, or without ids of all its content.
    pub key: String,
    /// The elements and attributes that have no argument and are kept as text in the comments.
    pub unmapped: Vec<String>,
    /// Those of them, and of the comments themselves, that did not fit there.
    pub cut: Vec<String>,
    /// Its place in the message, from 1.
    pub number: usize,
}

/// Why a message cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdfError {
    TooLarge,
    Malformed { line: usize },
    EntityDeclaration,
    TooDeep { line: usize },
    NotAdf,
    TooManyProspects,
}

/// In the encoding that its declaration names.
pub fn read(message: &[u8], settings: &AdfSettings) -> Result<Vec<AdfProspect>, AdfError> {
    read_text(&xml::text(message)?, settings)
}

/// As `read`, for a message that has been decoded, whatever its declaration says.
pub fn read_text(message: &str, settings: &AdfSettings) -> Result<Vec<AdfProspect>, AdfError> {
    let document = xml::parse(message)?;
    let (mut prospects, around) = prospects(document)?;
    if prospects.len() > MAX_PROSPECTS {
        return Err(AdfError::TooManyProspects);
    }
    // Some put provider and vendor beside the prospects instead of into each. More than those can be is not repeated.
    let shared = if around.iter().map(Element::count).sum::<usize>() <= MAX_SHARED { prospects.len() } else { 1 };
    for prospect in prospects.iter_mut().take(shared) {
        let missing = around.iter().filter(|element| !prospect.children.iter().any(|child| child.name == element.name));
        let missing: Vec<Element> = missing.cloned().collect();
        prospect.children.extend(missing);
    }
    let numbered = prospects.into_iter().zip(1..);
    Ok(numbered.map(|(prospect, number)| prospect::read(prospect, number, settings)).collect())
}

/// The prospects, and what stands beside them.
fn prospects(document: Element) -> Result<(Vec<Element>, Vec<Element>), AdfError> {
    let mut found = Vec::new();
    let mut around = Vec::new();
    for root in document.children {
        match root.name.as_str() {
            "prospect" => found.push(root),
            "adf" => {
                let text = Element { name: root.name.clone(), text: root.text.clone(), ..Element::default() };
                around.extend(Some(text).filter(|text| !text.line().is_empty()));
                let (prospects, others) = root.children.into_iter().partition(|child| child.name == "prospect");
                found.extend::<Vec<Element>>(prospects);
                around.extend::<Vec<Element>>(others);
            }
            _ => return Err(AdfError::NotAdf),
        }
    }
    if found.is_empty() { Err(AdfError::NotAdf) } else { Ok((found, around)) }
}

/// A key that says nothing about who it is of.
fn key_of(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("adf-{hex}")
}

impl fmt::Display for AdfError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdfError::TooLarge => {
                out.write_str("The message is larger than 1 MiB. Send fewer prospects in one message.")
            }
            AdfError::Malformed { line } => {
                write!(out, "The message is not well-formed XML at line {line}. Send it again, whole and unchanged.")
            }
            AdfError::EntityDeclaration => out.write_str(
                "The message declares entities in a DTD, which is not accepted. Send it without a document type.",
            ),
            AdfError::TooDeep { line } => write!(
                out,
                "The elements at line {line} are nested more than {MAX_DEPTH} deep, which no ADF message needs. Send plain ADF."
            ),
            AdfError::NotAdf => {
                out.write_str("The message has no prospect. An ADF message is <adf><prospect>..</prospect></adf>.")
            }
            AdfError::TooManyProspects => {
                write!(out, "The message has more than {MAX_PROSPECTS} prospects. Send them in several messages.")
            }
        }
    }
}

impl std::error::Error for AdfError {}
