//! Orders of parts: what they take from stock and wait for, what they come to, and what a status does.

use serde_json::{Value, json};

use super::parts::{BOTH, by_number, check, import, part};
use super::support::{ALL_SCOPES, TestDesk};

/// A desk with five of TST-100 for 10.00 and none of TST-200 for 25.00 with a core charge.
fn desk() -> TestDesk {
    let desk = TestDesk::open();
    let second = json!({"part_number": "TST-200", "quantity_on_hand": 0, "lead_time_days": 4,
        "price": {"amount": 2_500, "currency": "USD"}, "core_charge": {"amount": 500, "currency": "USD"}});
    import(&desk, &[part(json!({})), part(second)]);
    desk
}

fn order(lines: &[(&str, i64)]) -> Value {
    let line = |(number, quantity): &(&str, i64)| json!({"part_number": number, "quantity": quantity});
    json!({"lines": lines.iter().map(line).collect::<Vec<Value>>()})
}

fn waiting(lines: &[(&str, i64)]) -> Value {
    let mut order = order(lines);
    order["allow_backorder"] = json!(true);
    order
}

fn place(desk: &TestDesk, order: Value) -> Value {
    desk.call_ok(BOTH, "parts.create_order", order)
}

fn read(desk: &TestDesk, order: &Value) -> Value {
    desk.call_ok(BOTH, "parts.get_order", json!({"id": order["id"]}))
}

fn set(desk: &TestDesk, order: &Value, status: &str) -> Value {
    desk.call_ok(BOTH, "parts.update_order", json!({"id": order["id"], "status": status}))
}

/// Code and message of a call that must fail.
fn refused(desk: &TestDesk, tool: &str, arguments: Value) -> (String, String) {
    let (failed, answer) = desk.call(BOTH, tool, arguments);
    assert!(failed, "{answer}");
    let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

fn cannot(desk: &TestDesk, order: &Value, status: &str) -> String {
    let (code, message) = refused(desk, "parts.update_order", json!({"id": order["id"], "status": status}));
    assert_eq!(code, "parts.invalid_transition");
    message
}

/// On hand, reserved, available and backordered.
fn stock(desk: &TestDesk, number: &str) -> [i64; 4] {
    let part = by_number(desk, number);
    ["on_hand", "reserved", "available", "backordered"].map(|name| part[format!("quantity_{name}")].as_i64().unwrap())
}

fn receive(desk: &TestDesk, number: &str, on_hand: i64) {
    import(desk, &[json!({"part_number": number, "quantity_on_hand": on_hand})]);
}

#[test]
fn an_order_takes_from_stock_and_is_summed_up() {
    let desk = desk();
    let mut made = place(&desk, order(&[("tst 100", 3), ("PF48", 2)]));
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(made["order_number"], format!("P-{}", id[id.len() - 10..].to_uppercase()));
    let current = by_number(&desk, "PF63E")["id"].clone();
    for name in ["id", "order_number"] {
        made.as_object_mut().unwrap().remove(name);
    }
    let usd = |amount: i64| json!({"amount": amount, "currency": "USD"});
    assert_eq!(
        made,
        json!({
            "type": "part_order", "dealership_id": "dlr_lakeside", "status": "requested", "version": 1,
            "lines": [
                {"line": 1, "part_id": by_number(&desk, "TST-100")["id"], "part_number": "TST-100",
                 "description": "Test part", "quantity": 3, "quantity_filled": 3, "quantity_shipped": 0,
                 "quantity_backordered": 0, "unit_price": usd(1_000), "line_total": usd(3_000)},
                {"line": 2, "part_id": current, "part_number": "PF63E", "ordered_part_number": "PF48",
                 "description": "Oil filter, ACDelco", "quantity": 2, "quantity_filled": 2, "quantity_shipped": 0,
                 "quantity_backordered": 0, "unit_price": usd(811), "line_total": usd(1_622)},
            ],
            "total": usd(4_622), "ordered_at": "2026-01-31T09:30:00Z", "redacted": [],
            "created_at": "2026-01-31T09:30:00Z", "updated_at": "2026-01-31T09:30:00Z",
        })
    );
    assert_eq!(stock(&desk, "TST-100"), [5, 3, 2, 0]);
    assert_eq!(check(&desk, "TST-100")["quantity_available"], 2);
    assert_eq!(desk.events(), ["part created", "part created", "part_order created", "part updated", "part updated"]);
}

#[test]
fn what_is_not_there_is_refused_or_waits() {
    let desk = desk();
    let (failed, answer) = desk.call(BOTH, "parts.create_order", order(&[("TST-100", 6), ("TST-200", 1)]));
    assert!(failed);
    assert_eq!(
        answer["error"],
        json!({
            "code": "parts.insufficient_stock",
            "message": "Nothing was ordered. /lines/0/quantity: 5 can be had from stock; allow_backorder waits for the \
                rest; /lines/1/quantity: 0 can be had from stock; allow_backorder waits for the rest.",
            "details": {"retryable": false, "errors": [
                {"pointer": "/lines/0/quantity", "keyword": "maximum",
                 "expected": "5 can be had from stock; allow_backorder waits for the rest"},
                {"pointer": "/lines/1/quantity", "keyword": "maximum",
                 "expected": "0 can be had from stock; allow_backorder waits for the rest"},
            ]},
        })
    );
    assert_eq!(stock(&desk, "TST-100"), [5, 0, 5, 0], "nothing was taken");

    let made = place(&desk, waiting(&[("TST-100", 6), ("TST-200", 2)]));
    assert_eq!((&made["status"], &made["eta"]), (&json!("backordered"), &json!("2026-02-04T09:30:00Z")));
    let line = |place: usize| {
        let line = &made["lines"][place];
        (line["quantity_filled"].as_i64().unwrap(), line["quantity_backordered"].as_i64().unwrap())
    };
    assert_eq!((line(0), line(1)), ((5, 1), (0, 2)));
    // The core charge is paid for each.
    assert_eq!((&made["lines"][1]["line_total"]["amount"], &made["total"]["amount"]), (&json!(6_000), &json!(12_000)));
    assert_eq!((stock(&desk, "TST-100"), stock(&desk, "TST-200")), ([5, 5, 0, 1], [0, 0, 0, 2]));
}

#[test]
fn nobody_waits_for_what_does_not_come() {
    let desk = desk();
    for (changes, reason) in [
        (json!({"status": "discontinued"}), "5 can be had from stock; more of it cannot be had"),
        (json!({"status": "withdrawn"}), "0 can be had from stock; more of it cannot be had"),
        (
            json!({"status": "active", "superseded_by": "NOT-HERE"}),
            "it is superseded by a part that the catalogue does not have",
        ),
    ] {
        import(&desk, &[part(changes)]);
        let (code, message) = refused(&desk, "parts.create_order", waiting(&[("TST-100", 6)]));
        assert_eq!(
            (code.as_str(), message),
            ("parts.insufficient_stock", format!("Nothing was ordered. /lines/0/quantity: {reason}."))
        );
    }
}

#[test]
fn stock_that_comes_in_goes_to_who_waits_first() {
    let desk = desk();
    let first = place(&desk, waiting(&[("TST-200", 3)]));
    let second = place(&desk, waiting(&[("TST-200", 2), ("TST-100", 1)]));
    receive(&desk, "TST-200", 4);
    assert_eq!((&read(&desk, &first)["status"], &read(&desk, &first)["version"]), (&json!("confirmed"), &json!(2)));
    let read_second = read(&desk, &second);
    assert_eq!(
        (&read_second["status"], &read_second["lines"][0]["quantity_backordered"]),
        (&json!("backordered"), &json!(1))
    );
    assert_eq!(stock(&desk, "TST-200"), [4, 4, 0, 1]);
    // Who comes later waits behind, and gets what is left over.
    let third = place(&desk, waiting(&[("TST-200", 1)]));
    receive(&desk, "TST-200", 7);
    assert_eq!(
        (&read(&desk, &second)["status"], &read(&desk, &third)["status"]),
        (&json!("confirmed"), &json!("confirmed"))
    );
    assert_eq!(stock(&desk, "TST-200"), [7, 6, 1, 0]);
    assert_eq!(check(&desk, "TST-200")["quantity_available"], 1);
}

#[test]
fn cancelling_gives_back_and_serves_who_waits() {
    let desk = desk();
    let first = place(&desk, order(&[("TST-100", 4)]));
    let second = place(&desk, waiting(&[("TST-100", 3)]));
    assert_eq!(stock(&desk, "TST-100"), [5, 5, 0, 2]);
    let arguments = json!({"id": first["id"], "cancel_reason": "Found another."});
    let cancelled = desk.call_ok(BOTH, "parts.cancel_order", arguments);
    assert_eq!(
        (&cancelled["status"], &cancelled["cancelled_at"], &cancelled["cancel_reason"], &cancelled["total"]["amount"]),
        (&json!("cancelled"), &json!("2026-01-31T09:30:00Z"), &json!("Found another."), &json!(0))
    );
    assert_eq!(stock(&desk, "TST-100"), [5, 3, 2, 0]);
    assert_eq!(read(&desk, &second)["status"], "confirmed");
    // Once is enough: a second cancellation gives nothing back.
    desk.call_ok(BOTH, "parts.cancel_order", json!({"id": first["id"]}));
    assert_eq!(stock(&desk, "TST-100"), [5, 3, 2, 0]);
    // Who waits and is cancelled waits no more.
    let third = place(&desk, waiting(&[("TST-200", 2)]));
    desk.call_ok(BOTH, "parts.cancel_order", json!({"id": third["id"]}));
    assert_eq!(stock(&desk, "TST-200"), [0, 0, 0, 0]);
    let fourth = place(&desk, waiting(&[("TST-200", 3)]));
    receive(&desk, "TST-200", 1);
    assert_eq!(stock(&desk, "TST-200"), [1, 1, 0, 2]);
    assert_eq!(read(&desk, &fourth)["lines"][0]["quantity_filled"], 1);
}

#[test]
fn shipping_takes_the_parts_out_of_stock() {
    let desk = desk();
    let made = place(&desk, order(&[("TST-100", 2)]));
    set(&desk, &made, "confirmed");
    assert_eq!(stock(&desk, "TST-100"), [5, 2, 3, 0]);
    let shipped = set(&desk, &made, "shipped");
    assert_eq!(
        (&shipped["lines"][0]["quantity_shipped"], &shipped["shipped_at"]),
        (&json!(2), &json!("2026-01-31T09:30:00Z"))
    );
    assert_eq!(stock(&desk, "TST-100"), [3, 0, 3, 0]);
    set(&desk, &made, "shipped");
    let received = set(&desk, &made, "received");
    assert_eq!(received["received_at"], "2026-01-31T09:30:00Z");
    assert_eq!(stock(&desk, "TST-100"), [3, 0, 3, 0], "it leaves the store once");
    assert_eq!(cannot(&desk, &made, "confirmed"), "Status received is final.");
    assert_eq!(refused(&desk, "parts.cancel_order", json!({"id": made["id"]})).1, "Status received is final.");
}

#[test]
fn a_backordered_order_is_sent_in_parts() {
    let desk = desk();
    let made = place(&desk, waiting(&[("TST-100", 7)]));
    assert_eq!(cannot(&desk, &made, "shipped"), "Status backordered can become partially_shipped, cancelled.");
    let sent = set(&desk, &made, "partially_shipped");
    assert_eq!((&sent["lines"][0]["quantity_shipped"], stock(&desk, "TST-100")), (&json!(5), [0, 0, 0, 2]));
    assert_eq!(cannot(&desk, &made, "partially_shipped"), "Nothing that could be sent has come in yet.");
    assert_eq!(
        cannot(&desk, &made, "received"),
        "Lines of this order wait for stock. Set partially_shipped to send what is there, or cancel the rest with \
         parts.cancel_order."
    );
    receive(&desk, "TST-100", 1);
    // A change of something else sends nothing.
    desk.call_ok(BOTH, "parts.update_order", json!({"id": made["id"], "notes": "Rings twice."}));
    assert_eq!(stock(&desk, "TST-100"), [1, 1, 0, 1]);
    let sent = set(&desk, &made, "partially_shipped");
    assert_eq!(sent["lines"][0]["quantity_shipped"], 6);
    receive(&desk, "TST-100", 3);
    assert_eq!(cannot(&desk, &made, "partially_shipped"), "Everything is there: set shipped instead.");
    let sent = set(&desk, &made, "shipped");
    assert_eq!((&sent["lines"][0]["quantity_shipped"], stock(&desk, "TST-100")), (&json!(7), [2, 0, 2, 0]));
}

#[test]
fn the_rest_of_an_order_that_was_sent_in_part_is_cancelled() {
    let desk = desk();
    let made = place(&desk, waiting(&[("TST-100", 7)]));
    set(&desk, &made, "partially_shipped");
    let cancelled = desk.call_ok(BOTH, "parts.cancel_order", json!({"id": made["id"]}));
    let line = &cancelled["lines"][0];
    assert_eq!(
        (&line["quantity"], &line["quantity_shipped"], &line["quantity_backordered"], &cancelled["total"]["amount"]),
        (&json!(7), &json!(5), &json!(0), &json!(5_000))
    );
    assert_eq!(stock(&desk, "TST-100"), [0, 0, 0, 0]);
}

#[test]
fn a_feed_with_less_than_is_reserved_leaves_nothing_below_zero() {
    let desk = desk();
    let made = place(&desk, order(&[("TST-100", 4)]));
    receive(&desk, "TST-100", 1);
    assert_eq!(stock(&desk, "TST-100"), [1, 4, 0, 0]);
    set(&desk, &made, "shipped");
    assert_eq!(stock(&desk, "TST-100"), [0, 0, 0, 0]);
}

#[test]
fn only_the_listed_transitions_are_possible() {
    let words = ["requested", "confirmed", "backordered", "partially_shipped", "shipped", "received"];
    let possible = |from: &str| match from {
        "requested" => vec!["requested", "confirmed", "shipped", "received"],
        "confirmed" => vec!["confirmed", "shipped", "received"],
        "backordered" => vec!["backordered", "partially_shipped"],
        "shipped" => vec!["shipped", "received"],
        "received" => vec!["received"],
        _ => Vec::new(),
    };
    for from in ["requested", "confirmed", "backordered", "shipped", "received"] {
        for to in words {
            let desk = desk();
            let made = if from == "backordered" {
                place(&desk, waiting(&[("TST-100", 9)]))
            } else {
                place(&desk, order(&[("TST-100", 1)]))
            };
            if from != "backordered" {
                set(&desk, &made, from);
            }
            let (failed, answer) = desk.call(BOTH, "parts.update_order", json!({"id": made["id"], "status": to}));
            assert_eq!(!failed, possible(from).contains(&to), "{from} to {to}: {answer}");
        }
    }
}

#[test]
fn wrong_orders_are_refused_and_take_nothing() {
    let desk = desk();
    let yen = json!({"part_number": "TST-300", "price": {"amount": 900, "currency": "JPY"}});
    let dear = json!({"part_number": "TST-400", "quantity_on_hand": 9_999, "price": {"amount": 9_007_199_254_740_991_i64, "currency": "USD"}});
    import(&desk, &[part(yen), part(dear)]);
    let with = |name: &str, value: Value| {
        let mut order = order(&[("TST-100", 1)]);
        order[name] = value;
        order
    };
    for (arguments, code) in [
        (json!({}), "request.invalid"),
        (json!({"lines": []}), "request.invalid"),
        (order(&[("TST-100", 0)]), "request.invalid"),
        (order(&[("TST-100", -1)]), "request.invalid"),
        (order(&[("TST-100", 10_001)]), "request.invalid"),
        (json!({"lines": [{"part_number": "TST-100"}]}), "request.invalid"),
        (json!({"lines": [{"part_number": "TST-100", "quantity": 1.5}]}), "request.invalid"),
        (
            json!({"lines": [{"part_number": "TST-100", "quantity": 1, "unit_price": {"amount": 1, "currency": "USD"}}]}),
            "request.invalid",
        ),
        (order(&[("TST-100", 1); 51]), "request.invalid"),
        (with("total", json!({"amount": 1, "currency": "USD"})), "request.invalid"),
        (with("status", json!("shipped")), "request.invalid"),
        (with("order_number", json!("Dana Rivera")), "request.invalid"),
        (with("order_number", json!("dana@example.com")), "request.invalid"),
        (with("allow_backorder", json!("yes")), "request.invalid"),
        (order(&[("TST-100", 1), ("TST-300", 1)]), "request.invalid"),
        (order(&[("TST-400", 2)]), "request.invalid"),
        (order(&[("NO-SUCH", 1)]), "parts.not_found"),
        (order(&[("--", 1)]), "parts.not_found"),
        (with("customer_id", json!("cus_none")), "customers.not_found"),
        (with("repair_order_id", json!("ro_none")), "service.not_found"),
    ] {
        assert_eq!(desk.error_code(BOTH, "parts.create_order", arguments.clone()), code, "{arguments}");
    }
    let (_, answer) = desk.call(BOTH, "parts.create_order", order(&[("TST-100", 1), ("NO-SUCH", 1)]));
    assert_eq!(
        answer["error"]["message"],
        "Not all of these parts exist here. /lines/1/part_number: a part number that parts.search finds is expected. \
         Find parts with parts.search."
    );
    assert_eq!(stock(&desk, "TST-100"), [5, 0, 5, 0]);
    let made = place(&desk, order(&[("TST-100", 1)]));
    for change in [
        json!({"eta": "2026-01-31T09:30:00Z"}),
        json!({"lines": []}),
        json!({"status": "unknown"}),
        json!({"cancel_reason": "x"}),
        json!({}),
    ] {
        let mut arguments = change;
        arguments["id"] = made["id"].clone();
        assert_eq!(desk.error_code(BOTH, "parts.update_order", arguments.clone()), "request.invalid", "{arguments}");
    }
}

#[test]
fn two_lines_of_one_part_share_its_stock() {
    let desk = desk();
    let made = place(&desk, waiting(&[("TST-100", 3), ("tst100", 4)]));
    let filled: Vec<&Value> = made["lines"].as_array().unwrap().iter().map(|line| &line["quantity_filled"]).collect();
    assert_eq!((filled, stock(&desk, "TST-100")), (vec![&json!(3), &json!(2)], [5, 5, 0, 2]));
    receive(&desk, "TST-100", 7);
    assert_eq!(read(&desk, &made)["status"], "confirmed");
    desk.call_ok(BOTH, "parts.cancel_order", json!({"id": made["id"]}));
    assert_eq!(stock(&desk, "TST-100"), [7, 0, 7, 0]);
}

#[test]
fn orders_are_listed_by_whom_and_what_they_are_for() {
    let desk = desk();
    let first = |tool: &str| desk.call_ok(ALL_SCOPES, tool, json!({"limit": 1}))["items"][0]["id"].clone();
    let (customer, repair) = (first("customers.list"), first("service.list_repair_orders"));
    let mut arguments = order(&[("TST-100", 1)]);
    arguments["customer_id"] = customer.clone();
    arguments["repair_order_id"] = repair.clone();
    arguments["order_number"] = json!("X-1");
    arguments["notes"] = json!("Call before noon.");
    let made = place(&desk, arguments);
    for filter in [
        json!({"customer_id": customer, "status": "requested"}),
        json!({"repair_order_id": repair, "ordered_since": "2026-01-31T09:30:00Z"}),
        json!({"order_number": "X-1"}),
    ] {
        let found = desk.call_ok(BOTH, "parts.list_orders", filter);
        assert_eq!(found["items"][0]["id"], made["id"]);
        // Lists are without what was said.
        assert_eq!((found["items"][0].get("notes"), &found["items"][0]["redacted"]), (None, &json!(["notes"])));
    }
    assert_eq!(read(&desk, &made)["notes"], "Call before noon.");
}

#[test]
fn who_may_only_write_gets_a_receipt() {
    let desk = desk();
    let receipt = desk.call_ok("amcp:parts:write", "parts.create_order", order(&[("TST-100", 1)]));
    let names: Vec<&String> = receipt.as_object().unwrap().keys().collect();
    assert_eq!(names, ["created_at", "dealership_id", "id", "redacted", "status", "type", "updated_at", "version"]);
    let redacted = [
        "order_number",
        "customer_id",
        "repair_order_id",
        "lines",
        "total",
        "ordered_at",
        "eta",
        "shipped_at",
        "received_at",
        "cancelled_at",
        "notes",
        "cancel_reason",
    ];
    assert_eq!(receipt["redacted"], json!(redacted));
    // Nor is it said how many there are.
    let (_, answer) = desk.call("amcp:parts:write", "parts.create_order", order(&[("TST-100", 9)]));
    assert_eq!(
        answer["error"]["details"]["errors"][0]["expected"],
        "fewer can be had from stock; allow_backorder waits for the rest"
    );
}

#[test]
fn fields_of_vendors_are_kept_on_orders_and_parts() {
    let desk = desk();
    let mut arguments = order(&[("TST-100", 1)]);
    arguments["x_acme_route"] = json!("north");
    let made = place(&desk, arguments);
    assert_eq!(read(&desk, &made)["x_acme_route"], "north");
    import(&desk, &[json!({"part_number": "TST-100", "x_acme_hazmat": true})]);
    assert_eq!(by_number(&desk, "TST-100")["x_acme_hazmat"], true);
    place(&desk, order(&[("TST-100", 1)]));
    assert_eq!(by_number(&desk, "TST-100")["x_acme_hazmat"], true, "an order leaves it there");
}

#[test]
fn a_retried_order_takes_once() {
    let desk = desk();
    let mut arguments = order(&[("TST-100", 5)]);
    arguments["idempotency_key"] = json!("k-1");
    let made = place(&desk, arguments.clone());
    // Nothing is left, and the retry still gets its answer.
    assert_eq!(place(&desk, arguments), made);
    assert_eq!(stock(&desk, "TST-100"), [5, 5, 0, 0]);
}
