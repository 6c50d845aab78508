//! The key under which a write may be sent again. Only text that is a valid key becomes one, so nothing behind `read`
//! checks it again. It is the caller's own text and must never be printed.

use std::fmt;

use crate::model::fault::Fault;

const MAX_LENGTH: usize = 255;

/// 1 to 255 printable ASCII characters without spaces.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(Box<str>);

impl IdempotencyKey {
    pub fn parse(text: &str) -> Option<IdempotencyKey> {
        let fits = (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| IdempotencyKey(text.into()))
    }

    /// As `parse`, with the fault that every contract answers. It points at the argument that carries the key, also if
    /// the key was sent in a header.
    pub fn read(text: &str, argument: &str) -> Result<IdempotencyKey, Fault> {
        IdempotencyKey::parse(text).ok_or_else(|| {
            Fault::invalid_argument(
                &format!("/{argument}"),
                "pattern",
                "an idempotency key has 1 to 255 printable ASCII characters without spaces",
            )
        })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}
