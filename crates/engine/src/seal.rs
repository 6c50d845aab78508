//! Keys and what is done with them: sealing text together with its associated data, hashing
//! personal values for look-up, and chaining audit records. Keys never leave this module in clear,
//! except for the bytes a key file must hold.

pub mod installation_key;
pub mod signing_key;

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize as _, Zeroizing};

use crate::ports::Random;

const NONCE: usize = 12;
/// What sealing adds behind the text.
const TAG: usize = 16;
/// The length of a MAC.
const MAC: usize = 16;

/// A 256-bit key that prints as `***`.
#[derive(Clone)]
pub struct SealKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for SealKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SealKey(***)")
    }
}

impl SealKey {
    pub fn from_bytes(mut bytes: [u8; 32]) -> SealKey {
        let key = SealKey(Zeroizing::new(bytes));
        bytes.zeroize();
        key
    }

    /// `None` if there are not 32 bytes. They are wiped.
    pub fn from_vec(mut bytes: Vec<u8>) -> Option<SealKey> {
        let mut key = SealKey(Zeroizing::new([0; 32]));
        let fits = bytes.len() == key.0.len();
        if fits {
            key.0.copy_from_slice(&bytes);
        }
        bytes.zeroize();
        fits.then_some(key)
    }

    pub fn random(random: &dyn Random) -> SealKey {
        let mut key = SealKey(Zeroizing::new([0; 32]));
        random.fill(key.0.as_mut_slice());
        key
    }

    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// Another key, for one purpose only, so that no key serves two.
    pub fn derive(&self, purpose: &str) -> SealKey {
        SealKey::from_bytes(self.digest(&[b"derive", purpose.as_bytes()]))
    }

    /// A keyed hash over parts; each part's length is hashed with it, so that no two lists of parts
    /// share a hash.
    pub fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        // HMAC takes a key of any length, so this cannot fail; the fallback is never a usable hash.
        let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(self.0.as_slice()) else {
            return [0; 32];
        };
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// Seals `plain` with associated data: only the same associated data opens it.
    pub fn seal(&self, random: &dyn Random, associated_data: &[&str], plain: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE];
        random.fill(&mut nonce);
        let mut sealed = Vec::with_capacity(NONCE + plain.len() + TAG);
        sealed.extend(nonce);
        let payload = Payload { msg: plain, aad: &joined(associated_data) };
        sealed.extend(self.cipher().encrypt(&Nonce::from(nonce), payload).ok()?);
        Some(sealed)
    }

    pub fn open(&self, associated_data: &[&str], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: rest, aad: &joined(associated_data) };
        self.cipher().decrypt(&Nonce::from(*nonce), payload).ok()
    }

    fn cipher(&self) -> Aes256GcmSiv {
        Aes256GcmSiv::new(&(*self.0).into())
    }
}

/// A key for MACs. What depends on the key only is computed once, so that a MAC over a short row costs little.
#[derive(Clone)]
pub struct MacKey(Hmac<Sha256>);

impl std::fmt::Debug for MacKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("MacKey(***)")
    }
}

impl MacKey {
    pub fn new(key: &SealKey) -> MacKey {
        // As HMAC does with a key that is shorter than a block.
        let mut block = Zeroizing::new([0; 64]);
        for (byte, of_key) in block.iter_mut().zip(key.expose()) {
            *byte = *of_key;
        }
        MacKey(<Hmac<Sha256> as KeyInit>::new(&(*block).into()))
    }

    /// HMAC-SHA256 over the parts and their lengths, shortened to 128 bits.
    pub fn mac(&self, parts: &[&[u8]]) -> [u8; MAC] {
        let mut short = [0; MAC];
        for (byte, of_mac) in short.iter_mut().zip(self.over(parts).finalize().into_bytes()) {
            *byte = of_mac;
        }
        short
    }

    pub fn verifies(&self, parts: &[&[u8]], mac: &[u8]) -> bool {
        mac.len() == MAC && self.over(parts).verify_truncated_left(mac).is_ok()
    }

    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

/// A plain hash, for secrets of 256 random bits that need no key to be safe at rest.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn joined(parts: &[&str]) -> Vec<u8> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
    for part in parts {
        all.extend((part.len() as u64).to_be_bytes());
        all.extend(part.as_bytes());
    }
    all
}

#[cfg(test)]
mod tests {
    use sha2::Sha256;
    use zeroize::ZeroizeOnDrop;

    use super::SealKey;

    fn is_wiped<T: ZeroizeOnDrop>(_: &T) -> bool {
        std::mem::needs_drop::<T>()
    }

    /// Does not compile without the features of the libraries. HMAC is two states of the hash.
    #[test]
    fn keys_and_ciphers_are_wiped_when_dropped() {
        assert!(is_wiped(&zeroize::Zeroizing::new([7_u8; 32])));
        assert!(is_wiped(&<Sha256 as sha2::Digest>::new()));
        assert!(is_wiped(&<aes::Aes256 as aes_gcm_siv::aead::KeyInit>::new(&[7; 32].into())));
    }

    #[test]
    fn a_key_has_thirty_two_bytes() {
        assert_eq!(SealKey::from_vec(vec![7; 32]).map(|key| *key.expose()), Some([7; 32]));
        assert!(SealKey::from_vec(vec![7; 31]).is_none() && SealKey::from_vec(vec![7; 33]).is_none());
    }
}
