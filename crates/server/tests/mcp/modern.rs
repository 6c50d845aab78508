//! The modern era: every result says what kind it is and how long it may be kept, and both eras are
//! told the same in substance.

use serde_json::{Value, json};

use frontdesk_testkit::app::TestApp;

use super::requests::{LEGACY, legacy, modern, whole};

/// The result without what only the modern era says.
fn bare(mut result: Value) -> Value {
    for name in ["resultType", "ttlMs", "cacheScope"] {
        assert!(result.as_object_mut().unwrap().remove(name).is_some(), "{name} is missing in {result}");
    }
    result
}

#[tokio::test]
async fn lists_and_reads_say_how_long_they_hold_and_for_whom() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for (method, params, ttl) in [
        ("tools/list", json!({}), 60_000),
        ("resources/templates/list", json!({}), 60_000),
        ("resources/list", json!({}), 0),
        ("resources/read", json!({"uri": "amcp://dlr_lakeside/leads?limit=100"}), 0),
    ] {
        let (status, answer) = whole(&modern(&mut agent, method, params.clone()).await);
        assert_eq!(status, 200, "{answer}");
        let result = &answer["result"];
        assert_eq!(
            (&result["resultType"], &result["ttlMs"], &result["cacheScope"]),
            (&json!("complete"), &json!(ttl), &json!("private")),
            "{method}"
        );
        // The legacy era gets the same without these three.
        let mut modern = bare(result.clone());
        let mut legacy = legacy(&mut agent, "2025-11-25", method, params).await.json()["result"].clone();
        for result in [&mut modern, &mut legacy] {
            result.as_object_mut().unwrap().remove("nextCursor");
        }
        assert_eq!(modern, legacy, "{method}");
    }
    let (_, manifest) = whole(&modern(&mut agent, "resources/read", json!({"uri": "amcp://manifest"})).await);
    assert_eq!(manifest["result"]["resultType"], json!("complete"));
    assert!(manifest["result"]["ttlMs"].is_u64() && manifest["result"]["cacheScope"].is_string());
}

#[tokio::test]
async fn a_tool_answers_both_eras_alike() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let id = agent.call("leads.list", json!({"limit": 1})).await["items"][0]["id"].clone();
    for (arguments, fails) in [(json!({"id": id}), false), (json!({"id": "led_0"}), true), (json!({}), true)] {
        let call = json!({"name": "leads.get", "arguments": arguments});
        let response = modern(&mut agent, "tools/call", call.clone()).await;
        assert_eq!(response.status, 200);
        let result = response.json()["result"].clone();
        let keys: Vec<&str> = result.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["content", "isError", "resultType", "structuredContent"]);
        assert_eq!((&result["isError"], &result["resultType"]), (&json!(fails), &json!("complete")));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(result["content"], json!([{"type": "text", "text": text}]));
        assert!(response.text().contains(&format!("\"structuredContent\":{text}")), "{}", response.text());
        for version in LEGACY {
            let old = legacy(&mut agent, version, "tools/call", call.clone()).await;
            let old_result = old.json()["result"].clone();
            let keys: Vec<&str> = old_result.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, ["content", "isError", "structuredContent"], "{version}");
            assert_eq!((&old_result["content"], &old_result["isError"]), (&result["content"], &json!(fails)));
            assert!(old.text().contains(&format!("\"structuredContent\":{text}")), "{version}");
        }
    }
}

#[tokio::test]
async fn both_eras_take_turns_on_one_connection() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for turn in 0..12 {
        let result = match turn % 3 {
            0 => modern(&mut agent, "tools/list", json!({})).await,
            1 => legacy(&mut agent, "2024-11-05", "tools/list", json!({})).await,
            _ => agent.post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, &[]).await,
        };
        assert_eq!(result.json()["result"].get("resultType").is_some(), turn % 3 == 0, "turn {turn}");
    }
    assert_eq!(agent.http.opened, 1);
}

#[tokio::test]
async fn a_modern_request_needs_its_version_and_capabilities() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    for meta in [
        json!(null),
        json!("2026-07-28"),
        json!({}),
        json!({version: "2026-07-28"}),
        json!({version: 20260728, capabilities: {}}),
        json!({version: null, capabilities: {}}),
        json!({version: "2026-07-28", capabilities: null}),
        json!({version: "2026-07-28", capabilities: []}),
        json!({version: "2026-07-28", capabilities: "none"}),
        json!({capabilities: {}}),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": {"_meta": meta}}).to_string();
        let (status, answer) = whole(&agent.post(&body, &headers).await);
        assert_eq!(
            (status, &answer["error"]["code"], &answer["id"]),
            (400, &json!(-32602), &json!(4)),
            "{meta}: {answer}"
        );
    }
    // Discovery without anything is a modern request that forgot it, and is told so.
    let (status, answer) = whole(&agent.post(r#"{"jsonrpc":"2.0","id":5,"method":"server/discover"}"#, &[]).await);
    assert_eq!((status, &answer["error"]["code"], &answer["id"]), (400, &json!(-32602), &json!(5)));
}
