//! A secret that others sign tokens with. It is wiped from memory when it goes, and printing it prints `***`.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::settings::JwtError;

/// As long as what HS256 makes of it: a shorter one is easier to guess than the signature.
const LEAST: usize = 32;

#[derive(Clone)]
pub struct SigningSecret(Zeroizing<Vec<u8>>);

impl SigningSecret {
    /// Exactly these bytes. Whoever reads a file takes off the line's end first.
    pub fn new(bytes: Vec<u8>) -> Result<SigningSecret, JwtError> {
        let bytes = Zeroizing::new(bytes);
        match bytes.len() {
            ..LEAST => Err(JwtError::ShortSecret { bytes: bytes.len() }),
            LEAST.. => Ok(SigningSecret(bytes)),
        }
    }

    /// Takes the same time wherever the two signatures differ.
    pub(super) fn signed(&self, text: &str, signature: &[u8]) -> bool {
        // HMAC takes a key of any length, so this cannot fail.
        let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0) else {
            return false;
        };
        mac.update(text.as_bytes());
        mac.verify_slice(signature).is_ok()
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}
