//! The answer to a write: the whole lead for callers with read access, a receipt for others (A6-10).

use frontdesk_contracts::automotive::contract;
use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

const WRITE: &str = "amcp:leads:write";

/// Every field of a lead that a receipt omits.
fn left_out() -> Value {
    json!([
        "interest",
        "source",
        "owner",
        "customer_id",
        "duplicate_of",
        "vehicle_id",
        "vehicle_of_interest",
        "trade_in",
        "timeframe",
        "consent",
        "consent_id",
        "do_not_contact",
        "received_at",
        "last_contact_at",
        "response_minutes",
        "lost_reason",
        "contact",
        "comments",
        "consent_text",
    ])
}

fn receipt(id: &Value, status: &str, version: i64) -> Value {
    json!({
        "id": id,
        "type": "lead",
        "dealership_id": "dlr_lakeside",
        "status": status,
        "version": version,
        "created_at": "2026-01-31T09:30:00Z",
        "updated_at": "2026-01-31T09:30:00Z",
        "redacted": left_out(),
    })
}

fn wish() -> Value {
    json!({
        "contact": {"name": "Dana Rivera", "email": "dana@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
        "comments": "Is it still there?",
        "idempotency_key": "k-1",
    })
}

#[test]
fn a6_10_a_caller_without_read_scope_gets_only_a_receipt() {
    let desk = TestDesk::open();
    let made = desk.call_ok(WRITE, "leads.create", wish());
    assert_eq!(made, receipt(&made["id"], "new", 1));
    let changed = desk.call_ok(WRITE, "leads.update", json!({"id": made["id"], "status": "working"}));
    assert_eq!(changed, receipt(&made["id"], "working", 2));
}

#[test]
fn a6_10_a_receipt_does_not_tell_which_fields_the_lead_has() {
    let desk = TestDesk::open();
    let bare = desk.call_ok(WRITE, "leads.create", wish());
    let seeded = &desk.call_ok(ALL_SCOPES, "leads.list", json!({"status": "lost", "limit": 1}))["items"][0];
    for id in [&bare["id"], &seeded["id"]] {
        let answer = desk.call_ok(WRITE, "leads.update", json!({"id": id, "comments": "Called."}));
        assert_eq!(answer["redacted"], left_out());
        assert_eq!(answer.as_object().unwrap().len(), 8, "{answer}");
    }
}

#[test]
fn a6_10_one_key_answers_each_token_as_that_token_may_see_it() {
    let desk = TestDesk::open();
    let made = desk.call_ok(WRITE, "leads.create", wish());
    let whole = desk.call_ok(ALL_SCOPES, "leads.create", wish());
    assert_eq!(whole, desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": made["id"]})));
    assert_eq!((&whole["contact"]["name"], &whole["redacted"]), (&json!("Dana Rivera"), &json!([])));
    assert_eq!(desk.call_ok(WRITE, "leads.create", wish()), made);

    let change = json!({"id": made["id"], "status": "contacted", "idempotency_key": "k-2"});
    let whole = desk.call_ok(ALL_SCOPES, "leads.update", change.clone());
    assert_eq!(whole, desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": made["id"]})));
    assert_eq!(desk.call_ok(WRITE, "leads.update", change.clone()), receipt(&made["id"], "contacted", 2));
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.update", change), whole);
}

#[test]
fn a_receipt_lists_every_field_it_omits() {
    let kept = ["id", "type", "dealership_id", "status", "version", "created_at", "updated_at", "redacted"];
    let contract = contract();
    let get = contract.tools.iter().find(|tool| tool.spec.name == "leads.get").unwrap();
    let fields = get.spec.output.fields();
    let others: Vec<&str> = fields.iter().map(|field| field.name).filter(|name| !kept.contains(name)).collect();
    assert_eq!(json!(others), left_out());
}

#[test]
fn lead_and_receipt_match_their_published_schemas() {
    let desk = TestDesk::open();
    let contract = contract();
    let output = |tool: &str| &contract.tools.iter().find(|known| known.spec.name == tool).unwrap().spec.output;
    let fits = |tool: &str, answer: &Value| output(tool).check(answer.as_object().unwrap().clone()).is_ok();
    let small = desk.call_ok(WRITE, "leads.create", wish());
    let whole = desk.call_ok(ALL_SCOPES, "leads.create", wish());
    for tool in ["leads.create", "leads.update"] {
        assert!(fits(tool, &small) && fits(tool, &whole));
        let mut nameless = small.clone();
        nameless.as_object_mut().unwrap().remove("status");
        assert!(!fits(tool, &nameless));
    }
    assert!(fits("leads.get", &whole) && !fits("leads.get", &small));
}
