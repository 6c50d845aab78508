//! Client secrets and access tokens: 256 random bits with a prefix for their type. Formatting one prints `***`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::sha256;
use zeroize::Zeroizing;

/// The prefixes let scanners for leaked credentials recognize ours.
pub(crate) const TOKEN_PREFIX: &str = "fdt_";
pub(crate) const CLIENT_SECRET_PREFIX: &str = "fds_";

/// 32 bytes in base64url without padding.
const ENCODED_LENGTH: usize = 43;

/// A secret in plain text, which is shown or sent once and never stored. Wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct PlaintextSecret(Zeroizing<String>);

impl PlaintextSecret {
    pub(crate) fn random(prefix: &str, random: &dyn Random) -> PlaintextSecret {
        let mut bytes = Zeroizing::new([0; 32]);
        random.fill(bytes.as_mut_slice());
        // With room for all of it: text that has to be moved to grow would leave a copy behind.
        let mut text = Zeroizing::new(String::with_capacity(prefix.len() + ENCODED_LENGTH));
        text.push_str(prefix);
        URL_SAFE_NO_PAD.encode_string(bytes.as_slice(), &mut text);
        PlaintextSecret(text)
    }

    /// The secret itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is stored of it. An unsalted hash is enough for 256 random bits.
    pub fn hash(&self) -> [u8; 32] {
        sha256(self.0.as_bytes())
    }
}

impl fmt::Debug for PlaintextSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

impl fmt::Display for PlaintextSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

/// The hash of a token; `None` if the text cannot be one of ours and needs no lookup.
pub(crate) fn token_hash(text: &str) -> Option<[u8; 32]> {
    let letters = text.strip_prefix(TOKEN_PREFIX)?;
    let fits = letters.len() == ENCODED_LENGTH
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    fits.then(|| sha256(text.as_bytes()))
}
