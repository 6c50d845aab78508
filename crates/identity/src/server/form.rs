//! A strict parser of form bodies: a duplicate parameter, a broken escape or invalid UTF-8 is an error, so that no two
//! parsers can read a request differently.

use std::collections::BTreeMap;

use super::error::{OAuthError, OAuthErrorKind};

pub(crate) struct FormParameters(BTreeMap<String, String>);

impl FormParameters {
    pub(crate) fn parse(body: &[u8]) -> Result<FormParameters, OAuthError> {
        let mut values = BTreeMap::new();
        if body.is_empty() {
            return Ok(FormParameters(values));
        }
        for pair in body.split(|byte| *byte == b'&') {
            let (name, value) = split_pair(pair).ok_or_else(malformed)?;
            let name = decode(name).ok_or_else(malformed)?;
            let value = decode(value).ok_or_else(malformed)?;
            if values.contains_key(&name) {
                return Err(duplicate(&name));
            }
            values.insert(name, value);
        }
        Ok(FormParameters(values))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A parameter without a value counts as not sent (RFC 6749 §3.2).
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Decodes the escapes of a form; `None` if one is broken.
pub(crate) fn decode(text: &[u8]) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let ([high, low], after) = rest.split_first_chunk()?;
                bytes.push((hex_digit(*high)? << 4) | hex_digit(*low)?);
                rest = after;
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn split_pair(pair: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = pair.iter().position(|byte| *byte == b'=')?;
    let (name, value) = pair.split_at(at);
    Some((name, value.get(1..)?))
}

fn malformed() -> OAuthError {
    OAuthError::new(
        OAuthErrorKind::InvalidRequest,
        "Send the parameters as name=value pairs joined by &, percent-encoded UTF-8.",
    )
}

fn duplicate(name: &str) -> OAuthError {
    match name {
        "resource" => OAuthError::new(
            OAuthErrorKind::InvalidTarget,
            "A token is valid for one resource. Send the resource parameter once.",
        ),
        _ => OAuthError::new(OAuthErrorKind::InvalidRequest, "Send each parameter once."),
    }
}
