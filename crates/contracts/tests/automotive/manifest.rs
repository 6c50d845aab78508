//! The manifest, wherever it is published.

use std::collections::BTreeSet;

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::Contract;
use frontdesk_engine::model::contract::ResourceSource;
use frontdesk_testkit::automotive_names::SCOPES;
use serde_json::{Map, Value, json};

fn expected() -> Value {
    json!({
        "automotive_mcp": {
            "spec_version": "0.1",
            "server": {"name": "Frontdesk", "vendor": "Frontdesk"},
            "domains": {
                "inventory": {"level": 2},
                "leads": {"level": 2},
                "consent": {"level": 2},
                "deals": {"level": 2},
                "service": {"level": 2},
                "parts": {"level": 2},
                "fni": {"level": 2},
            "signals": {"level": 2},
            },
            "auth": {"type": "oauth2.1", "scopes": SCOPES},
        }
    })
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn domains(contract: &Contract) -> Map<String, Value> {
    let (_, document) = contract.documents.first().unwrap();
    parsed(document)["automotive_mcp"]["domains"].as_object().unwrap().clone()
}

#[test]
fn a2_04_the_manifest_is_one_text_in_three_places() {
    let contract = contract();
    let [(path, document)] = contract.documents.as_slice() else {
        panic!("one document is expected");
    };
    assert_eq!(*path, "/.well-known/automotive-mcp.json");
    assert_eq!(parsed(document), expected());

    let resource = contract.resources.iter().find(|resource| resource.template == "amcp://manifest").unwrap();
    match &resource.source {
        ResourceSource::Document(text) => assert_eq!(text, document),
        ResourceSource::Tool { .. } => panic!("the manifest is no tool's answer"),
    }

    assert_eq!(
        parsed(&contract.server_info.capabilities),
        json!({
            "tools": {"listChanged": false},
            "resources": {"subscribe": false, "listChanged": false},
            "experimental": expected(),
        })
    );
}

#[test]
fn a2_01_the_domains_of_the_manifest_are_those_of_the_tools() {
    let contract = contract();
    let domains = domains(&contract);
    let declared: BTreeSet<&str> = domains.keys().map(String::as_str).collect();
    let served: BTreeSet<&str> = contract
        .tools
        .iter()
        .map(|tool| tool.spec.name.split('.').next().unwrap())
        // An extension is no domain.
        .filter(|prefix| *prefix != "x_frontdesk")
        .map(|prefix| if prefix == "customers" { "leads" } else { prefix })
        .collect();
    assert_eq!(declared, served);
}

#[test]
fn a2_03_levels_are_whole_numbers_from_one_to_three() {
    let domains = domains(&contract());
    assert_eq!(domains.len(), 8);
    for domain in domains.values() {
        assert!((1..=3).contains(&domain["level"].as_i64().unwrap()));
    }
}

#[test]
fn resources_are_the_reading_tools_by_address() {
    let contract = contract();
    let addresses: Vec<(&str, &str)> = contract
        .resources
        .iter()
        .map(|resource| match &resource.source {
            ResourceSource::Document(_) => (resource.template, "document"),
            ResourceSource::Tool { name, .. } => (resource.template, *name),
        })
        .collect();
    assert_eq!(
        addresses,
        [
            ("amcp://manifest", "document"),
            ("amcp://{dealership_id}/inventory{?cursor,limit}", "inventory.list"),
            ("amcp://{dealership_id}/inventory/{id}", "inventory.get"),
            ("amcp://{dealership_id}/leads{?cursor,limit}", "leads.list"),
            ("amcp://{dealership_id}/leads/{id}", "leads.get"),
            ("amcp://{dealership_id}/customers{?cursor,limit}", "customers.list"),
            ("amcp://{dealership_id}/customers/{id}", "customers.get"),
            ("amcp://{dealership_id}/consents{?cursor,limit}", "consent.list"),
            ("amcp://{dealership_id}/consents/{id}", "consent.get"),
            ("amcp://{dealership_id}/deals{?cursor,limit}", "deals.list"),
            ("amcp://{dealership_id}/deals/{id}", "deals.get"),
            ("amcp://{dealership_id}/fees{?cursor,limit}", "deals.list_fees"),
            ("amcp://{dealership_id}/fees/{id}", "deals.get_fee"),
            ("amcp://{dealership_id}/trade_values{?cursor,limit}", "deals.list_trade_values"),
            ("amcp://{dealership_id}/trade_values/{id}", "deals.get_trade_value"),
            ("amcp://{dealership_id}/appointments{?cursor,limit}", "service.list_appointments"),
            ("amcp://{dealership_id}/appointments/{id}", "service.get_appointment"),
            ("amcp://{dealership_id}/repair_orders{?cursor,limit}", "service.list_repair_orders"),
            ("amcp://{dealership_id}/repair_orders/{id}", "service.get_repair_order"),
            ("amcp://{dealership_id}/service_codes{?cursor,limit}", "service.list_service_codes"),
            ("amcp://{dealership_id}/service_codes/{id}", "service.get_service_code"),
            ("amcp://{dealership_id}/advisors{?cursor,limit}", "service.list_advisors"),
            ("amcp://{dealership_id}/advisors/{id}", "service.get_advisor"),
            ("amcp://{dealership_id}/workshops{?cursor,limit}", "service.list_workshops"),
            ("amcp://{dealership_id}/workshops/{id}", "service.get_workshop"),
            ("amcp://{dealership_id}/parts{?cursor,limit}", "parts.list"),
            ("amcp://{dealership_id}/parts/{id}", "parts.get"),
            ("amcp://{dealership_id}/part_orders{?cursor,limit}", "parts.list_orders"),
            ("amcp://{dealership_id}/part_orders/{id}", "parts.get_order"),
            ("amcp://{dealership_id}/fni_products{?cursor,limit}", "fni.list_products"),
            ("amcp://{dealership_id}/fni_products/{id}", "fni.get_product"),
            ("amcp://{dealership_id}/credit_applications{?cursor,limit}", "fni.list_credit_applications"),
            ("amcp://{dealership_id}/credit_applications/{id}", "fni.get_credit_application"),
            ("amcp://{dealership_id}/lender_decisions{?cursor,limit}", "fni.list_lender_decisions"),
            ("amcp://{dealership_id}/lender_decisions/{id}", "fni.get_lender_decision"),
            ("amcp://{dealership_id}/signals{?cursor,limit}", "signals.list"),
            ("amcp://{dealership_id}/signals/{id}", "signals.get"),
        ]
    );
}
