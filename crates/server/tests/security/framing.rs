//! HTTP that two readers could understand differently, or that asks for more than it may.

use crate::requests::{PING, answer_to, connect, ping_with, pings};
use frontdesk_testkit::app::{PATH, TestApp};

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn ambiguous_framing_is_refused_and_closes_the_connection() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let length = PING.len();
    let chunked = format!("{length:x}\r\n{PING}\r\n0\r\n\r\n");
    let cases = [
        ("chunked twice", "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n".to_owned(), &chunked),
        ("chunked, chunked", "transfer-encoding: chunked, chunked\r\n".to_owned(), &chunked),
        ("chunked last", "transfer-encoding: gzip, chunked\r\n".to_owned(), &chunked),
        ("not last", "transfer-encoding: chunked, identity\r\n".to_owned(), &chunked),
        ("nearly chunked", "transfer-encoding: xchunked\r\n".to_owned(), &chunked),
        ("a space before the colon", "transfer-encoding : chunked\r\n".to_owned(), &chunked),
        ("two lengths", format!("content-length: {length}\r\ncontent-length: 4\r\n"), &PING.to_owned()),
        ("a list of lengths", format!("content-length: {length}, 4\r\n"), &PING.to_owned()),
        ("a signed length", format!("content-length: +{length}\r\n"), &PING.to_owned()),
        ("a negative length", "content-length: -1\r\n".to_owned(), &PING.to_owned()),
        ("a huge length", "content-length: 99999999999999999999\r\n".to_owned(), &PING.to_owned()),
        ("a folded header", format!("content-length: {length}\r\nx-a: b\r\n c\r\n"), &PING.to_owned()),
        ("a NUL", format!("content-length: {length}\r\nx-a: \0\r\n"), &PING.to_owned()),
        ("a lone CR", format!("content-length: {length}\r\nx-a: b\rc\r\n"), &PING.to_owned()),
        ("a header without a name", format!("content-length: {length}\r\n: b\r\n"), &PING.to_owned()),
        ("a broken chunk", "transfer-encoding: chunked\r\n".to_owned(), &"zz\r\n".to_owned()),
        ("a huge chunk", "transfer-encoding: chunked\r\n".to_owned(), &"fffffffffffffffff\r\n".to_owned()),
    ];
    for (case, lines, body) in cases {
        let mut connection = connect(&desk).await;
        let lines = format!("host: localhost\r\n{lines}");
        // A second request behind the first: it must not be answered under any reading.
        let mut bytes = ping_with(&agent, PATH, &lines, body);
        bytes.extend(ping_with(&agent, PATH, &format!("host: localhost\r\ncontent-length: {length}\r\n"), PING));
        connection.send(&bytes).await.unwrap();
        let response = connection.receive().await.unwrap();
        assert_eq!(response.status, 400, "{case}");
        assert!(connection.receive().await.is_err(), "{case}");
    }
    // With a length besides, the chunks count and nothing behind them does.
    for lines in
        ["content-length: 4\r\ntransfer-encoding: chunked\r\n", "transfer-encoding: chunked\r\ncontent-length: 4\r\n"]
    {
        let mut connection = connect(&desk).await;
        let mut bytes = ping_with(&agent, PATH, &format!("host: localhost\r\n{lines}"), &chunked);
        bytes.extend(ping_with(&agent, PATH, &format!("host: localhost\r\ncontent-length: {length}\r\n"), PING));
        connection.send(&bytes).await.unwrap();
        let response = connection.receive().await.unwrap();
        assert_eq!((response.status, response.header("connection")), (200, Some("close")));
        assert!(connection.receive().await.is_err());
    }
    assert_eq!(pings(&mut agent).await, 200);
}

#[tokio::test]
async fn oversized_compressed_or_foreign_bodies_are_not_read() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let limit = 1024 * 1024;
    let padded = |length: usize| format!("{PING}{}", " ".repeat(length - PING.len()));
    assert_eq!(agent.post(&padded(limit), &[]).await.status, 200);
    let large = agent.post(&padded(limit + 1), &[]).await;
    assert_eq!(
        (large.status, large.text()),
        (
            413,
            r#"{"error":{"code":"request.too_large","message":"The message is larger than 1048576 bytes.","details":{"retryable":false}}}"#
        )
    );
    let body = padded(limit + 1);
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let response =
        answer_to(&desk, &ping_with(&agent, PATH, "host: localhost\r\ntransfer-encoding: chunked\r\n", &chunked)).await;
    assert_eq!(response.unwrap().status, 413);

    let bearer = format!("Bearer {}", agent.token);
    let with = [("authorization", bearer.as_str())];
    let kinds = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
        "application/json; charset=utf-16",
        "application/json; charset=latin1",
        "application/jsonx",
        "application/json-rpc",
        "application/json, text/plain",
        "",
    ];
    let mut stranger = desk.stranger();
    for kind in kinds {
        let headers = [with[0], ("content-type", kind)];
        let refused = stranger.request("POST", PATH, &headers, PING).await;
        assert_eq!(
            (refused.status, refused.json()["error"]["code"].as_str()),
            (415, Some("request.wrong_media")),
            "{kind}"
        );
    }
    assert_eq!(stranger.request("POST", PATH, &with, PING).await.status, 415);
    assert_eq!(
        stranger.request("POST", PATH, &[with[0], JSON, ("content-type", "text/plain")], PING).await.status,
        415
    );
    for encoding in ["gzip", "br", "deflate", "identity, gzip", "GZIP", "zstd"] {
        let headers = [with[0], JSON, ("content-encoding", encoding)];
        assert_eq!(stranger.request("POST", PATH, &headers, PING).await.status, 415, "{encoding}");
    }
    for kind in ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""] {
        assert_eq!(
            stranger.request("POST", PATH, &[with[0], ("content-type", kind)], PING).await.status,
            200,
            "{kind}"
        );
    }
}

#[tokio::test]
async fn no_other_spelling_of_the_address_leads_past_the_door() {
    let desk = TestApp::start();
    let agent = desk.agent().await;
    let bearer = format!("Bearer {}", agent.token);
    let mut stranger = desk.stranger();
    for path in [
        "/mcp",
        "/mcp/",
        "/mcp/automotive//",
        "/mcp/automotive/%2f",
        "//mcp/automotive",
        "//mcp/automotive/",
        "/mcp//automotive",
        "/mcp/automotive;x=1",
        "/mcp;/automotive",
        "/%6dcp/automotive",
        "/mcp%2fautomotive",
        "/mcp/automotive%00",
        "/mcp/./automotive",
        "/x/../mcp/automotive",
        "/MCP/AUTOMOTIVE",
        "/mcp/automotive/tools",
        "/mcp/automotive.json",
    ] {
        let with = [JSON, ("authorization", bearer.as_str())];
        assert_eq!(stranger.request("POST", path, &with, PING).await.status, 404, "{path}");
        assert_eq!(stranger.request("POST", path, &[JSON], PING).await.status, 404, "{path}");
    }
    assert_eq!(stranger.request("POST", "/mcp/automotive?x=1", &[JSON], PING).await.status, 401);
}

/// Every path, verb and guard: the same answer, except for its time and its trace.
#[tokio::test]
async fn a_trailing_slash_is_answered_like_the_path_without_it() {
    let desk = TestApp::start();
    let bearer = format!("Bearer {}", desk.agent().await.token);
    let token = ("authorization", bearer.as_str());
    let cases: [&[(&str, &str)]; 8] = [
        &[JSON],
        &[JSON, token],
        &[token],
        &[JSON, token, ("origin", "https://evil.example")],
        &[JSON, token, ("host", "evil.example")],
        &[JSON, token, ("x-forwarded-proto", "http")],
        &[JSON, token, ("x-forwarded-for", "192.0.2.7")],
        &[JSON, token, ("content-encoding", "gzip")],
    ];
    let paths = [
        (PATH, 200),
        ("/api/v1/mcp/content", 401),
        ("/api/v1/mcp/content/dispatch", 401),
        ("/api/v1/mcp/unknown", 401),
        ("/token", 415),
        ("/revoke", 415),
        ("/authorize", 405),
        ("/.well-known/oauth-protected-resource/mcp/automotive", 405),
        ("/mcp", 404),
    ];
    let mut stranger = desk.stranger();
    for (path, posted) in paths {
        for verb in ["POST", "GET", "HEAD", "DELETE", "PUT", "OPTIONS", "BREW"] {
            for headers in cases {
                let mut answers = Vec::new();
                for path in [path.to_owned(), format!("{path}/"), format!("{path}/?x=1"), format!("{path}?x=1")] {
                    let response = stranger.request(verb, &path, headers, PING).await;
                    let told = response.headers.iter().filter(|(name, _)| name != "date" && name != "x-trace-id");
                    answers.push((response.status, told.cloned().collect::<Vec<_>>(), without_trace(response.text())));
                }
                assert_eq!(answers[0], answers[1], "{verb} {path}/ {headers:?}");
                assert_eq!(answers[3], answers[2], "{verb} {path}/?x=1 {headers:?}");
                if verb == "POST" && headers == cases[1] {
                    assert_eq!(answers[1].0, posted, "{path}/");
                }
            }
        }
    }
}

/// Some contracts repeat the trace in the body.
fn without_trace(body: &str) -> String {
    match body.split_once("\"trace_id\":\"") {
        Some((before, after)) => format!("{before}{}", after.split_once('"').map_or("", |(_, rest)| rest)),
        None => body.to_owned(),
    }
}

#[tokio::test]
async fn verbs_are_what_they_say_and_never_what_a_header_says() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let bearer = format!("Bearer {}", agent.token);
    let with = ("authorization", bearer.as_str());
    let mut stranger = desk.stranger();
    for verb in ["GET", "HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "BREW", "post"] {
        for overriding in ["x-http-method-override", "x-method-override", "x-http-method"] {
            let response = stranger.request(verb, PATH, &[with, JSON, (overriding, "POST")], "").await;
            assert_eq!((response.status, response.header("allow")), (405, Some("POST, DELETE")), "{verb}");
            assert!(!response.body.windows(6).any(|window| window == b"Bearer"));
        }
    }
    // The other way round: a POST stays one.
    assert_eq!(agent.post(PING, &[("x-http-method-override", "DELETE")]).await.json()["result"], serde_json::json!({}));
    assert_eq!(stranger.request("DELETE", PATH, &[with], "").await.status, 204);
    assert_eq!(pings(&mut agent).await, 200);
    let connect = b"CONNECT localhost:443 HTTP/1.1\r\nhost: localhost\r\n\r\n";
    assert_eq!(answer_to(&desk, connect).await.unwrap().status, 404);
    assert!(answer_to(&desk, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.is_none());
    let upgrade = "host: localhost\r\nconnection: upgrade\r\nupgrade: h2c\r\n";
    let upgrade = ping_with(&agent, PATH, &format!("{upgrade}content-length: {}\r\n", PING.len()), PING);
    assert_eq!(answer_to(&desk, &upgrade).await.unwrap().status, 200);
}
