//! Requests made by hand, and the arguments that tests share.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use frontdesk_testkit::app::http_client::{HttpConnection, HttpResponse, trusting};
use frontdesk_testkit::app::{PATH, TestAgent, TestApp};

pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A connection that sends what it is given and nothing else.
pub(crate) async fn connect(desk: &TestApp) -> HttpConnection {
    let config = Arc::new(trusting(&desk.ca_file(), rustls::ALL_VERSIONS));
    HttpConnection::open(desk.address, config, "localhost").await.unwrap()
}

/// The answer to exactly these bytes; `None` where the desk only closed.
pub(crate) async fn answer_to(desk: &TestApp, bytes: &[u8]) -> Option<HttpResponse> {
    let mut connection = connect(desk).await;
    connection.send(bytes).await.unwrap();
    connection.receive().await.ok()
}

/// A good ping with these lines instead of the usual `Host` and `Content-Length`.
pub(crate) fn ping_with(agent: &TestAgent, target: &str, lines: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {target} HTTP/1.1\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n{lines}\r\n{body}",
        agent.token
    )
    .into_bytes()
}

/// A ping whose head and body are as they should be.
pub(crate) async fn pings(agent: &mut TestAgent) -> u16 {
    agent.post(PING, &[]).await.status
}

/// A request to the endpoint with these headers alone.
pub(crate) async fn bare(desk: &TestApp, headers: &[(&str, &str)]) -> HttpResponse {
    let mut all = vec![("content-type", "application/json")];
    all.extend_from_slice(headers);
    desk.stranger().request("POST", PATH, &all, PING).await
}

/// Arguments with which `leads.create` succeeds.
pub(crate) fn a_lead() -> Value {
    json!({
        "contact": {"name": "Dana Rivera", "email": "dana@example.com", "phone": "+15125550123"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email", "sms"], "text": "Yes, do call me"},
        "comments": "After six, please"
    })
}

/// The id of the newest thing a list has.
pub(crate) async fn first_id(agent: &mut TestAgent, tool: &str) -> String {
    let page = agent.call(tool, json!({"limit": 1})).await;
    page["items"][0]["id"].as_str().unwrap().to_owned()
}

/// The error's code, wherever an answer may carry one: in a tool's result, in JSON-RPC, or plain.
pub(crate) fn code(answer: &Value) -> Option<&str> {
    let places = [
        "/result/structuredContent/error/code",
        "/error/data/error/code",
        "/error/code",
        "/structuredContent/error/code",
    ];
    places.iter().find_map(|place| answer.pointer(place).and_then(Value::as_str))
}

/// The log once it has this many whole lines. What is only counted is said once a second.
pub(crate) async fn log_of(desk: &TestApp, lines: usize) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let log = desk.log();
        if log.matches('\n').count() >= lines && log.ends_with('\n') {
            return log;
        }
        assert!(Instant::now() < until, "fewer than {lines} lines: {log}");
        sleep(Duration::from_millis(10)).await;
    }
}
