//! The key of a dispatched message. Unlike the key of a write it may contain spaces, and it is stored with its task, so
//! what is accepted here must stay readable. It is the caller's own text and must never be printed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::desk::Desk;

const MAX_LENGTH: usize = 255;

/// 1 to 255 printable ASCII characters. A stored one is not checked again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct DispatchKey(String);

impl DispatchKey {
    pub(crate) fn parse(text: &str) -> Option<DispatchKey> {
        let fits = (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        fits.then(|| DispatchKey(text.to_owned()))
    }

    /// A key for a message that came without one and is run later.
    pub(crate) fn new(desk: &Desk) -> DispatchKey {
        DispatchKey(desk.new_id("key"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DispatchKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}
