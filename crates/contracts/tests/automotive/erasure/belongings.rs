//! What is left of appointments, repair orders, deals and orders of parts of somebody who is erased.

use serde_json::{Value, json};

use super::super::support::{ALL_SCOPES, TestDesk};
use super::{FIND, PERSON, customer, erase, zara};

/// What the workshop and a deal know about the customer.
const OWN_CAR: [&str; 9] = [
    "1HGCM82633A004352",
    "Zz Own",
    "zz-77",
    "Zz Concern",
    "Zz Reason",
    "Zz Complaint",
    "Zz Cause",
    "Zz Correction",
    "zz-pickup",
];

/// Books work on the customer's own car; returns the appointment.
fn booked(desk: &TestDesk, more: Value) -> Value {
    let free = desk.call_ok(ALL_SCOPES, "service.check_availability", json!({"service_codes": ["OIL"]}));
    let mut arguments = json!({
        "vehicle": {"make": "Zz Own", "model": "Zz Own"},
        "vin": "1HGCM82633A004352",
        "mileage": {"value": 77_123, "unit": "mi"},
        "start": free["slots"][0]["start"],
        "service_codes": ["OIL"],
        "concerns": ["Zz Concern"],
        "notes": "Zz Note",
    });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    desk.call_ok(ALL_SCOPES, "service.book_appointment", arguments)
}

/// Opens a repair order; returns it.
fn ordered(desk: &TestDesk, more: Value) -> Value {
    let mut arguments = json!({
        "ro_number": "R-1",
        "notes": "Zz Note",
        "pickup_code": "zz-pickup",
        "jobs": [{
            "line": 1, "op_code": "OIL", "pay_type": "customer", "status": "completed",
            "complaint": "Zz Complaint", "cause": "Zz Cause", "correction": "Zz Correction",
            "labor_total": {"amount": 7_995, "currency": "USD"},
        }],
    });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    desk.call_ok(ALL_SCOPES, "service.create_repair_order", arguments)
}

fn assert_nothing_is_left(desk: &TestDesk) {
    let rows = desk.store.inspect(|state| state.rows.values().map(|row| format!("{row:?}")).collect::<String>());
    for word in PERSON.iter().chain(&OWN_CAR) {
        assert!(!rows.contains(word), "{word}");
    }
}

#[test]
fn appointments_and_repair_orders_keep_the_work_only() {
    let desk = TestDesk::open();
    let id = customer(&desk, zara());
    let car = json!({"customer_id": id, "contact": zara(), "appointment_number": "zz-77", "x_acme_note": "Zz Vendor"});
    let appointment = booked(&desk, car);
    let order = ordered(&desk, json!({"appointment_id": appointment["id"], "x_acme_note": "Zz Vendor"}));
    assert_eq!((&order["customer_id"], &order["vin"]), (&json!(id), &json!("1HGCM82633A004352")));
    let found = desk.operate(FIND, json!({"id": id})).unwrap();
    assert_eq!(found["counts"], json!({"appointment": 1, "consent": 1, "customer": 1, "repair_order": 1}));
    assert_eq!(erase(&desk, &json!({"id": id})), 1);
    assert_nothing_is_left(&desk);
    let shown = desk.call_ok(ALL_SCOPES, "service.get_appointment", json!({"id": appointment["id"]}));
    for kept in ["start", "end", "service_codes", "customer_id", "workshop_id"] {
        assert_eq!(shown[kept], appointment[kept], "{kept}");
    }
    assert_eq!((&shown["status"], &shown["concerns"]), (&json!("checked_in"), &json!([])));
    for gone in ["vehicle", "vin", "mileage", "contact", "notes", "appointment_number", "x_acme_note"] {
        assert_eq!(shown.get(gone), None, "{gone}");
    }
    let shown = desk.call_ok(ALL_SCOPES, "service.get_repair_order", json!({"id": order["id"]}));
    assert_eq!((&shown["ro_number"], &shown["total"]), (&json!("R-1"), &json!({"amount": 7_995, "currency": "USD"})));
    assert_eq!(
        shown["jobs"],
        json!([{
            "line": 1, "op_code": "OIL", "pay_type": "customer", "status": "completed",
            "labor_total": {"amount": 7_995, "currency": "USD"},
        }])
    );
    for gone in ["vin", "mileage_in", "notes", "x_acme_note"] {
        assert_eq!(shown.get(gone), None, "{gone}");
    }
    // The work goes on, although nobody knows any more on which car.
    desk.call_ok(ALL_SCOPES, "service.update_repair_order", json!({"id": order["id"], "status": "in_progress"}));
    let listed = desk.call_ok(ALL_SCOPES, "service.list_appointments", json!({"email": "zara@example.com"}));
    assert_eq!(listed["items"], json!([]));
    assert_eq!(desk.operate(FIND, json!({"id": id})).unwrap()["counts"], json!({}));
}

/// The order has neither a customer nor contact data: the appointment tells whose it is.
#[test]
fn a_repair_order_is_found_by_its_appointment() {
    let desk = TestDesk::open();
    let appointment = booked(&desk, json!({"contact": zara()}));
    let order = ordered(&desk, json!({"appointment_id": appointment["id"]}));
    assert_eq!(order.get("customer_id"), None);
    let found = desk.operate(FIND, json!({"phone": "+15125550199"})).unwrap();
    assert_eq!(
        found["records"],
        json!([
            {"kind": "repair_order", "id": order["id"], "version": 1},
            {"kind": "appointment", "id": appointment["id"], "version": 2},
        ])
    );
    assert_eq!(erase(&desk, &json!({"phone": "+15125550199"})), 1);
    assert_nothing_is_left(&desk);
}

#[test]
fn an_erased_appointment_can_be_cancelled() {
    let desk = TestDesk::open();
    let appointment = booked(&desk, json!({"contact": zara()}));
    assert_eq!(erase(&desk, &json!({"id": appointment["id"]})), 1);
    let cancelled = desk.call_ok(ALL_SCOPES, "service.cancel_appointment", json!({"id": appointment["id"]}));
    assert_eq!(cancelled["status"], "cancelled");
}

#[test]
fn a_cancelled_appointment_loses_its_reason() {
    let desk = TestDesk::open();
    let appointment = booked(&desk, json!({"contact": zara()}));
    let reason = json!({"id": appointment["id"], "cancel_reason": "Zz Reason"});
    desk.call_ok(ALL_SCOPES, "service.cancel_appointment", reason);
    assert_eq!(erase(&desk, &json!({"email": "zara@example.com"})), 1);
    assert_nothing_is_left(&desk);
}

#[test]
fn a_deal_keeps_its_figures_but_not_the_car_traded_in() {
    let desk = TestDesk::open();
    let id = customer(&desk, zara());
    let stock = desk.call_ok(ALL_SCOPES, "inventory.list", json!({"status": "available", "limit": 1}));
    let price = &stock["items"][0]["price"];
    let allowance = json!({"amount": 100_000, "currency": price["currency"]});
    let deal = desk.call_ok(
        ALL_SCOPES,
        "deals.create",
        json!({
            "deal_type": "cash", "customer_id": id, "vehicle_id": stock["items"][0]["id"], "x_acme_note": "Zz Vendor",
            "trades": [{
                "make": "Honda", "model": "Accord", "year": 2003, "vin": "1HGCM82633A004352",
                "mileage": {"value": 77_123, "unit": "mi"}, "allowance": allowance,
            }],
        }),
    );
    assert_eq!(
        desk.operate(FIND, json!({"id": id})).unwrap()["counts"],
        json!({"consent": 1, "customer": 1, "deal": 1})
    );
    assert_eq!(erase(&desk, &json!({"id": id})), 1);
    assert_nothing_is_left(&desk);
    let shown = desk.call_ok(ALL_SCOPES, "deals.get", json!({"id": deal["id"]}));
    let trade = json!([{"make": "Honda", "model": "Accord", "year": 2003, "allowance": allowance}]);
    assert_eq!((&shown["trades"], shown.get("x_acme_note")), (&trade, None));
    for kept in ["totals", "selling_price", "fees", "taxes", "deal_number", "customer_id", "vehicle_id"] {
        assert_eq!(shown[kept], deal[kept], "{kept}");
    }
}

/// Orders parts, with words about the customer; returns the order.
fn parts_ordered(desk: &TestDesk, more: Value) -> Value {
    let mut arguments = json!({
        "lines": [{"part_number": "15400-PLM-A02", "quantity": 2}], "notes": "Zz Note", "x_acme_note": "Zz Vendor",
    });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    desk.call_ok(ALL_SCOPES, "parts.create_order", arguments)
}

#[test]
fn an_order_of_parts_keeps_its_lines_only() {
    let desk = TestDesk::open();
    let id = customer(&desk, zara());
    let order = parts_ordered(&desk, json!({"customer_id": id}));
    let cancelled = parts_ordered(&desk, json!({"customer_id": id}));
    let reason = json!({"id": cancelled["id"], "cancel_reason": "Zz Reason"});
    desk.call_ok(ALL_SCOPES, "parts.cancel_order", reason);
    let found = desk.operate(FIND, json!({"id": id})).unwrap();
    assert_eq!(found["counts"], json!({"consent": 1, "customer": 1, "part_order": 2}));
    assert_eq!(erase(&desk, &json!({"id": id})), 1);
    assert_nothing_is_left(&desk);
    let shown = desk.call_ok(ALL_SCOPES, "parts.get_order", json!({"id": order["id"]}));
    for kept in ["order_number", "customer_id", "lines", "total", "status", "ordered_at"] {
        assert_eq!(shown[kept], order[kept], "{kept}");
    }
    assert_eq!((shown.get("notes"), shown.get("x_acme_note")), (None, None));
    // It is still shipped, and takes its parts out of stock.
    let shipped = desk.call_ok(ALL_SCOPES, "parts.update_order", json!({"id": order["id"], "status": "shipped"}));
    assert_eq!(shipped["lines"][0]["quantity_shipped"], 2);
}

/// Neither the parts nor the repair order name anybody: the appointment tells whose they are.
#[test]
fn parts_are_found_by_the_repair_order_of_an_appointment() {
    let desk = TestDesk::open();
    let appointment = booked(&desk, json!({"contact": zara()}));
    let order = ordered(&desk, json!({"appointment_id": appointment["id"]}));
    let parts = parts_ordered(&desk, json!({"repair_order_id": order["id"]}));
    // Those of another customer for the same car are not theirs.
    let other = customer(&desk, json!({"name": "Kim Other", "email": "kim@example.com"}));
    let theirs = parts_ordered(&desk, json!({"repair_order_id": order["id"], "customer_id": other, "notes": "Kim"}));
    let found = desk.operate(FIND, json!({"phone": "+15125550199"})).unwrap();
    assert_eq!(
        found["records"],
        json!([
            {"kind": "part_order", "id": parts["id"], "version": 1},
            {"kind": "repair_order", "id": order["id"], "version": 1},
            {"kind": "appointment", "id": appointment["id"], "version": 2},
        ])
    );
    assert_eq!(found["others"], json!([other]));
    assert_eq!(erase(&desk, &json!({"phone": "+15125550199"})), 1);
    let kept = desk.call_ok(ALL_SCOPES, "parts.get_order", json!({"id": theirs["id"]}));
    assert_eq!((&kept["notes"], &kept["x_acme_note"]), (&json!("Kim"), &json!("Zz Vendor")));
    let shown = desk.call_ok(ALL_SCOPES, "parts.get_order", json!({"id": parts["id"]}));
    assert_eq!((shown.get("notes"), shown.get("x_acme_note")), (None, None));
}

/// What a credit application and a decision know about the applicant.
const CREDIT: [&str; 9] = [
    "Zz Street",
    "Zz Employer",
    "520077",
    "900714321",
    "4321",
    "1984-03-09",
    "DE0012345678",
    "Zz Tier",
    "Zz Condition",
];

#[test]
fn credit_applications_and_decisions_keep_how_they_ended_only() {
    let desk = TestDesk::open();
    let id = customer(&desk, zara());
    let consent = desk.call_ok(
        ALL_SCOPES,
        "consent.create",
        json!({"status": "granted", "channels": ["email"], "purpose": "credit_inquiry", "customer_id": id}),
    );
    let made = desk.call_ok(
        ALL_SCOPES,
        "fni.create_credit_application",
        json!({
            "customer_id": id,
            "application_number": "Z-77",
            "consent_id": consent["id"],
            "permissible_purpose": "credit_transaction",
            "applicant": zara(),
            "residence": {"street": "Zz Street", "city": "Zz Town", "region": "NY", "postal_code": "1", "country": "US",
                "residence_type": "rent", "months": 1},
            "employment": {"status": "employed", "employer": "Zz Employer",
                "gross_monthly_income": {"amount": 520_077, "currency": "USD"}},
            "ssn": "900-71-4321",
            "birth_date": "1984-03-09",
            "bank_account_number": "DE0012345678",
            "x_acme_note": "Zz Vendor",
        }),
    );
    desk.call_ok(ALL_SCOPES, "fni.update_credit_application", json!({"id": made["id"], "status": "submitted"}));
    let row = json!({"decision_number": "d-1", "application_number": "Z-77", "lender_name": "Example Bank",
        "decision": "declined", "credit_tier": "Zz Tier", "conditions": ["Zz Condition"], "reasons": ["Zz Note"]});
    let decision = super::super::imports::apply(&desk, "lender_decisions", &[row]).remove(0).id.unwrap();
    let found = desk.operate(FIND, json!({"id": id})).unwrap();
    assert_eq!(found["counts"], json!({"consent": 2, "credit_application": 1, "customer": 1, "lender_decision": 1}));
    // By the application's id and by the applicant's address as well.
    for by in [json!({"id": made["id"]}), json!({"id": decision}), json!({"email": "zara@example.com"})] {
        assert_eq!(desk.operate(FIND, by).unwrap()["counts"], found["counts"]);
    }
    assert_eq!(erase(&desk, &json!({"id": id})), 1);
    assert_nothing_is_left(&desk);
    let rows = desk.store.inspect(|state| state.rows.values().map(|row| format!("{row:?}")).collect::<String>());
    for word in CREDIT {
        assert!(!rows.contains(word), "{word}");
    }
    let shown = desk.call_ok(ALL_SCOPES, "fni.get_credit_application", json!({"id": made["id"]}));
    assert_eq!((&shown["status"], &shown["applicant"]), (&json!("decisioned"), &json!({"name": "[erased]"})));
    assert_eq!((&shown["consent_id"], &shown["application_number"]), (&consent["id"], &json!("Z-77")));
    for gone in ["residence", "employment", "ssn_last4", "bank_account_last4", "x_acme_note"] {
        assert_eq!(shown.get(gone), None, "{gone}");
    }
    let shown = desk.call_ok(ALL_SCOPES, "fni.get_lender_decision", json!({"id": decision}));
    assert_eq!(
        (&shown["decision"], &shown["adverse_action_required"], shown.get("credit_tier"), shown.get("reasons")),
        (&json!("declined"), &json!(true), None, None)
    );
}
