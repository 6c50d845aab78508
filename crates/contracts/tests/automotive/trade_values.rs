//! Values of trades: from the dealership's own cars, or not at all.

use serde_json::{Value, json};

use super::support::TestDesk;

const SCOPES: &str = "amcp:deals:read amcp:deals:write amcp:inventory:read amcp:inventory:write amcp:leads:read";

fn usd(amount: i64) -> Value {
    json!({"amount": amount, "currency": "USD"})
}

/// VINs of Indian cars have no check digit, so any serial number will do.
fn car(desk: &TestDesk, serial: u32, changes: Value) -> Value {
    let mut arguments = json!({
        "vin": format!("MA3ERLF1S00{serial:06}"),
        "stock_number": format!("Z-{serial}"),
        "condition": "used",
        "year": 2019,
        "make": "Suzuki",
        "model": "Swift",
        "mileage": {"value": 50_000, "unit": "km"},
        "price": usd(1_000_000),
    });
    arguments.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    desk.call_ok(SCOPES, "inventory.create", arguments)["id"].clone()
}

fn trade(changes: Value) -> Value {
    let mut arguments = json!({
        "year": 2019, "make": "SUZUKI", "model": "swift", "mileage": {"value": 52_000, "unit": "km"}, "condition": "good",
    });
    arguments.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    arguments
}

fn request(desk: &TestDesk, changes: Value) -> Value {
    desk.call_ok(SCOPES, "deals.request_trade_value", trade(changes))
}

/// Five cars for 8,000 to 12,000, one year and 2,000 km apart at most.
fn desk_with_five() -> TestDesk {
    let desk = TestDesk::open();
    for (serial, price) in (1..).zip([1_100_000, 800_000, 1_200_000, 900_000, 1_000_000]) {
        car(&desk, serial, json!({"price": usd(price), "year": 2018 + (serial % 3)}));
    }
    desk
}

#[test]
fn a_value_lies_within_the_prices_of_cars_like_it_less_deductions() {
    let desk = desk_with_five();
    let made = request(&desk, json!({}));
    assert_eq!(
        made,
        json!({
            "id": made["id"],
            "type": "trade_value",
            "dealership_id": "dlr_lakeside",
            "year": 2019,
            "make": "SUZUKI",
            "model": "swift",
            "mileage": {"value": 52_000, "unit": "km"},
            "condition": "good",
            "currency": "USD",
            "status": "valued",
            "low": usd(792_000),
            "value": usd(880_000),
            "high": usd(968_000),
            "basis": "trade_in",
            "comparables": 5,
            "comparables_sold": 0,
            "year_span": 1,
            "mileage_span_percent": 25,
            "valued_at": "2026-01-31T09:30:00Z",
            "expires_at": "2026-02-14T09:30:00Z",
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
        })
    );
    assert_eq!(desk.call_ok(SCOPES, "deals.get_trade_value", json!({"id": made["id"]})), made);
    let listed = desk.call_ok(SCOPES, "deals.list_trade_values", json!({"make": "suzuki"}));
    assert_eq!(listed["items"], json!([made]));
}

#[test]
fn the_condition_decides_where_in_the_prices_the_value_lies() {
    let desk = desk_with_five();
    let values = |condition: &str| {
        let made = request(&desk, json!({"condition": condition}));
        let amount = |name: &str| made[name]["amount"].as_i64().unwrap();
        (amount("low"), amount("value"), amount("high"), made["status"].as_str().unwrap().to_owned())
    };
    // Of 8,000 to 12,000, less 12 percent.
    assert_eq!(values("excellent"), (880_000, 968_000, 1_056_000, "valued".to_owned()));
    assert_eq!(values("fair"), (739_200, 792_000, 880_000, "valued".to_owned()));
    assert_eq!(values("poor"), (704_000, 739_200, 792_000, "needs_inspection".to_owned()));
}

#[test]
fn too_few_comparable_cars_are_no_value() {
    let desk = TestDesk::open();
    car(&desk, 1, json!({}));
    car(&desk, 2, json!({}));
    // None of these is comparable: new, too old, driven too far, withdrawn, of another currency.
    car(&desk, 3, json!({"condition": "new"}));
    car(&desk, 4, json!({"year": 2015}));
    car(&desk, 5, json!({"mileage": {"value": 90_000, "unit": "km"}}));
    car(&desk, 6, json!({"status": "unavailable"}));
    car(&desk, 7, json!({"price": {"amount": 900_000, "currency": "CAD"}}));
    let before = desk.stored_data();
    let (failed, answer) = desk.call(SCOPES, "deals.request_trade_value", trade(json!({})));
    assert!(failed);
    assert_eq!(
        answer["error"],
        json!({
            "code": "deals.trade_value_unavailable",
            "message": "No value is available: 3 comparable cars of this make and model, with about this age and mileage, \
                        are needed, and the dealership has 2. Somebody has to see the car.",
            "details": {"retryable": false},
        })
    );
    assert_eq!(desk.stored_data(), before);
    car(&desk, 8, json!({}));
    assert_eq!(request(&desk, json!({}))["comparables"], 3);
}

#[test]
fn fewer_cars_nearby_are_sought_further_away() {
    let desk = TestDesk::open();
    car(&desk, 1, json!({}));
    car(&desk, 2, json!({"year": 2021}));
    car(&desk, 3, json!({"year": 2017, "mileage": {"value": 70_000, "unit": "km"}}));
    let made = request(&desk, json!({}));
    assert_eq!((&made["year_span"], &made["mileage_span_percent"]), (&json!(2), &json!(40)));
}

#[test]
fn a_sold_car_counts_with_the_price_it_was_sold_for() {
    let desk = TestDesk::open();
    car(&desk, 1, json!({}));
    car(&desk, 2, json!({}));
    let vehicle = car(&desk, 3, json!({}));
    let customer = desk.call_ok(SCOPES, "customers.list", json!({"limit": 1}))["items"][0]["id"].clone();
    let terms =
        json!({"vehicle_id": vehicle, "customer_id": customer, "deal_type": "cash", "selling_price": usd(500_000)});
    let deal = desk.call_ok(SCOPES, "deals.create", terms)["id"].clone();
    for status in ["accepted", "delivered"] {
        desk.call_ok(SCOPES, "deals.update", json!({"id": deal, "status": status}));
    }
    let made = request(&desk, json!({"condition": "poor"}));
    assert_eq!((&made["comparables_sold"], &made["low"]), (&json!(1), &usd(440_000)));
}

#[test]
fn a_vin_is_checked_and_its_own_car_is_no_comparable() {
    let desk = desk_with_five();
    let wrong = trade(json!({"vin": "5YJ3E1EAXKF100004"}));
    let (_, answer) = desk.call(SCOPES, "deals.request_trade_value", wrong);
    assert_eq!(answer["error"]["details"]["errors"][0]["expected"], "the VIN says Tesla");
    let (_, answer) = desk.call(SCOPES, "deals.request_trade_value", trade(json!({"vin": "SHORT"})));
    assert_eq!(answer["error"]["details"]["errors"][0]["expected"], "a VIN has 17 characters, not 5");
    let own = request(&desk, json!({"vin": "ma3erlf1s00000001"}));
    assert_eq!((&own["comparables"], &own["vin_check"]), (&json!(4), &json!("not_verified")));
    assert_eq!(own["vin"], "MA3ERLF1S00000001");
}

/// A demo user gets an answer for a common car.
#[test]
fn a_car_of_the_demo_has_a_value() {
    let desk = TestDesk::open();
    let stock = desk.call_ok(SCOPES, "inventory.search", json!({"condition": "used", "limit": 100}));
    let valued = stock["items"].as_array().unwrap().iter().filter(|car| {
        let arguments = json!({
            "year": car["year"], "make": car["make"], "model": car["model"], "mileage": car["mileage"], "condition": "good",
        });
        !desk.call(SCOPES, "deals.request_trade_value", arguments).0
    });
    assert!(valued.count() >= 5);
}
