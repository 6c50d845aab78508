//! How the desk closes: what runs is finished, nobody new is let in, and the exit code is 0.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use frontdesk_testkit::app::http_client::{HttpConnection, trusting};
use frontdesk_testkit::app::{PATH, TestApp};

/// A call whose body is half sent when the signal comes.
async fn finishes_a_running_call_on(signal: &str) {
    let mut desk = TestApp::start();
    let agent = desk.agent().await;
    let order = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "leads.create", "arguments": {
        "contact": {"name": "Dana Rivera", "email": "dana@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
        "idempotency_key": "while-closing",
    }}});
    let body = order.to_string();
    let (first, rest) = body.split_at(body.len() / 2);
    let config = Arc::new(trusting(&desk.ca_file(), rustls::ALL_VERSIONS));
    let mut running = HttpConnection::open(desk.address, config, "localhost").await.unwrap();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        agent.token,
        body.len(),
    );
    running.send(head.as_bytes()).await.unwrap();
    running.receive_continue().await;
    running.send(first.as_bytes()).await.unwrap();

    desk.signal(signal);
    let asked = Instant::now();
    while TcpStream::connect(desk.address).await.is_ok() {
        assert!(asked.elapsed() < Duration::from_secs(9), "a closing desk lets nobody in");
        sleep(Duration::from_millis(20)).await;
    }
    running.send(rest.as_bytes()).await.unwrap();
    let answer = running.receive().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    let lead: Value = answer.json()["result"]["structuredContent"].clone();
    assert_eq!(lead["contact"]["name"], json!("Dana Rivera"), "{lead}");
    assert_eq!(desk.wait(), Some(0));

    let desk = desk.start_again();
    let mut agent = desk.agent().await;
    assert_eq!(agent.call("leads.get", json!({"id": lead["id"]})).await, lead);
}

#[tokio::test]
async fn sigterm_finishes_a_running_call_and_exits_with_0() {
    finishes_a_running_call_on("TERM").await;
}

#[tokio::test]
async fn ctrl_c_finishes_a_running_call_and_exits_with_0() {
    finishes_a_running_call_on("INT").await;
}

#[test]
fn the_admin_socket_is_removed_and_replaced_after_a_crash() {
    let mut desk = TestApp::start();
    let socket = desk.data().join("operator.sock");
    assert!(socket.exists());
    assert_eq!(desk.stop(), Some(0));
    assert!(!socket.exists());

    let mut desk = desk.start_again();
    desk.signal("KILL");
    assert_eq!(desk.wait(), None);
    assert!(socket.exists());
    assert_eq!(desk.command(&["client", "list"]).0, Some(0));
    let desk = desk.start_again();
    assert_eq!(desk.command(&["client", "list"]).0, Some(0));
}
