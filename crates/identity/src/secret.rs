//! Secrets that are shown once: 256 random bits with a prefix that says what they are. Printing one
//! by accident prints `***`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::sha256;

/// The prefixes let a scanner for leaked credentials recognise ours.
pub(crate) const TOKEN: &str = "fdt_";
pub(crate) const CLIENT_SECRET: &str = "fds_";

/// 32 bytes in base64url without padding.
const LETTERS: usize = 43;

/// A secret in clear, to be shown or sent once and then forgotten.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn random(prefix: &str, random: &dyn Random) -> Secret {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        Secret(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is kept of it. A plain hash is enough, because 256 random bits cannot be guessed.
    pub fn hash(&self) -> [u8; 32] {
        sha256(self.0.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

/// The hash of a token, if the text can be one of ours at all: nothing else is worth hashing or
/// looking up.
pub(crate) fn token_hash(text: &str) -> Option<[u8; 32]> {
    let letters = text.strip_prefix(TOKEN)?;
    let fits = letters.len() == LETTERS
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    fits.then(|| sha256(text.as_bytes()))
}
