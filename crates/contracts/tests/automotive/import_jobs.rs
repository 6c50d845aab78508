//! Imports that are accepted by a call and run by the worker: their tools, and what their record says.

use serde_json::{Value, json};

use super::imports::vehicle;
use super::support::TestDesk;

const WRITE: &str = "amcp:inventory:read amcp:inventory:write";

fn submit(desk: &TestDesk, arguments: Value) -> Value {
    desk.call_ok(WRITE, "x_frontdesk.import_items", arguments)
}

fn import(desk: &TestDesk, id: &Value) -> Value {
    desk.call_ok(WRITE, "x_frontdesk.get_import", json!({"id": id}))
}

#[test]
fn an_accepted_import_is_run_and_tells_what_it_did() {
    let desk = TestDesk::open();
    let accepted = submit(&desk, json!({"resource": "vehicles", "items": [vehicle(json!({}))]}));
    assert_eq!(
        accepted,
        json!({
            "id": accepted["id"],
            "type": "import",
            "dealership_id": "dlr_lakeside",
            "resource": "vehicles",
            "status": "queued",
            "dry_run": false,
            "rows": 0, "created": 0, "updated": 0, "unchanged": 0, "rejected": 0, "withdrawn": 0,
            "problems": [],
            "version": 1,
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
        })
    );
    let desk = desk.run_imports();
    let ended = import(&desk, &accepted["id"]);
    assert_eq!((&ended["status"], &ended["rows"], &ended["created"]), (&json!("completed"), &json!(1), &json!(1)));
    assert_eq!(ended["finished_at"], "2026-01-31T09:30:00Z");
    assert_eq!(desk.events(), ["import created", "vehicle created", "import updated"]);
    // The feed is gone.
    assert!(!desk.stored_data().contains("\"import_feed\""), "{}", desk.stored_data());
    let again = submit(&desk, json!({"resource": "vehicles", "items": [vehicle(json!({}))]}));
    let desk = desk.run_imports();
    assert_eq!(import(&desk, &again["id"])["unchanged"], 1);
    let listed =
        desk.call_ok(WRITE, "x_frontdesk.list_imports", json!({"status": "completed", "x_frontdesk_total": true}));
    assert_eq!(listed["x_frontdesk_total"], 2);
}

#[test]
fn one_wrong_row_refuses_all_unless_wrong_rows_are_skipped() {
    let items = json!([
        vehicle(json!({})),
        vehicle(json!({"vin": "1HGCV1F31JA100000"})),
        vehicle(json!({"stock_number": "T-7"}))
    ]);
    let desk = TestDesk::open();
    let refused = submit(&desk, json!({"resource": "vehicles", "items": items}));
    let desk = desk.run_imports();
    let ended = import(&desk, &refused["id"]);
    assert_eq!((&ended["status"], &ended["rejected"]), (&json!("rejected"), &json!(2)));
    assert_eq!(
        ended["problems"],
        json!([
            {"line": 2, "field": "stock_number", "reason": "line 1 has the same stock_number; a feed has one row for each record"},
            {"line": 3, "field": "vin", "reason": "line 1 has the same vin; a feed has one row for each record"},
        ])
    );
    assert_eq!(desk.events(), ["import created", "import updated"]);
    let skipping = submit(&desk, json!({"resource": "vehicles", "items": items, "bad_rows": "skip"}));
    let desk = desk.run_imports();
    let ended = import(&desk, &skipping["id"]);
    assert_eq!(
        (&ended["status"], &ended["rows"], &ended["created"], &ended["rejected"]),
        (&json!("completed"), &json!(3), &json!(1), &json!(2))
    );
}

#[test]
fn a_dry_run_and_a_feed_that_lacks_too_much_change_nothing() {
    let desk = TestDesk::open();
    let dry = submit(&desk, json!({"resource": "vehicles", "items": [vehicle(json!({}))], "dry_run": true}));
    let short = submit(&desk, json!({"resource": "vehicles", "items": [vehicle(json!({}))], "withdraw_percent": 10}));
    let desk = desk.run_imports();
    let ended = import(&desk, &dry["id"]);
    assert_eq!(
        (&ended["status"], &ended["created"], &ended["dry_run"]),
        (&json!("completed"), &json!(1), &json!(true))
    );
    let ended = import(&desk, &short["id"]);
    assert_eq!(ended["status"], "rejected");
    let reason = ended["reason"].as_str().unwrap();
    assert!(reason.ends_with("are not in the feed, more than 10 %. Nothing was changed: check that the feed is complete, or allow a larger share."), "{reason}");
    assert!(desk.events().iter().all(|event| event.starts_with("import")), "{:?}", desk.events());
}

#[test]
fn an_import_needs_the_scope_of_what_it_writes() {
    let desk = TestDesk::open();
    let items = json!({"resource": "vehicles", "items": [vehicle(json!({}))]});
    let accepted = submit(&desk, items.clone());
    let token = "dlr_lakeside/amcp:leads:write";
    let reply = desk.send(token, "tools/call", json!({"name": "x_frontdesk.import_items", "arguments": items}));
    assert_eq!(reply.status, 403);
    // Who may not write vehicles does not learn that any were imported.
    let leads = "amcp:leads:write";
    let arguments = json!({"id": accepted["id"]});
    assert_eq!(desk.error_code(leads, "x_frontdesk.get_import", arguments), "x_frontdesk.import_not_found");
    assert_eq!(desk.call_ok(leads, "x_frontdesk.list_imports", json!({}))["items"], json!([]));
    let foreign =
        desk.call_as("dlr_hillcrest/amcp:inventory:write", "x_frontdesk.get_import", json!({"id": accepted["id"]}));
    assert_eq!(foreign.1["error"]["code"], "x_frontdesk.import_not_found");
}

#[test]
fn an_import_takes_items_or_a_feed_and_not_too_many_wait() {
    let desk = TestDesk::open();
    let (_, neither) = desk.call(WRITE, "x_frontdesk.import_items", json!({"resource": "vehicles"}));
    assert_eq!(
        neither["error"]["message"],
        "The arguments are not valid: either items or feed is required, and not both."
    );
    for _ in 0..10 {
        submit(&desk, json!({"resource": "vehicles", "items": [{}]}));
    }
    let (_, full) = desk.call(WRITE, "x_frontdesk.import_items", json!({"resource": "vehicles", "items": [{}]}));
    assert_eq!(full["error"]["message"], "10 imports are waiting already. Send this one when some have ended.");
}
