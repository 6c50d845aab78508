//! Issuer and audience.

use serde_json::json;

use crate::support::{RESOURCE, claims, identify, refusal_cause, settings, token, verifier, with};

const ISSUER: &str = "the token's iss is not the issuer in the mount's settings";
const AUDIENCE: &str = "the token's aud does not name this mount";

/// [K19, K20, K21, K22]
#[tokio::test]
async fn iss_must_equal_the_configured_issuer() {
    let mut settings = settings();
    settings.issuer = Some("https://site.example".to_owned());
    let verifier = verifier(settings);
    assert!(identify(&verifier, &token(&with("iss", json!("https://site.example")))).await.is_ok());
    assert_eq!(refusal_cause(&verifier, &token(&claims())).await, ISSUER);
    for issuer in [
        json!("https://other.example"),
        json!("https://site.example/"),
        json!("HTTPS://site.example"),
        json!("https://site.exampl"),
        json!(" https://site.example"),
        json!("https://site.example\u{0}"),
        json!(""),
        json!(["https://site.example"]),
        json!({"https://site.example": 1}),
        json!(null),
        json!(0),
    ] {
        assert_eq!(refusal_cause(&verifier, &token(&with("iss", issuer.clone()))).await, ISSUER, "{issuer}");
    }
}

#[tokio::test]
async fn without_a_configured_issuer_iss_is_not_checked() {
    let verifier = verifier(settings());
    for issuer in [json!("evo"), json!(""), json!(null)] {
        assert!(identify(&verifier, &token(&with("iss", issuer))).await.is_ok());
    }
}

/// [K23, K24, K25, K26, K27]
#[tokio::test]
async fn aud_must_contain_the_configured_audience() {
    let mut settings = settings();
    settings.audience = Some("site-content".to_owned());
    let verifier = verifier(settings);
    for audience in [json!("site-content"), json!(["site-content"]), json!(["other", "site-content"])] {
        assert!(identify(&verifier, &token(&with("aud", audience))).await.is_ok());
    }
    assert_eq!(refusal_cause(&verifier, &token(&claims())).await, AUDIENCE);
    for audience in [
        json!("other"),
        json!("site"),
        json!("site-content-and-more"),
        json!("Site-Content"),
        json!("site-content "),
        json!("site-content,other"),
        json!(RESOURCE),
        json!(""),
        json!("*"),
        json!([]),
        json!(["other"]),
        json!([["site-content"]]),
        json!(["site-content", 1]),
        json!({"site-content": true}),
        json!(null),
        json!(1),
    ] {
        assert_eq!(refusal_cause(&verifier, &token(&with("aud", audience.clone()))).await, AUDIENCE, "{audience}");
    }
}

/// [K23, K24, K25] A token with a foreign audience is refused, also if the mount sets none.
#[tokio::test]
async fn without_a_configured_audience_aud_is_absent_or_the_resource() {
    let verifier = verifier(settings());
    assert!(identify(&verifier, &token(&claims())).await.is_ok());
    for audience in [json!(RESOURCE), json!(["https://other.example", RESOURCE])] {
        assert!(identify(&verifier, &token(&with("aud", audience))).await.is_ok());
    }
    for audience in [
        json!("https://other.example"),
        json!("https://desk.example"),
        json!("https://desk.example/api/v1/mcp"),
        json!("https://desk.example/api/v1/mcp/content/"),
        json!([]),
        json!(""),
        json!(null),
    ] {
        assert_eq!(refusal_cause(&verifier, &token(&with("aud", audience.clone()))).await, AUDIENCE, "{audience}");
    }
}
