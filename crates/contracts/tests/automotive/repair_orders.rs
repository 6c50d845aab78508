//! Repair orders: from an appointment or by themselves, their order of work and their sums.

use serde_json::{Value, json};

use super::support::TestDesk;

const READ: &str = "amcp:service:read";
const BOTH: &str = "amcp:service:read amcp:service:write";

fn order(number: &str) -> Value {
    json!({"ro_number": number, "vin": "1HGCM82633A004352"})
}

fn job(line: i64, status: &str, cents: i64) -> Value {
    json!({"line": line, "op_code": "BRK", "pay_type": "customer", "status": status,
        "complaint": "It squeals.", "labor_total": {"amount": cents, "currency": "USD"}})
}

fn create(desk: &TestDesk, call: Value) -> Value {
    desk.call_ok(BOTH, "service.create_repair_order", call)
}

fn update(desk: &TestDesk, call: Value) -> Value {
    desk.call_ok(BOTH, "service.update_repair_order", call)
}

fn refusal(desk: &TestDesk, tool: &str, call: Value) -> (String, String) {
    let (failed, answer) = desk.call(BOTH, tool, call);
    assert!(failed, "{answer}");
    let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

fn pair(code: &str, message: &str) -> (String, String) {
    (code.to_owned(), message.to_owned())
}

fn book(desk: &TestDesk) -> Value {
    let advisor = desk.call_ok(READ, "service.list_advisors", json!({"limit": 1}))["items"][0]["id"].clone();
    let call = json!({"vin": "1HGCM82633A004352", "start": "2026-02-10T14:00:00Z", "service_codes": ["BRK"],
        "advisor_id": advisor, "mileage": {"value": 60_000, "unit": "mi"}});
    desk.call_ok(BOTH, "service.book_appointment", call)
}

#[test]
fn an_order_takes_over_its_appointment_and_completes_it() {
    let desk = TestDesk::open();
    let appointment = book(&desk);
    let made = create(&desk, json!({"ro_number": "RO-1", "appointment_id": appointment["id"]}));
    for name in ["vin", "advisor_id"] {
        assert_eq!(made[name], appointment[name], "{name}");
    }
    assert_eq!(made["mileage_in"], appointment["mileage"]);
    let now = |desk: &TestDesk| desk.call_ok(READ, "service.get_appointment", json!({"id": appointment["id"]}));
    assert_eq!((&now(&desk)["status"], &now(&desk)["repair_order_id"]), (&json!("checked_in"), &made["id"]));
    assert_eq!(desk.events(), ["appointment created", "repair_order created", "appointment updated"]);

    let again = refusal(
        &desk,
        "service.create_repair_order",
        json!({"ro_number": "RO-2", "appointment_id": appointment["id"]}),
    );
    assert_eq!(
        again,
        pair(
            "service.duplicate",
            "The appointment has a repair order already. Read the appointment, and change that order."
        )
    );
    for status in ["approved", "in_progress", "ready_for_pickup", "invoiced", "closed"] {
        update(&desk, json!({"id": made["id"], "status": status}));
    }
    assert_eq!(now(&desk)["status"], "completed");
}

#[test]
fn after_a_voided_order_the_appointment_gets_another() {
    let desk = TestDesk::open();
    let appointment = book(&desk);
    let from = |number: &str| json!({"ro_number": number, "appointment_id": appointment["id"]});
    let first = create(&desk, from("RO-1"));
    update(&desk, json!({"id": first["id"], "status": "voided"}));
    let second = create(&desk, from("RO-2"));
    let now = desk.call_ok(READ, "service.get_appointment", json!({"id": appointment["id"]}));
    assert_eq!((&now["status"], &now["repair_order_id"]), (&json!("checked_in"), &second["id"]));
}

#[test]
fn a_cancelled_appointment_becomes_no_order() {
    let desk = TestDesk::open();
    let appointment = book(&desk);
    desk.call_ok(BOTH, "service.cancel_appointment", json!({"id": appointment["id"]}));
    let told = refusal(
        &desk,
        "service.create_repair_order",
        json!({"ro_number": "RO-1", "appointment_id": appointment["id"]}),
    );
    assert_eq!(
        told,
        pair(
            "service.invalid_transition",
            "The appointment is cancelled; one that is booked, confirmed or checked in is expected."
        )
    );
}

#[test]
fn an_order_is_summed_up_without_what_was_declined() {
    let desk = TestDesk::open();
    let mut call = order("RO-1");
    call["jobs"] = json!([job(1, "completed", 10_000), job(2, "declined", 50_000), job(3, "pending", 5)]);
    call["charges"] = json!({"amount": 800, "currency": "USD"});
    let made = create(&desk, call);
    assert_eq!((&made["total"], &made["status"]), (&json!({"amount": 10_805, "currency": "USD"}), &json!("open")));
    let listed = desk.call_ok(READ, "service.list_repair_orders", json!({"ro_number": "RO-1"}));
    assert_eq!(listed["items"][0]["redacted"], json!(["jobs.complaint"]));
    assert!(listed["items"][0]["jobs"][0].get("complaint").is_none());
    let whole = desk.call_ok(READ, "service.get_repair_order", json!({"id": made["id"]}));
    assert_eq!(whole["jobs"][0]["complaint"], "It squeals.");
}

#[test]
fn all_that_is_wrong_with_an_order_is_said_at_once() {
    let desk = TestDesk::open();
    let mut euros = job(1, "pending", 5);
    euros["parts_total"] = json!({"amount": 5, "currency": "EUR"});
    let call =
        json!({"ro_number": "RO-1", "jobs": [job(1, "pending", 5), euros], "promised_at": "2026-01-01T00:00:00Z"});
    let (_, answer) = desk.call(BOTH, "service.create_repair_order", call);
    let errors: Vec<(&str, &str)> = answer["error"]["details"]["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["pointer"].as_str().unwrap(), error["keyword"].as_str().unwrap()))
        .collect();
    assert_eq!(
        errors,
        [
            ("/jobs/1/line", "uniqueItems"),
            ("/jobs/1/parts_total/currency", "const"),
            ("", "anyOf"),
            ("/promised_at", "minimum"),
        ]
    );
}

#[test]
fn an_order_with_open_jobs_cannot_be_fetched() {
    let desk = TestDesk::open();
    let mut call = order("RO-1");
    call["jobs"] = json!([job(1, "in_progress", 5)]);
    let id = create(&desk, call)["id"].clone();
    update(&desk, json!({"id": id, "status": "in_progress"}));
    let told = refusal(&desk, "service.update_repair_order", json!({"id": id, "status": "ready_for_pickup"}));
    let words = "Complete, defer, decline or cancel every job first; then the vehicle is ready.";
    assert_eq!(told, pair("service.jobs_open", words));
    let done = json!({"id": id, "status": "ready_for_pickup", "jobs": [job(1, "completed", 5)]});
    assert_eq!(update(&desk, done)["status"], "ready_for_pickup");
}

#[test]
fn the_order_of_work_is_kept_and_a_closed_order_stays() {
    let desk = TestDesk::open();
    let id = create(&desk, order("RO-1"))["id"].clone();
    let told = refusal(&desk, "service.update_repair_order", json!({"id": id, "status": "closed"}));
    let words = "Status open can become estimate, awaiting_approval, approved, in_progress, on_hold, voided.";
    assert_eq!(told, pair("service.invalid_transition", words));
    let voided = update(&desk, json!({"id": id, "status": "voided"}));
    assert_eq!(voided["closed_at"], "2026-01-31T09:30:00Z");
    let told = refusal(&desk, "service.update_repair_order", json!({"id": id, "tag_number": "9"}));
    let words = "A repair order that is closed or voided stays as it is. Open a new one for further work.";
    assert_eq!(told, pair("service.finished", words));
}

#[test]
fn an_order_number_occurs_once() {
    let desk = TestDesk::open();
    create(&desk, order("RO-1"));
    let told = refusal(&desk, "service.create_repair_order", order("RO-1"));
    let words = "A repair order with this ro_number exists already. Find that one and change it.";
    assert_eq!(told, pair("service.duplicate", words));
}

#[test]
fn the_odometer_does_not_run_backwards() {
    let desk = TestDesk::open();
    let mut call = order("RO-1");
    call["mileage_in"] = json!({"value": 100, "unit": "mi"});
    let id = create(&desk, call)["id"].clone();
    let told =
        refusal(&desk, "service.update_repair_order", json!({"id": id, "mileage_out": {"value": 160, "unit": "km"}}));
    assert_eq!(told.1, "The argument at /mileage_out is not valid: it must not be less than mileage_in.");
    update(&desk, json!({"id": id, "mileage_out": {"value": 161, "unit": "km"}}));
}

#[test]
fn an_order_refers_only_to_what_the_dealership_has() {
    let desk = TestDesk::open();
    let foreign = |scopes: &str, tool: &str| {
        let list = desk.call_as(&format!("dlr_summit/{scopes}"), tool, json!({"limit": 1}));
        list.1["items"][0]["id"].clone()
    };
    for (name, id, code) in [
        ("vehicle_id", foreign("amcp:inventory:read", "inventory.list"), "inventory.not_found"),
        ("customer_id", foreign("amcp:leads:read", "customers.list"), "customers.not_found"),
        ("advisor_id", foreign(READ, "service.list_advisors"), "service.not_found"),
        ("appointment_id", foreign(READ, "service.list_appointments"), "service.not_found"),
    ] {
        let refer = |id: Value| {
            let mut call = order("RO-1");
            call[name] = id;
            refusal(&desk, "service.create_repair_order", call)
        };
        let there = refer(id);
        assert_eq!((&there, there.0.as_str()), (&refer(json!("none_1")), code), "{name}");
    }
    assert!(desk.events().is_empty());
}

#[test]
fn a_pickup_code_is_never_shown() {
    let desk = TestDesk::open();
    let mut call = order("RO-1");
    call["pickup_code"] = json!("4711-X");
    let made = create(&desk, call);
    assert!(made.get("pickup_code").is_none());
    let whole = desk.call_ok(READ, "service.get_repair_order", json!({"id": made["id"]}));
    assert!(!whole.to_string().contains("4711-X"));
}

#[test]
fn an_update_obeys_the_rules_of_a_new_order() {
    let desk = TestDesk::open();
    let made = create(&desk, order("RO-1"));
    let past = json!({"id": made["id"], "promised_at": "2026-01-30T00:00:00Z"});
    assert_eq!(
        refusal(&desk, "service.update_repair_order", past),
        pair("request.invalid", "The argument at /promised_at is not valid: it must lie in the future.")
    );
    let promised = update(&desk, json!({"id": made["id"], "promised_at": "2026-02-01T00:00:00Z"}));
    desk.clock.advance(5 * 24 * 60 * 60 * 1000);
    // A promise that was not kept stays.
    let later = update(&desk, json!({"id": made["id"], "tag_number": "7"}));
    assert_eq!(later["promised_at"], promised["promised_at"]);
}

#[test]
fn a_technician_is_named_by_an_id() {
    let desk = TestDesk::open();
    let mut line = job(1, "pending", 100);
    line["technician_id"] = json!("Dana Rivera");
    let mut call = order("RO-1");
    call["jobs"] = json!([line]);
    assert_eq!(
        refusal(&desk, "service.create_repair_order", call),
        pair(
            "request.invalid",
            "The argument at /jobs/0/technician_id is not valid: only letters A to Z, digits, _ and - are allowed."
        )
    );
}

#[test]
fn amounts_that_add_up_to_too_much_are_refused() {
    let desk = TestDesk::open();
    let most = 9_007_199_254_740_991;
    let mut call = order("RO-1");
    call["jobs"] = json!([job(1, "pending", most), job(2, "cancelled", most)]);
    assert_eq!(create(&desk, call)["total"], json!({"amount": most, "currency": "USD"}));
    let mut call = order("RO-2");
    call["jobs"] = json!([job(1, "pending", most), job(2, "pending", 1)]);
    assert_eq!(
        refusal(&desk, "service.create_repair_order", call),
        pair(
            "request.invalid",
            "The argument at /jobs/1/labor_total/amount is not valid: the amounts add up to too much."
        )
    );
}

#[test]
fn an_appointment_with_an_order_is_not_cancelled() {
    let desk = TestDesk::open();
    let appointment = book(&desk);
    let made = create(&desk, json!({"ro_number": "RO-1", "appointment_id": appointment["id"]}));
    let cancel = json!({"id": appointment["id"]});
    assert_eq!(
        refusal(&desk, "service.cancel_appointment", cancel.clone()),
        pair(
            "service.invalid_transition",
            "The appointment has a repair order. Set that to voided with service.update_repair_order first."
        )
    );
    update(&desk, json!({"id": made["id"], "status": "voided"}));
    assert_eq!(desk.call_ok(BOTH, "service.cancel_appointment", cancel)["status"], "cancelled");
}
