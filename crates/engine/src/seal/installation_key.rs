//! The installation's Ed25519 key: who reads a signature needs the public key only, and cannot sign with it. Every
//! signature is for one purpose, so that what was signed for one is never taken for another.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use zeroize::Zeroizing;

use super::sha256;
use crate::ports::Random;

/// What a public key begins with when it is printed.
const PREFIX: &str = "fdpub_";

/// The private half, which prints as its public key.
pub struct InstallationKey {
    pair: Ed25519KeyPair,
    public: InstallationPublicKey,
}

/// Given to those who verify what an installation has signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstallationPublicKey([u8; 32]);

impl std::fmt::Debug for InstallationKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "InstallationKey({})", self.public)
    }
}

impl InstallationKey {
    /// The 32 random bytes that a new key is made of.
    pub fn random_seed(random: &dyn Random) -> Zeroizing<[u8; 32]> {
        let mut seed = Zeroizing::new([0; 32]);
        random.fill(seed.as_mut_slice());
        seed
    }

    /// `None` if there are not exactly 32 bytes.
    pub fn from_seed(seed: &[u8]) -> Option<InstallationKey> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let public = InstallationPublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(InstallationKey { pair, public })
    }

    pub fn public_key(&self) -> InstallationPublicKey {
        self.public
    }

    pub fn sign(&self, purpose: &str, message: &[u8]) -> [u8; 64] {
        let signature = self.pair.sign(&signed_bytes(purpose, message));
        // An Ed25519 signature always has 64 bytes; the fallback verifies nothing.
        signature.as_ref().try_into().unwrap_or([0; 64])
    }
}

impl InstallationPublicKey {
    /// As it is printed.
    pub fn parse(text: &str) -> Option<InstallationPublicKey> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        Some(InstallationPublicKey(bytes.try_into().ok()?))
    }

    pub fn verify(&self, purpose: &str, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(&signed_bytes(purpose, message), signature).is_ok()
    }
}

impl std::fmt::Display for InstallationPublicKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{PREFIX}{}", URL_SAFE_NO_PAD.encode(self.0))
    }
}

/// A hash instead of the message, so that a long message need not be copied.
fn signed_bytes(purpose: &str, message: &[u8]) -> Vec<u8> {
    [b"frontdesk\n", purpose.as_bytes(), b"\n", &sha256(message)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_for_one_purpose_message_and_key() {
        let key = InstallationKey::from_seed(&[7; 32]).unwrap();
        let public = key.public_key();
        assert_eq!(public.to_string(), "fdpub_6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw");
        assert_eq!(InstallationPublicKey::parse(&public.to_string()), Some(public));
        let signature = key.sign("anchor", b"head");
        assert!(public.verify("anchor", b"head", &signature));
        assert!(!public.verify("export", b"head", &signature));
        assert!(!public.verify("anchor", b"heal", &signature));
        assert!(!public.verify("anchor", b"head", &signature[..63]));
        assert!(!InstallationKey::from_seed(&[8; 32]).unwrap().public_key().verify("anchor", b"head", &signature));
        assert_eq!(format!("{key:?}"), format!("InstallationKey({public})"));
    }

    #[test]
    fn only_a_printed_public_key_is_parsed() {
        for text in ["", "fdpub_", "fdpub_AAAA", "6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw"] {
            assert_eq!(InstallationPublicKey::parse(text), None, "{text}");
        }
        assert!(InstallationKey::from_seed(&[7; 31]).is_none());
    }
}
