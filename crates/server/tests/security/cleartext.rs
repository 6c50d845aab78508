//! No credential is ever looked at outside TLS, whatever the bytes claim.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::requests::{PING, connect, log_of, ping_with, pings};
use frontdesk_testkit::app::{DemoTenant, PATH, TestApp};

#[tokio::test]
async fn a6_23_a6_24_plain_http_gets_no_http_answer() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let length = format!("host: localhost\r\ncontent-length: {}\r\n", PING.len());
    let honest = ping_with(&agent, PATH, &length, PING);
    let forged =
        ping_with(&agent, PATH, &format!("x-forwarded-proto: https\r\nforwarded: proto=https\r\n{length}"), PING);
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    let token = format!(
        "POST /token HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
        form.len()
    );
    let operator = desk.banner["operator_endpoint"].as_str().unwrap().strip_prefix("https://").unwrap();
    for port in [desk.address.to_string().as_str(), operator] {
        for bytes in [&honest[..], &forged, token.as_bytes(), b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
            let mut socket = TcpStream::connect(port).await.unwrap();
            socket.write_all(bytes).await.unwrap();
            let mut answer = Vec::new();
            let _ = timeout(Duration::from_secs(60), socket.read_to_end(&mut answer)).await.unwrap();
            let text = String::from_utf8_lossy(&answer);
            // At most a TLS alert; nothing that a client could follow to send its credential once more.
            assert!(answer.len() <= 7 && !text.contains("HTTP"), "{text}");
        }
    }
    assert_eq!(pings(&mut agent).await, 200);
    // Nothing of it became a call: after the start there was one for the token and this one.
    assert_eq!(log_of(&desk, 3).await.lines().count(), 3);
    let versions = [rustls::ProtocolVersion::TLSv1_2, rustls::ProtocolVersion::TLSv1_3];
    assert!(connect(&desk).await.version().is_some_and(|version| versions.contains(&version)));
}

#[tokio::test]
async fn a6_24_clear_text_via_a_proxy_is_refused_before_auth() {
    let desk = TestApp::start();
    let mut agent = desk.weak_agent().await;
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    for proto in ["http", "HTTP", "http, https", "https,http", "ws", ""] {
        let header = ("x-forwarded-proto", proto);
        let good = agent.post(PING, &[header]).await;
        assert_eq!(
            (good.status, good.text()),
            (
                403,
                r#"{"error":{"code":"request.wrong_host","message":"This request crossed a network in cleartext. Send it over https, and replace its credential.","details":{"retryable":false}}}"#
            ),
            "{proto}"
        );
        // A bad token gets the very same answer, and no redirect.
        let bad = [header, ("authorization", "Bearer bad"), ("content-type", "application/json")];
        let bad = desk.stranger().request("POST", PATH, &bad, PING).await;
        assert_eq!((bad.status, &bad.body, bad.header("location")), (403, &good.body, None));
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
        let headers = [header, ("content-type", "application/x-www-form-urlencoded")];
        assert_eq!(desk.stranger().request("POST", "/token", &headers, form).await.status, 403);
    }
    // Whatever a proxy calls it.
    for header in [
        ("forwarded", "for=192.0.2.1;proto=http"),
        ("x-forwarded-scheme", "http"),
        ("x-forwarded-protocol", "http"),
        ("x-url-scheme", "http"),
        ("x-scheme", "http"),
        ("cloudfront-forwarded-proto", "http"),
        ("front-end-https", "off"),
        ("x-forwarded-ssl", "off"),
        ("cf-visitor", r#"{"scheme":"http"}"#),
    ] {
        let good = agent.post(PING, &[header]).await;
        assert_eq!((good.status, good.text().contains("crossed a network in cleartext")), (403, true), "{header:?}");
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
        let headers = [header, ("content-type", "application/x-www-form-urlencoded")];
        assert_eq!(desk.stranger().request("POST", "/token", &headers, form).await.status, 403, "{header:?}");
    }
    for header in [("forwarded", "for=192.0.2.1;proto=https"), ("front-end-https", "on"), ("x-scheme", "https")] {
        assert_eq!(agent.post(PING, &[header]).await.status, 200, "{header:?}");
    }
    for proto in ["https", "HTTPS", "https, https"] {
        assert_eq!(agent.post(PING, &[("x-forwarded-proto", proto)]).await.status, 200, "{proto}");
    }
}
