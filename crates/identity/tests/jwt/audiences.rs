//! Whose tokens are taken, and whom they must be for.

use serde_json::json;

use crate::support::{RESOURCE, claims, identify, judge, refusal, settings, token, with};

const ISSUER: &str = "the token's iss is not the issuer in the mount's settings";
const AUDIENCE: &str = "the token's aud does not name this mount";

/// [K19, K20, K21, K22]
#[tokio::test]
async fn the_issuer_is_the_one_that_is_set_byte_for_byte() {
    let mut settings = settings();
    settings.issuer = Some("https://site.example".to_owned());
    let judge = judge(settings);
    assert!(identify(&judge, &token(&with("iss", json!("https://site.example")))).await.is_ok());
    assert_eq!(refusal(&judge, &token(&claims())).await, ISSUER);
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
        assert_eq!(refusal(&judge, &token(&with("iss", issuer.clone()))).await, ISSUER, "{issuer}");
    }
}

#[tokio::test]
async fn without_an_issuer_set_whoever_has_the_secret_is_one() {
    let judge = judge(settings());
    for issuer in [json!("evo"), json!(""), json!(null)] {
        assert!(identify(&judge, &token(&with("iss", issuer))).await.is_ok());
    }
}

/// [K23, K24, K25, K26, K27]
#[tokio::test]
async fn the_audience_that_is_set_must_be_named_whole() {
    let mut settings = settings();
    settings.audience = Some("site-content".to_owned());
    let judge = judge(settings);
    for audience in [json!("site-content"), json!(["site-content"]), json!(["other", "site-content"])] {
        assert!(identify(&judge, &token(&with("aud", audience))).await.is_ok());
    }
    assert_eq!(refusal(&judge, &token(&claims())).await, AUDIENCE);
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
        assert_eq!(refusal(&judge, &token(&with("aud", audience.clone()))).await, AUDIENCE, "{audience}");
    }
}

/// [K23, K24, K25] A token for somebody else is none for us, also where no audience is set.
#[tokio::test]
async fn without_a_configured_audience_aud_is_absent_or_the_resource() {
    let judge = judge(settings());
    assert!(identify(&judge, &token(&claims())).await.is_ok());
    for audience in [json!(RESOURCE), json!(["https://other.example", RESOURCE])] {
        assert!(identify(&judge, &token(&with("aud", audience))).await.is_ok());
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
        assert_eq!(refusal(&judge, &token(&with("aud", audience.clone()))).await, AUDIENCE, "{audience}");
    }
}
