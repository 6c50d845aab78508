//! Opening a conversation: `initialize` for each legacy version, `server/discover` for the modern one.

use serde_json::{Value, json};

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::automotive_names::{EXTENSIONS, ordinary_tools};

use super::requests::{LEGACY, MODERN, legacy, modern, whole};

fn hello(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

#[tokio::test]
async fn every_legacy_version_is_served_without_a_session() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for version in LEGACY {
        let body =
            json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": hello(version)}).to_string();
        let response = agent.post(&body, &[("accept", "application/json, text/event-stream")]).await;
        let (status, answer) = whole(&response);
        assert_eq!((status, &answer["id"]), (200, &json!("first")));
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(response.header("mcp-session-id"), None);
        let result = answer["result"].as_object().unwrap();
        let keys: Vec<&str> = result.keys().map(String::as_str).collect();
        assert_eq!(keys, ["capabilities", "instructions", "protocolVersion", "serverInfo"]);
        assert_eq!(result["protocolVersion"], json!(version));
        assert_eq!(
            result["serverInfo"],
            json!({"name": "frontdesk", "title": "Frontdesk: AutomotiveMCP", "version": env!("CARGO_PKG_VERSION")})
        );
        assert_eq!(result["capabilities"]["tools"], json!({"listChanged": false}));
        assert_eq!(result["capabilities"]["resources"], json!({"subscribe": false, "listChanged": false}));

        let done = agent
            .post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &[("mcp-protocol-version", version)])
            .await;
        assert_eq!((done.status, done.text()), (202, ""));
        let tools = legacy(&mut agent, version, "tools/list", json!({})).await.json();
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), ordinary_tools().len() + EXTENSIONS.len());
        let pong = legacy(&mut agent, version, "ping", json!({})).await;
        assert_eq!(whole(&pong), (200, json!({"jsonrpc": "2.0", "id": 1, "result": {}})));
    }
}

#[tokio::test]
async fn an_unknown_version_in_initialize_gets_the_newest() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for version in ["1999-01-01", "2030-01-01", MODERN, "", "latest"] {
        let answer = agent.result("initialize", hello(version)).await;
        assert_eq!(answer["protocolVersion"], json!("2025-11-25"), "{version}");
    }
    // The greeting itself may come under any header, or none: the version is about to be agreed.
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello("2025-06-18")}).to_string();
    for headers in [&[][..], &[("mcp-protocol-version", "2025-11-25")], &[("mcp-protocol-version", "2030-01-01")]] {
        let (status, answer) = whole(&agent.post(&body, headers).await);
        assert_eq!((status, &answer["result"]["protocolVersion"]), (200, &json!("2025-06-18")));
    }
    for params in [json!({}), json!({"protocolVersion": 7}), json!({"protocolVersion": null})] {
        let answer = agent.send("initialize", params.clone()).await.json();
        assert_eq!(answer["error"]["code"], json!(-32602), "{params}");
    }
}

#[tokio::test]
async fn discovery_tells_the_modern_client_all_it_needs() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let (status, answer) = whole(&modern(&mut agent, "server/discover", json!({})).await);
    assert_eq!(status, 200);
    let result = &answer["result"];
    assert_eq!(
        result["supportedVersions"],
        json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    );
    assert_eq!(
        result["_meta"],
        json!({"io.modelcontextprotocol/serverInfo": {
            "name": "frontdesk", "title": "Frontdesk: AutomotiveMCP", "version": env!("CARGO_PKG_VERSION"),
        }})
    );
    assert_eq!(
        (&result["resultType"], &result["ttlMs"], &result["cacheScope"]),
        (&json!("complete"), &json!(3_600_000), &json!("public"))
    );
    // Both eras are told the same about what the server can do.
    let greeted = agent.result("initialize", hello("2025-11-25")).await;
    assert_eq!(result["capabilities"], greeted["capabilities"]);
    assert_eq!(result["instructions"], greeted["instructions"]);
}

#[tokio::test]
async fn a_greeting_needs_a_token_like_everything_else() {
    let desk = TestApp::start();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello("2025-11-25")}).to_string();
    let headers = [("content-type", "application/json")];
    let response = desk.stranger().request("POST", "/mcp/automotive", &headers, body).await;
    assert_eq!((response.status, &response.json()["error"]["code"]), (401, &json!("auth.unauthorized")));
    assert!(response.header("www-authenticate").is_some_and(|challenge| challenge.starts_with("Bearer ")));
}
