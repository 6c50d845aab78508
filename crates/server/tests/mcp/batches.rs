//! Batches, which one version has and no other.

use serde_json::{Value, json};

use frontdesk_testkit::app::TestApp;

use super::requests::{refusal, whole};

const BATCHES: [(&str, &str); 1] = [("mcp-protocol-version", "2025-03-26")];

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn each_message_of_a_batch_stands_and_falls_for_itself() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let batch = json!([
        request(1, "ping", json!({})),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(2, "no/such", json!({})),
        request(3, "tools/call", json!({"name": "inventory.get", "arguments": {"id": "veh_0"}})),
        {"jsonrpc": "2.0", "id": 4},
        7,
        {"jsonrpc": "2.0", "id": 5, "result": {}},
    ]);
    let response = agent.post(&batch.to_string(), &BATCHES).await;
    let (status, answer) = whole(&response);
    assert_eq!(status, 200);
    let answers = answer.as_array().unwrap();
    assert_eq!(answers.len(), 5, "{answer}");
    assert_eq!(answers[0], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(answers[1], refusal(json!(2), -32601, "request.unknown_method", "Method not found"));
    assert_eq!(answers[2]["result"]["structuredContent"]["error"]["code"], json!("inventory.not_found"));
    assert_eq!((&answers[3]["id"], &answers[3]["error"]["code"]), (&json!(4), &json!(-32600)));
    assert_eq!((&answers[4]["id"], &answers[4]["error"]["code"]), (&json!(null), &json!(-32600)));

    // Nothing to answer is nothing.
    let silent = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "x"}]);
    let response = agent.post(&silent.to_string(), &BATCHES).await;
    assert_eq!((response.status, response.text()), (202, ""));
}

#[tokio::test]
async fn other_versions_take_no_batches() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let batch = json!([request(1, "ping", json!({}))]).to_string();
    let words = "Batches exist only in protocol version 2025-03-26; send one message per request.";
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "2030-01-01"] {
        let response = agent.post(&batch, &[("mcp-protocol-version", version)]).await;
        let mut expected = refusal(Value::Null, -32600, "request.not_rpc", words);
        // Versions from 2025-11-25 on know no null id.
        if ["2025-11-25", "2026-07-28"].contains(&version) {
            expected.as_object_mut().unwrap().remove("id");
        }
        assert_eq!(whole(&response), (400, expected), "{version}");
    }
}

#[tokio::test]
async fn a_batch_has_bounds() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let many =
        |count: i64| Value::from((0..count).map(|id| request(id, "ping", json!({}))).collect::<Vec<_>>()).to_string();
    let full = agent.post(&many(64), &BATCHES).await;
    assert_eq!((full.status, full.json().as_array().unwrap().len()), (200, 64));
    for (body, words) in [
        (many(65), "A batch must not hold more than 64 messages."),
        (many(3_000), "A batch must not hold more than 64 messages."),
        ("[]".to_owned(), "A batch must not be empty."),
        (
            json!([request(1, "ping", json!({})), request(1, "ping", json!({}))]).to_string(),
            "Two requests of this batch have the same id.",
        ),
        (
            json!([request(1, "initialize", json!({"protocolVersion": "2025-03-26"}))]).to_string(),
            "`initialize` must not be part of a batch.",
        ),
    ] {
        let response = agent.post(&body, &BATCHES).await;
        assert_eq!(whole(&response), (400, refusal(Value::Null, -32600, "request.not_rpc", words)), "{body:.80}");
    }
    // A batch inside a batch is a message that is none.
    let nested = agent.post("[[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]]", &BATCHES).await.json();
    assert_eq!(nested[0]["error"]["code"], json!(-32600));
}

#[tokio::test]
async fn a_batch_gets_around_no_guard() {
    let desk = TestApp::start();
    let mut agent = desk.weak_agent().await;
    let call = |id: i64, tool: &str| request(id, "tools/call", json!({"name": tool, "arguments": {"limit": 1}}));
    let batch = json!([call(1, "inventory.list"), call(2, "leads.list"), call(3, "customers.list")]);
    let (status, answer) = whole(&agent.post(&batch.to_string(), &BATCHES).await);
    assert_eq!(status, 200);
    assert_eq!(answer[0]["result"]["isError"], json!(false));
    for refused in [&answer[1], &answer[2]] {
        assert_eq!(refused["error"]["data"]["error"]["code"], json!("auth.insufficient_scope"), "{refused}");
        assert!(refused.get("result").is_none());
    }
    let headers = [("content-type", "application/json")];
    let stranger = desk.stranger().request("POST", "/mcp/automotive", &headers, batch.to_string()).await;
    assert_eq!(stranger.status, 401);
}
