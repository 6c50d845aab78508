//! The wrong calls that language models make, each with the literal answer that lets them correct themselves. Clients
//! drop the details, so the message alone must be enough.

use serde_json::{Value, json};

use crate::support::TestDesk;

const READ: &str = "amcp:inventory:read";

/// Code and message of a call that must fail.
fn refused(desk: &TestDesk, tool: &str, arguments: Value) -> (String, String) {
    let (failed, answer) = desk.call("amcp:inventory:read amcp:inventory:write amcp:leads:write", tool, arguments);
    assert!(failed, "{answer}");
    let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

fn invalid(message: &str) -> (String, String) {
    ("request.invalid".to_owned(), message.to_owned())
}

#[test]
fn a_wrong_word_is_answered_with_the_right_ones() {
    let desk = TestDesk::open();
    assert_eq!(
        refused(&desk, "inventory.search", json!({"condition": "pre-owned"})),
        invalid(
            "The argument at /condition is not valid: one of these is expected: new, used, certified_pre_owned, demo, unknown."
        )
    );
}

#[test]
fn a_missing_word_is_answered_with_the_right_ones() {
    let desk = TestDesk::open();
    let lead = json!({"contact": {"name": "Ada"}, "source": {"channel": "website"}, "consent": {"granted": false, "channels": []}});
    assert_eq!(
        refused(&desk, "leads.create", lead),
        invalid(
            "The argument at /interest is not valid: it is required, as one of these: buy, lease, sell, trade_in, test_drive, service, unknown."
        )
    );
}

#[test]
fn an_unknown_argument_is_answered_with_the_nearest_one() {
    let desk = TestDesk::open();
    assert_eq!(
        refused(&desk, "inventory.search", json!({"max_price": {"amount": 1, "currency": "USD"}})),
        invalid(
            "The arguments are not valid: only these are known: text, make, model, stock_number, vin, condition, status, body_style, fuel_type, year_min, year_max, price_min, price_max, mileage_min, mileage_max, sort, cursor, limit, x_frontdesk_total, dealership_id; did you mean price_max?"
        )
    );
    assert_eq!(
        refused(&desk, "inventory.search", json!({"price-max": 1, "make": "Kia"})),
        invalid(
            "The arguments are not valid: only these are known: text, make, model, stock_number, vin, condition, status, body_style, fuel_type, year_min, year_max, price_min, price_max, mileage_min, mileage_max, sort, cursor, limit, x_frontdesk_total, dealership_id; did you mean price_max?"
        )
    );
}

#[test]
fn two_mistakes_at_once_are_both_explained() {
    let desk = TestDesk::open();
    assert_eq!(
        refused(&desk, "inventory.search", json!({"status": "in stock", "body_stlye": "suv"})),
        invalid(
            "The arguments are not valid. /status: one of these is expected: available, in_transit, on_order, pending, reserved, on_hold, sold, wholesale, unavailable, unknown. Unknown name: only these are known: text, make, model, stock_number, vin, condition, status, body_style, fuel_type, year_min, year_max, price_min, price_max, mileage_min, mileage_max, sort, cursor, limit, x_frontdesk_total, dealership_id; did you mean body_style?"
        )
    );
}

#[test]
fn a_misspelt_tool_is_answered_with_the_nearest_one() {
    let desk = TestDesk::open();
    let said = |scopes: &str, tool: &str| {
        let reply = desk.send(&format!("dlr_lakeside/{scopes}"), "tools/call", json!({"name": tool, "arguments": {}}));
        String::from_utf8(reply.body.to_vec()).unwrap()
    };
    let answer = |guess: &str| {
        let message = format!("There is no tool of this name;{guess} `tools/list` names those there are.");
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32602,"message":"{message}","data":{{"error":{{"code":"request.unknown_tool","message":"{message}","details":{{"retryable":false}}}}}}}}}}"#
        )
    };
    assert_eq!(said(READ, "inventory.serch"), answer(" did you mean inventory.search?"));
    assert_eq!(said(READ, "inventory_search"), answer(" did you mean inventory.search?"));
    assert_eq!(said(READ, "vehicles.search"), answer(" did you mean inventory.search?"));
    // This token cannot see it.
    assert_eq!(said(READ, "leads.creat"), answer(""));
    assert_eq!(said("amcp:leads:write", "leads.creat"), answer(" did you mean leads.create?"));
}

#[test]
fn a3_33_dollars_for_cents_are_refused_or_explained() {
    let desk = TestDesk::open();
    assert_eq!(
        refused(&desk, "inventory.search", json!({"price_max": 25000})),
        invalid(
            "The argument at /price_max is not valid: an object with amount, currency is expected; amount is in minor units of the currency: 2499999 is 24,999.99 USD."
        )
    );
    for amount in [json!(24999.99), json!(25000.0), json!("25000")] {
        assert_eq!(
            refused(&desk, "inventory.search", json!({"price_max": {"amount": amount, "currency": "USD"}})),
            invalid(
                "The argument at /price_max/amount is not valid: a whole number of minor units of the currency: 2499999 is 24,999.99 USD."
            )
        );
    }
    let content = |arguments: Value| {
        let reply = desk.send(
            &format!("dlr_lakeside/{READ}"),
            "tools/call",
            json!({"name": "inventory.search", "arguments": arguments}),
        );
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        let answer = &body["result"];
        assert_eq!(answer["structuredContent"], json!({"items": []}), "{body}");
        answer["content"].clone()
    };
    let nothing = json!({"type": "text", "text": "{\"items\":[]}"});
    let dollars = json!({"amount": 25_000, "currency": "USD"});
    let note = "Without price_max there would be matches. Amounts are in minor units of the currency: 2499999 is 24,999.99 \
                USD. Only amounts in the same currency are compared.";
    assert_eq!(content(json!({"price_max": dollars})), json!([nothing, {"type": "text", "text": note}]));
    let both = json!({"price_min": {"amount": 20_000, "currency": "USD"}, "price_max": dollars, "make": "Toyota"});
    let note = note.replace("price_max", "price_min and price_max");
    assert_eq!(content(both), json!([nothing, {"type": "text", "text": note}]));
    // Another filter excludes everything, too; nothing is said about the price.
    assert_eq!(content(json!({"price_max": dollars, "make": "Nobody"})), json!([nothing]));
    assert_eq!(content(json!({"make": "Nobody"})), json!([nothing]));
    assert_eq!(content(json!({"year_max": 1900})), json!([nothing]));
}

#[test]
fn only_an_empty_answer_with_a_price_is_looked_into() {
    let desk = TestDesk::open();
    let pages = |arguments: Value| {
        let before = desk.store.inspect(|state| state.pages);
        desk.call_ok(READ, "inventory.search", arguments);
        desk.store.inspect(|state| state.pages) - before
    };
    assert_eq!(pages(json!({"price_max": {"amount": 9_000_000, "currency": "USD"}})), 1);
    assert_eq!(pages(json!({"make": "Nobody"})), 1);
    assert_eq!(pages(json!({"price_max": {"amount": 1, "currency": "USD"}})), 2);
}

#[test]
fn arguments_under_another_name_are_not_taken_for_none() {
    let desk = TestDesk::open();
    let reply = desk.send(
        &format!("dlr_lakeside/{READ}"),
        "tools/call",
        json!({"name": "inventory.search", "parameters": {"make": "Kia"}}),
    );
    let message =
        "The argument at /arguments is not valid: the tool's arguments are expected here, not under parameters.";
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((&body["error"]["code"], &body["error"]["message"]), (&json!(-32602), &json!(message)));
}
