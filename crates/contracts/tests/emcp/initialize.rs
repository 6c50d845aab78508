//! The answers to `initialize` and `server/discover`, and the empty lists.

use frontdesk_contracts::emcp::{EmcpSettings, TOOLSET_VERSION};
use serde_json::{Value, json};

use crate::support::{TOKEN, TestDesk};

async fn result(desk: &TestDesk, version: &str, method: &str, params: Value) -> Value {
    let reply = desk.send(TOKEN, version, method, params).await;
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    let mut body: Value = serde_json::from_slice(&reply.body).unwrap();
    body["result"].take()
}

fn assert_server_info(capabilities: &Value, info: &Value) {
    assert_eq!(TOOLSET_VERSION, "1.0");
    assert_eq!(
        *capabilities,
        json!({
            "tools": {"listChanged": false},
            "resources": {"listChanged": false},
            "prompts": {"listChanged": false},
            "evo": {"toolsetVersion": "1.0"},
            "experimental": {
                "evo": {"toolsetVersion": "1.0", "platform": "eMCP", "platformVersion": env!("CARGO_PKG_VERSION")},
            },
        })
    );
    assert_eq!(
        *info,
        json!({
            "name": "eMCP Content Server",
            "title": "Frontdesk: eMCP",
            "version": env!("CARGO_PKG_VERSION"),
            "platform": "eMCP",
            "platformVersion": env!("CARGO_PKG_VERSION"),
        })
    );
}

#[tokio::test]
async fn e_03_e_04_e_05_initialize_names_platform_and_toolset() {
    let desk = TestDesk::bare();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer = result(&desk, version, "initialize", json!({"protocolVersion": version})).await;
        assert_eq!(answer["protocolVersion"], json!(version));
        assert_server_info(&answer["capabilities"], &answer["serverInfo"]);
    }
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = result(&desk, "2026-07-28", "server/discover", json!({"_meta": meta})).await;
    assert_server_info(&found["capabilities"], &found["_meta"]["io.modelcontextprotocol/serverInfo"]);
}

#[tokio::test]
async fn initialize_without_a_version_means_2025_11_25() {
    let reply = TestDesk::bare().send(TOKEN, "2025-11-25", "initialize", json!({})).await;
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(body["result"]["protocolVersion"], json!("2025-11-25"));
    assert!(reply.headers.iter().any(|(name, value)| *name == "MCP-Session-Id" && value.len() == 36));
}

#[tokio::test]
async fn resources_and_prompts_are_listed_as_empty() {
    let desk = TestDesk::bare();
    for (method, wanted) in [
        ("ping", json!({})),
        ("resources/list", json!({"resources": []})),
        ("resources/templates/list", json!({"resourceTemplates": []})),
        ("prompts/list", json!({"prompts": []})),
    ] {
        assert_eq!(result(&desk, "2025-11-25", method, json!({})).await, wanted, "{method}");
    }
}

#[tokio::test]
async fn a_caller_of_another_site_is_refused() {
    let settings = EmcpSettings { tenant: Some("site".to_owned()), ..EmcpSettings::default() };
    let desk = TestDesk::on_sqlite_with("", settings).await;
    let call = async |token: &str| {
        let params = json!({"name": "evo.content.get", "arguments": {"id": 1}});
        let reply = desk.send(token, "2025-11-25", "tools/call", params).await;
        (reply.status, reply.code)
    };
    assert_eq!(call("site/mcp:call").await, (200, None));
    assert_eq!(call("other,site/mcp:call").await, (200, None));
    assert_eq!(call("other/mcp:call").await, (403, Some("forbidden")));
    assert_eq!(call("site/mcp:read").await, (403, Some("scope_denied")));
}

/// In the modern era, too, the text and the structured content of a result are the same.
#[tokio::test]
async fn e_22_a_modern_client_reads_a_page() {
    let desk = TestDesk::on_sqlite().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "evo.content.get", "arguments": {"id": 99_999}, "_meta": meta});
    assert_eq!(
        result(&desk, "2026-07-28", "tools/call", params).await,
        json!({
            "content": [{"type": "text", "text": "{\"item\":null,\"meta\":{\"toolsetVersion\":\"1.0\"}}"}],
            "structuredContent": {"item": null, "meta": {"toolsetVersion": "1.0"}},
            "isError": false,
            "resultType": "complete",
        })
    );
}
