//! Reads a form strictly: a parameter sent twice, a broken escape or a byte that is not UTF-8 is
//! refused instead of guessed at, so that no two readers can understand a request differently.

use std::collections::BTreeMap;

use crate::refusal::{Reason, Refusal};

pub(crate) struct Form(BTreeMap<String, String>);

impl Form {
    pub(crate) fn parse(body: &[u8]) -> Result<Form, Refusal> {
        let mut values = BTreeMap::new();
        if body.is_empty() {
            return Ok(Form(values));
        }
        for pair in body.split(|byte| *byte == b'&') {
            let (name, value) = split(pair).ok_or_else(malformed)?;
            let name = decode(name).ok_or_else(malformed)?;
            let value = decode(value).ok_or_else(malformed)?;
            if values.contains_key(&name) {
                return Err(twice(&name));
            }
            values.insert(name, value);
        }
        Ok(Form(values))
    }

    /// A parameter without a value counts as not sent (RFC 6749 §3.2).
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Undoes the escapes of a form, or `None` if they are broken.
pub(crate) fn decode(text: &[u8]) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let ([high, low], after) = rest.split_first_chunk()?;
                bytes.push((digit(*high)? << 4) | digit(*low)?);
                rest = after;
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn split(pair: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = pair.iter().position(|byte| *byte == b'=')?;
    let (name, value) = pair.split_at(at);
    Some((name, value.get(1..)?))
}

fn malformed() -> Refusal {
    Refusal::new(Reason::InvalidRequest, "Send the parameters as name=value pairs joined by &, percent-encoded UTF-8.")
}

fn twice(name: &str) -> Refusal {
    match name {
        "resource" => {
            Refusal::new(Reason::InvalidTarget, "A token is for one resource: send the resource parameter once.")
        }
        _ => Refusal::new(Reason::InvalidRequest, "Send each parameter once."),
    }
}
