//! The outer form of a signed token: three parts, a header that leaves no choice, a signature. It gives the claims
//! out only when all of it holds.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_wire::json::{self, Map, Value};

use super::flaw::Flaw;
use super::secret::SigningSecret;

const LONGEST: usize = 8 * 1024;

/// The claims of a token that one of the secrets signed.
pub(super) fn open(text: &str, secrets: &[SigningSecret]) -> Result<Map<String, Value>, Flaw> {
    if text.len() > LONGEST {
        return Err(Flaw::Size);
    }
    let (signed, signature) = text.rsplit_once('.').ok_or(Flaw::Parts)?;
    let (header, claims) = signed.split_once('.').ok_or(Flaw::Parts)?;
    if claims.contains('.') {
        return Err(Flaw::Parts);
    }
    check_header(&object(header).ok_or(Flaw::Header)?)?;
    let signature = decode(signature).ok_or(Flaw::Encoding)?;
    if !secrets.iter().any(|secret| secret.signed(signed, &signature)) {
        return Err(Flaw::Signature);
    }
    object(claims).ok_or(Flaw::Claims)
}

/// The algorithm is ours to choose, not the token's: the header may only agree. Whatever else a header can say
/// (which key, where to fetch one, which extension) is a stranger's suggestion, and there is none to follow.
fn check_header(header: &Map<String, Value>) -> Result<(), Flaw> {
    if header.get("alg").and_then(Value::as_str) != Some("HS256") {
        return Err(Flaw::Algorithm);
    }
    if !matches!(header.get("typ").and_then(Value::as_str), Some("JWT" | "at+jwt")) {
        return Err(Flaw::Type);
    }
    if header.len() > 2 {
        return Err(Flaw::Extension);
    }
    Ok(())
}

fn object(part: &str) -> Option<Map<String, Value>> {
    match json::parse(&decode(part)?).ok()? {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// Refuses padding, other alphabets and unused bits that are set, so that no two texts are the same token.
fn decode(part: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).ok()
}
