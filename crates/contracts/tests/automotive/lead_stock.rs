//! A lead whose sender knows the vehicle only by its numbers is linked to the one unit in stock that has them.

use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

/// The id of the vehicle that a new lead with these arguments is linked to.
fn linked(desk: &TestDesk, numbers: Value) -> Option<String> {
    let mut wish = json!({
        "contact": {"name": "Dana Rivera", "email": "dana@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
    });
    wish.as_object_mut().unwrap().extend(numbers.as_object().unwrap().clone());
    let lead = desk.call_ok(ALL_SCOPES, "leads.create", wish);
    lead.get("vehicle_id").map(|id| id.as_str().unwrap().to_owned())
}

fn units(desk: &TestDesk, arguments: Value) -> Vec<Value> {
    desk.call_ok(ALL_SCOPES, "inventory.search", arguments)["items"].as_array().unwrap().clone()
}

fn text<'a>(unit: &'a Value, name: &str) -> &'a str {
    unit[name].as_str().unwrap()
}

#[test]
fn a_lead_is_linked_by_vin_or_stock_number_if_exactly_one_unit_fits() {
    let desk = TestDesk::open();
    let found = units(&desk, json!({"status": "available", "limit": 2}));
    let [first, second] = found.as_slice() else { panic!("two vehicles are needed") };
    let (id, vin, number) = (text(first, "id"), text(first, "vin"), text(first, "stock_number"));
    let is_linked = |numbers: Value| assert_eq!(linked(&desk, numbers.clone()).as_deref(), Some(id), "{numbers}");
    is_linked(json!({"x_frontdesk_vin": vin}));
    is_linked(json!({"x_frontdesk_vin": vin.to_ascii_lowercase()}));
    is_linked(json!({"x_frontdesk_stock_number": number}));
    is_linked(json!({"x_frontdesk_vin": vin, "x_frontdesk_stock_number": number}));
    // A portal may have another number of its own; the VIN is the vehicle's.
    is_linked(json!({"x_frontdesk_vin": vin, "x_frontdesk_stock_number": "PORTAL-1"}));
    is_linked(json!({"x_frontdesk_vin": "no VIN", "x_frontdesk_stock_number": number}));

    let is_not = |numbers: Value| assert_eq!(linked(&desk, numbers.clone()), None, "{numbers}");
    is_not(json!({"x_frontdesk_vin": "1HGCV1F30NA999999"}));
    is_not(json!({"x_frontdesk_stock_number": "NOT-HERE"}));
    is_not(json!({"x_frontdesk_vin": vin, "x_frontdesk_stock_number": text(second, "stock_number")}));
    is_not(json!({"x_frontdesk_vin": "5YJ3E1EAXKF100004", "x_frontdesk_stock_number": number}));
    // Who names the id means it.
    let named = json!({"vehicle_id": text(second, "id"), "x_frontdesk_vin": vin});
    assert_eq!(linked(&desk, named).as_deref(), Some(text(second, "id")));
}

#[test]
fn a_lead_is_not_linked_to_a_unit_that_is_gone_or_anothers() {
    let desk = TestDesk::open();
    for status in ["unavailable", "sold"] {
        let unit = units(&desk, json!({"status": "available", "limit": 1})).remove(0);
        let numbers = json!({"x_frontdesk_vin": unit["vin"], "x_frontdesk_stock_number": unit["stock_number"]});
        assert_eq!(linked(&desk, numbers.clone()).as_deref(), unit["id"].as_str());
        desk.call_ok(ALL_SCOPES, "inventory.update", json!({"id": unit["id"], "status": status}));
        assert_eq!(linked(&desk, numbers), None, "{status}");
    }
    let theirs = "dlr_summit/amcp:inventory:read";
    let stock = desk.call_as(theirs, "inventory.search", json!({"status": "available", "limit": 50})).1;
    let own: Vec<Value> = units(&desk, json!({"limit": 100}));
    let is_only_theirs = |unit: &&Value| !own.iter().any(|own| own["vin"] == unit["vin"]);
    let unit = stock["items"].as_array().unwrap().iter().find(is_only_theirs).unwrap().clone();
    assert_eq!(linked(&desk, json!({"x_frontdesk_vin": unit["vin"]})), None);
}
