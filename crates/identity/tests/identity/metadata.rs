//! The published metadata, byte for byte; it does not depend on the request.

use frontdesk_engine::model::trace::Trace;
use frontdesk_identity::OAuthRequest;

use crate::support::{GRANT, asked, bench, header, text};

const AUTOMOTIVE: &str = r#"{"resource":"https://desk.example/mcp/automotive","authorization_servers":["https://desk.example"],"scopes_supported":["amcp:inventory:read","amcp:leads:read","amcp:leads:write"],"bearer_methods_supported":["header"],"resource_name":"Automotive"}"#;

const SECOND: &str = r#"{"resource":"https://desk.example/mcp/second","authorization_servers":["https://desk.example"],"scopes_supported":["amcp:leads:read","other:read"],"bearer_methods_supported":["header"],"resource_name":"Second"}"#;

const SERVER: &str = r#"{"issuer":"https://desk.example","authorization_endpoint":"https://desk.example/authorize","token_endpoint":"https://desk.example/token","revocation_endpoint":"https://desk.example/revoke","scopes_supported":["amcp:inventory:read","amcp:leads:read","amcp:leads:write","other:read"],"response_types_supported":["code"],"response_modes_supported":["query"],"grant_types_supported":["authorization_code","refresh_token","client_credentials"],"code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","private_key_jwt","none"],"token_endpoint_auth_signing_alg_values_supported":["ES256","RS256","EdDSA"],"revocation_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","private_key_jwt","none"],"revocation_endpoint_auth_signing_alg_values_supported":["ES256","RS256","EdDSA"],"authorization_response_iss_parameter_supported":true,"client_id_metadata_document_supported":true}"#;

const PUBLISHED: [(&str, &str); 9] = [
    ("/.well-known/oauth-protected-resource", AUTOMOTIVE),
    ("/.well-known/oauth-protected-resource/mcp/automotive", AUTOMOTIVE),
    ("/.well-known/oauth-protected-resource/mcp/second", SECOND),
    ("/.well-known/oauth-authorization-server", SERVER),
    ("/.well-known/oauth-authorization-server/mcp/automotive", SERVER),
    ("/.well-known/oauth-authorization-server/mcp/second", SERVER),
    ("/.well-known/openid-configuration", SERVER),
    ("/.well-known/openid-configuration/mcp/automotive", SERVER),
    ("/.well-known/openid-configuration/mcp/second", SERVER),
];

fn get(path: &str) -> OAuthRequest<'_> {
    OAuthRequest { method: "GET", content_type: None, ..asked(path, "") }
}

/// [A6-01, A6-05, A6-07]
#[tokio::test]
async fn metadata_is_published_at_the_root_and_per_resource() {
    let bench = bench();
    for (path, document) in PUBLISHED {
        let reply = bench.send(get(path)).await;
        assert_eq!(text(&reply), (200, document), "{path}");
        assert_eq!(header(&reply, "Content-Type"), Some("application/json"));
        assert_eq!(header(&reply, "Cache-Control"), Some("public, max-age=3600"));
        assert_eq!(header(&reply, "Access-Control-Allow-Origin"), Some("*"));
        let head = bench.send(OAuthRequest { method: "HEAD", ..get(path) }).await;
        assert_eq!(head, reply);
    }
}

/// [O34, O35] A request has no Host and no forwarded headers; everything else is ignored.
#[tokio::test]
async fn metadata_does_not_depend_on_the_request() {
    let bench = bench();
    for (path, document) in PUBLISHED {
        let reply = bench
            .send(OAuthRequest {
                method: "GET",
                path,
                query: Some("issuer=https://evil.example&resource=https://evil.example"),
                content_type: Some("text/plain"),
                authorization: &["Bearer x", "Basic y"],
                cookies: &["__Host-frontdesk=https://evil.example"],
                fetch_site: Some("cross-site"),
                body: b"{\"issuer\":\"https://evil.example\"}",
                address: "2001:db8::1".parse().unwrap(),
                trace: &Trace::new("https://evil.example"),
            })
            .await;
        assert_eq!(text(&reply), (200, document), "{path}");
    }
}

#[tokio::test]
async fn metadata_is_readable_from_any_origin() {
    let bench = bench();
    let path = "/.well-known/oauth-protected-resource";
    let reply = bench.send(OAuthRequest { method: "OPTIONS", ..get(path) }).await;
    assert_eq!(text(&reply), (204, ""));
    assert_eq!(header(&reply, "Access-Control-Allow-Origin"), Some("*"));
    assert_eq!(header(&reply, "Access-Control-Allow-Methods"), Some("GET, HEAD, OPTIONS"));
    assert_eq!(header(&reply, "Access-Control-Allow-Headers"), Some("MCP-Protocol-Version"));
    let reply = bench.send(OAuthRequest { method: "PUT", ..get(path) }).await;
    let refused = r#"{"error":"invalid_request","error_description":"Send a GET request."}"#;
    assert_eq!(text(&reply), (405, refused));
    assert_eq!(header(&reply, "Allow"), Some("GET, HEAD, OPTIONS"));
}

#[tokio::test]
async fn other_paths_are_not_handled() {
    let bench = bench();
    let paths = [
        "/",
        "/token/",
        "//token",
        "/Token",
        "/token;x",
        "/%74oken",
        "/register",
        "/mcp/automotive",
        "/.well-known/oauth-protected-resource/",
        "/.well-known/oauth-protected-resource/mcp/third",
    ];
    for path in paths {
        assert_eq!(bench.server.answer(asked(path, GRANT)).await, None, "{path}");
    }
}

/// [A6-02] A client of the token endpoint has no redirect URI, so nobody is ever sent anywhere for it.
#[tokio::test]
async fn a_client_without_redirect_uris_gets_a_page() {
    let bench = bench();
    for response_type in ["token", "code", "code%20token"] {
        let query = format!("response_type={response_type}&client_id=cli_north&redirect_uri=https://evil.example/");
        let reply = bench.send(OAuthRequest { query: Some(&query), ..get("/authorize") }).await;
        assert_eq!((reply.status, header(&reply, "Location")), (400, None));
        assert_eq!(header(&reply, "Content-Type"), Some("text/html; charset=utf-8"));
    }
    let reply = bench.send(OAuthRequest { method: "DELETE", ..get("/authorize") }).await;
    assert_eq!((reply.status, header(&reply, "Allow")), (405, Some("GET, HEAD")));
}

/// [O31] Every advertised endpoint exists.
#[tokio::test]
async fn every_advertised_endpoint_answers() {
    let bench = bench();
    let document: serde_json::Value = serde_json::from_str(SERVER).unwrap();
    for (name, url) in document.as_object().unwrap().iter().filter(|(name, _)| name.ends_with("_endpoint")) {
        let path = url.as_str().unwrap().strip_prefix("https://desk.example").unwrap();
        assert!(bench.server.answer(asked(path, "")).await.is_some(), "{name}");
    }
}
