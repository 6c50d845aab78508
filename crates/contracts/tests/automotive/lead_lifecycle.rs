//! What becomes of a lead: duplicates, statuses, its customer, its trade-in, and a person who no longer wants to be
//! contacted.

use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

const DAY: i64 = 24 * 60 * 60 * 1000;

fn wish(contact: Value) -> Value {
    json!({
        "contact": contact,
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email", "sms"]},
    })
}

fn uma() -> Value {
    json!({"name": "Uma Reyes", "email": "uma@example.com", "phone": "+15125550155"})
}

fn create(desk: &TestDesk, contact: Value) -> Value {
    desk.call_ok(ALL_SCOPES, "leads.create", wish(contact))
}

fn update(desk: &TestDesk, id: &Value, mut change: Value) -> (bool, Value) {
    change["id"] = id.clone();
    desk.call(ALL_SCOPES, "leads.update", change)
}

#[test]
fn a_second_lead_of_the_same_person_names_the_first_and_stays_open() {
    let desk = TestDesk::open();
    let first = create(&desk, uma());
    assert_eq!(first.get("duplicate_of"), None);
    let by_email = create(&desk, json!({"name": "U. Reyes", "email": "UMA@example.com"}));
    assert_eq!((&by_email["duplicate_of"], &by_email["status"]), (&first["id"], &json!("new")));
    let by_phone = create(&desk, json!({"name": "Somebody", "phone": "+15125550155"}));
    assert_eq!(by_phone["duplicate_of"], first["id"]);
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": by_phone["id"]})), by_phone);
    let stranger = create(&desk, json!({"name": "Uma Reyes", "email": "other@example.com"}));
    assert_eq!(stranger.get("duplicate_of"), None);
    // Who may only write is not told whom the dealership knows.
    let receipt = desk.call_ok("amcp:leads:write", "leads.create", wish(uma()));
    assert_eq!(receipt.get("duplicate_of"), None);
    let theirs = "dlr_summit/amcp:leads:read amcp:leads:write";
    assert_eq!(desk.call_as(theirs, "leads.create", wish(uma())).1.get("duplicate_of"), None);
}

#[test]
fn a_lead_repeats_none_that_is_old_invalid_or_a_duplicate() {
    let desk = TestDesk::open();
    let first = create(&desk, uma());
    update(&desk, &first["id"], json!({"status": "invalid"}));
    let second = create(&desk, uma());
    assert_eq!(second.get("duplicate_of"), None);
    update(&desk, &second["id"], json!({"status": "duplicate"}));
    let third = create(&desk, uma());
    assert_eq!(third.get("duplicate_of"), None);
    desk.clock.advance(30 * DAY);
    assert_eq!(create(&desk, uma())["duplicate_of"], third["id"]);
    let desk = TestDesk::open();
    create(&desk, uma());
    desk.clock.advance(30 * DAY + 1);
    assert_eq!(create(&desk, uma()).get("duplicate_of"), None);
}

#[test]
fn a_status_follows_only_where_it_can() {
    let desk = TestDesk::open();
    let id = create(&desk, uma())["id"].clone();
    let code = |answer: (bool, Value)| answer.1["error"]["code"].as_str().map(str::to_owned);
    let refused = Some("leads.invalid_transition".to_owned());
    let path = [
        ("working", None),
        ("contacted", None),
        ("new", refused.clone()),
        ("sold", None),
        ("invalid", refused.clone()),
        ("duplicate", refused.clone()),
        ("negotiating", None),
        ("duplicate", None),
        ("sold", refused.clone()),
        ("new", None),
        ("appointment_set", None),
        ("invalid", None),
        ("sold", refused),
        ("working", None),
    ];
    for (status, expected) in path {
        assert_eq!(code(update(&desk, &id, json!({"status": status}))), expected, "{status}");
    }
    update(&desk, &id, json!({"status": "sold"}));
    let (_, answer) = update(&desk, &id, json!({"status": "lost", "lost_reason": "price"}));
    assert_eq!(answer["error"]["message"], "Status sold can become contacted, working, appointment_set, negotiating.");
}

#[test]
fn a_lead_gets_a_customer_once_and_becomes_their_latest() {
    let desk = TestDesk::open();
    let customer = |name: &str| {
        let arguments = json!({"primary_contact": {"name": name}});
        desk.call_ok(ALL_SCOPES, "customers.create", arguments)["id"].clone()
    };
    let (ann, bob) = (customer("Ann"), customer("Bob"));
    let older = create(&desk, uma())["id"].clone();
    desk.clock.advance(1_000);
    let newer = create(&desk, uma())["id"].clone();
    let latest = || desk.call_ok(ALL_SCOPES, "customers.get", json!({"id": ann}))["latest_lead"]["id"].clone();
    assert!(!update(&desk, &newer, json!({"customer_id": ann})).0);
    assert_eq!(latest(), newer);
    assert!(!update(&desk, &older, json!({"customer_id": ann})).0);
    assert_eq!(latest(), newer);
    for other in [bob, Value::Null] {
        let (failed, answer) = update(&desk, &newer, json!({"customer_id": other}));
        assert!(failed);
        assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], "/customer_id");
    }
    let (_, answer) = update(&desk, &create(&desk, uma())["id"], json!({"customer_id": "cus_none"}));
    assert_eq!(answer["error"]["code"], "customers.not_found");
}

#[test]
fn a_trade_in_is_sealed_and_its_vin_checked() {
    let desk = TestDesk::open();
    let mut arguments = wish(uma());
    arguments["trade_in"] = json!({
        "vin": "1hgcm82633a004352",
        "year": 2003,
        "make": "Honda",
        "model": "Accord",
        "mileage": {"value": 120_000, "unit": "mi"},
        "condition": "fair",
        "payoff": {"amount": 150_000, "currency": "USD"},
    });
    let lead = desk.call_ok(ALL_SCOPES, "leads.create", arguments);
    let mut expected = json!({
        "vin": "1HGCM82633A004352",
        "year": 2003,
        "make": "Honda",
        "model": "Accord",
        "mileage": {"value": 120_000, "unit": "mi"},
        "condition": "fair",
        "payoff": {"amount": 150_000, "currency": "USD"},
    });
    assert_eq!(lead["trade_in"], expected);
    let listed = &desk.call_ok(ALL_SCOPES, "leads.list", json!({"email": "uma@example.com"}))["items"][0];
    assert_eq!(listed.get("trade_in"), None);
    assert!(listed["redacted"].as_array().unwrap().contains(&json!("trade_in")));
    expected["vin"] = json!("1HGCM82643A004352");
    let (_, answer) = update(&desk, &lead["id"], json!({"trade_in": expected, "owner": {"id": "a b", "name": "A B"}}));
    let pointers: Vec<&Value> =
        answer["error"]["details"]["errors"].as_array().unwrap().iter().map(|problem| &problem["pointer"]).collect();
    assert_eq!(pointers, ["/owner/id", "/trade_in/vin"]);
}

#[test]
fn leads_are_searched_by_person_status_owner_and_time() {
    let desk = TestDesk::open();
    let lead = create(&desk, uma());
    update(&desk, &lead["id"], json!({"owner": {"id": "emp_77", "name": "Kim"}, "status": "working"}));
    let found = |by: Value| {
        let page = desk.call_ok(ALL_SCOPES, "leads.search", by);
        page["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect::<Vec<Value>>()
    };
    for by in [
        json!({"name": "reyes uma"}),
        json!({"email": "UMA@example.com"}),
        json!({"phone": "+15125550155"}),
        json!({"owner_id": "emp_77", "status": "working", "channel": "ai_agent"}),
        json!({"received_since": "2026-01-31T09:30:00Z", "received_until": "2026-01-31T09:30:00Z"}),
    ] {
        assert_eq!(found(by.clone()), [lead["id"].clone()], "{by}");
    }
    assert!(found(json!({"name": "rey"})).is_empty());
    assert!(!found(json!({"received_until": "2026-01-31T09:29:59Z"})).contains(&lead["id"]));
    let backwards = json!({"received_since": "2026-01-31T09:30:00Z", "received_until": "2026-01-30T09:30:00Z"});
    assert_eq!(desk.error_code(ALL_SCOPES, "leads.search", backwards), "request.invalid");
}

#[test]
fn the_consent_of_a_lead_is_a_record_that_can_be_withdrawn() {
    let desk = TestDesk::open();
    let lead = create(&desk, uma());
    let consents = desk.call_ok(ALL_SCOPES, "consent.list", json!({"lead_id": lead["id"]}));
    assert_eq!(consents["items"].as_array().unwrap().len(), 1);
    assert_eq!(consents["items"][0]["id"], lead["consent_id"]);
    desk.clock.advance(1_000);
    desk.call_ok(ALL_SCOPES, "consent.update", json!({"id": lead["consent_id"], "status": "withdrawn"}));
    let after = desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": lead["id"]}));
    assert_eq!((&after["consent"]["status"], &after["version"]), (&json!("withdrawn"), &json!(2)));
    assert_eq!(
        after["do_not_contact"],
        json!([
            {"channel": "email", "purposes": ["lead_follow_up"]},
            {"channel": "sms", "purposes": ["lead_follow_up"]},
        ])
    );
    let listed = &desk.call_ok(ALL_SCOPES, "leads.list", json!({"email": "uma@example.com"}))["items"][0];
    assert_eq!(listed["consent"]["status"], "withdrawn");
    // Staff must still recognise the person.
    assert_eq!(after["contact"], uma());
    assert_eq!(desk.events(), ["lead created", "consent created", "consent updated", "lead updated"]);
}

#[test]
fn a_refusal_of_all_channels_of_a_lead_is_in_its_summary() {
    let desk = TestDesk::open();
    let lead = create(&desk, uma());
    desk.clock.advance(1_000);
    let stop = |channels: Value| {
        let arguments = json!({"lead_id": lead["id"], "status": "withdrawn", "channels": channels});
        desk.call_ok(ALL_SCOPES, "consent.create", arguments);
        desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": lead["id"]}))["consent"]["status"].clone()
    };
    assert_eq!(stop(json!(["sms"])), "granted");
    assert_eq!(stop(json!(["sms", "email", "voice_call"])), "withdrawn");
}

#[test]
fn who_has_withdrawn_is_recorded_only_with_newer_consent() {
    let desk = TestDesk::open();
    let lead = create(&desk, uma());
    desk.clock.advance(60_000);
    desk.call_ok(ALL_SCOPES, "consent.update", json!({"id": lead["consent_id"], "status": "withdrawn"}));
    let mut old = wish(json!({"name": "Uma", "email": "uma@example.com"}));
    old["consent"] = json!({"granted": true, "channels": ["email"], "granted_at": "2026-01-31T09:30:30Z"});
    let (failed, answer) = desk.call(ALL_SCOPES, "leads.create", old.clone());
    assert!(failed);
    assert_eq!(answer["error"]["code"], "consent.withdrawn");
    assert_eq!(
        answer["error"]["message"],
        "Nothing was recorded: the person has withdrawn or refused consent to email since then. Ask them again, and send \
         their new consent without granted_at."
    );
    assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], "/consent/granted_at");
    // Another purpose was never refused.
    let mut other = old.clone();
    other["consent"]["purpose"] = json!("transactional");
    assert!(!desk.call(ALL_SCOPES, "leads.create", other).0);
    desk.clock.advance(60_000);
    old["consent"].as_object_mut().unwrap().remove("granted_at");
    let anew = desk.call_ok(ALL_SCOPES, "leads.create", old);
    // What the call itself records counts in its answer.
    assert_eq!(anew.get("do_not_contact"), None);
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": anew["id"]})), anew);
    let first = desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": lead["id"]}));
    assert_eq!(first["do_not_contact"], json!([{"channel": "sms", "purposes": ["lead_follow_up"]}]));
}
