//! How many there are on all pages (`x_frontdesk_total`), and how long a page is.

use frontdesk_contracts::automotive::resources;
use frontdesk_engine::model::table::Row;
use serde_json::{Value, json};

use crate::support::TestDesk;

const READ: &str = "amcp:inventory:read";

fn length(answer: &Value) -> usize {
    answer["items"].as_array().unwrap().len()
}

#[test]
fn a_page_has_ten_items_unless_asked_for_others() {
    let desk = TestDesk::open();
    assert_eq!(length(&desk.call_ok(READ, "inventory.list", json!({}))), 10);
    assert_eq!(length(&desk.call_ok(READ, "inventory.search", json!({"limit": 3}))), 3);
    assert_eq!(length(&desk.call_ok(READ, "inventory.search", json!({"limit": 3.0}))), 3);
    assert_eq!(length(&desk.call_ok(READ, "inventory.search", json!({"limit": 100}))), 100);
    let refused = desk.call(READ, "inventory.list", json!({"limit": 101})).1;
    assert_eq!(refused["error"]["message"], "The argument at /limit is not valid: it must be at most 100.");
}

#[test]
fn a_list_says_how_many_there_are_if_asked() {
    let desk = TestDesk::open();
    let total = |arguments: Value| {
        let mut answer = desk.call_ok(READ, "inventory.search", arguments);
        let members = answer.as_object_mut().unwrap();
        members.remove("items");
        members.remove("next_cursor");
        answer
    };
    assert_eq!(total(json!({})), json!({}));
    assert_eq!(total(json!({"x_frontdesk_total": false})), json!({}));
    assert_eq!(total(json!({"x_frontdesk_total": true})), json!({"x_frontdesk_total": 300}));
    assert_eq!(total(json!({"x_frontdesk_total": true, "limit": 100})), json!({"x_frontdesk_total": 300}));
    assert_eq!(
        total(json!({"x_frontdesk_total": true, "make": "Toyota", "limit": 1})),
        json!({"x_frontdesk_total": 47})
    );
    assert_eq!(total(json!({"x_frontdesk_total": true, "make": "Nobody"})), json!({"x_frontdesk_total": 0}));
    let refused = desk.call(READ, "inventory.search", json!({"x_frontdesk_total": "yes"})).1;
    assert_eq!(
        refused["error"]["message"],
        "The argument at /x_frontdesk_total is not valid: true or false is expected."
    );
}

#[test]
fn a_page_that_is_the_whole_list_is_not_counted_again() {
    let desk = TestDesk::open();
    let counts = || desk.store.inspect(|state| state.counts);
    desk.call_ok(READ, "inventory.search", json!({}));
    desk.call_ok(READ, "inventory.search", json!({"x_frontdesk_total": true, "make": "Kia", "limit": 100}));
    assert_eq!(counts(), 0);
    desk.call_ok(READ, "inventory.search", json!({"x_frontdesk_total": true}));
    assert_eq!(counts(), 1);
}

#[test]
fn a_cursor_continues_with_and_without_a_total() {
    let desk = TestDesk::open();
    let first =
        desk.call_ok(READ, "inventory.search", json!({"status": "available", "limit": 5, "x_frontdesk_total": true}));
    let total = first["x_frontdesk_total"].as_u64().unwrap();
    assert!(total > 10, "{total}");
    let cursor = &first["next_cursor"];
    let next = |arguments: Value| desk.call_ok(READ, "inventory.search", arguments);
    let plain = next(json!({"cursor": cursor}));
    assert_eq!((length(&plain), &plain["x_frontdesk_total"]), (5, &Value::Null));
    for arguments in [
        json!({"cursor": cursor, "x_frontdesk_total": true}),
        json!({"cursor": cursor, "status": "available", "x_frontdesk_total": true}),
    ] {
        let page = next(arguments);
        assert_eq!(page["items"], plain["items"]);
        // That of the whole list, not of what is left.
        assert_eq!(page["x_frontdesk_total"], json!(total));
    }
}

#[test]
fn more_than_ten_thousand_are_not_counted() {
    let desk = TestDesk::open();
    let table = resources().iter().find(|resource| resource.collection == "inventory").unwrap().table;
    let (_, row) = desk.store.inspect(|state| {
        let known = state.rows.iter().find(|(key, _)| key.0 == "dlr_lakeside" && key.1 == table.name).unwrap();
        (known.0.clone(), known.1.clone())
    });
    let total = || {
        let answer = desk.call_ok(READ, "inventory.list", json!({"limit": 1, "x_frontdesk_total": true}));
        (answer["x_frontdesk_total"].clone(), answer["x_frontdesk_total_capped"].clone())
    };
    for number in 300..10_000 {
        desk.store.put("dlr_lakeside", table, Row { id: format!("veh_{number}"), ..row.clone() });
    }
    assert_eq!(total(), (json!(10_000), Value::Null));
    desk.store.put("dlr_lakeside", table, Row { id: "veh_last".to_owned(), ..row });
    assert_eq!(total(), (json!(10_000), json!(true)));
}
