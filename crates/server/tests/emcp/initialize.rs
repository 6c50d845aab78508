//! How the server introduces itself over HTTPS, in both eras of the protocol.

use serde_json::{Value, json};

use crate::stage::{Stage, message};
use frontdesk_testkit::app::process::run_frontdesk;

const MODERN: &str = "2026-07-28";

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[tokio::test]
async fn e_03_e_04_e_05_initialize_and_discover_name_the_toolset() {
    let stage = Stage::open();
    let said = run_frontdesk(stage.folder.path(), &["--version"]).out;
    let version = said.trim().rsplit(' ').next().unwrap().to_owned();
    let mut agent = stage.agent();
    let mut hellos = Vec::new();
    for asked in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let result = agent.post(message("initialize", json!({"protocolVersion": asked}))).await.json()["result"].take();
        assert_eq!(result["protocolVersion"], json!(asked));
        hellos.push((result["serverInfo"].clone(), result["capabilities"].clone()));
    }
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "server/discover")];
    let found = agent.send("POST", &headers, message("server/discover", json!({"_meta": meta()}))).await;
    let result = found.json()["result"].take();
    hellos.push((result["_meta"]["io.modelcontextprotocol/serverInfo"].clone(), result["capabilities"].clone()));
    for (info, capabilities) in hellos {
        assert_eq!(info["platform"], json!("eMCP"), "{info}");
        assert_eq!(info["platformVersion"], json!(version), "{info}");
        assert_eq!(capabilities["evo"], json!({"toolsetVersion": "1.0"}));
        assert_eq!(
            capabilities["experimental"],
            json!({"evo": {"toolsetVersion": "1.0", "platform": "eMCP", "platformVersion": version}})
        );
    }
}

#[tokio::test]
async fn e_22_e_40_both_eras_read_the_same_page() {
    let stage = Stage::open();
    let mut agent = stage.agent();
    let arguments = json!({"id": 13, "with_tvs": ["price", "color:d"]});
    let legacy = agent.call("evo.content.get", arguments.clone()).await["result"].take();
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "evo.content.get")];
    let params = json!({"name": "evo.content.get", "arguments": arguments, "_meta": meta()});
    let modern = agent.send("POST", &headers, message("tools/call", params)).await.json()["result"].take();
    assert_eq!(legacy["structuredContent"], modern["structuredContent"]);
    assert_eq!(
        legacy["content"][0]["text"].as_str().unwrap(),
        r#"{"item":{"id":13,"parent":9,"pagetitle":"Product 1-1-4","longtitle":"Product 1-1-4 — long","description":"About Product 1-1-4","alias":"doc-13","published":1,"deleted":0,"hidemenu":true,"menuindex":3,"template":4,"createdon":1700046800,"editedon":1700046860,"pub_date":0,"unpub_date":0,"isfolder":0,"type":"document","tvs":{"price":"114","color":"red"}},"meta":{"toolsetVersion":"1.0"}}"#
    );
    let text: Value = serde_json::from_str(legacy["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, legacy["structuredContent"]);
    let none = agent.ask("evo.content.get", json!({"id": 255})).await;
    assert_eq!(none, json!({"item": null, "meta": {"toolsetVersion": "1.0"}}));
    let empty = agent.ask("evo.content.search", json!({"limit": 20, "parent": 1})).await;
    let meta = json!({"limit": 20, "offset": 0, "count": 0, "toolsetVersion": "1.0"});
    assert_eq!(empty, json!({"items": [], "meta": meta}));
}
