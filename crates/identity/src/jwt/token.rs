//! The structure of a signed token: header, claims, signature. It returns the claims only if header and signature are
//! valid.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_wire::json::{self, Map, Value};

use super::error::JwtError;
use super::signing_secret::SigningSecret;

const MAX_BYTES: usize = 8 * 1024;

/// The claims of a token that one of the secrets signed.
pub(super) fn verify_signature(text: &str, secrets: &[SigningSecret]) -> Result<Map<String, Value>, JwtError> {
    if text.len() > MAX_BYTES {
        return Err(JwtError::Size);
    }
    let (signed, signature) = text.rsplit_once('.').ok_or(JwtError::Parts)?;
    let (header, claims) = signed.split_once('.').ok_or(JwtError::Parts)?;
    if claims.contains('.') {
        return Err(JwtError::Parts);
    }
    check_header(&object(header).ok_or(JwtError::Header)?)?;
    let signature = decode(signature).ok_or(JwtError::Encoding)?;
    if !secrets.iter().any(|secret| secret.verifies(signed, &signature)) {
        return Err(JwtError::Signature);
    }
    object(claims).ok_or(JwtError::Claims)
}

/// The algorithm is fixed, and the header must name it. Other header members (a key id, a key URL, an extension) could
/// influence verification, so they make the token invalid.
fn check_header(header: &Map<String, Value>) -> Result<(), JwtError> {
    if header.get("alg").and_then(Value::as_str) != Some("HS256") {
        return Err(JwtError::Algorithm);
    }
    if !matches!(header.get("typ").and_then(Value::as_str), Some("JWT" | "at+jwt")) {
        return Err(JwtError::Type);
    }
    if header.len() > 2 {
        return Err(JwtError::Extension);
    }
    Ok(())
}

fn object(part: &str) -> Option<Map<String, Value>> {
    match json::parse(&decode(part)?).ok()? {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// Rejects padding, other alphabets and non-zero trailing bits, so that every token has exactly one encoding.
fn decode(part: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).ok()
}
