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
            let status = desk.send(&desk.login_token(scope), "tools/call", params).status;
            let expected = if tool.spec.scope.all().any(|known| known.as_str() == scope) { 200 } else { 403 };
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
    assert_eq!(
        listed("amcp:leads:read"),
        ["leads.list", "leads.search", "leads.get", "customers.list", "customers.search", "customers.get",]
    );
    assert_eq!(listed("amcp:consent:read"), ["consent.list", "consent.get", "consent.check"]);
    let imports = ["x_frontdesk.import_items", "x_frontdesk.get_import", "x_frontdesk.list_imports"];
    assert_eq!(
        listed("amcp:leads:write"),
        [
            &["leads.create", "leads.update", "customers.create", "customers.update"],
            imports.as_slice(),
            &["x_frontdesk.import_adf"],
        ]
        .concat()
    );
    assert_eq!(listed("amcp:consent:write"), [&["consent.create", "consent.update"], imports.as_slice()].concat());
    assert_eq!(
        listed("amcp:deals:read"),
        [
            "deals.list",
            "deals.get",
            "deals.request_quote",
            "deals.list_fees",
            "deals.get_fee",
            "deals.list_trade_values",
            "deals.get_trade_value",
        ]
    );
    assert_eq!(
        listed("amcp:deals:write"),
        [&["deals.create", "deals.update", "deals.cancel_deal", "deals.request_trade_value"], imports.as_slice(),]
            .concat()
    );
    assert_eq!(
        listed("amcp:service:read"),
        [
            "service.list_appointments",
            "service.get_appointment",
            "service.check_availability",
            "service.list_repair_orders",
            "service.get_repair_order",
            "service.list_service_codes",
            "service.get_service_code",
            "service.list_advisors",
            "service.get_advisor",
            "service.list_workshops",
            "service.get_workshop",
        ]
    );
    let service_tools = [
        "service.book_appointment",
        "service.update_appointment",
        "service.cancel_appointment",
        "service.create_repair_order",
        "service.update_repair_order",
    ];
    assert_eq!(
        listed("amcp:fni:read"),
        [
            "fni.list_products",
            "fni.get_product",
            "fni.list_credit_applications",
            "fni.get_credit_application",
            "fni.list_lender_decisions",
            "fni.get_lender_decision",
        ]
    );
    let applications = ["fni.create_credit_application", "fni.update_credit_application"];
    assert_eq!(listed("amcp:fni:write"), [applications.as_slice(), imports.as_slice()].concat());
    assert_eq!(listed("amcp:service:write"), [service_tools.as_slice(), imports.as_slice()].concat());
    assert_eq!(
        listed("amcp:parts:read"),
        ["parts.list", "parts.search", "parts.get", "parts.check_availability", "parts.list_orders", "parts.get_order",]
    );
    let order_tools = ["parts.create_order", "parts.update_order", "parts.cancel_order"];
    assert_eq!(listed("amcp:parts:write"), [order_tools.as_slice(), imports.as_slice()].concat());
}

#[test]
fn a3_03_a3_04_reading_and_every_other_method_change_nothing() {
    let desk = TestDesk::open();
    let vehicle = desk.call_ok(ALL_SCOPES, "inventory.list", json!({"limit": 1}))["items"][0]["id"].clone();
    let before = desk.stored_data();
    let token = desk.login_token(ALL_SCOPES);
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
