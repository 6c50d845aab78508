//! What the desk publishes about itself: the same to everybody, and true.

use serde_json::{Value, json};

use frontdesk_testkit::app::{EVERYTHING, PATH, TestApp};
use frontdesk_testkit::automotive_names::SCOPES;

const DOCUMENTS: [&str; 7] = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp/automotive",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp/automotive",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/mcp/automotive",
    "/.well-known/automotive-mcp.json",
];

#[tokio::test]
async fn a6_07_every_scope_names_a_domain_and_read_or_write() {
    let desk = TestApp::start();
    let mut stranger = desk.stranger();
    let resource = stranger.get(DOCUMENTS[1]).await.json();
    let server = stranger.get(DOCUMENTS[2]).await.json();
    let manifest = stranger.get(DOCUMENTS[6]).await.json();
    let scopes = json!(SCOPES);
    assert_eq!(resource["scopes_supported"], scopes);
    // The one authorization server is the website's too.
    let mut every = scopes.as_array().unwrap().clone();
    every.extend(["mcp:read", "mcp:call", "mcp:admin"].map(Value::from));
    assert_eq!(server["scopes_supported"], json!(every));
    assert_eq!(manifest["automotive_mcp"]["auth"]["scopes"], scopes);
    let domains = manifest["automotive_mcp"]["domains"].as_object().unwrap();
    for scope in scopes.as_array().unwrap() {
        let parts: Vec<&str> = scope.as_str().unwrap().split(':').collect();
        assert!(matches!(parts[..], ["amcp", domain, "read" | "write"] if domains.contains_key(domain)), "{scope}");
    }
    for domain in domains.keys() {
        assert!(scopes.to_string().contains(&format!("amcp:{domain}:read")), "{domain}");
    }
}

#[tokio::test]
async fn a6_05_no_header_changes_a_byte_of_what_is_published() {
    let desk = TestApp::start();
    let mut stranger = desk.stranger();
    let tricks = [
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-port", "1"),
        ("x-forwarded-prefix", "/evil"),
        ("x-original-url", "/evil"),
        ("forwarded", "host=evil.example;proto=https"),
        ("host", "127.0.0.1:1"),
        ("host", "LOCALHOST"),
        ("accept-language", "de"),
        ("accept", "text/html"),
        ("authorization", "Bearer x"),
        ("mcp-protocol-version", "2026-07-28"),
        ("cookie", "a=b"),
    ];
    for document in DOCUMENTS {
        let usual = stranger.get(document).await;
        assert_eq!(usual.status, 200, "{document}");
        assert_eq!(usual.header("access-control-allow-origin"), Some("*"));
        assert_eq!(usual.header("access-control-allow-credentials"), None);
        for trick in tricks {
            let response = stranger.request("GET", document, &[trick], "").await;
            assert_eq!((response.status, &response.body), (200, &usual.body), "{document} {trick:?}");
        }
        for host in ["evil.example", "localhost.evil.example", "localhost@evil.example", "", "evil.example:443"] {
            let response = stranger.request("GET", document, &[("host", host)], "").await;
            assert_eq!(response.status, 403, "{document} {host}");
            assert!(!response.text().contains("evil"));
        }
    }
    let challenge = [("content-type", "application/json"), ("x-forwarded-host", "evil.example")];
    let refused = stranger.request("POST", PATH, &challenge, "{}").await;
    let there = format!("https://localhost:{}{}", desk.address.port(), DOCUMENTS[1]);
    let expected = format!("Bearer resource_metadata=\"{there}\", scope=\"{EVERYTHING}\"");
    assert_eq!(refused.header("www-authenticate"), Some(expected.as_str()));
}

#[tokio::test]
async fn a6_05_everything_that_is_advertised_exists() {
    let desk = TestApp::start();
    let mut stranger = desk.stranger();
    let origin = format!("https://localhost:{}", desk.address.port());
    let mut seen = 0;
    for document in DOCUMENTS {
        let document = stranger.get(document).await.json();
        for (name, value) in document.as_object().unwrap() {
            let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            for address in values.iter().filter_map(|value| value.as_str()?.strip_prefix(&origin)) {
                let address = if address.is_empty() { "/" } else { address };
                let status = stranger.request("POST", address, &[], "").await.status;
                assert_ne!(status, 404, "{name}: {address}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 24);
    for absent in ["/jwks", "/userinfo", "/introspect", "/metrics", "/health", "/admin", "/debug", "/.git/HEAD"] {
        assert_eq!(stranger.get(absent).await.status, 404, "{absent}");
    }
}
