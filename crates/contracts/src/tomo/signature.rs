//! How messages between servers are signed here: HMAC-SHA256 over the time of sending in milliseconds, a point and the
//! body, as `sha256=` and hexadecimal digits (T-141 to T-143). Every message that goes out or comes in is signed so.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::signing_key::SigningKey;

/// A message may be this much older or younger than the clock of who receives it.
pub const MAX_SKEW_MILLIS: i64 = 300_000;

const SCHEME: &str = "sha256=";

/// The value of the signature's header. The timestamp is sent beside it.
pub fn sign(key: &SigningKey, at: Millis, body: &[u8]) -> String {
    let signature = key.sign(&[at.0.to_string().as_bytes(), b".", body]);
    let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{SCHEME}{hex}")
}

/// Whether one of the keys has signed this body, and lately.
pub fn verify(keys: &[SigningKey], timestamp: &str, signature: &str, body: &[u8], now: Millis) -> bool {
    let is_number = (1..=15).contains(&timestamp.len()) && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let Some(at) = timestamp.parse::<i64>().ok().filter(|_| is_number) else { return false };
    let Some(signature) = signature.strip_prefix(SCHEME).and_then(bytes_of_hex) else { return false };
    let is_fresh = now.0.abs_diff(at) <= MAX_SKEW_MILLIS.unsigned_abs();
    let parts: [&[u8]; 3] = [timestamp.as_bytes(), b".", body];
    // Every key is tried, whichever fits.
    keys.iter().fold(false, |found, key| found | key.verify(&parts, &signature)) && is_fresh
}

fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let is_hex = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    if is_hex { (0..hex.len()).step_by(2).map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use frontdesk_engine::model::timestamp::Millis;
    use frontdesk_engine::seal::signing_key::SigningKey;

    use super::{sign, verify};

    /// Computed with: printf '1767225600000.{"a":1}' | openssl dgst -sha256 -hmac whsec_test
    const SIGNATURE: &str = "sha256=d6a20d3ba2f4077e80e654207714e7a345445318c3e9e99137bec199ae817e58";

    #[test]
    fn t_142_a_signature_is_the_one_that_openssl_computes() {
        let (key, other) = (SigningKey::new(b"whsec_test".to_vec()), SigningKey::new(b"another".to_vec()));
        let (at, body) = (Millis(1_767_225_600_000), br#"{"a":1}"#);
        assert_eq!(sign(&key, at, body), SIGNATURE);
        let verified = |keys: &[SigningKey], timestamp: &str, signature: &str, body: &[u8], now: i64| {
            verify(keys, timestamp, signature, body, Millis(now))
        };
        let (keys, time) = ([other.clone(), key], "1767225600000");
        assert!(verified(&keys, time, SIGNATURE, body, at.0));
        assert!(verified(&keys, time, SIGNATURE, body, at.0 + 300_000), "five minutes later");
        assert!(!verified(&keys, time, SIGNATURE, body, at.0 + 300_001), "it is too old");
        assert!(!verified(&keys, time, SIGNATURE, body, at.0 - 300_001), "it is from the future");
        assert!(!verified(&[other], time, SIGNATURE, body, at.0), "another key");
        assert!(!verified(&keys, time, SIGNATURE, br#"{"a":2}"#, at.0), "another body");
        assert!(!verified(&keys, "1767225600001", SIGNATURE, body, at.0), "another time");
        assert!(!verified(&keys, "+1767225600000", SIGNATURE, body, at.0), "not as it was signed");
        assert!(!verified(&keys, time, &SIGNATURE.to_uppercase(), body, at.0));
        for wrong in ["", "sha256=", "sha256=00", &SIGNATURE[7..]] {
            assert!(!verified(&keys, time, wrong, body, at.0), "{wrong}");
        }
    }
}
