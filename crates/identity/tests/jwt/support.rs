//! An issuer that shares no code with the verifier except SHA-256, and a verifier with a fixed clock.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::caller::{Caller, Scope, Scopes, TenantId};
use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::timestamp::{Millis, MonotonicMillis};
use frontdesk_engine::ports::{Clock, Identity as _};
use frontdesk_engine::seal::sha256;
use frontdesk_identity::{JwtSettings, JwtVerifier, SigningSecret};
use serde_json::{Value, json};

pub(crate) const NOW: i64 = 1_790_000_000;
pub(crate) const SECRET: &[u8] = b"a-shared-secret-of-more-than-32-bytes";
pub(crate) const RESOURCE: &str = "https://desk.example/api/v1/mcp/content";
pub(crate) const HEADER: &str = r#"{"typ":"JWT","alg":"HS256"}"#;

pub(crate) struct FixedClock(pub(crate) i64);

impl Clock for FixedClock {
    fn now(&self) -> Millis {
        Millis(self.0)
    }

    fn monotonic(&self) -> MonotonicMillis {
        MonotonicMillis(self.0)
    }
}

pub(crate) fn secret(bytes: &[u8]) -> SigningSecret {
    SigningSecret::new(bytes.to_vec()).unwrap()
}

pub(crate) fn settings() -> JwtSettings {
    let scopes = Scopes::new(["mcp:read", "mcp:call", "mcp:admin"].map(Scope::new));
    JwtSettings::new(vec![secret(SECRET)], TenantId::parse("site").unwrap(), scopes)
}

pub(crate) fn verifier_at(millis: i64, settings: JwtSettings) -> JwtVerifier {
    JwtVerifier::new(settings, Arc::new(FixedClock(millis))).unwrap()
}

pub(crate) fn verifier(settings: JwtSettings) -> JwtVerifier {
    verifier_at(NOW * 1000, settings)
}

/// Claims of a token that is valid for an hour.
pub(crate) fn claims() -> Value {
    json!({"sub": "anna", "iat": NOW, "exp": NOW + 3600, "scopes": ["mcp:read"]})
}

pub(crate) fn with(claim: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[claim] = value;
    claims
}

pub(crate) fn without(claim: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(claim).unwrap();
    claims
}

/// The token of a correct issuer with these claims.
pub(crate) fn token(claims: &Value) -> String {
    signed(HEADER, &claims.to_string(), SECRET)
}

/// The token of exactly these texts.
pub(crate) fn signed(header: &str, claims: &str, secret: &[u8]) -> String {
    signed_text(&format!("{}.{}", base64url(header.as_bytes()), base64url(claims.as_bytes())), secret)
}

/// Any text with a valid signature.
pub(crate) fn signed_text(text: &str, secret: &[u8]) -> String {
    format!("{text}.{}", base64url(&hmac_sha256(secret, text.as_bytes())))
}

pub(crate) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// RFC 2104, for secrets of at most 64 bytes.
fn hmac_sha256(secret: &[u8], text: &[u8]) -> [u8; 32] {
    let pad = |with: u8| -> Vec<u8> { (0..64).map(|at| secret.get(at).copied().unwrap_or(0) ^ with).collect() };
    let inner = sha256(&[&pad(0x36), text].concat());
    sha256(&[&pad(0x5c), inner.as_slice()].concat())
}

pub(crate) async fn identify(verifier: &JwtVerifier, token: &str) -> Result<Caller, Fault> {
    verifier.identify(&Credential::Bearer(token.to_owned()), RESOURCE).await.map(Arc::unwrap_or_clone)
}

/// The cause of a refusal; the answer is always the same.
pub(crate) async fn refusal_cause(verifier: &JwtVerifier, token: &str) -> String {
    let fault = identify(verifier, token).await.map(|caller| format!("{caller:?}")).unwrap_err();
    assert_refused(&fault);
    let cause = fault.cause.unwrap();
    for part in token.split('.').filter(|part| part.len() > 8) {
        assert!(!cause.contains(part), "{cause}");
    }
    cause
}

pub(crate) fn assert_refused(fault: &Fault) {
    assert_eq!(fault.kind, FaultKind::Unauthenticated);
    assert_eq!(
        fault.message,
        "The access token is invalid for this resource or has expired. Request a new one from the token endpoint."
    );
    assert!(fault.problems.is_empty() && fault.needed.is_empty());
    assert_eq!((fault.retry_after, fault.rpc_data()), (None, None));
}
