//! `tools/list`: what a token may call, and nothing it may not.

use serde_json::{Value, json};

use frontdesk_contracts::automotive;
use frontdesk_testkit::app::{EVERYTHING, READ_LEADS, READ_STOCK, TestApp, WRITE_LEADS};
use frontdesk_testkit::automotive_names::{EXTENSIONS, ordinary_tools};

use super::requests::modern;

#[tokio::test]
async fn the_list_of_tools_holds_what_the_token_may_call() {
    let desk = TestApp::start();
    let stock = ["inventory.list", "inventory.search", "inventory.get"];
    let leads = ["leads.list", "leads.search", "leads.get", "customers.list", "customers.search", "customers.get"];
    let writes = ["leads.create", "leads.update", "customers.create", "customers.update"];
    for (scopes, expected) in [
        (READ_STOCK, stock.to_vec()),
        (READ_LEADS, leads.to_vec()),
        (WRITE_LEADS, [&writes[..], &EXTENSIONS].concat()),
        ("amcp:inventory:read amcp:leads:write", [&stock[..], &writes, &EXTENSIONS].concat()),
        (EVERYTHING, [&ordinary_tools()[..], &EXTENSIONS].concat()),
    ] {
        let mut agent = desk.agent_with(scopes).await;
        let listed = agent.result("tools/list", json!({})).await;
        let names: Vec<&str> =
            listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{scopes}");
        let again = modern(&mut agent, "tools/list", json!({})).await.json();
        assert_eq!(again["result"]["tools"], listed["tools"], "{scopes}");
    }
}

#[tokio::test]
async fn every_tool_is_described_whole() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let listed = agent.result("tools/list", json!({})).await;
    for tool in listed["tools"].as_array().unwrap() {
        let keys: Vec<&str> = tool.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["annotations", "description", "inputSchema", "name", "outputSchema", "title"]);
        let name = tool["name"].as_str().unwrap();
        assert!(name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'.' || byte == b'_'));
        assert!(
            tool["annotations"]["readOnlyHint"].is_boolean() && tool["annotations"]["destructiveHint"].is_boolean()
        );
    }
    // The list leaves out descriptions that it has elsewhere; the OpenAPI document and the reference have them all.
    for spec in automotive::contract().tools.into_iter().map(|tool| tool.spec) {
        every_field_is_explained(spec.name, &spec.input.to_json());
        every_field_is_explained(spec.name, &spec.output.to_json());
    }
    // The first tool needs no arguments, so that a client can try the server with it.
    let first = &listed["tools"][0];
    assert!(first["inputSchema"].get("required").is_none());
    assert!(agent.call(first["name"].as_str().unwrap(), json!({})).await["items"].is_array());
}

fn every_field_is_explained(tool: &str, schema: &Value) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        assert!(field["description"].as_str().is_some_and(|words| words.len() > 3), "{tool}: {name}");
        assert!(field["type"].is_string(), "{tool}: {name}");
        every_field_is_explained(tool, field);
    }
    for inner in [schema.get("items")].into_iter().flatten().chain(schema["oneOf"].as_array().into_iter().flatten()) {
        every_field_is_explained(tool, inner);
    }
}

#[tokio::test]
async fn the_list_is_one_page_and_takes_no_cursor_it_did_not_give() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for cursor in [json!("x"), json!(""), json!(1)] {
        let answer = agent.send("tools/list", json!({"cursor": cursor})).await.json();
        assert_eq!(answer["error"]["code"], json!(-32602), "{cursor}");
    }
    let first = agent.send("tools/list", json!({})).await;
    let second = agent.send("tools/list", json!({})).await;
    let tools = |text: &str| text.split_once("\"result\":").unwrap().1.to_owned();
    assert_eq!(tools(first.text()), tools(second.text()));
}

/// Hosts hand these schemas on to a model, and some drop a tool, or refuse the whole list, over anything more than
/// plain objects and definitions of their own.
#[tokio::test]
async fn schemas_have_no_conditions_and_no_references_at_their_top() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let listed = agent.result("tools/list", json!({})).await;
    for tool in listed["tools"].as_array().unwrap() {
        let keys: Vec<&str> = tool["inputSchema"].as_object().unwrap().keys().map(String::as_str).collect();
        let plain = ["$defs", "additionalProperties", "properties", "required", "type"];
        assert!(keys.iter().all(|key| plain.contains(key)), "{}: {keys:?}", tool["name"]);
        assert_eq!(tool["inputSchema"]["type"], json!("object"), "{}", tool["name"]);
    }
}
