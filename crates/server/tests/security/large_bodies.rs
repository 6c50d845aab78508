//! Large bodies: paid for by their size before they are read, and one memory for all of them from which nobody keeps
//! another out.

use serde_json::json;

use crate::requests::connect;
use frontdesk_testkit::app::http_client::{HttpConnection, HttpResponse};
use frontdesk_testkit::app::{DemoTenant, EVERYTHING, PATH, READ_STOCK, TestAgent, TestApp};

const MIB: usize = 1024 * 1024;
/// One call a minute, ten at once.
const SLOW: [(&str, &str); 2] = [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "1"), ("FRONTDESK_LIMITS_BURST", "10")];
/// Memory for one body of 1 MiB.
const ONE_BODY: [(&str, &str); 1] = [("FRONTDESK_LIMITS_BODY_MEMORY_BYTES", "1048576")];

/// A ping of so many bytes.
fn ping(length: usize) -> String {
    let around = [r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":""#, r#""}}}"#];
    around.join(&"x".repeat(length - around.concat().len()))
}

/// The head of a message of so many bytes, of which nothing else is sent yet.
fn head(agent: &TestAgent, path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n",
        agent.token
    )
}

/// A connection over which the head of a message was sent, and a part of its body.
async fn begun(desk: &TestApp, agent: &TestAgent, path: &str, length: usize, part: usize) -> HttpConnection {
    let mut connection = connect(desk).await;
    let sent = head(agent, path, length) + ping(length).get(..part).unwrap();
    connection.send(sent.as_bytes()).await.unwrap();
    connection
}

fn refused(response: &HttpResponse, status: u16, error: &serde_json::Value) {
    assert_eq!((response.status, response.json()["error"].clone()), (status, error.clone()));
    assert_eq!(response.header("connection"), Some("close"));
}

#[tokio::test]
async fn a_large_body_over_budget_is_refused_before_it_is_sent() {
    let desk = TestApp::start_with(&SLOW);
    let mut agent = desk.agent().await;
    // 64 calls, and never more than the burst.
    assert_eq!(agent.post(&ping(MIB), &[]).await.status, 200);
    for path in [PATH, "/v1/leads"] {
        let mut connection = begun(&desk, &agent, path, 100 * 1024, 0).await;
        let response = connection.receive().await.unwrap();
        let seconds: u64 = response.header("retry-after").unwrap().parse().unwrap();
        assert!((355..=420).contains(&seconds), "{seconds}");
        let error = json!({
            "code": "rate_limited",
            "message": "Too many calls; wait before the next one.",
            "details": {"retryable": true, "retry_after": seconds},
            "retry_after": seconds
        });
        refused(&response, 429, &error);
        connection.closed_after().await;
    }
    let mut other = desk.agent_of(DemoTenant::Summit, READ_STOCK).await;
    assert_eq!(other.post(&ping(20_000), &[]).await.status, 200);
}

#[tokio::test]
async fn a_chunked_body_over_budget_is_not_parsed() {
    let desk = TestApp::start_with(&SLOW);
    let mut agent = desk.agent().await;
    let chunked = |length: usize| format!("{length:x}\r\n{}\r\n0\r\n\r\n", ping(length));
    let headers = |agent: &TestAgent| {
        format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
            agent.token
        )
    };
    let mut connection = connect(&desk).await;
    connection.send((headers(&agent) + &chunked(90_000)).as_bytes()).await.unwrap();
    assert_eq!(connection.receive().await.unwrap().json(), json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    connection.send((headers(&agent) + &chunked(90_000)).as_bytes()).await.unwrap();
    let response = connection.receive().await.unwrap();
    assert_eq!((response.status, &response.json()["error"]["code"]), (429, &json!("rate_limited")));
    // It was read to its end, so the connection can be used.
    assert_eq!(response.header("connection"), None);
    assert_eq!(agent.post(&ping(200), &[]).await.status, 200);
}

#[tokio::test]
async fn whoever_holds_most_body_memory_is_refused_first() {
    let desk = TestApp::start_with(&ONE_BODY);
    let greedy = desk.agent().await;
    let mut honest = desk.agent_of(DemoTenant::Summit, READ_STOCK).await;
    let mut held = begun(&desk, &greedy, PATH, 1_000_000, 500_000).await;
    let full = json!({
        "code": "internal.unavailable",
        "message": "Too many large requests are being received. Send this one again in a moment.",
        "details": {"retryable": true, "retry_after": 1},
        "retry_after": 1
    });
    // The one who holds all of it gets no more.
    let second = begun(&desk, &greedy, PATH, 100_000, 0).await.receive().await.unwrap();
    refused(&second, 503, &full);
    assert_eq!(second.header("retry-after"), Some("1"));
    // Somebody else gets in, and the one who held most loses it.
    assert_eq!(honest.post(&ping(100_000), &[]).await.status, 200);
    refused(&held.receive().await.unwrap(), 503, &full);
    held.closed_after().await;
    // Small bodies need none of it.
    let _held = begun(&desk, &greedy, PATH, 1_000_000, 500_000).await;
    let mut greedy = greedy;
    assert_eq!(greedy.post(&ping(16_000), &[]).await.status, 200);
}

#[tokio::test]
async fn body_memory_is_given_back() {
    let desk = TestApp::start_with(&ONE_BODY);
    let mut agent = desk.agent_with(EVERYTHING).await;
    // Aborted, refused and answered ones, one after the other.
    for _ in 0..5 {
        drop(begun(&desk, &agent, PATH, 1_000_000, 300_000).await);
        let broken = agent.post(&ping(900_000).replace('}', "]"), &[]).await;
        assert_eq!(broken.json()["error"]["code"], json!(-32700), "{}", broken.text());
        assert_eq!(agent.post(&ping(900_000), &[]).await.status, 200);
    }
}
