//! Headers of the modern era against the body, and versions that nobody speaks.

use serde_json::{Value, json};

use frontdesk_testkit::app::TestApp;

use super::requests::{meta, whole};

/// The headers of one request.
type Sent<'a> = &'a [(&'a str, &'a str)];

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

fn body(method: &str, mut params: Value) -> String {
    params["_meta"] = meta();
    json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": params}).to_string()
}

#[tokio::test]
async fn headers_that_are_missing_or_contradict_the_body_are_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let list = body("tools/list", json!({}));
    let call = body("tools/call", json!({"name": "inventory.list", "arguments": {"limit": 1}}));
    let read = body("resources/read", json!({"uri": "amcp://manifest"}));
    let refused: [(&str, &str, Sent); 16] = [
        ("MCP-Protocol-Version", &list, &[("mcp-method", "tools/list")]),
        ("MCP-Protocol-Version", &list, &[("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/list")]),
        ("MCP-Protocol-Version", &list, &[VERSION, VERSION, ("mcp-method", "tools/list")]),
        ("Mcp-Method", &list, &[VERSION]),
        ("Mcp-Method", &list, &[VERSION, ("mcp-method", "tools/call")]),
        ("Mcp-Method", &list, &[VERSION, ("mcp-method", "TOOLS/LIST")]),
        ("Mcp-Method", &list, &[VERSION, ("mcp-method", "")]),
        // Whoever routes by the header must not be able to see another method than the desk.
        ("Mcp-Method", &list, &[VERSION, ("mcp-method", "tools/list"), ("mcp-method", "tools/call")]),
        ("Mcp-Name", &call, &[VERSION, ("mcp-method", "tools/call")]),
        ("Mcp-Name", &call, &[VERSION, ("mcp-method", "tools/call"), ("mcp-name", "leads.list")]),
        ("Mcp-Name", &call, &[VERSION, ("mcp-method", "tools/call"), ("mcp-name", "=?base64?bGVhZHMubGlzdA==?=")]),
        ("Mcp-Name", &call, &[VERSION, ("mcp-method", "tools/call"), ("mcp-name", "=?base64?!!?=")]),
        (
            "Mcp-Name",
            &call,
            &[VERSION, ("mcp-method", "tools/call"), ("mcp-name", "inventory.list"), ("mcp-name", "leads.list")],
        ),
        ("Mcp-Name", &call, &[VERSION, ("mcp-method", "tools/call"), ("mcp-name", "ínventory.list")]),
        ("Mcp-Name", &read, &[VERSION, ("mcp-method", "resources/read"), ("mcp-name", "amcp://dlr_lakeside/leads")]),
        ("Mcp-Name", &read, &[VERSION, ("mcp-method", "resources/read")]),
    ];
    for (header, body, headers) in refused {
        let (status, answer) = whole(&agent.post(body, headers).await);
        assert_eq!(
            (status, &answer["id"], &answer["error"]["code"]),
            (400, &json!(9), &json!(-32020)),
            "{headers:?}: {answer}"
        );
        let words = answer["error"]["message"].as_str().unwrap();
        assert!(words.contains(header), "{headers:?}: {words}");
        assert_eq!(answer["error"]["data"]["error"]["code"], json!("request.header_mismatch"));
    }
    let accepted: [(&str, Sent); 4] = [
        (&list, &[VERSION, ("mcp-method", "tools/list")]),
        (&call, &[VERSION, ("mcp-method", "tools/call"), ("mcp-name", "inventory.list")]),
        (&call, &[VERSION, ("Mcp-Method", " tools/call "), ("Mcp-Name", "=?base64?aW52ZW50b3J5Lmxpc3Q=?=")]),
        (&read, &[VERSION, ("mcp-method", "resources/read"), ("mcp-name", "amcp://manifest")]),
    ];
    for (body, headers) in accepted {
        let (status, answer) = whole(&agent.post(body, headers).await);
        assert_eq!((status, &answer["result"]["resultType"]), (200, &json!("complete")), "{headers:?}: {answer}");
    }
}

#[tokio::test]
async fn a_version_that_nobody_speaks_is_refused_with_those_there_are() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let unsupported = |asked: &str| {
        json!({"jsonrpc": "2.0", "id": 9, "error": {
            "code": -32022,
            "message": "Unsupported protocol version",
            "data": {
                "supported": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
                "requested": asked,
            },
        }})
    };
    let plain = r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#;
    for version in ["2030-01-01", "1.0", "2025-11-25-draft", "2025-06-18, 2025-11-25"] {
        let response = agent.post(plain, &[("mcp-protocol-version", version)]).await;
        assert_eq!(whole(&response), (400, unsupported(version)), "{version}");
        let mut stated = meta();
        stated["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {"_meta": stated}}).to_string();
        let response = agent.post(&body, &[("mcp-protocol-version", version)]).await;
        assert_eq!(whole(&response), (400, unsupported(version)), "{version}");
    }
    // A header sent twice names no version, and one of bytes that are no text neither.
    for headers in [
        &[("mcp-protocol-version", "2025-11-25"), ("mcp-protocol-version", "2025-06-18")][..],
        &[("mcp-protocol-version", "2025-11-25\u{e9}")],
    ] {
        let (status, answer) = whole(&agent.post(plain, headers).await);
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32022)), "{headers:?}");
    }
    // What is echoed of it is short.
    let (_, answer) = whole(&agent.post(plain, &[("mcp-protocol-version", &"9".repeat(500))]).await);
    assert_eq!(answer["error"]["data"]["requested"], json!("9".repeat(64)));
}

#[tokio::test]
async fn without_a_header_the_version_is_the_one_before_the_header() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    // 2025-03-26 is the only version that takes batches, so taking one shows which is meant.
    let (status, answer) = whole(&agent.post(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, &[]).await);
    assert_eq!((status, answer), (200, json!([{"jsonrpc": "2.0", "id": 1, "result": {}}])));
}
