//! Creating and updating leads: consent, references, statuses, versions, idempotency keys, masking.

use frontdesk_contracts::automotive::lead::Lead;
use frontdesk_contracts::record::Stored;
use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

fn wish() -> Value {
    json!({
        "contact": {"name": "Dana Rivera", "email": "Dana.Rivera@example.com", "phone": "+15125550123"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email", "sms"], "text": "Yes, write to me."},
        "comments": "Is it still there?",
    })
}

/// The arguments with some members replaced, or removed where `null`.
fn changed(changes: Value) -> Value {
    let mut wish = wish();
    let members = wish.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        match value.is_null() {
            true => members.remove(name),
            false => members.insert(name.clone(), value.clone()),
        };
    }
    wish
}

fn created(desk: &TestDesk) -> Value {
    desk.call_ok(ALL_SCOPES, "leads.create", wish())
}

#[test]
fn a_new_lead_is_answered_whole_to_who_may_read_leads() {
    let desk = TestDesk::open();
    let lead = created(&desk);
    let id = lead["id"].as_str().unwrap();
    assert!(id.starts_with("led_"));
    assert_eq!(
        lead,
        json!({
            "id": id,
            "type": "lead",
            "dealership_id": "dlr_lakeside",
            "status": "new",
            "interest": "buy",
            "source": {"channel": "ai_agent"},
            "consent": {"status": "granted", "channels": ["email", "sms"], "granted_at": "2026-01-31T09:30:00Z"},
            "consent_id": lead["consent_id"],
            "received_at": "2026-01-31T09:30:00Z",
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
            "contact": {"name": "Dana Rivera", "email": "Dana.Rivera@example.com", "phone": "+15125550123"},
            "comments": "Is it still there?",
            "consent_text": "Yes, write to me.",
            "redacted": [],
        })
    );
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": id})), lead);
    assert_eq!(desk.events(), ["lead created", "consent created"]);
}

#[test]
fn a6_12_lists_mask_and_name_only_what_is_there() {
    let desk = TestDesk::open();
    let bare = changed(json!({
        "contact": {"name": "Cher", "email": "cher@example.org"},
        "comments": null,
        "consent": {"granted": true, "channels": ["email"]},
    }));
    desk.call_ok(ALL_SCOPES, "leads.create", bare);
    let listed = desk.call_ok(ALL_SCOPES, "leads.list", json!({"email": "CHER@example.org"}));
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed["items"][0]["contact"], json!({"name": "C.", "email": "c***@e***.org"}));
    assert_eq!(listed["items"][0]["redacted"], json!(["contact.name", "contact.email"]));
}

#[test]
fn nothing_is_recorded_without_consent_that_covers_it() {
    let desk = TestDesk::open();
    let yes = |channels: Value| json!({"consent": {"granted": true, "channels": channels}});
    let cases = [
        (json!({"consent": null}), "consent.required", "/consent"),
        (json!({"consent": {"granted": false, "channels": ["email", "sms"]}}), "consent.required", "/consent/granted"),
        (yes(json!([])), "consent.invalid", "/consent/channels"),
        (yes(json!(["email"])), "consent.invalid", "/consent/channels"),
        (yes(json!(["voice_call", "mail"])), "consent.invalid", "/consent/channels"),
        (
            json!({"consent": {"granted": true, "channels": ["email", "sms"], "granted_at": "2026-01-31T10:30:00Z"}}),
            "consent.invalid",
            "/consent/granted_at",
        ),
        (
            json!({"consent": {"granted": true, "channels": ["email", "sms"], "expires_at": "2026-01-31T10:30:00+01:00"}}),
            "consent.invalid",
            "/consent/expires_at",
        ),
    ];
    for (changes, code, pointer) in cases {
        let (failed, answer) = desk.call(ALL_SCOPES, "leads.create", changed(changes));
        assert!(failed, "{answer}");
        assert_eq!(answer["error"]["code"], code);
        assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], pointer);
    }
    assert!(desk.events().is_empty());
}

#[test]
fn a_person_must_be_reachable_and_have_a_name() {
    let desk = TestDesk::open();
    let contact = |contact: Value| desk.call(ALL_SCOPES, "leads.create", changed(json!({"contact": contact})));
    let pointer = |answer: (bool, Value)| answer.1["error"]["details"]["errors"][0]["pointer"].clone();
    assert_eq!(pointer(contact(json!({"name": "Dana"}))), "/contact");
    assert_eq!(pointer(contact(json!({"name": " - ", "phone": "+15125550123"}))), "/contact/name");
    assert_eq!(pointer(contact(json!({"name": "Dana", "phone": "512 555 0123"}))), "/contact/phone");
}

#[test]
fn a3_09_vehicles_and_customers_of_others_are_as_good_as_none() {
    let desk = TestDesk::open();
    let other = "dlr_summit/amcp:inventory:read amcp:leads:read amcp:leads:write";
    for (list, field) in [("inventory.list", "vehicle_id"), ("customers.list", "customer_id")] {
        let (_, theirs) = desk.call_as(other, list, json!({"limit": 1}));
        let foreign = desk.call(ALL_SCOPES, "leads.create", changed(json!({field: theirs["items"][0]["id"]})));
        let absent = desk.call(ALL_SCOPES, "leads.create", changed(json!({field: "veh_none"})));
        assert!(foreign.0);
        assert_eq!(foreign, absent);
    }
    let (_, theirs) = desk.call_as(other, "leads.list", json!({"limit": 1}));
    for (tool, rest) in [("leads.get", json!({})), ("leads.update", json!({"status": "working"}))] {
        let with = |id: &Value| {
            let mut arguments = rest.clone();
            arguments["id"] = id.clone();
            desk.call(ALL_SCOPES, tool, arguments)
        };
        let foreign = with(&theirs["items"][0]["id"]);
        assert_eq!(foreign.1["error"]["code"], "leads.not_found");
        assert_eq!(foreign, with(&json!("led_none")));
    }
}

#[test]
fn a_lead_becomes_its_customers_latest_and_stays_in_step() {
    let desk = TestDesk::open();
    let customer = &desk.call_ok(ALL_SCOPES, "customers.list", json!({"limit": 1}))["items"][0];
    let customer = |desk: &TestDesk| desk.call_ok(ALL_SCOPES, "customers.get", json!({"id": customer["id"]}));
    let before = customer(&desk);
    let lead = desk.call_ok(ALL_SCOPES, "leads.create", changed(json!({"customer_id": before["id"]})));
    let after = customer(&desk);
    assert_eq!(after["latest_lead"], json!({"id": lead["id"], "status": "new"}));
    assert_eq!(after["version"], json!(2));
    assert_eq!(after["primary_contact"], before["primary_contact"]);
    desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": lead["id"], "status": "contacted"}));
    assert_eq!(customer(&desk)["latest_lead"], json!({"id": lead["id"], "status": "contacted"}));
    desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": lead["id"], "comments": "Called."}));
    assert_eq!(customer(&desk)["version"], json!(3));
    assert_eq!(
        desk.events(),
        ["lead created", "consent created", "customer updated", "lead updated", "customer updated", "lead updated"]
    );
}

#[test]
fn a3_13_an_update_changes_what_it_names_and_keeps_the_id() {
    let desk = TestDesk::open();
    let before = created(&desk);
    let change = json!({
        "id": before["id"],
        "status": "working",
        "owner": {"id": "emp_03", "name": "Sam Okafor"},
        "last_contact_at": "2026-01-31T10:00:00+01:00",
        "expected_version": 1,
    });
    let after = desk.call_ok(ALL_SCOPES, "leads.update", change);
    let mut expected = before.clone();
    expected["status"] = json!("working");
    expected["owner"] = json!({"id": "emp_03", "name": "Sam Okafor"});
    expected["last_contact_at"] = json!("2026-01-31T09:00:00Z");
    expected["response_minutes"] = json!(0);
    expected["version"] = json!(2);
    assert_eq!(after, expected);
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": before["id"]})), expected);
    let mine = desk.call_ok(ALL_SCOPES, "leads.list", json!({"owner_id": "emp_03", "status": "working", "limit": 1}));
    assert_eq!(mine["items"][0]["id"], before["id"]);
}

#[test]
fn a_lead_is_lost_for_a_reason_and_only_while_it_is_lost() {
    let desk = TestDesk::open();
    let id = &created(&desk)["id"];
    let refusal = |change: Value| desk.error_code(ALL_SCOPES, "leads.update", change);
    assert_eq!(refusal(json!({"id": id, "status": "lost"})), "leads.lost_reason_required");
    assert_eq!(refusal(json!({"id": id, "lost_reason": "price"})), "request.invalid");
    let lost = desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": id, "status": "lost", "lost_reason": "price"}));
    assert_eq!((&lost["status"], &lost["lost_reason"]), (&json!("lost"), &json!("price")));
    let noted = desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": id, "comments": "Asked again."}));
    assert_eq!((&noted["status"], &noted["lost_reason"]), (&json!("lost"), &json!("price")));
    let open = desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": id, "status": "working"}));
    assert_eq!((&open["status"], open.get("lost_reason")), (&json!("working"), None));
}

#[test]
fn an_update_must_change_something_and_expect_the_right_version() {
    let desk = TestDesk::open();
    let id = &created(&desk)["id"];
    let refusal = |change: Value| desk.error_code(ALL_SCOPES, "leads.update", change);
    assert_eq!(refusal(json!({"id": id})), "request.invalid");
    assert_eq!(refusal(json!({"id": id, "expected_version": 1})), "request.invalid");
    assert_eq!(refusal(json!({"id": id, "status": "unknown"})), "request.invalid");
    assert_eq!(refusal(json!({"id": id, "last_contact_at": "2026-01-31T10:30:00Z"})), "request.invalid");
    assert_eq!(refusal(json!({"id": id, "status": "sold", "expected_version": 2})), "request.version_conflict");
    assert_eq!(desk.events(), ["lead created", "consent created"]);
}

#[test]
fn one_key_makes_one_lead_and_another_body_is_a_conflict() {
    let desk = TestDesk::open();
    let first = desk.call_ok(ALL_SCOPES, "leads.create", changed(json!({"idempotency_key": "k-1"})));
    let second = desk.call_ok(ALL_SCOPES, "leads.create", changed(json!({"idempotency_key": "k-1"})));
    assert_eq!(first, second);
    let other = changed(json!({"idempotency_key": "k-1", "interest": "lease"}));
    assert_eq!(desk.error_code(ALL_SCOPES, "leads.create", other), "request.idempotency_conflict");
    assert_eq!(desk.events(), ["lead created", "consent created"]);
}

#[test]
fn a_stored_lead_has_personal_data_only_in_its_sealed_part() {
    let desk = TestDesk::open();
    let id = created(&desk)["id"].as_str().unwrap().to_owned();
    let row = desk.store.row("dlr_lakeside", Lead::table(), &id).unwrap();
    let open = format!("{}{}", row.body, row.masked.unwrap());
    for secret in ["Dana", "Rivera", "example.com", "5550123", "still there", "write to me"] {
        assert!(!open.contains(secret), "{secret} in {open}");
    }
    assert!(row.personal.unwrap().contains("Dana Rivera"));
}

#[test]
fn a3_32_a_time_without_an_offset_is_refused() {
    let desk = TestDesk::open();
    let naive = json!({"received_since": "2026-01-31T09:30:00"});
    assert_eq!(desk.error_code(ALL_SCOPES, "leads.list", naive), "request.invalid");
    let since =
        desk.call_ok(ALL_SCOPES, "leads.list", json!({"received_since": "2026-01-31T09:30:01+01:00", "limit": 100}));
    let all = desk.call_ok(ALL_SCOPES, "leads.list", json!({"limit": 100}));
    assert!(since["items"].as_array().unwrap().len() < all["items"].as_array().unwrap().len());
}

#[test]
fn a6_14_errors_do_not_repeat_what_was_sent() {
    let desk = TestDesk::open();
    let canary = json!({"contact": {"name": "Zz Canary", "email": "zz canary@example", "zz_canary": 1}, "interest": "zz-canary"});
    let (failed, answer) = desk.call(ALL_SCOPES, "leads.create", canary);
    assert!(failed);
    assert!(!answer.to_string().to_lowercase().contains("canary"), "{answer}");
    assert_eq!(answer["error"]["details"]["errors"].as_array().unwrap().len(), 3);
}
