//! What the specification requires of each resource, checked on real answers.

use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

fn all(desk: &TestDesk, domain: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut arguments = json!({"limit": 100});
    loop {
        let page = desk.call_ok(ALL_SCOPES, &format!("{domain}.list"), arguments);
        items.extend(page["items"].as_array().unwrap().clone());
        match page.get("next_cursor") {
            Some(cursor) => arguments = json!({"limit": 100, "cursor": cursor}),
            None => return items,
        }
    }
}

/// The first record of a domain that has all of these fields.
fn having(desk: &TestDesk, domain: &str, fields: &[&str]) -> Value {
    let has_all = |item: &Value| fields.iter().all(|field| item.get(field).is_some());
    let listed = all(desk, domain).into_iter().find(has_all).unwrap_or_else(|| panic!("no {domain} has {fields:?}"));
    desk.call_ok(ALL_SCOPES, &format!("{domain}.get"), json!({"id": listed["id"]}))
}

/// Visits every nested value with its name.
fn walk(name: &str, value: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(name, value);
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| walk(name, value, visit)),
        Value::Array(items) => items.iter().for_each(|item| walk(name, item, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn everything(desk: &TestDesk) -> Vec<Value> {
    ["inventory", "leads", "customers"].into_iter().flat_map(|domain| all(desk, domain)).collect()
}

#[test]
fn a4_05_a3_15_a5_09_a_vehicle_has_the_fields_of_the_text() {
    let desk = TestDesk::open();
    let fields =
        ["vin", "stock_number", "condition", "year", "make", "model", "trim", "options", "media", "status", "price"];
    for vehicle in all(&desk, "inventory") {
        for field in fields {
            assert!(vehicle.get(field).is_some(), "{field} in {vehicle}");
        }
    }
}

#[test]
fn a4_06_a_customer_has_the_fields_of_the_text() {
    let desk = TestDesk::open();
    let customer = having(
        &desk,
        "customers",
        &["latest_lead", "latest_sale", "vehicle_of_interest", "lifetime_value", "location"],
    );
    let keys = |pointer: &str| -> Vec<String> {
        customer.pointer(pointer).unwrap().as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys("/primary_contact"), ["email", "name", "phone"]);
    assert_eq!(keys("/location"), ["city", "country", "region"]);
    assert_eq!(keys("/lifetime_value"), ["amount", "currency"]);
    assert_eq!(keys("/latest_lead"), ["id", "status"]);
    assert_eq!(keys("/latest_sale"), ["closed_at", "id"]);
    assert_eq!(keys("/vehicle_of_interest"), ["make", "model"]);
}

#[test]
fn a4_07_a_lead_has_source_status_owner_and_vehicle() {
    let desk = TestDesk::open();
    let lead = having(&desk, "leads", &["source", "status", "owner", "vehicle_id"]);
    let vehicle = desk.call_ok(ALL_SCOPES, "inventory.get", json!({"id": lead["vehicle_id"]}));
    assert_eq!(vehicle["type"], "vehicle");
}

#[test]
fn a3_06_a4_04_every_resource_names_its_dealership() {
    let desk = TestDesk::open();
    for item in everything(&desk) {
        assert_eq!(item["dealership_id"], "dlr_lakeside", "{item}");
    }
}

#[test]
fn a3_14_ids_are_unique_and_have_the_prefix_of_their_type() {
    let desk = TestDesk::open();
    for (domain, prefix) in [("inventory", "veh_"), ("leads", "led_"), ("customers", "cus_")] {
        let mut ids: Vec<String> =
            all(&desk, domain).iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
        assert!(ids.iter().all(|id| id.starts_with(prefix)));
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}

#[test]
fn a3_33_money_is_whole_minor_units_with_a_currency() {
    let desk = TestDesk::open();
    let mut seen = 0;
    for item in everything(&desk) {
        walk("", &item, &mut |name, value| {
            if ["price", "msrp", "lifetime_value"].contains(&name) {
                seen += 1;
                assert!(value["amount"].is_i64(), "{name}: {value}");
                assert!(["USD", "CAD"].contains(&value["currency"].as_str().unwrap()), "{name}: {value}");
            }
            assert!(!value.is_f64(), "{name}: {value}");
        });
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn a3_34_a_distance_carries_its_unit() {
    let desk = TestDesk::open();
    for vehicle in all(&desk, "inventory") {
        assert!(vehicle["mileage"]["value"].is_i64());
        assert_eq!(vehicle["mileage"]["unit"], "mi");
    }
}

#[test]
fn nothing_is_null() {
    let desk = TestDesk::open();
    for item in everything(&desk) {
        walk("", &item, &mut |name, value| assert!(!value.is_null(), "{name} in {item}"));
    }
}

#[test]
fn a6_12_stock_has_no_personal_data_and_lists_mask_it() {
    let desk = TestDesk::open();
    let whole = |item: &Value, tool: &str| desk.call_ok(ALL_SCOPES, tool, json!({"id": item["id"]}));
    let customers: Vec<Value> = all(&desk, "customers").iter().map(|item| whole(item, "customers.get")).collect();
    let lists = everything(&desk).iter().map(Value::to_string).collect::<String>();
    for customer in customers {
        for field in ["email", "phone"] {
            let secret = customer["primary_contact"][field].as_str().unwrap();
            assert!(!lists.contains(secret), "{field} of {}", customer["id"]);
        }
    }
}
