//! Pages in browsers: only the desk's own, and only under the desk's own name.

use crate::requests::{PING, answer_to, ping_with};
use frontdesk_testkit::app::{PATH, TestApp};

#[tokio::test]
async fn a_page_of_another_origin_is_refused_whatever_token_it_has() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let port = desk.address.port();
    let own = format!("https://localhost:{port}");
    assert_eq!(agent.post(PING, &[("origin", &own)]).await.status, 200);
    let foreign = [
        "https://evil.example".to_owned(),
        "null".to_owned(),
        String::new(),
        format!("http://localhost:{port}"),
        "https://localhost".to_owned(),
        format!("https://localhost:{port}0"),
        format!("https://sub.localhost:{port}"),
        format!("https://localhost:{port}.evil.example"),
        format!("https://localhost:{port}/"),
        format!("HTTPS://LOCALHOST:{port}"),
        format!("{own}, https://evil.example"),
        format!("{own} https://evil.example"),
    ];
    for origin in &foreign {
        let refused = agent.post(PING, &[("origin", origin)]).await;
        assert_eq!(
            (refused.status, refused.text()),
            (
                403,
                r#"{"error":{"code":"request.wrong_host","message":"Requests from that origin are not allowed; see `allowed_origins` in the server's configuration.","details":{"retryable":false}}}"#
            ),
            "{origin}"
        );
        // The same without a token: a page cannot find out whether its token would do.
        let json = [("content-type", "application/json"), ("origin", origin.as_str())];
        assert_eq!(desk.stranger().request("POST", PATH, &json, PING).await.body, refused.body);
        let form = [("content-type", "application/x-www-form-urlencoded"), ("origin", origin)];
        assert_eq!(desk.stranger().request("POST", "/token", &form, "a=b").await.status, 403, "{origin}");
    }
    assert_eq!(agent.post(PING, &[("origin", &own), ("origin", "https://evil.example")]).await.status, 403);
}

#[tokio::test]
async fn a_request_to_another_host_name_is_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for host in ["localhost", "LocalHost:1", "127.0.0.1", "127.0.0.1:8443", "[::1]", "[::1]:8443"] {
        assert_eq!(agent.post(PING, &[("host", host)]).await.status, 200, "{host}");
    }
    let foreign = [
        "evil.example",
        "localhost.evil.example",
        "evil.example:8443",
        "localhost@evil.example",
        "localhost:8443@evil.example",
        "localhost.",
        "localhost:x",
        "::1",
        "0.0.0.0",
        "127.1",
        "",
        " ",
        "localhost, evil.example",
    ];
    for host in foreign {
        assert_eq!(agent.post(PING, &[("host", host)]).await.status, 403, "{host}");
    }
    let length = format!("content-length: {}\r\n", PING.len());
    let good = format!("host: localhost\r\n{length}");
    for (case, target, lines) in [
        ("no host", PATH, length.clone()),
        ("two hosts", PATH, format!("host: localhost\r\n{good}")),
        ("another after the own", PATH, format!("{good}host: evil.example\r\n")),
        ("another in the target", "https://evil.example/mcp/automotive", good.clone()),
        ("another behind a name", "https://localhost@evil.example/mcp/automotive", good.clone()),
    ] {
        let response = answer_to(&desk, &ping_with(&agent, target, &lines, PING)).await.unwrap();
        assert!(matches!(response.status, 400 | 403), "{case}: {}", response.status);
    }
    let whole = answer_to(&desk, &ping_with(&agent, "https://localhost/mcp/automotive", &good, PING)).await.unwrap();
    assert_eq!(whole.status, 200);
}

/// They are the same for everybody and name no secret; a client in a browser begins with them.
#[tokio::test]
async fn public_documents_allow_any_origin_but_not_any_host() {
    let desk = TestApp::start();
    let mut stranger = desk.stranger();
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp/automotive",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/.well-known/automotive-mcp.json",
    ] {
        let usual = stranger.get(path).await;
        for origin in ["https://evil.example", "null", ""] {
            let read = stranger.request("GET", path, &[("origin", origin)], "").await;
            assert_eq!((read.status, &read.body), (200, &usual.body), "{path} {origin}");
            assert_eq!(read.header("access-control-allow-origin"), Some("*"), "{path} {origin}");
            let headers = [("origin", origin), ("host", "evil.example")];
            assert_eq!(stranger.request("GET", path, &headers, "").await.status, 403, "{path} {origin}");
            let headers = [("origin", origin), ("x-forwarded-proto", "http")];
            assert_eq!(stranger.request("GET", path, &headers, "").await.status, 403, "{path} {origin}");
        }
    }
    let foreign = [("origin", "https://evil.example")];
    for path in ["/", "/token", "/.well-known", "/well-known/x", "/x/.well-known/y"] {
        assert_eq!(stranger.request("GET", path, &foreign, "").await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn no_page_is_ever_invited_with_credentials() {
    let desk = TestApp::start();
    let mut stranger = desk.stranger();
    let own = format!("https://localhost:{}", desk.address.port());
    for origin in ["https://evil.example", "null", &own] {
        for path in [PATH, "/token", "/revoke", "/authorize", "/", "/.well-known/oauth-authorization-server"] {
            for method in ["OPTIONS", "GET", "POST"] {
                let headers = [
                    ("origin", origin),
                    ("access-control-request-method", "POST"),
                    ("access-control-request-headers", "authorization"),
                ];
                let response = stranger.request(method, path, &headers, "").await;
                assert_eq!(response.header("access-control-allow-credentials"), None, "{method} {path}");
                let allowed = response.header("access-control-allow-origin");
                let public = path.starts_with("/.well-known");
                assert_eq!(allowed, public.then_some("*"), "{method} {path} {origin}");
                let headers = response.header("access-control-allow-headers").unwrap_or_default();
                assert!(!headers.to_lowercase().contains("authorization"));
            }
        }
    }
}
