//! Whether a completion was signed by the partner (T-141 to T-145): in code of the judge's own. Keys are never shown.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// How old or how far ahead a timestamp may be, in milliseconds.
const MAX_SKEW: i64 = 300_000;

/// The keys that completions may be signed with, the newest first. A key that was replaced is good for 24 hours.
pub(super) struct CompletionKeys(Vec<Vec<u8>>);

/// Whether the keys that were replaced still count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OldKeys {
    Accepted,
    Expired,
}

impl CompletionKeys {
    /// One key a line. None if there is no line, or one that is no key.
    pub(super) fn parse(text: &str) -> Option<CompletionKeys> {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let are_keys = lines.iter().all(|line| line.bytes().all(|byte| byte.is_ascii_graphic()));
        (are_keys && !lines.is_empty())
            .then(|| CompletionKeys(lines.iter().map(|line| line.as_bytes().to_vec()).collect()))
    }

    /// The keys as texts, to look for where they must not be.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Why a delivery would be refused.
    pub(super) fn verify(
        &self,
        timestamp: Option<&str>,
        signature: Option<&str>,
        body: &[u8],
        now_millis: i64,
        old_keys: OldKeys,
    ) -> Result<(), String> {
        let timestamp = timestamp.ok_or("X-TOMO-Timestamp is missing")?;
        let is_millis = timestamp.len() == 13 && timestamp.bytes().all(|byte| byte.is_ascii_digit());
        let at = timestamp.parse::<i64>().ok().filter(|_| is_millis);
        let at = at.ok_or("X-TOMO-Timestamp is no time in milliseconds (13 digits)")?;
        let signature = signature.ok_or("X-TOMO-Signature is missing")?;
        let hex = signature.strip_prefix("sha256=").and_then(bytes_of_hex);
        let given = hex.ok_or("X-TOMO-Signature is not sha256= and 64 hexadecimal digits")?;
        let skew = now_millis.abs_diff(at);
        if skew > MAX_SKEW.unsigned_abs() {
            return Err(format!("X-TOMO-Timestamp is {} seconds off; 300 are allowed", skew / 1000));
        }
        let is_signed_by = |key: &Vec<u8>| {
            let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) else { return false };
            for part in [timestamp.as_bytes(), b".", body] {
                mac.update(part);
            }
            mac.verify_slice(&given).is_ok()
        };
        match self.0.iter().position(is_signed_by) {
            Some(0) => Ok(()),
            Some(_) if old_keys == OldKeys::Accepted => Ok(()),
            Some(_) => Err("it is signed with a key that was replaced 24 hours ago".to_owned()),
            None => Err("X-TOMO-Signature is not the HMAC-SHA256 of timestamp.body with the key".to_owned()),
        }
    }
}

fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let is_hex = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    if is_hex { (0..hex.len()).step_by(2).map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::{CompletionKeys, OldKeys};

    /// Computed with: printf '1767225600000.{"a":1}' | openssl dgst -sha256 -hmac whsec_test
    const SIGNATURE: &str = "sha256=d6a20d3ba2f4077e80e654207714e7a345445318c3e9e99137bec199ae817e58";

    #[test]
    fn a_signature_is_the_one_that_openssl_computes() {
        let (at, body) = (1_767_225_600_000, br#"{"a":1}"#.as_slice());
        let verify = |keys: &str, time: Option<&str>, signature: Option<&str>, now: i64, old: OldKeys| {
            CompletionKeys::parse(keys).unwrap().verify(time, signature, body, now, old).err().unwrap_or_default()
        };
        let (time, signed) = (Some("1767225600000"), Some(SIGNATURE));
        let accepted = OldKeys::Accepted;
        assert_eq!(verify("whsec_test", time, signed, at, accepted), "");
        assert_eq!(verify("new\nwhsec_test\n", time, signed, at + 300_000, accepted), "");
        assert_eq!(
            verify("new\nwhsec_test\n", time, signed, at, OldKeys::Expired),
            "it is signed with a key that was replaced 24 hours ago"
        );
        assert_eq!(
            verify("whsec_test", time, signed, at - 301_000, accepted),
            "X-TOMO-Timestamp is 301 seconds off; 300 are allowed"
        );
        assert_eq!(
            verify("another", time, signed, at, accepted),
            "X-TOMO-Signature is not the HMAC-SHA256 of timestamp.body with the key"
        );
        assert_eq!(
            verify("whsec_test", Some("1767225600"), signed, at, accepted),
            "X-TOMO-Timestamp is no time in milliseconds (13 digits)"
        );
        assert_eq!(verify("whsec_test", None, signed, at, accepted), "X-TOMO-Timestamp is missing");
        assert_eq!(verify("whsec_test", time, None, at, accepted), "X-TOMO-Signature is missing");
        assert_eq!(
            verify("whsec_test", time, Some(&SIGNATURE[7..]), at, accepted),
            "X-TOMO-Signature is not sha256= and 64 hexadecimal digits"
        );
        assert!(CompletionKeys::parse(" \n").is_none() && CompletionKeys::parse("a b").is_none());
    }
}
