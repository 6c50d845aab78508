//! What somebody sends as an id and is none is recognised: the id of another record, a number, an address. Each with the
//! literal answer that leads to the right id.

use frontdesk_contracts::automotive::resources;
use frontdesk_contracts::record::ColumnIndex;
use frontdesk_testkit::memory_store::InjectedFault;
use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

/// The message of a call that must fail, and its code.
fn refused(desk: &TestDesk, scopes: &str, tool: &str, arguments: Value) -> (String, String) {
    let (failed, answer) = desk.call(scopes, tool, arguments);
    assert!(failed, "{answer}");
    let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

/// The first record of a list of this dealership.
fn first(desk: &TestDesk, dealership: &str, tool: &str) -> Value {
    desk.call_as(&format!("{dealership}/{ALL_SCOPES}"), tool, json!({"limit": 1})).1["items"][0].clone()
}

const NO_VEHICLE: &str = "No vehicle with this id exists here.";
const UNKNOWN_VEHICLE: &str = "No vehicle with this id exists here. An id looks like veh_01jc3v8q6g2m4n7p9r5s0t1w8x; no \
    other number of a vehicle is one. Find it with inventory.search.";

#[test]
fn a_stock_number_or_vin_is_recognised_where_an_id_belongs() {
    let desk = TestDesk::open();
    let vehicle = first(&desk, "dlr_lakeside", "inventory.list");
    let stock_number = format!(
        "{NO_VEHICLE} What was sent is the stock number of a vehicle, not an id; search by stock_number with inventory.search."
    );
    let vin = format!(
        "{NO_VEHICLE} What was sent looks like the vin of a vehicle, not like an id; search by vin with inventory.search."
    );
    let cases = [
        (vehicle["stock_number"].clone(), stock_number),
        (vehicle["vin"].clone(), vin.clone()),
        // Nobody here has it; its form tells what it is.
        (json!("1HGCM82633A004352"), vin.clone()),
        (json!("1hgcm82633a004352"), vin),
        (json!("nothing"), UNKNOWN_VEHICLE.to_owned()),
    ];
    for (id, message) in cases {
        let customer = first(&desk, "dlr_lakeside", "customers.list")["id"].clone();
        let lead = json!({"contact": {"name": "Dana Rivera", "email": "dana@example.com"}, "interest": "buy",
            "consent": {"granted": true, "channels": ["email"]}, "vehicle_id": id});
        let appointment = json!({"vehicle_id": id, "start": "2026-02-10T14:00:00Z", "service_codes": ["OIL"]});
        let calls = [
            ("inventory.get", json!({"id": id})),
            ("inventory.update", json!({"id": id, "doors": 4})),
            ("leads.create", lead),
            ("deals.create", json!({"deal_type": "cash", "customer_id": customer, "vehicle_id": id})),
            ("deals.request_quote", json!({"deal_type": "cash", "vehicle_id": id})),
            ("service.book_appointment", appointment),
            ("service.create_repair_order", json!({"ro_number": "R-1", "vehicle_id": id})),
        ];
        for (tool, arguments) in calls {
            let expected = ("inventory.not_found".to_owned(), message.clone());
            assert_eq!(refused(&desk, ALL_SCOPES, tool, arguments), expected, "{tool}");
        }
    }
}

/// Following the message finds the record.
#[test]
fn the_search_that_is_named_finds_the_id() {
    let desk = TestDesk::open();
    let vehicle = first(&desk, "dlr_lakeside", "inventory.list");
    for field in ["stock_number", "vin"] {
        let found = desk.call_ok(ALL_SCOPES, "inventory.search", json!({field: vehicle[field]}));
        assert_eq!(found["items"][0]["id"], vehicle["id"], "{field}");
    }
}

#[test]
fn an_id_of_another_kind_names_the_tool_that_reads_it() {
    let desk = TestDesk::open();
    let id = |tool: &str| first(&desk, "dlr_lakeside", tool)["id"].clone();
    let cases = [
        ("leads.list", "What was sent is the id of a lead: read that with leads.get."),
        ("customers.list", "What was sent is the id of a customer: read that with customers.get."),
        ("consent.list", "What was sent is the id of a consent: read that with consent.get."),
        ("deals.list", "What was sent is the id of a deal: read that with deals.get."),
        ("deals.list_fees", "What was sent is the id of a fee: read that with deals.get_fee."),
        (
            "service.list_appointments",
            "What was sent is the id of an appointment: read that with service.get_appointment.",
        ),
        (
            "service.list_repair_orders",
            "What was sent is the id of a repair order: read that with service.get_repair_order.",
        ),
        ("service.list_workshops", "What was sent is the id of a workshop: read that with service.get_workshop."),
    ];
    for (tool, message) in cases {
        let expected = ("inventory.not_found".to_owned(), format!("{NO_VEHICLE} {message}"));
        assert_eq!(refused(&desk, ALL_SCOPES, "inventory.get", json!({"id": id(tool)})), expected);
    }
    // Whoever may not read leads is not sent there.
    let message = format!("{NO_VEHICLE} What was sent is the id of a lead.");
    let expected = ("inventory.not_found".to_owned(), message);
    assert_eq!(refused(&desk, "amcp:inventory:read", "inventory.get", json!({"id": id("leads.list")})), expected);
    let lead = json!({"deal_type": "cash", "vehicle_id": id("inventory.list"), "customer_id": id("leads.list")});
    assert_eq!(
        refused(&desk, ALL_SCOPES, "deals.create", lead),
        (
            "customers.not_found".to_owned(),
            "No customer with this id exists here. What was sent is the id of a lead: read that with leads.get."
                .to_owned()
        )
    );
}

#[test]
fn numbers_and_addresses_of_every_kind_are_recognised() {
    let desk = TestDesk::open();
    let field = |tool: &str, name: &str| first(&desk, "dlr_lakeside", tool)[name].clone();
    let cases = [
        (
            "customers.get",
            json!("Dana.Rivera@example.com"),
            "No customer with this id exists here. What was sent looks like the email of a customer, not like an id; search \
             by email with customers.search.",
        ),
        (
            "leads.get",
            json!("+15125550123"),
            "No lead with this id exists here. What was sent looks like the phone of a lead, not like an id; search by phone \
             with leads.search.",
        ),
        (
            "service.get_repair_order",
            field("service.list_repair_orders", "ro_number"),
            "No repair order with this id exists here. What was sent is the ro number of a repair order, not an id; search by \
             ro_number with service.list_repair_orders.",
        ),
        (
            "deals.get",
            field("deals.list", "deal_number"),
            "No deal with this id exists here. What was sent is the deal number of a deal, not an id; search by deal_number \
             with deals.list.",
        ),
        (
            "service.get_service_code",
            json!("oil"),
            "No service code with this id exists here. What was sent is the code of a service code, not an id; search by code \
             with service.list_service_codes.",
        ),
        (
            "service.get_appointment",
            json!("1HGCM82633A004352"),
            "No appointment with this id exists here. What was sent looks like the vin of an appointment, not like an id; \
             search by vin with service.list_appointments.",
        ),
        (
            "leads.get",
            field("inventory.list", "stock_number"),
            "No lead with this id exists here. What was sent is the stock number of a vehicle, not an id; search by \
             stock_number with inventory.search.",
        ),
    ];
    for (tool, id, message) in cases {
        assert_eq!(refused(&desk, ALL_SCOPES, tool, json!({"id": id})).1, message, "{tool}");
    }
}

/// A3-09: a number of another dealership is answered like one that does not exist.
#[test]
fn a_number_of_another_dealership_is_not_recognised() {
    let desk = TestDesk::open();
    let theirs = first(&desk, "dlr_summit", "inventory.list")["stock_number"].clone();
    let unknown = ("inventory.not_found".to_owned(), UNKNOWN_VEHICLE.to_owned());
    assert_eq!(refused(&desk, ALL_SCOPES, "inventory.get", json!({"id": theirs})), unknown);
    assert_eq!(refused(&desk, ALL_SCOPES, "inventory.get", json!({"id": "nothing"})), unknown);
    let vehicle = first(&desk, "dlr_summit", "inventory.list")["id"].clone();
    assert_eq!(refused(&desk, ALL_SCOPES, "inventory.get", json!({"id": vehicle})), unknown);
}

/// Whoever may not read a domain does not learn which numbers exist in it.
#[test]
fn a_number_is_not_recognised_without_the_scope_to_read_it() {
    let desk = TestDesk::open();
    let vehicle = first(&desk, "dlr_lakeside", "inventory.list");
    let message =
        |id: &Value| refused(&desk, "amcp:inventory:write", "inventory.update", json!({"id": id, "doors": 4})).1;
    let unknown = "No vehicle with this id exists here. An id looks like veh_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of \
                   a vehicle is one.";
    assert_eq!(message(&vehicle["stock_number"]), unknown);
    assert_eq!(message(&json!("nothing")), unknown);
    let form = format!("{NO_VEHICLE} What was sent looks like the vin of a vehicle, not like an id.");
    assert_eq!(message(&vehicle["vin"]), form);
    let order = first(&desk, "dlr_lakeside", "service.list_repair_orders")["ro_number"].clone();
    let read = |id: &Value| refused(&desk, "amcp:inventory:read", "inventory.get", json!({"id": id})).1;
    assert_eq!(read(&order), UNKNOWN_VEHICLE);
}

#[test]
fn nothing_is_looked_up_for_an_id_that_exists() {
    let desk = TestDesk::open();
    let id = first(&desk, "dlr_lakeside", "inventory.list")["id"].clone();
    desk.store.inject(|faults| faults.reads_of = Some(("deal", InjectedFault::Fail)));
    desk.call_ok(ALL_SCOPES, "inventory.get", json!({"id": id}));
    desk.call_ok(ALL_SCOPES, "inventory.update", json!({"id": id, "doors": 4}));
    assert_eq!(desk.error_code(ALL_SCOPES, "inventory.get", json!({"id": "nothing"})), "internal.unavailable");
}

/// The message can always name a search.
#[test]
fn every_unique_number_is_an_argument_of_its_list() {
    for resource in resources() {
        let unique = resource.fields.iter().filter(|field| field.index == Some(ColumnIndex::Unique));
        for field in unique {
            let finds = |name: &str| {
                let mut lists = resource.tools.iter().filter(|tool| tool.spec.name.contains(name));
                lists.any(|tool| tool.spec.input.fields().iter().any(|argument| argument.name == field.name))
            };
            assert!(finds(".search") || finds(".list"), "no list of {} finds {}", resource.noun, field.name);
        }
    }
}
