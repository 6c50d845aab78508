//! Which scope each tool needs, and that only write tools change data.

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::Scope;
use frontdesk_engine::model::tool::Effect;
use serde_json::json;

use super::support::{ALL_SCOPES, TestDesk};

#[test]
fn a6_09_a6_10_only_a_tools_own_scope_admits_it() {
    let desk = TestDesk::open();
    for tool in contract().tools {
        for scope in contract().scopes.iter().map(Scope::as_str) {
            let params = json!({"name": tool.spec.name, "arguments": {"id": "none"}});
            let status = desk.send(&format!("dlr_lakeside/{scope}"), "tools/call", params).status;
            let expected = if tool.spec.scope.as_str() == scope { 200 } else { 403 };
            assert_eq!(status, expected, "{} with {scope}", tool.spec.name);
        }
    }
    assert!(desk.events().is_empty());
}

#[test]
fn tools_are_listed_by_what_a_token_may_call() {
    let desk = TestDesk::open();
    let listed = |scope: &str| {
        let reply = desk.send(&format!("dlr_lakeside/{scope}"), "tools/list", json!({}));
        let answer: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("amcp:inventory:read"), ["inventory.list", "inventory.search", "inventory.get"]);
    assert_eq!(listed("amcp:leads:read"), ["leads.list", "leads.get", "customers.list", "customers.get"]);
    assert_eq!(listed("amcp:leads:write"), ["leads.create", "leads.update"]);
}

#[test]
fn a3_03_a3_04_reading_and_every_other_method_change_nothing() {
    let desk = TestDesk::open();
    let vehicle = desk.call_ok(ALL_SCOPES, "inventory.list", json!({"limit": 1}))["items"][0]["id"].clone();
    let before = desk.stored_data();
    let token = format!("dlr_lakeside/{ALL_SCOPES}");
    for tool in contract().tools.iter().filter(|tool| tool.spec.effect == Effect::Reads) {
        for arguments in [json!({}), json!({"id": vehicle}), json!({"id": "none"})] {
            desk.send(&token, "tools/call", json!({"name": tool.spec.name, "arguments": arguments}));
        }
    }
    for method in ["ping", "initialize", "tools/list", "resources/list", "resources/templates/list", "resources/read"] {
        let params = json!({"protocolVersion": "2025-11-25", "uri": "amcp://dlr_lakeside/leads"});
        assert_eq!(desk.send(&token, method, params).status, 200, "{method}");
    }
    assert_eq!(desk.stored_data(), before);
    let wish = json!({"contact": {"name": "Al", "email": "al@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}});
    desk.call_ok(ALL_SCOPES, "leads.create", wish);
    assert_ne!(desk.stored_data(), before);
}
