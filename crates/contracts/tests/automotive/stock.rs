//! The rules of the stock: VINs that are proven or not, prices so far, which status follows which, and cars that come
//! back.

use frontdesk_engine::import::{ImportRow, ImportSession, RowProblem, RowVerdict};
use serde_json::{Value, json};

use super::imports::vehicle;
use super::support::TestDesk;

const BOTH: &str = "amcp:inventory:read amcp:inventory:write";

/// Code and message of a call that must fail.
fn refused(desk: &TestDesk, tool: &str, arguments: Value) -> (String, String) {
    let (failed, answer) = desk.call(BOTH, tool, arguments);
    assert!(failed, "{answer}");
    let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

fn status(desk: &TestDesk, id: &Value, status: &str) -> Value {
    desk.call_ok(BOTH, "inventory.update", json!({"id": id, "status": status}))
}

#[test]
fn a_vin_without_a_valid_check_digit_is_not_verified_elsewhere() {
    let desk = TestDesk::open();
    let elsewhere = vehicle(json!({"vin": "MA3ERLF1S00183366", "make": "Suzuki", "year": 2015}));
    let made = desk.call_ok(BOTH, "inventory.create", elsewhere);
    assert_eq!(made["vin_check"], "not_verified");
    let here = desk.call_ok(BOTH, "inventory.create", vehicle(json!({"stock_number": "T-2"})));
    assert_eq!(here["vin_check"], "verified");
    let (failed, answer) = desk.call(BOTH, "inventory.create", vehicle(json!({"vin": "5YJ3E1EA1KF100004"})));
    assert!(failed);
    assert_eq!(
        answer["error"]["details"]["errors"],
        json!([{"pointer": "/vin", "keyword": "pattern", "expected": "the check digit at position 9 does not match"}])
    );
}

#[test]
fn year_and_make_that_are_both_wrong_are_both_named() {
    let desk = TestDesk::open();
    let (_, answer) = desk.call(BOTH, "inventory.create", vehicle(json!({"year": 2018, "make": "Ford"})));
    assert_eq!(
        answer["error"]["details"]["errors"],
        json!([
            {"pointer": "/year", "keyword": "const", "expected": "the VIN says 2019"},
            {"pointer": "/make", "keyword": "const", "expected": "the VIN says Tesla"},
        ])
    );
}

#[test]
fn prices_so_far_are_kept_up_to_twenty() {
    let desk = TestDesk::open();
    let made = desk.call_ok(BOTH, "inventory.create", vehicle(json!({})));
    let price = |amount: i64| json!({"amount": amount, "currency": "USD"});
    let change = |amount: i64| json!({"id": made["id"], "price": price(amount)});
    let changed = desk.call_ok(BOTH, "inventory.update", change(2_399_900));
    let point = |amount: i64| json!({"at": "2026-01-31T09:30:00Z", "price": price(amount)});
    assert_eq!(changed["price_history"], json!([point(2_499_900), point(2_399_900)]));
    // What is not a change of the price is no point in its history.
    let same = desk.call_ok(BOTH, "inventory.update", json!({"id": made["id"], "price": price(2_399_900), "doors": 4}));
    assert_eq!(same["price_history"], changed["price_history"]);
    for amount in 1..=19 {
        desk.call_ok(BOTH, "inventory.update", change(amount));
    }
    let read = desk.call_ok(BOTH, "inventory.get", json!({"id": made["id"]}));
    let history = read["price_history"].as_array().unwrap();
    assert_eq!((history.len(), &history[0], &history[19]), (20, &point(2_399_900), &point(19)));
}

#[test]
fn a_sold_vehicle_comes_back_by_way_of_on_hold_only() {
    let desk = TestDesk::open();
    let id = desk.call_ok(BOTH, "inventory.create", vehicle(json!({})))["id"].clone();
    status(&desk, &id, "sold");
    assert_eq!(
        refused(&desk, "inventory.update", json!({"id": id, "status": "available"})),
        ("inventory.invalid_transition".to_owned(), "Status sold can become on_hold.".to_owned())
    );
    status(&desk, &id, "on_hold");
    assert_eq!(status(&desk, &id, "available")["status"], "available");
}

#[test]
fn a_sold_car_can_come_back_as_a_new_unit() {
    let desk = TestDesk::open();
    let first = desk.call_ok(BOTH, "inventory.create", vehicle(json!({})));
    let again = vehicle(json!({"stock_number": "T-101"}));
    assert_eq!(
        refused(&desk, "inventory.create", again.clone()),
        (
            "inventory.duplicate".to_owned(),
            "A vehicle with this vin or stock_number exists already. Find that one and change it.".to_owned()
        )
    );
    status(&desk, &first["id"], "sold");
    desk.clock.advance(1_000);
    let second = desk.call_ok(BOTH, "inventory.create", again);
    assert_ne!(second["id"], first["id"]);
    let found = desk.call_ok(BOTH, "inventory.search", json!({"vin": "5YJ3E1EAXKF100004"}));
    let states: Vec<&Value> = found["items"].as_array().unwrap().iter().map(|unit| &unit["status"]).collect();
    assert_eq!(states, ["available", "sold"]);
    // Now the old unit cannot come back, because there would be two.
    let back = json!({"id": first["id"], "status": "on_hold"});
    assert_eq!(refused(&desk, "inventory.update", back).0, "inventory.duplicate");
}

fn import(desk: &TestDesk, arguments: Value) -> (RowVerdict, Option<String>) {
    let row = ImportRow { line: 2, arguments: arguments.as_object().unwrap().clone(), key: None, is_new: false };
    let rows = [row];
    let mut results = desk.import("vehicles", async |session: &ImportSession<'_>| session.apply(&rows).await.unwrap());
    let result = results.remove(0);
    (result.verdict, result.id)
}

#[test]
fn a_feed_finds_the_unit_in_stock_by_its_vin() {
    let desk = TestDesk::open();
    let first = desk.call_ok(BOTH, "inventory.create", vehicle(json!({})));
    status(&desk, &first["id"], "sold");
    let (verdict, second) = import(&desk, vehicle(json!({"stock_number": "T-101"})));
    assert_eq!(verdict, RowVerdict::Created);
    let (verdict, found) = import(&desk, vehicle(json!({"stock_number": "T-102", "vin": "5yj3e1eaxkf100004"})));
    assert_eq!((verdict, &found), (RowVerdict::Updated, &second));
    // A feed that still lists the sold unit changes its price, but does not offer it again.
    let sold = json!({"stock_number": "T-100", "price": {"amount": 1, "currency": "USD"}});
    assert_eq!(import(&desk, sold).0, RowVerdict::Updated);
    let offered = json!({"stock_number": "T-100", "status": "available"});
    let reason = "Status sold can become on_hold.".to_owned();
    assert_eq!(import(&desk, offered).0, RowVerdict::Rejected(vec![RowProblem { field: String::new(), reason }]));
}

#[test]
fn a_row_with_the_vin_of_one_unit_and_the_number_of_another_says_so() {
    let desk = TestDesk::open();
    import(&desk, vehicle(json!({})));
    let other = json!({"vin": "1HGCV1F31JA100000", "stock_number": "T-101", "year": 2018, "make": "Honda"});
    import(&desk, vehicle(other));
    let (verdict, _) = import(&desk, json!({"stock_number": "T-101", "vin": "5YJ3E1EAXKF100004"}));
    let reason = "it matches two records: its stock_number is that of another vehicle.".to_owned();
    let field = "/stock_number".to_owned();
    assert_eq!(verdict, RowVerdict::Rejected(vec![RowProblem { field, reason }]));
}

#[test]
fn a_feed_does_not_change_the_status_of_a_vehicle_that_a_deal_has() {
    let desk = TestDesk::open();
    let all = "amcp:deals:read amcp:deals:write amcp:leads:read amcp:inventory:read amcp:inventory:write";
    let unit = desk.call_ok(all, "inventory.create", vehicle(json!({})))["id"].clone();
    let customer = desk.call_ok(all, "customers.list", json!({"limit": 1}))["items"][0]["id"].clone();
    let terms = json!({"deal_type": "cash", "customer_id": customer, "vehicle_id": unit});
    let deal = desk.call_ok(all, "deals.create", terms)["id"].clone();
    desk.call_ok(all, "deals.update", json!({"id": deal, "status": "accepted"}));
    let listed = json!({"stock_number": "T-100", "status": "available", "price": {"amount": 5, "currency": "USD"}});
    assert_eq!(import(&desk, listed).0, RowVerdict::Updated);
    let read = desk.call_ok(all, "inventory.get", json!({"id": unit}));
    assert_eq!((&read["status"], &read["price"]["amount"]), (&json!("reserved"), &json!(5)));
}
