//! Customers: adding and changing them, whom they are found by, and what they have agreed to.

use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

fn person() -> Value {
    json!({
        "primary_contact": {"name": "Mira Lund", "email": "mira@example.com", "phone": "+15125550188"},
        "kind": "individual",
        "dms_customer_number": "D-4711",
        "preferred_contact": "sms",
        "preferred_contact_time": "evening",
        "language": "es-US",
        "location": {"city": "Austin", "region": "TX", "country": "US"},
        "consent": {"granted": true, "channels": ["email", "sms"]},
    })
}

fn without(name: &str) -> Value {
    let mut person = person();
    person.as_object_mut().unwrap().remove(name);
    person
}

#[test]
fn a_new_customer_is_answered_whole_and_their_consent_recorded() {
    let desk = TestDesk::open();
    let made = desk.call_ok(ALL_SCOPES, "customers.create", person());
    let id = made["id"].as_str().unwrap();
    assert_eq!(
        made,
        json!({
            "id": id,
            "type": "customer",
            "dealership_id": "dlr_lakeside",
            "kind": "individual",
            "dms_customer_number": "D-4711",
            "preferred_contact": "sms",
            "preferred_contact_time": "evening",
            "language": "es-US",
            "location": {"city": "Austin", "region": "TX", "country": "US"},
            "primary_contact": {"name": "Mira Lund", "email": "mira@example.com", "phone": "+15125550188"},
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
            "redacted": [],
        })
    );
    assert_eq!(desk.call_ok(ALL_SCOPES, "customers.get", json!({"id": id})), made);
    assert_eq!(desk.events(), ["customer created", "consent created"]);
    let consents = desk.call_ok(ALL_SCOPES, "consent.list", json!({"customer_id": id}));
    assert_eq!(consents["items"][0]["purpose"], "lead_follow_up");
    assert_eq!(consents["items"][0]["channels"], json!(["email", "sms"]));
}

#[test]
fn contact_data_of_a_customer_needs_consent() {
    let desk = TestDesk::open();
    assert_eq!(desk.error_code(ALL_SCOPES, "customers.create", without("consent")), "consent.required");
    let mut narrow = person();
    narrow["consent"] = json!({"granted": true, "channels": ["email"], "granted_at": "2026-01-31T10:30:00Z"});
    let (_, answer) = desk.call(ALL_SCOPES, "customers.create", narrow);
    assert_eq!(answer["error"]["code"], "consent.invalid");
    let pointers: Vec<&Value> =
        answer["error"]["details"]["errors"].as_array().unwrap().iter().map(|problem| &problem["pointer"]).collect();
    assert_eq!(pointers, ["/consent/granted_at", "/consent/channels"]);
    let bare = json!({"primary_contact": {"name": "Mira Lund"}});
    desk.call_ok(ALL_SCOPES, "customers.create", bare);
    assert_eq!(desk.events(), ["customer created"]);
}

#[test]
fn all_that_is_wrong_with_a_customer_is_said_at_once() {
    let desk = TestDesk::open();
    let wrong = json!({
        "primary_contact": {"name": " - "},
        "dms_customer_number": "mira@example.com",
        "language": "Spanish, please",
    });
    let (_, answer) = desk.call(ALL_SCOPES, "customers.create", wrong);
    let pointers: Vec<&Value> =
        answer["error"]["details"]["errors"].as_array().unwrap().iter().map(|problem| &problem["pointer"]).collect();
    assert_eq!(pointers, ["/primary_contact/name", "/dms_customer_number", "/language"]);
    assert!(!answer.to_string().contains("mira"), "{answer}");
}

#[test]
fn a_new_address_of_a_customer_needs_consent_on_record() {
    let desk = TestDesk::open();
    let id = desk.call_ok(ALL_SCOPES, "customers.create", person())["id"].clone();
    let moved = json!({
        "id": id,
        "primary_contact": {"name": "Mira Lund", "email": "mira@new.example.com", "phone": "+15125550188"},
    });
    let (failed, answer) = desk.call(ALL_SCOPES, "customers.update", moved.clone());
    assert!(failed);
    assert_eq!(answer["error"]["code"], "consent.required");
    assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], "/primary_contact/email");
    let consent = json!({
        "customer_id": id,
        "contact": {"email": "mira@new.example.com"},
        "status": "granted",
        "channels": ["email"],
        "purpose": "transactional",
    });
    desk.call_ok(ALL_SCOPES, "consent.create", consent);
    let after = desk.call_ok(ALL_SCOPES, "customers.update", moved);
    assert_eq!(after["primary_contact"]["email"], "mira@new.example.com");
    let renamed = json!({"name": "Mira Lund-Berg", "email": "mira@new.example.com", "phone": "+15125550188"});
    desk.call_ok(ALL_SCOPES, "customers.update", json!({"id": id, "primary_contact": renamed, "language": null}));
}

#[test]
fn a_number_of_the_dealer_system_occurs_once() {
    let desk = TestDesk::open();
    desk.call_ok(ALL_SCOPES, "customers.create", person());
    let (failed, answer) = desk.call(ALL_SCOPES, "customers.create", person());
    assert!(failed);
    assert_eq!(answer["error"]["code"], "customers.duplicate");
    assert_eq!(
        answer["error"]["message"],
        "A customer with this dms_customer_number exists already. Find that one and change it."
    );
    desk.call_ok(ALL_SCOPES, "customers.create", without("dms_customer_number"));
    desk.call_ok(ALL_SCOPES, "customers.create", without("dms_customer_number"));
}

#[test]
fn customers_are_found_by_what_is_hashed_and_only_as_a_whole() {
    let desk = TestDesk::open();
    let id = desk.call_ok(ALL_SCOPES, "customers.create", person())["id"].clone();
    let found = |by: Value| {
        let page = desk.call_ok(ALL_SCOPES, "customers.search", by);
        page["items"].as_array().unwrap().iter().any(|item| item["id"] == id)
    };
    for by in [
        json!({"email": "MIRA@example.com"}),
        json!({"phone": "+15125550188"}),
        json!({"name": "lund mira"}),
        json!({"dms_customer_number": "D-4711"}),
        json!({"name": "Mira", "email": "mira@example.com"}),
    ] {
        assert!(found(by.clone()), "{by}");
    }
    for by in [json!({"name": "Mir"}), json!({"name": "Mira Berg"}), json!({"dms_customer_number": "D-47"})] {
        assert!(!found(by.clone()), "{by}");
    }
    assert_eq!(desk.error_code(ALL_SCOPES, "customers.search", json!({"sort": "name"})), "request.invalid");
}

#[test]
fn a_withdrawal_is_shown_with_the_customer_until_they_agree_again() {
    let desk = TestDesk::open();
    let id = desk.call_ok(ALL_SCOPES, "customers.create", person())["id"].clone();
    let blocked = || desk.call_ok(ALL_SCOPES, "customers.get", json!({"id": id})).get("do_not_contact").cloned();
    assert_eq!(blocked(), None);
    desk.clock.advance(1_000);
    let say = |status: &str, channels: Value, purpose: Option<&str>| {
        let mut arguments = json!({"customer_id": id, "status": status, "channels": channels});
        if let Some(purpose) = purpose {
            arguments["purpose"] = json!(purpose);
        }
        desk.call_ok(ALL_SCOPES, "consent.create", arguments);
        desk.clock.advance(1_000);
    };
    say("withdrawn", json!(["email"]), Some("marketing"));
    say("withdrawn", json!(["sms"]), None);
    let all =
        json!(["marketing", "transactional", "service_reminder", "lead_follow_up", "credit_inquiry", "data_sharing"]);
    assert_eq!(
        blocked(),
        Some(json!([{"channel": "email", "purposes": ["marketing"]}, {"channel": "sms", "purposes": all}]))
    );
    let listed = desk.call_ok(ALL_SCOPES, "customers.search", json!({"email": "mira@example.com"}));
    assert_eq!(listed["items"][0].get("do_not_contact"), None);
    let changed = desk.call_ok(ALL_SCOPES, "customers.update", json!({"id": id, "language": "en"}));
    assert_eq!(changed.get("do_not_contact").cloned(), blocked());
    say("granted", json!(["email"]), Some("marketing"));
    assert_eq!(blocked(), Some(json!([{"channel": "sms", "purposes": all}])));
}
