//! Rows of a feed become calls: what a row is matched with, what it changes, and what is recorded of it.

use frontdesk_engine::import::{ImportRow, ImportSession, RowProblem, RowResult, RowVerdict};
use serde_json::{Value, json};

use super::support::TestDesk;

const READ: &str = "amcp:inventory:read amcp:leads:read";

pub(crate) fn vehicle(changes: Value) -> Value {
    let mut arguments = json!({
        "vin": "5YJ3E1EAXKF100004",
        "stock_number": "T-100",
        "condition": "used",
        "year": 2019,
        "make": "Tesla",
        "model": "Model 3",
        "mileage": {"value": 30100, "unit": "mi"},
        "price": {"amount": 2499900, "currency": "USD"},
    });
    arguments.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    arguments
}

/// Rows on the lines from 2 on.
fn rows(arguments: &[Value]) -> Vec<ImportRow> {
    let row = |(arguments, line): (&Value, u64)| ImportRow {
        line,
        arguments: arguments.as_object().unwrap().clone(),
        key: None,
        is_new: false,
    };
    arguments.iter().zip(2..).map(row).collect()
}

pub(crate) fn apply(desk: &TestDesk, name: &str, arguments: &[Value]) -> Vec<RowResult> {
    desk.import(name, async |session: &ImportSession<'_>| session.apply(&rows(arguments)).await.unwrap())
}

fn check(desk: &TestDesk, name: &str, arguments: &[Value]) -> Vec<RowVerdict> {
    let results = desk.import(name, async |session: &ImportSession<'_>| session.check(&rows(arguments)).await.unwrap());
    results.into_iter().map(|result| result.verdict).collect()
}

fn rejected(field: &str, reason: &str) -> RowVerdict {
    RowVerdict::Rejected(vec![RowProblem { field: field.to_owned(), reason: reason.to_owned() }])
}

#[test]
fn a_row_adds_then_changes_and_then_leaves_alone() {
    let desk = TestDesk::open();
    let first = apply(&desk, "vehicles", &[vehicle(json!({}))]);
    assert_eq!((first[0].line, &first[0].verdict), (2, &RowVerdict::Created));
    let id = first[0].id.clone().unwrap();
    let cheaper = vehicle(json!({"price": {"amount": 2399900, "currency": "USD"}}));
    let second = apply(&desk, "vehicles", std::slice::from_ref(&cheaper));
    assert_eq!(second, [RowResult { line: 2, verdict: RowVerdict::Updated, id: Some(id.clone()) }]);
    let third = apply(&desk, "vehicles", &[cheaper]);
    assert_eq!(third, [RowResult { line: 2, verdict: RowVerdict::Unchanged, id: Some(id.clone()) }]);
    let stored = desk.call_ok(READ, "inventory.get", json!({"id": id}));
    assert_eq!((&stored["price"]["amount"], &stored["version"]), (&json!(2399900), &json!(2)));
    assert_eq!(desk.events(), ["vehicle created", "vehicle updated"]);
}

/// A3-04: only a tool call changes anything, so a row is recorded as the call that it is.
#[test]
fn a3_04_a_row_is_recorded_as_the_tool_call_it_is() {
    let desk = TestDesk::open();
    apply(&desk, "vehicles", &[vehicle(json!({}))]);
    apply(&desk, "vehicles", &[vehicle(json!({"trim": "Long Range"}))]);
    let audit = desk.audit();
    let said = |record: &Value| {
        ["tool", "import", "client", "tenant", "outcome"].map(|name| record[name].as_str().unwrap().to_owned())
    };
    assert_eq!(
        audit.iter().map(said).collect::<Vec<_>>(),
        [
            ["inventory.create", "imp_test", "operator", "dlr_lakeside", "ok"],
            ["inventory.update", "imp_test", "operator", "dlr_lakeside", "ok"],
        ]
    );
}

#[test]
fn a_row_finds_its_record_by_vin_or_by_stock_number() {
    let desk = TestDesk::open();
    apply(&desk, "vehicles", &[vehicle(json!({}))]);
    // The VIN in other letters, under another stock number.
    let moved = vehicle(json!({"vin": "5yj3e1eaxkf100004", "stock_number": "T-200"}));
    assert_eq!(apply(&desk, "vehicles", &[moved])[0].verdict, RowVerdict::Updated);
    // A few columns are enough for a record that exists.
    let price = json!({"stock_number": "T-200", "price": {"amount": 1, "currency": "USD"}});
    assert_eq!(apply(&desk, "vehicles", &[price])[0].verdict, RowVerdict::Updated);
    let other_vin = json!({"stock_number": "T-200", "vin": "1HGCV1F31JA100000"});
    let reason = "it cannot be changed: the vehicle that the row matches has another one.";
    assert_eq!(check(&desk, "vehicles", &[other_vin]), [rejected("/vin", reason)]);
}

#[test]
fn a_row_that_matches_two_records_is_rejected() {
    let desk = TestDesk::open();
    let other =
        json!({"vin": "1HGCV1F31JA100000", "stock_number": "T-101", "year": 2018, "make": "Honda", "model": "Accord"});
    apply(&desk, "vehicles", &[vehicle(json!({})), vehicle(other)]);
    let both = vehicle(json!({"stock_number": "T-101"}));
    let reason = "it matches two records: its stock_number is that of another vehicle.";
    assert_eq!(check(&desk, "vehicles", &[both]), [rejected("/stock_number", reason)]);
}

#[test]
fn checking_rows_changes_and_records_nothing() {
    let desk = TestDesk::open();
    let before = desk.stored_data();
    let wrong_year = vehicle(json!({"vin": "1HGCV1F31JA100000", "make": "Honda", "stock_number": "T-9"}));
    let incomplete = json!({"vin": "2T3P1RFV8LC100007"});
    let found = check(&desk, "vehicles", &[vehicle(json!({})), wrong_year, incomplete]);
    assert_eq!(found[..2], [RowVerdict::Created, rejected("/year", "the VIN says 2018.")]);
    let RowVerdict::Rejected(problems) = &found[2] else { panic!("{found:?}") };
    let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(fields, ["/stock_number", "/condition", "/year", "/make", "/model", "/mileage", "/price"]);
    assert_eq!(desk.stored_data(), before);
    assert!(desk.audit().is_empty());
}

#[test]
fn a_rejected_row_does_not_stop_the_others() {
    let desk = TestDesk::open();
    let results = apply(&desk, "vehicles", &[vehicle(json!({"vin": "WRONG"})), vehicle(json!({}))]);
    assert!(matches!(results[0].verdict, RowVerdict::Rejected(_)), "{results:?}");
    assert_eq!(results[1].verdict, RowVerdict::Created);
}

#[test]
fn a_customer_without_a_number_is_imported_once_by_its_line() {
    let desk = TestDesk::open();
    let person = json!({
        "primary_contact": {"name": "Ida Park", "email": "ida@example.com"},
        "kind": "individual",
        "consent": {"granted": true, "channels": ["email"]},
    });
    let first = apply(&desk, "customers", std::slice::from_ref(&person));
    assert_eq!(first[0].verdict, RowVerdict::Created);
    // It has nothing to be matched by; the import and the line are its idempotency key.
    let again = apply(&desk, "customers", &[person]);
    assert_eq!(again[0].id, first[0].id);
    assert_eq!(desk.events(), ["customer created", "consent created"]);
    let found = desk.call_ok(READ, "customers.list", json!({"email": "IDA@example.com"}));
    assert_eq!(found["items"][0]["primary_contact"]["name"], "I. P.");
    assert_eq!(desk.audit()[0]["tool"], "customers.create");
}

#[test]
fn a_customer_with_a_number_is_found_by_it_and_changed() {
    let desk = TestDesk::open();
    let person = |city: &str| {
        json!({
            "primary_contact": {"name": "Ida Park"},
            "dms_customer_number": "D-77",
            "location": {"city": city, "region": "TX", "country": "US"},
        })
    };
    let first = apply(&desk, "customers", &[person("Waco")]);
    assert_eq!(first[0].verdict, RowVerdict::Created);
    let again = apply(&desk, "customers", &[person("Austin")]);
    assert_eq!((&again[0].verdict, &again[0].id), (&RowVerdict::Updated, &first[0].id));
    assert_eq!(apply(&desk, "customers", &[person("Austin")])[0].verdict, RowVerdict::Unchanged);
}

#[test]
fn what_a_feed_no_longer_lists_is_withdrawn_and_can_come_back() {
    let desk = TestDesk::open();
    let id = apply(&desk, "vehicles", &[vehicle(json!({}))])[0].id.clone().unwrap();
    desk.import("vehicles", async |session: &ImportSession<'_>| {
        let page = session.listed(None).await.unwrap().unwrap();
        assert!(page.rows.contains(&id));
        session.withdraw_records(std::slice::from_ref(&id)).await.unwrap();
        let page = session.listed(None).await.unwrap().unwrap();
        assert!(!page.rows.contains(&id));
    });
    assert_eq!(desk.call_ok(READ, "inventory.get", json!({"id": id}))["status"], "unavailable");
    assert_eq!(apply(&desk, "vehicles", &[vehicle(json!({}))])[0].verdict, RowVerdict::Updated);
    assert_eq!(desk.call_ok(READ, "inventory.get", json!({"id": id}))["status"], "available");
    assert_eq!(desk.events(), ["vehicle created", "vehicle deleted", "vehicle created"]);
}
