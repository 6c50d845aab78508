//! The revocation endpoint: it revokes the client's own tokens at once, and reveals nothing about others.

use frontdesk_identity::OAuthRequest;
use frontdesk_testkit::memory_store::InjectedFault;

use crate::support::{
    FIRST_TOKEN, GRANT, OTHER_ID, OTHER_SECRET, RESOURCE, asked, bench, bench_with, error, header, text,
};

#[tokio::test]
async fn a_client_revokes_its_own_token_at_once() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    let reply = bench.form("/revoke", &format!("token={token}&token_type_hint=access_token")).await;
    assert_eq!(text(&reply), (200, ""));
    assert_eq!(header(&reply, "Cache-Control"), Some("no-store"));
    assert!(bench.identify(&token, RESOURCE).await.is_err());
}

/// [O30]
#[tokio::test]
async fn revoking_a_foreign_or_unknown_token_changes_nothing() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    for other in [token.as_str(), "fdt_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", "nonsense"] {
        let reply = bench.form_as(OTHER_ID, OTHER_SECRET, "/revoke", &format!("token={other}")).await;
        assert_eq!(text(&reply), (200, ""), "{other}");
    }
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
}

#[tokio::test]
async fn an_unauthenticated_client_cannot_revoke() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    let form = format!("token={token}");
    assert_eq!(error(&bench.send(asked("/revoke", &form)).await, 401), "invalid_client");
    assert_eq!(error(&bench.form_as(OTHER_ID, "wrong", "/revoke", &form).await, 401), "invalid_client");
    let bearer = format!("Bearer {token}");
    let reply = bench.send(OAuthRequest { authorization: &[&bearer], ..asked("/revoke", &form) }).await;
    assert_eq!(error(&reply, 401), "invalid_client");
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
}

/// [O12]
#[tokio::test]
async fn the_token_parameter_must_be_sent_once() {
    let bench = bench();
    let missing =
        r#"{"error":"invalid_request","error_description":"Send the token to revoke in the parameter token."}"#;
    assert_eq!(text(&bench.form("/revoke", "token_type_hint=access_token").await), (400, missing));
    let twice = format!("token={FIRST_TOKEN}&token={FIRST_TOKEN}");
    assert_eq!(error(&bench.form("/revoke", &twice).await, 400), "invalid_request");
}

#[tokio::test]
async fn an_unavailable_store_is_not_a_successful_revocation() {
    let bench = bench();
    bench.registry.inject(|faults| faults.registry = InjectedFault::Fail);
    let reply = bench.form("/revoke", &format!("token={FIRST_TOKEN}")).await;
    assert_eq!(error(&reply, 503), "temporarily_unavailable");
}

#[tokio::test]
async fn the_revocation_endpoint_has_its_own_rate_limit() {
    let bench = bench_with(1000, 1);
    let token = bench.token(GRANT).await;
    assert_eq!(bench.form("/token", GRANT).await.status, 429);
    assert_eq!(bench.form("/revoke", &format!("token={token}")).await.status, 200);
    assert_eq!(bench.form("/revoke", &format!("token={token}")).await.status, 429);
}
