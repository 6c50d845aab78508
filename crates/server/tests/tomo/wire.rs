//! What callers may leave out, and what HTTP itself refuses.

use serde_json::json;

use crate::stage::{BEARERS, CALL, INITIALIZE, LIST, LIVE, PATH, PartnerServer, json_of};

#[tokio::test]
async fn t_003_each_request_works_alone_without_accept_or_session() {
    let server = PartnerServer::open("", BEARERS);
    // The client of these tests sends no header that is not named here.
    let listed = server.bearer(LIVE, LIST).await;
    assert_eq!(json_of(&listed)["result"]["tools"].as_array().unwrap().len(), 5);
    assert!(listed.header("mcp-session-id").is_none());
    let answer = server.bearer(LIVE, INITIALIZE).await;
    let result = &json_of(&answer)["result"];
    assert_eq!(result["protocolVersion"], "2024-11-05");
    assert_eq!(result["serverInfo"]["name"], "Acme");
    assert_eq!(result["capabilities"], json!({"tools": {}}));
    let called = json_of(&server.bearer(LIVE, CALL).await);
    assert_eq!((&called["id"], &called["error"]["code"]), (&json!("c-1"), &json!(-32602)));
}

#[tokio::test]
async fn t_085_other_content_types_get_415_and_get_405() {
    let server = PartnerServer::open("", BEARERS);
    let bearer = format!("Bearer {LIVE}");
    let mut http = server.http();
    for kind in ["text/plain", "application/xml", "application/x-www-form-urlencoded"] {
        let headers = [("content-type", kind), ("authorization", bearer.as_str())];
        let refused = http.request("POST", PATH, &headers, LIST).await;
        assert_eq!(
            (refused.status, &json_of(&refused)["error"]["data"]["tomo_error_code"]),
            (415, &json!("INVALID_REQUEST")),
            "{kind}"
        );
    }
    let headers = [("authorization", bearer.as_str()), ("accept", "text/event-stream")];
    let refused = http.request("GET", PATH, &headers, "").await;
    assert_eq!((refused.status, refused.header("allow")), (405, Some("POST, DELETE")));
    let accepted = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("authorization", bearer.as_str()),
    ];
    let listed = http.request("POST", PATH, &accepted, LIST).await;
    assert_eq!((listed.status, listed.header("content-type")), (200, Some("application/json")));
}

#[tokio::test]
async fn t_089_a_foreign_origin_is_refused() {
    let server = PartnerServer::open("", BEARERS);
    let bearer = format!("Bearer {LIVE}");
    let foreign = [("authorization", bearer.as_str()), ("origin", "https://evil.example")];
    assert_eq!(server.post(&foreign, LIST).await.status, 403);
}

/// TLS 1.2 and 1.3 are tested with the listener; a request without TLS gets no answer at all.
#[tokio::test]
async fn t_088_plain_http_is_not_answered() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let server = PartnerServer::open("", BEARERS);
    let mut socket = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let request = format!("POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {LIVE}\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test]
async fn the_http_status_of_errors_is_a_setting() {
    let server = PartnerServer::open("error_status = \"equivalent\"\n", BEARERS);
    assert_eq!(server.bearer(LIVE, CALL).await.status, 400);
    let other = PartnerServer::open("", BEARERS);
    assert_eq!(other.bearer(LIVE, CALL).await.status, 200);
}
