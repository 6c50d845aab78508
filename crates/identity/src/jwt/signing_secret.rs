//! A secret that another issuer signs tokens with. It is zeroized on drop, and formatting it prints `***`.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::settings::JwtConfigError;

/// The output size of HS256 (RFC 7518 §3.2 requires at least as much).
const MIN_BYTES: usize = 32;

#[derive(Clone)]
pub struct SigningSecret(Zeroizing<Vec<u8>>);

impl SigningSecret {
    /// Exactly these bytes. A caller that reads a file must strip the trailing newline.
    pub fn new(bytes: Vec<u8>) -> Result<SigningSecret, JwtConfigError> {
        let bytes = Zeroizing::new(bytes);
        if bytes.len() < MIN_BYTES {
            return Err(JwtConfigError::ShortSecret { bytes: bytes.len() });
        }
        Ok(SigningSecret(bytes))
    }

    /// Compares in constant time.
    pub(super) fn verifies(&self, text: &str, signature: &[u8]) -> bool {
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
