//! JSON and JSON-RPC at their edges: refused by name, never with a 5xx, never with the text they came in.

use serde_json::{Value, json};

use crate::requests::{PING, a_lead, code, pings};
use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{PATH, TestAgent, TestApp};

async fn send(agent: &mut TestAgent, bytes: &[u8]) -> HttpResponse {
    let bearer = format!("Bearer {}", agent.token);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    agent.http.request("POST", PATH, &headers, bytes).await
}

fn is_malformed(response: &HttpResponse, case: &str, message: &str) {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": message, "data": {"error":
        {"code": "request.malformed", "message": message, "details": {"retryable": false}}}}});
    assert_eq!((response.status, response.json()), (400, body), "{case}");
}

/// A ping with this text as its params.
fn with_params(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#)
}

#[tokio::test]
async fn a6_14_invalid_json_is_refused_and_not_echoed() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let encoding = "The text is not UTF-8 without a byte order mark.";
    let utf16: Vec<u8> = PING.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let long_form = [&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xc1\xa9ng\"}"[..]].concat();
    let latin = [&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"caf\xe9\"}"[..]].concat();
    let marked = format!("\u{feff}{PING}").into_bytes();
    let surrogate = [&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}"[..]].concat();
    for (case, bytes) in [("overlong", &long_form), ("latin", &latin), ("mark", &marked), ("surrogate", &surrogate)] {
        is_malformed(&send(&mut agent, bytes).await, case, encoding);
    }
    assert_eq!(send(&mut agent, &utf16).await.status, 400);
    let syntax = "The text is not valid JSON.";
    let texts = [
        "",
        " ",
        "{",
        "{]",
        "Dana Rivera",
        "{\"a\":1,}",
        "{'a':1}",
        "{\"a\":01}",
        "[1,]",
        "// x\n{}",
        "{} {}",
        "{}x",
        "NaN",
        "\"\\ud800\"",
        "\"\\u12\"",
        "\"tab\there\"",
    ];
    for text in texts {
        is_malformed(&send(&mut agent, text.as_bytes()).await, text, syntax);
    }
    for number in ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "+1", ".5", "1.", "0x10", "1_000"] {
        let text = with_params(&format!("{{\"a\":{number}}}"));
        is_malformed(&send(&mut agent, text.as_bytes()).await, number, syntax);
    }
    let twice = "An object names the same key twice.";
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/list"}"#.to_owned(),
        with_params(r#"{"a":1,"a":1}"#),
        with_params(r#"{"a":[{"b":{"c":1,"c":2}}]}"#),
    ] {
        is_malformed(&send(&mut agent, text.as_bytes()).await, &text, twice);
    }
    assert_eq!(pings(&mut agent).await, 200);
}

#[tokio::test]
async fn deep_and_wide_messages_cost_a_refusal_and_no_more() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let deep = "The text is nested too deeply.";
    for depth in [129, 1000, 100_000, 500_000] {
        let text = with_params(&format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth)));
        is_malformed(&send(&mut agent, text.as_bytes()).await, "closed", deep);
        is_malformed(&send(&mut agent, "[".repeat(depth).as_bytes()).await, "left open", deep);
    }
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    is_malformed(&send(&mut agent, objects.as_bytes()).await, "objects", deep);
    let many = "The text holds too many values; send at most 20,000 in one request.";
    let wide = format!("[{}0]", "0,".repeat(500_000));
    is_malformed(&send(&mut agent, wide.as_bytes()).await, "wide", many);
    let towers = format!("[{}0]", format!("{}{},", "[".repeat(60), "]".repeat(60)).repeat(8_000));
    is_malformed(&send(&mut agent, with_params(&towers).as_bytes()).await, "towers", many);
    let mut lead = a_lead();
    lead["consent"]["channels"] = json!(vec!["email"; 15_000]);
    let answer = agent.send("tools/call", json!({"name": "leads.create", "arguments": lead})).await.json();
    assert_eq!(
        answer["result"]["structuredContent"]["error"]["details"]["errors"],
        json!([{"pointer": "/consent/channels", "keyword": "maxItems", "expected": "at most 10 items are allowed"}])
    );
    let keys: serde_json::Map<String, Value> = (0..15_000).map(|at| (format!("k{at}"), json!(at))).collect();
    let answer = agent.send("tools/call", json!({"name": "inventory.list", "arguments": keys})).await;
    assert!(answer.text().len() < 2000);
    assert_eq!(code(&answer.json()), Some("request.invalid"));
    assert_eq!(pings(&mut agent).await, 200);
}

#[tokio::test]
async fn batches_are_small_flat_and_of_one_version() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let ping = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let batch = |count: usize| format!("[{}]", (0..count).map(ping).collect::<Vec<_>>().join(","));
    assert_eq!(agent.post(&batch(64), &[]).await.json().as_array().unwrap().len(), 64);
    for (case, text) in
        [("65", batch(65)), ("4k", batch(4_000)), ("none", batch(0)), ("same id", format!("[{0},{0}]", ping(1)))]
    {
        let response = agent.post(&text, &[]).await;
        assert_eq!((response.status, response.json()["error"]["code"].clone()), (400, json!(-32600)), "{case}");
    }
    let nested = agent.post(&format!("[{}]", batch(2)), &[]).await.json();
    assert_eq!(nested[0]["error"]["code"], json!(-32600));
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"] {
        assert_eq!(agent.post(&batch(1), &[("mcp-protocol-version", version)]).await.status, 400, "{version}");
    }
    let greeting = r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}]"#;
    assert_eq!(agent.post(greeting, &[]).await.status, 400);
}

#[tokio::test]
async fn ids_and_envelopes_that_are_none_are_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let long = format!("\"{}\"", "x".repeat(257));
    let huge = format!("\"{}\"", "x".repeat(1_000_000));
    for id in
        ["null", "1.5", "1e3", "true", "[]", "{}", "[1]", "18446744073709551616", "-9223372036854775809", &long, &huge]
    {
        let response = send(&mut agent, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).as_bytes()).await;
        let answer = response.json();
        assert_eq!(
            (response.status, &answer["id"], &answer["error"]["code"]),
            (400, &json!(null), &json!(-32600)),
            "{id:.30}"
        );
        assert!(response.text().len() < 500);
    }
    for id in
        ["0", "-1", "9007199254740993", "9223372036854775807", "18446744073709551615", "\"\"", "\"a\\u0000\\n\\u202e\""]
    {
        let response = send(&mut agent, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).as_bytes()).await;
        let whole = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, id);
        assert_eq!(response.json(), serde_json::from_str::<Value>(&whole).unwrap());
    }
    for text in [
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":["ping"]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#,
        r#""ping""#,
        "null",
        "17",
    ] {
        let response = send(&mut agent, text.as_bytes()).await;
        assert_eq!((response.status, response.json()["error"]["code"].clone()), (400, json!(-32600)), "{text}");
    }
}

#[tokio::test]
async fn what_is_said_about_a_request_is_bounded_and_changes_nothing() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let huge = "x".repeat(900_000);
    for meta in [
        json!({"progressToken": huge}),
        json!({"progressToken": {"a": [1]}}),
        json!({"io.modelcontextprotocol/related-task": {"taskId": "x"}}),
        json!({"io.modelcontextprotocol/clientInfo": 17}),
        json!({"__proto__": {"admin": true}, "constructor": 1}),
        json!(null),
        json!("text"),
        json!([]),
    ] {
        let answer =
            agent.send("tools/call", json!({"name": "inventory.list", "arguments": {"limit": 1}, "_meta": meta})).await;
        assert_eq!(answer.json()["result"]["isError"], json!(false));
        assert!(answer.text().len() < 20_000);
    }
    for version in [json!(1), json!(null), json!(["2026-07-28"]), json!("1999-01-01"), json!(huge)] {
        let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": version}});
        let response = agent.post(&with_params(&params.to_string()), &[]).await;
        assert_eq!(response.status, 400);
        assert!(response.text().len() < 1000);
    }
}
