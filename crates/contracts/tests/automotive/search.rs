//! Searching stock and customers: filters, orders, cursors, invalid arguments.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

const READ: &str = "amcp:inventory:read";

/// All items of a list, by its cursors.
fn walk(desk: &TestDesk, tool: &str, mut arguments: Value) -> Vec<Value> {
    let mut items = Vec::new();
    loop {
        let page = desk.call_ok(ALL_SCOPES, tool, arguments);
        items.extend(page["items"].as_array().unwrap().clone());
        match page.get("next_cursor") {
            Some(cursor) => arguments = json!({"cursor": cursor, "limit": 100}),
            None => return items,
        }
    }
}

fn numbers(items: &[Value], pointer: &str) -> Vec<i64> {
    items.iter().map(|item| item.pointer(pointer).unwrap().as_i64().unwrap()).collect()
}

#[test]
fn a3_20_paging_by_cursor_returns_each_vehicle_once() {
    let desk = TestDesk::open();
    let mut ids: Vec<String> =
        walk(&desk, "inventory.list", json!({"limit": 7})).iter().map(|item| item["id"].to_string()).collect();
    let seen = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), seen);
    assert!(seen >= 250, "{seen}");
}

#[test]
fn a3_05_one_call_sees_one_dealership() {
    let desk = TestDesk::open();
    for tool in ["inventory.list", "leads.list", "customers.list"] {
        for item in walk(&desk, tool, json!({"limit": 100})) {
            assert_eq!(item["dealership_id"], "dlr_lakeside");
        }
    }
}

#[test]
fn the_order_is_kept_across_pages() {
    let desk = TestDesk::open();
    for (sort, pointer) in [("price", "/price/amount"), ("year", "/year"), ("mileage", "/mileage/value")] {
        let rising = numbers(&walk(&desk, "inventory.search", json!({"sort": format!("{sort}_asc")})), pointer);
        assert!(rising.is_sorted(), "{sort}");
        let mut falling = numbers(&walk(&desk, "inventory.search", json!({"sort": format!("{sort}_desc")})), pointer);
        falling.reverse();
        assert_eq!(rising, falling, "{sort}");
    }
}

#[test]
fn make_and_model_are_found_in_any_spelling() {
    let desk = TestDesk::open();
    let some = desk.call_ok(READ, "inventory.list", json!({"limit": 1}));
    let (make, model) = (some["items"][0]["make"].as_str().unwrap(), some["items"][0]["model"].as_str().unwrap());
    let shouted = json!({"make": make.to_uppercase(), "model": model.to_lowercase().replace('-', " ")});
    let found = walk(&desk, "inventory.search", shouted);
    assert!(!found.is_empty());
    assert!(found.iter().all(|item| item["make"] == make && item["model"] == model));
}

#[test]
fn a_vehicle_is_found_by_its_vin_and_its_stock_number() {
    let desk = TestDesk::open();
    let some = desk.call_ok(READ, "inventory.list", json!({"limit": 1}));
    for field in ["vin", "stock_number"] {
        let found = walk(&desk, "inventory.search", json!({"text": some["items"][0][field]}));
        assert_eq!(found, [some["items"][0].clone()], "{field}");
    }
}

#[test]
fn all_words_must_occur() {
    let desk = TestDesk::open();
    let leather = walk(&desk, "inventory.search", json!({"text": "leather"})).len();
    let both = walk(&desk, "inventory.search", json!({"text": "Leather ford"}));
    assert!(!both.is_empty() && both.len() < leather);
    assert!(both.iter().all(|item| item["make"] == "Ford"));
    assert_eq!(walk(&desk, "inventory.search", json!({"text": "leather zeppelin"})), Vec::<Value>::new());
}

#[test]
fn a_price_range_keeps_to_its_currency() {
    let desk = TestDesk::open();
    let everything = json!({"price_min": {"amount": 0, "currency": "CAD"}});
    let canadian = walk(&desk, "inventory.search", everything);
    assert!(!canadian.is_empty());
    assert!(canadian.iter().all(|item| item["price"]["currency"] == "CAD"));

    let range = json!({
        "price_min": {"amount": 2_000_000, "currency": "USD"},
        "price_max": {"amount": 3_000_000, "currency": "USD"},
    });
    let prices = numbers(&walk(&desk, "inventory.search", range), "/price/amount");
    assert!(!prices.is_empty());
    assert!(prices.iter().all(|price| (2_000_000..=3_000_000).contains(price)));
}

#[test]
fn miles_and_kilometres_are_comparable() {
    let desk = TestDesk::open();
    let search = |unit: &str, value: i64| {
        let range = json!({"mileage_max": {"value": value, "unit": unit}});
        walk(&desk, "inventory.search", range).len()
    };
    assert_eq!(search("mi", 10_000), search("km", 16_094));
    assert!(search("km", 10_000) < search("mi", 10_000));
    assert!(search("mi", 10_000) < search("mi", 9_999_999));
}

#[test]
fn every_other_filter_reduces_the_result() {
    let desk = TestDesk::open();
    let all = walk(&desk, "inventory.list", json!({})).len();
    for (field, value) in
        [("condition", "used"), ("status", "available"), ("body_style", "suv"), ("fuel_type", "hybrid")]
    {
        let found = walk(&desk, "inventory.search", json!({ field: value }));
        assert!(!found.is_empty() && found.len() < all, "{field}");
        assert!(found.iter().all(|item| item[field] == value), "{field}");
    }
    let years = numbers(&walk(&desk, "inventory.search", json!({"year_min": 2019, "year_max": 2020})), "/year");
    assert!(!years.is_empty() && years.iter().all(|year| (2019..=2020).contains(year)));
}

#[test]
fn invalid_search_arguments_are_reported_with_their_pointer() {
    let desk = TestDesk::open();
    let cases = [
        (
            json!({"year_min": 2020, "year_max": 2019}),
            "/year_max",
            "it must not be less than the lower end of the range",
        ),
        (
            json!({"price_min": {"amount": 2, "currency": "USD"}, "price_max": {"amount": 1, "currency": "USD"}}),
            "/price_max",
            "it must not be less than the lower end of the range",
        ),
        (
            json!({"price_min": {"amount": 1, "currency": "USD"}, "price_max": {"amount": 2, "currency": "CAD"}}),
            "/price_max/currency",
            "price_min and price_max must have the same currency",
        ),
        (
            json!({"mileage_min": {"value": 2, "unit": "mi"}, "mileage_max": {"value": 3, "unit": "km"}}),
            "/mileage_max",
            "it must not be less than the lower end of the range",
        ),
        (json!({"text": "!!!"}), "/text", "at least one letter or digit is expected"),
        (
            json!({"price_max": {"amount": 10.5, "currency": "USD"}}),
            "/price_max/amount",
            "a whole number of minor units of the currency: 2499999 is 24,999.99 USD",
        ),
    ];
    for (arguments, pointer, expected) in cases {
        let (failed, answer) = desk.call(READ, "inventory.search", arguments);
        assert!(failed);
        assert_eq!(answer["error"]["code"], "request.invalid");
        assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], pointer);
        assert_eq!(answer["error"]["details"]["errors"][0]["expected"], expected);
    }
}

#[test]
fn a3_21_a3_11_a_cursor_is_valid_for_its_own_list_only() {
    let desk = TestDesk::open();
    let page = desk.call_ok(READ, "inventory.search", json!({"make": "Ford", "limit": 1}));
    let cursor = &page["next_cursor"];
    let refused = "request.invalid_cursor";
    assert_eq!(desk.error_code(READ, "inventory.search", json!({"make": "Honda", "cursor": cursor})), refused);
    assert_eq!(desk.error_code(READ, "inventory.list", json!({"cursor": cursor})), refused);
    let other = desk.call_as("dlr_summit/amcp:inventory:read", "inventory.search", json!({"cursor": cursor}));
    assert_eq!((other.0, &other.1["error"]["code"]), (true, &Value::from(refused)));
    desk.call_ok(READ, "inventory.search", json!({"make": "Ford", "cursor": cursor}));
}

#[test]
fn customers_are_found_by_email_phone_or_name_and_masked() {
    let desk = TestDesk::open();
    let listed = desk.call_ok(ALL_SCOPES, "customers.list", json!({"limit": 1}));
    let whole = desk.call_ok(ALL_SCOPES, "customers.get", json!({"id": listed["items"][0]["id"]}));
    let contact = &whole["primary_contact"];
    let shouted = contact["email"].as_str().unwrap().to_uppercase();
    for filter in [json!({"email": shouted}), json!({"phone": contact["phone"]}), json!({"name": contact["name"]})] {
        let found = desk.call_ok(ALL_SCOPES, "customers.list", filter);
        assert!(found["items"].as_array().unwrap().contains(&listed["items"][0]), "{found}");
    }
    assert_eq!(
        listed["items"][0]["redacted"],
        json!(["primary_contact.name", "primary_contact.email", "primary_contact.phone"])
    );
    assert_eq!(whole["redacted"], json!([]));
}

#[test]
fn a3_22_a6_16_a_cursor_reveals_nothing_of_its_filter() {
    let desk = TestDesk::open();
    let person = json!({
        "contact": {"name": "Zz Canary", "email": "zz-canary@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
    });
    for _ in 0..2 {
        desk.call_ok(ALL_SCOPES, "leads.create", person.clone());
    }
    let page = desk.call_ok(ALL_SCOPES, "leads.list", json!({"email": "zz-canary@example.com", "limit": 1}));
    let cursor = page["next_cursor"].as_str().unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(cursor).unwrap();
    let readable = format!("{cursor} {}", String::from_utf8_lossy(&bytes)).to_lowercase();
    for secret in ["canary", "example", "email", "dlr_", "led_"] {
        assert!(!readable.contains(secret), "{secret} in {readable}");
    }
}
