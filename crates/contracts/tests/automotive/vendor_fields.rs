//! Fields of vendors (§5.5) on writable records, and clearing fields with `null`.

use serde_json::{Map, Value, json};

use super::support::{ALL_SCOPES, TestDesk};

const INVENTORY: &str = "amcp:inventory:read amcp:inventory:write";

fn lead(extra: Value) -> Value {
    let mut arguments = json!({
        "contact": {"name": "Dana Rivera", "email": "dana@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
    });
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    arguments
}

#[test]
fn a5_14_fields_of_vendors_are_kept_and_answered() {
    let desk = TestDesk::open();
    let extra = json!({"x_acme_score": 71, "x_acme_tag": "warm", "x_other_vip": true});
    let made = desk.call_ok(ALL_SCOPES, "leads.create", lead(extra));
    assert_eq!(
        (&made["x_acme_score"], &made["x_acme_tag"], &made["x_other_vip"]),
        (&json!(71), &json!("warm"), &json!(true))
    );
    let changed =
        desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": made["id"], "x_acme_score": null, "x_acme_tag": "hot"}));
    assert_eq!(
        (changed.get("x_acme_score"), &changed["x_acme_tag"], &changed["x_other_vip"]),
        (None, &json!("hot"), &json!(true))
    );
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": made["id"]})), changed);
    // They may hold anything, so they are as personal as the rest of a lead.
    let listed = &desk.call_ok(ALL_SCOPES, "leads.list", json!({"email": "dana@example.com"}))["items"][0];
    assert_eq!(listed.get("x_acme_tag"), None);
    assert_eq!(listed["redacted"], json!(["contact.name", "contact.email", "x_acme_tag", "x_other_vip"]));
}

#[test]
fn any_other_unknown_field_is_refused() {
    let desk = TestDesk::open();
    for name in ["colour", "x_", "x_acme", "x__tag", "x_Acme_tag", "x_acme_", "X_acme_tag"] {
        let (failed, answer) = desk.call(ALL_SCOPES, "leads.create", lead(json!({name: "z"})));
        assert!(failed, "{name}: {answer}");
        assert_eq!(answer["error"]["details"]["errors"][0]["keyword"], "additionalProperties", "{name}");
    }
    for value in [json!(""), json!("z".repeat(501)), json!(1.5), json!(null), json!([]), json!({"a": 1})] {
        let (failed, answer) = desk.call(ALL_SCOPES, "leads.create", lead(json!({"x_acme_tag": value})));
        assert!(failed, "{value}: {answer}");
        assert_eq!(
            answer["error"]["details"]["errors"][0]["expected"],
            "a field of a vendor holds a text of 1 to 500 characters, a whole number, true or false"
        );
    }
}

#[test]
fn a_record_has_at_most_twenty_fields_of_vendors() {
    let desk = TestDesk::open();
    let fields = |from: usize, to: usize| -> Map<String, Value> {
        (from..to).map(|number| (format!("x_acme_{number}"), json!(number))).collect()
    };
    let made = desk.call_ok(ALL_SCOPES, "leads.create", lead(Value::Object(fields(0, 20))));
    assert_eq!(desk.error_code(ALL_SCOPES, "leads.create", lead(Value::Object(fields(0, 21)))), "request.invalid");
    let mut more = fields(20, 21);
    more.insert("id".to_owned(), made["id"].clone());
    let (_, answer) = desk.call(ALL_SCOPES, "leads.update", Value::Object(more.clone()));
    assert_eq!(
        answer["error"]["details"]["errors"][0]["expected"],
        "at most 20 fields of vendors are kept; remove others with null first"
    );
    more.insert("x_acme_0".to_owned(), Value::Null);
    desk.call_ok(ALL_SCOPES, "leads.update", Value::Object(more));
}

#[test]
fn fields_of_vendors_are_public_where_nothing_is_personal() {
    let desk = TestDesk::open();
    let id = desk.call_ok(ALL_SCOPES, "inventory.list", json!({"limit": 1}))["items"][0]["id"].clone();
    desk.call_ok(INVENTORY, "inventory.update", json!({"id": id, "x_acme_lot": "B4"}));
    let listed = &desk.call_ok(ALL_SCOPES, "inventory.list", json!({"limit": 1}))["items"][0];
    assert_eq!(listed["x_acme_lot"], "B4");
}

#[test]
fn null_clears_what_need_not_be_there_and_nothing_else() {
    let desk = TestDesk::open();
    let made = desk.call_ok(ALL_SCOPES, "leads.create", lead(json!({"comments": "Call me."})));
    let id = &made["id"];
    let owner = json!({"id": id, "owner": {"id": "emp_1", "name": "Sam"}, "last_contact_at": "2026-01-31T09:00:00Z"});
    desk.call_ok(ALL_SCOPES, "leads.update", owner);
    let cleared = json!({"id": id, "comments": null, "owner": null, "last_contact_at": null});
    let cleared = desk.call_ok(ALL_SCOPES, "leads.update", cleared);
    assert_eq!((cleared.get("comments"), cleared.get("owner"), cleared.get("last_contact_at")), (None, None, None));
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.list", json!({"owner_id": "emp_1"}))["items"], json!([]));
    assert_eq!(desk.error_code(ALL_SCOPES, "leads.update", json!({"id": id, "status": null})), "request.invalid");
    // A lost lead keeps its reason.
    desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": id, "status": "lost", "lost_reason": "price"}));
    let refusal = desk.error_code(ALL_SCOPES, "leads.update", json!({"id": id, "lost_reason": null}));
    assert_eq!(refusal, "leads.lost_reason_required");
}
