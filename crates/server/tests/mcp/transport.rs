//! The HTTP around the messages: verbs, media types and what needs no answer.

use serde_json::json;

use frontdesk_testkit::app::{PATH, TestApp};

use super::requests::whole;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn any_accept_header_or_none_is_answered_in_json() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for headers in [
        &[][..],
        &[("accept", "application/json")],
        &[("accept", "*/*")],
        &[("accept", "application/json, text/event-stream")],
        &[("accept", "text/event-stream, application/json")],
        &[("accept", "application/json;q=0.9, text/event-stream;q=0.1")],
    ] {
        let response = agent.post(PING, headers).await;
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")), "{headers:?}");
        assert_eq!(response.text(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn there_is_no_stream_to_get_and_no_session_to_keep() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let bearer = format!("Bearer {}", agent.token);
    let headers = [("authorization", bearer.as_str()), ("accept", "text/event-stream")];
    for verb in ["GET", "PUT", "PATCH", "OPTIONS"] {
        let response = agent.http.request(verb, PATH, &headers, "").await;
        assert_eq!((response.status, response.header("allow")), (405, Some("POST, DELETE")), "{verb}");
        assert_eq!(
            response.json(),
            json!({"error": {
                "code": "request.wrong_verb",
                "message": "Send JSON-RPC messages with POST; there is no stream to GET here.",
                "details": {"retryable": false},
            }})
        );
    }
    let head = agent.http.request("HEAD", PATH, &headers, "").await;
    assert_eq!((head.status, head.header("allow"), head.text()), (405, Some("POST, DELETE"), ""));
    let ended = agent.http.request("DELETE", PATH, &headers, "").await;
    assert_eq!((ended.status, ended.text()), (204, ""));
    assert_eq!(agent.post(PING, &[]).await.status, 200);
    // Who is calling comes first, whatever the verb.
    for verb in ["GET", "DELETE", "PUT"] {
        let response = agent.http.request(verb, PATH, &[], "").await;
        assert_eq!((response.status, &response.json()["error"]["code"]), (401, &json!("auth.unauthorized")), "{verb}");
    }
}

#[tokio::test]
async fn what_needs_no_answer_gets_202_and_no_body() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/no_such"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
    ] {
        for headers in [&[][..], &[("mcp-protocol-version", "2025-11-25")]] {
            let response = agent.post(body, headers).await;
            assert_eq!((response.status, response.text(), response.header("content-type")), (202, "", None), "{body}");
        }
    }
    assert_eq!(agent.http.opened, 1);
}

#[tokio::test]
async fn a_message_is_json_in_utf8_and_uncompressed_or_415() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let bearer = format!("Bearer {}", agent.token);
    let authorization = ("authorization", bearer.as_str());
    let json_type = ("content-type", "application/json");
    for headers in [
        &[authorization][..],
        &[authorization, ("content-type", "text/plain")],
        &[authorization, ("content-type", "application/x-www-form-urlencoded")],
        &[authorization, ("content-type", "multipart/form-data; boundary=x")],
        &[authorization, ("content-type", "application/json; charset=utf-16")],
        &[authorization, ("content-type", "application/jsonp")],
        &[authorization, json_type, ("content-type", "text/plain")],
        &[authorization, json_type, ("content-encoding", "gzip")],
        &[authorization, json_type, ("content-encoding", "br")],
    ] {
        let response = agent.http.request("POST", PATH, headers, PING).await;
        let (status, answer) = whole(&response);
        assert_eq!((status, &answer["error"]["code"]), (415, &json!("request.wrong_media")), "{headers:?}");
        // The message was not read, so the connection cannot go on, and says so.
        assert_eq!(response.header("connection"), Some("close"), "{headers:?}");
    }
    for kind in [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
    ] {
        let response = agent.http.request("POST", PATH, &[authorization, ("content-type", kind)], PING).await;
        assert_eq!(response.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn a_refused_message_leaves_the_caller_able_to_go_on() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let large = format!("{{\"pad\":\"{}\"}}", "x".repeat(1_100_000));
    for turn in 0..3 {
        let refused = match turn {
            0 => agent.post(&large, &[]).await,
            1 => agent.post(PING, &[("content-encoding", "gzip")]).await,
            _ => agent.post(PING, &[("origin", "https://evil.example")]).await,
        };
        assert_eq!(refused.status, [413, 415, 403][turn]);
        assert_eq!(refused.header("connection"), Some("close"));
        assert_eq!(agent.post(PING, &[]).await.status, 200);
    }
}
