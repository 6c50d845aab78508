//! Keys with which messages between servers are signed: HMAC-SHA256, compared in constant time.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// A shared secret that prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey(Zeroizing<Vec<u8>>);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SigningKey(***)")
    }
}

impl SigningKey {
    pub fn new(bytes: Vec<u8>) -> SigningKey {
        SigningKey(Zeroizing::new(bytes))
    }

    /// The signature of these parts, one behind the other.
    pub fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.mac(parts).map(|mac| mac.finalize().into_bytes().into()).unwrap_or_default()
    }

    pub fn verify(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.mac(parts).is_some_and(|mac| mac.verify_slice(signature).is_ok())
    }

    /// HMAC takes a key of any length, so this is never none.
    fn mac(&self, parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0).ok()?;
        parts.iter().for_each(|part| mac.update(part));
        Some(mac)
    }
}

#[cfg(test)]
mod tests {
    use super::SigningKey;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let key = SigningKey::new(b"Jefe".to_vec());
        let signature = key.sign(&[b"what do ya want ", b"for nothing?"]);
        let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert!(key.verify(&[b"what do ya want for nothing?"], &signature));
        assert!(!key.verify(&[b"what do ya want for nothing!"], &signature));
        assert!(!key.verify(&[b"what do ya want for nothing?"], &signature[..31]));
        assert_eq!(format!("{key:?}"), "SigningKey(***)");
    }
}
