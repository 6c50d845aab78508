//! Adding and changing vehicles.

use serde_json::{Value, json};

use super::support::TestDesk;

const READ: &str = "amcp:inventory:read";
const WRITE: &str = "amcp:inventory:write";
const BOTH: &str = "amcp:inventory:read amcp:inventory:write";

fn vehicle(changes: Value) -> Value {
    let mut arguments = json!({
        "vin": "5yj3e1eaxkf100004",
        "stock_number": "T-100",
        "condition": "used",
        "year": 2019,
        "make": "Tesla",
        "model": "Model 3",
        "trim": "Standard Range",
        "mileage": {"value": 30100, "unit": "mi"},
        "price": {"amount": 2499900, "currency": "USD"},
    });
    arguments.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    arguments
}

#[test]
fn a_new_vehicle_has_the_defaults_of_what_is_not_said() {
    let desk = TestDesk::open();
    let made = desk.call_ok(BOTH, "inventory.create", vehicle(json!({})));
    assert_eq!(
        made,
        json!({
            "id": made["id"],
            "type": "vehicle",
            "dealership_id": "dlr_lakeside",
            "vin": "5YJ3E1EAXKF100004",
            "vin_check": "verified",
            "stock_number": "T-100",
            "condition": "used",
            "year": 2019,
            "make": "Tesla",
            "model": "Model 3",
            "trim": "Standard Range",
            "body_style": "unknown",
            "mileage": {"value": 30100, "unit": "mi"},
            "transmission": "unknown",
            "drivetrain": "unknown",
            "fuel_type": "unknown",
            "options": [],
            "media": [],
            "price": {"amount": 2499900, "currency": "USD"},
            "price_history": [{"at": "2026-01-31T09:30:00Z", "price": {"amount": 2499900, "currency": "USD"}}],
            "status": "available",
            "in_stock_at": "2026-01-31T09:30:00Z",
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
        })
    );
    assert_eq!(desk.call_ok(READ, "inventory.get", json!({"id": made["id"]})), made);
    let found = desk.call_ok(READ, "inventory.search", json!({"text": "T-100", "make": "tesla"}));
    assert_eq!(found["items"], json!([made]));
    assert_eq!(desk.events(), ["vehicle created"]);
}

#[test]
fn year_and_make_are_those_of_the_vin() {
    let desk = TestDesk::open();
    let problem = |changes: Value| {
        let (failed, answer) = desk.call(BOTH, "inventory.create", vehicle(changes));
        assert!(failed, "{answer}");
        let problem = &answer["error"]["details"]["errors"][0];
        (problem["pointer"].clone(), problem["expected"].clone())
    };
    assert_eq!(problem(json!({"year": 2018})), (json!("/year"), json!("the VIN says 2019")));
    assert_eq!(problem(json!({"make": "Toyota"})), (json!("/make"), json!("the VIN says Tesla")));
    assert_eq!(problem(json!({"vin": "5YJ3E1EA"})), (json!("/vin"), json!("a VIN has 17 characters, not 8")));
    let wrong_digit = json!({"vin": "5YJ3E1EA1KF100004"});
    assert_eq!(problem(wrong_digit), (json!("/vin"), json!("the check digit at position 9 does not match")));
    // A number of another market needs no check digit and says nothing about the year.
    desk.call_ok(
        BOTH,
        "inventory.create",
        vehicle(json!({"vin": "MA3ERLF1S00183366", "make": "Suzuki", "year": 2015})),
    );
    assert_eq!(desk.events(), ["vehicle created"]);
}

#[test]
fn a_vin_or_stock_number_is_in_stock_once() {
    let desk = TestDesk::open();
    let first = desk.call_ok(BOTH, "inventory.create", vehicle(json!({})));
    let same_vin = vehicle(json!({"stock_number": "T-101"}));
    assert_eq!(desk.error_code(BOTH, "inventory.create", same_vin), "inventory.duplicate");
    let other = vehicle(json!({"vin": "4T1C11AK4NU100002", "make": "Toyota", "year": 2022, "stock_number": "T-102"}));
    let other = desk.call_ok(BOTH, "inventory.create", other);
    let change = json!({"id": other["id"], "stock_number": "T-100"});
    assert_eq!(desk.error_code(BOTH, "inventory.update", change), "inventory.duplicate");
    // Its own number is not taken by anybody else.
    desk.call_ok(BOTH, "inventory.update", json!({"id": first["id"], "stock_number": "T-100", "trim": "Long Range"}));
}

#[test]
fn a_change_is_found_by_what_it_says_now() {
    let desk = TestDesk::open();
    let made = desk.call_ok(BOTH, "inventory.create", vehicle(json!({"description": "Quicksilver beauty"})));
    let change = json!({
        "id": made["id"],
        "price": {"amount": 2399900, "currency": "USD"},
        "status": "pending",
        "description": "Reserved gem",
        "expected_version": 1,
    });
    let changed = desk.call_ok(BOTH, "inventory.update", change.clone());
    assert_eq!((&changed["version"], &changed["status"]), (&json!(2), &json!("pending")));
    let ids = |filter: Value| desk.call_ok(READ, "inventory.search", filter)["items"].as_array().unwrap().len();
    assert_eq!(ids(json!({"text": "quicksilver"})), 0);
    assert_eq!(ids(json!({"text": "gem", "price_max": {"amount": 2400000, "currency": "USD"}})), 1);
    assert_eq!(desk.error_code(BOTH, "inventory.update", change), "request.version_conflict");
    assert_eq!(desk.error_code(BOTH, "inventory.update", json!({"id": made["id"]})), "request.invalid");
    assert_eq!(
        desk.error_code(BOTH, "inventory.update", json!({"id": "veh_none", "trim": "X"})),
        "inventory.not_found"
    );
}

#[test]
fn a6_10_a_caller_who_may_not_read_stock_gets_a_receipt() {
    let desk = TestDesk::open();
    let receipt = desk.call_ok(WRITE, "inventory.create", vehicle(json!({"idempotency_key": "k-1"})));
    let mut names: Vec<&String> = receipt.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["created_at", "dealership_id", "id", "redacted", "status", "type", "updated_at", "version"]);
    // The same key answers a reader with the whole of it, and adds no second vehicle.
    let whole = desk.call_ok(BOTH, "inventory.create", vehicle(json!({"idempotency_key": "k-1"})));
    assert_eq!((&whole["id"], &whole["vin"]), (&receipt["id"], &json!("5YJ3E1EAXKF100004")));
    assert_eq!(desk.events(), ["vehicle created"]);
}
