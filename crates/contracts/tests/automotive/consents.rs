//! Consents as records: what can be said, what changes, what ends by itself, and what may be done.

use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

const DAY: i64 = 24 * 60 * 60 * 1000;

fn consent(changes: Value) -> Value {
    let mut arguments = json!({
        "status": "granted",
        "channels": ["email", "sms"],
        "purpose": "marketing",
        "contact": {"email": "ora@example.com", "phone": "+15125550177"},
        "evidence": {"text": "Yes to news.", "url": "https://www.example.com/news", "ip": "192.0.2.7"},
        "source": "web_form",
        "regime": "tcpa",
    });
    let members = arguments.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    arguments
}

fn create(desk: &TestDesk, changes: Value) -> Value {
    desk.call_ok(ALL_SCOPES, "consent.create", consent(changes))
}

fn end(desk: &TestDesk, id: &Value) -> Value {
    desk.clock.advance(1_000);
    let answer = desk.call_ok(ALL_SCOPES, "consent.update", json!({"id": id, "status": "withdrawn"}));
    desk.clock.advance(1_000);
    answer
}

/// What `consent.check` says about e-mail for this purpose: whether, why, and by which consent.
fn email_check(desk: &TestDesk, purpose: &str) -> (Value, Value, Option<Value>) {
    let arguments = json!({"email": "Ora@Example.com", "channel": "email", "purpose": purpose});
    let answer = desk.call_ok(ALL_SCOPES, "consent.check", arguments);
    (answer["allowed"].clone(), answer["reason"].clone(), answer.get("consent_id").cloned())
}

/// The code, and the pointers and reasons of everything that is wrong.
fn refusal(answer: (bool, Value)) -> (Value, Vec<(String, String)>) {
    assert!(answer.0, "{}", answer.1);
    let error = &answer.1["error"];
    let text = |problem: &Value, name: &str| problem[name].as_str().unwrap().to_owned();
    let problems = error["details"]["errors"].as_array().into_iter().flatten();
    (error["code"].clone(), problems.map(|problem| (text(problem, "pointer"), text(problem, "keyword"))).collect())
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(pointer, keyword)| ((*pointer).to_owned(), (*keyword).to_owned())).collect()
}

#[test]
fn a_consent_is_answered_whole_and_listed_masked() {
    let desk = TestDesk::open();
    let made = create(&desk, json!({}));
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("cns_"));
    assert_eq!(
        made,
        json!({
            "id": id,
            "type": "consent",
            "dealership_id": "dlr_lakeside",
            "status": "granted",
            "channels": ["email", "sms"],
            "purpose": "marketing",
            "legal_basis": "consent",
            "regime": "tcpa",
            "source": "web_form",
            "granted_at": "2026-01-31T09:30:00Z",
            "decided_at": "2026-01-31T09:30:00Z",
            "revisions": [{"at": "2026-01-31T09:30:00Z", "by": "client", "status": "granted"}],
            "contact": {"email": "ora@example.com", "phone": "+15125550177"},
            "evidence": {"text": "Yes to news.", "url": "https://www.example.com/news", "ip": "192.0.2.7"},
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
            "redacted": [],
        })
    );
    assert_eq!(desk.call_ok(ALL_SCOPES, "consent.get", json!({"id": id})), made);
    let listed = &desk.call_ok(ALL_SCOPES, "consent.list", json!({"phone": "+15125550177"}))["items"];
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["contact"], json!({"email": "o***@e***.com", "phone": "+1******0177"}));
    assert_eq!(listed[0]["redacted"], json!(["contact.email", "contact.phone", "evidence"]));
    let receipt = desk.call_ok("amcp:consent:write", "consent.create", consent(json!({})));
    assert_eq!((receipt.get("contact"), receipt.get("channels")), (None, None));
    assert_eq!(desk.events(), ["consent created", "consent created"]);
}

#[test]
fn all_that_is_wrong_with_a_consent_is_said_at_once() {
    let desk = TestDesk::open();
    let wrong = |changes: Value| refusal(desk.call(ALL_SCOPES, "consent.create", consent(changes)));
    let times = json!({
        "channels": [],
        "purpose": null,
        "granted_at": "2026-01-31T10:30:00Z",
        "expires_at": "2026-01-31T09:30:00Z",
    });
    assert_eq!(
        wrong(times),
        (
            json!("consent.invalid"),
            pairs(&[
                ("/channels", "minItems"),
                ("/purpose", "required"),
                ("/granted_at", "maximum"),
                ("/expires_at", "minimum")
            ])
        )
    );
    let refused =
        json!({"status": "denied", "granted_at": "2026-01-31T09:00:00Z", "expires_at": "2027-01-31T09:00:00Z"});
    assert_eq!(
        wrong(refused),
        (json!("consent.invalid"), pairs(&[("/granted_at", "const"), ("/expires_at", "const")]))
    );
    assert_eq!(
        wrong(json!({"contact": {"phone": "+15125550177"}})),
        (json!("consent.invalid"), pairs(&[("/contact/email", "required")]))
    );
    assert_eq!(
        wrong(json!({"contact": {"email": "ora@example.com"}})),
        (json!("consent.invalid"), pairs(&[("/contact/phone", "required")]))
    );
    assert_eq!(wrong(json!({"status": "expired"})), (json!("request.invalid"), pairs(&[("/status", "enum")])));
    assert_eq!(wrong(json!({"contact": {}})), (json!("request.invalid"), pairs(&[("", "anyOf")])));
    assert!(desk.events().is_empty());
}

#[test]
fn a_consent_belongs_to_a_lead_or_customer_of_the_dealership() {
    let desk = TestDesk::open();
    let other = "dlr_summit/amcp:leads:read amcp:consent:read";
    for (list, field, code) in
        [("leads.list", "lead_id", "leads.not_found"), ("customers.list", "customer_id", "customers.not_found")]
    {
        let (_, theirs) = desk.call_as(other, list, json!({"limit": 1}));
        let foreign = desk.call(ALL_SCOPES, "consent.create", consent(json!({field: theirs["items"][0]["id"]})));
        let absent = desk.call(ALL_SCOPES, "consent.create", consent(json!({field: "none"})));
        assert_eq!(foreign.1["error"]["code"], code);
        assert_eq!(foreign, absent);
    }
    let (_, theirs) = desk.call_as(other, "consent.list", json!({"limit": 1}));
    let foreign = desk.call(ALL_SCOPES, "consent.get", json!({"id": theirs["items"][0]["id"]}));
    assert_eq!(foreign.1["error"]["code"], "consent.not_found");
    assert_eq!(foreign, desk.call(ALL_SCOPES, "consent.get", json!({"id": "cns_none"})));
    let mine = &desk.call_ok(ALL_SCOPES, "customers.list", json!({"limit": 1}))["items"][0]["id"];
    let customer = desk.call_ok(ALL_SCOPES, "customers.get", json!({"id": mine}));
    let made = create(&desk, json!({"customer_id": mine, "contact": null}));
    assert_eq!(made["contact"]["email"], customer["primary_contact"]["email"]);
}

#[test]
fn a_withdrawal_is_always_possible_and_never_undone() {
    let desk = TestDesk::open();
    for status in ["granted", "denied", "pending"] {
        let made =
            create(&desk, json!({"status": status, "contact": {"email": "w@example.com", "phone": "+15125550111"}}));
        let gone = end(&desk, &made["id"]);
        assert_eq!((&gone["status"], &gone["version"]), (&json!("withdrawn"), &json!(2)));
        let words: Vec<&str> =
            gone["revisions"].as_array().unwrap().iter().map(|line| line["status"].as_str().unwrap()).collect();
        assert_eq!(words, [status, "withdrawn"]);
        let (failed, answer) = desk.call(ALL_SCOPES, "consent.update", json!({"id": made["id"], "status": "granted"}));
        assert!(failed);
        assert_eq!(answer["error"]["code"], "consent.invalid_transition");
        assert_eq!(
            answer["error"]["message"],
            "Status withdrawn is final. Record what the person says now with consent.create."
        );
    }
}

#[test]
fn only_the_status_of_a_consent_can_be_changed() {
    let desk = TestDesk::open();
    let made = create(&desk, json!({}));
    for change in
        [json!({"channels": ["mail"]}), json!({"contact": {"email": "x@example.com"}}), json!({"purpose": null})]
    {
        let mut arguments = change.clone();
        arguments["id"] = made["id"].clone();
        assert_eq!(desk.error_code(ALL_SCOPES, "consent.update", arguments), "request.invalid", "{change}");
    }
    let same = desk.call_ok(ALL_SCOPES, "consent.update", json!({"id": made["id"], "status": "granted"}));
    assert_eq!(same["revisions"], made["revisions"]);
    let pending = create(&desk, json!({"status": "pending"}));
    assert_eq!(pending.get("granted_at"), None);
    desk.clock.advance(60_000);
    let granted = desk.call_ok(ALL_SCOPES, "consent.update", json!({"id": pending["id"], "status": "granted"}));
    assert_eq!(granted["granted_at"], "2026-01-31T09:31:00Z");
    assert_eq!(
        granted["revisions"],
        json!([
            {"at": "2026-01-31T09:30:00Z", "by": "client", "status": "pending"},
            {"at": "2026-01-31T09:31:00Z", "by": "client", "status": "granted"},
        ])
    );
}

#[test]
fn a_consent_ends_by_itself_everywhere_at_once() {
    let desk = TestDesk::open();
    let made = create(&desk, json!({"expires_at": "2026-02-01T09:30:00Z"}));
    let listed = |status: &str| {
        let arguments = json!({"email": "ora@example.com", "status": status, "x_frontdesk_total": true});
        let page = desk.call_ok(ALL_SCOPES, "consent.list", arguments);
        let words: Vec<Value> = page["items"].as_array().unwrap().iter().map(|item| item["status"].clone()).collect();
        (words, page["x_frontdesk_total"].clone())
    };
    assert_eq!(listed("granted"), (vec![json!("granted")], json!(1)));
    assert_eq!(listed("expired"), (vec![], json!(0)));
    assert_eq!(email_check(&desk, "marketing"), (json!(true), json!("granted"), Some(made["id"].clone())));
    desk.clock.advance(DAY);
    assert_eq!(listed("granted"), (vec![], json!(0)));
    assert_eq!(listed("expired"), (vec![json!("expired")], json!(1)));
    assert_eq!(desk.call_ok(ALL_SCOPES, "consent.get", json!({"id": made["id"]}))["status"], "expired");
    assert_eq!(email_check(&desk, "marketing"), (json!(false), json!("expired"), Some(made["id"].clone())));
    let again = desk.call(ALL_SCOPES, "consent.update", json!({"id": made["id"], "status": "granted"}));
    assert_eq!(again.1["error"]["code"], "consent.invalid_transition");
    // One without an end still holds.
    let lasting = create(&desk, json!({"granted_at": "2026-01-01T00:00:00Z"}));
    assert_eq!(listed("granted"), (vec![json!("granted")], json!(1)));
    assert_eq!(email_check(&desk, "marketing"), (json!(true), json!("granted"), Some(lasting["id"].clone())));
}

#[test]
fn a_lead_shows_that_its_consent_has_ended() {
    let desk = TestDesk::open();
    let lead = desk.call_ok(
        ALL_SCOPES,
        "leads.create",
        json!({
            "contact": {"name": "Ora", "email": "ora@example.com"},
            "interest": "buy",
            "consent": {"granted": true, "channels": ["email"], "expires_at": "2026-02-01T00:00:00Z"},
        }),
    );
    let status = || {
        let whole = desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": lead["id"]}));
        let listed = desk.call_ok(ALL_SCOPES, "leads.list", json!({"email": "ora@example.com"}));
        (whole["consent"]["status"].clone(), listed["items"][0]["consent"]["status"].clone())
    };
    assert_eq!(status(), (json!("granted"), json!("granted")));
    desk.clock.advance(DAY);
    assert_eq!(status(), (json!("expired"), json!("expired")));
}

#[test]
fn the_newest_statement_for_channel_and_purpose_decides() {
    let desk = TestDesk::open();
    assert_eq!(email_check(&desk, "marketing"), (json!(false), json!("none"), None));
    let pending = create(&desk, json!({"status": "pending"}));
    assert_eq!(email_check(&desk, "marketing"), (json!(false), json!("pending"), Some(pending["id"].clone())));
    desk.clock.advance(1_000);
    let granted = create(&desk, json!({}));
    assert_eq!(email_check(&desk, "marketing"), (json!(true), json!("granted"), Some(granted["id"].clone())));
    assert_eq!(email_check(&desk, "credit_inquiry").1, "none");
    desk.clock.advance(1_000);
    let stop = create(&desk, json!({"status": "withdrawn", "purpose": null, "channels": ["email"]}));
    assert_eq!(email_check(&desk, "marketing"), (json!(false), json!("withdrawn"), Some(stop["id"].clone())));
    assert_eq!(email_check(&desk, "credit_inquiry").1, "withdrawn");
    let sms = json!({"phone": "+15125550177", "channel": "sms", "purpose": "marketing"});
    assert_eq!(desk.call_ok(ALL_SCOPES, "consent.check", sms)["reason"], "granted");
    desk.clock.advance(1_000);
    let anew = create(&desk, json!({"channels": ["email"]}));
    assert_eq!(email_check(&desk, "marketing"), (json!(true), json!("granted"), Some(anew["id"].clone())));
    assert_eq!(email_check(&desk, "credit_inquiry").1, "withdrawn");
    desk.clock.advance(1_000);
    create(&desk, json!({"status": "denied"}));
    assert_eq!(email_check(&desk, "marketing").1, "denied");
}

#[test]
fn a_refusal_counts_if_both_came_in_the_same_moment() {
    let desk = TestDesk::open();
    for _ in 0..8 {
        create(&desk, json!({}));
    }
    create(&desk, json!({"status": "withdrawn"}));
    assert_eq!(email_check(&desk, "marketing").1, "withdrawn");
    let late = desk.call(ALL_SCOPES, "consent.create", consent(json!({})));
    assert_eq!(refusal(late), (json!("consent.withdrawn"), pairs(&[("/granted_at", "minimum")])));
}

#[test]
fn a_check_says_what_to_do_and_names_no_address() {
    let desk = TestDesk::open();
    let made = create(&desk, json!({"expires_at": "2027-01-01T00:00:00Z"}));
    let check = |arguments: Value| desk.call("amcp:consent:read", "consent.check", arguments);
    assert_eq!(
        check(json!({"email": "ora@example.com", "channel": "email", "purpose": "marketing"})),
        (
            false,
            json!({
                "type": "consent_check",
                "dealership_id": "dlr_lakeside",
                "channel": "email",
                "purpose": "marketing",
                "allowed": true,
                "reason": "granted",
                "consent_id": made["id"],
                "expires_at": "2027-01-01T00:00:00Z",
                "next_step": "They may be contacted this way for this purpose.",
            })
        )
    );
    let wrong = |arguments: Value| refusal(check(arguments));
    let by = |name: &str, value: &str, channel: &str| json!({name: value, "channel": channel, "purpose": "marketing"});
    assert_eq!(
        wrong(by("phone", "+15125550177", "email")),
        (json!("request.invalid"), pairs(&[("/email", "required")]))
    );
    assert_eq!(
        wrong(by("email", "ora@example.com", "sms")),
        (json!("request.invalid"), pairs(&[("/phone", "required")]))
    );
    let nobody = json!({"channel": "mail", "purpose": "marketing"});
    assert_eq!(wrong(nobody), (json!("request.invalid"), pairs(&[("", "anyOf")])));
    let (failed, answer) = check(by("customer_id", "cus_none", "sms"));
    assert!(failed);
    assert_eq!(answer["error"]["code"], "customers.not_found");
    let status =
        desk.send("dlr_lakeside/amcp:leads:read", "tools/call", json!({"name": "consent.check", "arguments": {}}));
    assert_eq!(status.status, 403);
}

#[test]
fn consent_of_one_customer_is_none_of_another_at_the_same_number() {
    let desk = TestDesk::open();
    let customer = |name: &str, email: &str| {
        let arguments = json!({
            "primary_contact": {"name": name, "email": email, "phone": "+15125550166"},
            "consent": {"granted": true, "channels": ["email", "sms"], "purpose": "transactional"},
        });
        desk.call_ok(ALL_SCOPES, "customers.create", arguments)["id"].clone()
    };
    let (ann, bob) = (customer("Ann", "ann@example.com"), customer("Bob", "bob@example.com"));
    desk.clock.advance(1_000);
    create(&desk, json!({"customer_id": bob, "contact": null}));
    let reason = |who: &Value, channel: &str| {
        let arguments = json!({"customer_id": who, "channel": channel, "purpose": "marketing"});
        desk.call_ok(ALL_SCOPES, "consent.check", arguments)["reason"].clone()
    };
    assert_eq!((reason(&bob, "email"), reason(&bob, "sms")), (json!("granted"), json!("granted")));
    assert_eq!((reason(&ann, "email"), reason(&ann, "sms")), (json!("none"), json!("none")));
    desk.clock.advance(1_000);
    // Whoever says stop at a number is not written to there, whoever it is.
    create(&desk, json!({"status": "withdrawn", "channels": ["sms"], "contact": {"phone": "+15125550166"}}));
    assert_eq!((reason(&bob, "sms"), reason(&ann, "sms")), (json!("withdrawn"), json!("withdrawn")));
    assert_eq!(reason(&bob, "email"), "granted");
}

#[test]
fn the_demo_has_consents_of_every_kind_and_none_of_the_future() {
    let desk = TestDesk::open();
    for status in ["granted", "withdrawn", "expired"] {
        let page = desk.call_ok(ALL_SCOPES, "consent.list", json!({"status": status, "limit": 100}));
        let items = page["items"].as_array().unwrap();
        assert!(items.len() > 2, "{status}: {}", items.len());
        for item in items {
            assert!(item["decided_at"].as_str().unwrap() < "2026-01-31T09:30:00Z", "{item}");
        }
    }
}

/// A list shows what happened, also of a consent that was withdrawn and would have ended by now.
#[test]
fn revisions_of_a_withdrawn_consent_do_not_end() {
    let desk = TestDesk::open();
    let made = create(&desk, json!({"expires_at": "2026-02-01T00:00:00Z"}));
    end(&desk, &made["id"]);
    desk.clock.advance(2 * DAY);
    let statuses = |consent: &Value| {
        let revisions = consent["revisions"].as_array().unwrap().iter().map(|revision| revision["status"].clone());
        (consent["status"].clone(), revisions.collect::<Vec<Value>>())
    };
    let expected = (json!("withdrawn"), vec![json!("granted"), json!("withdrawn")]);
    let listed = desk.call_ok(ALL_SCOPES, "consent.list", json!({"email": "ora@example.com"}));
    assert_eq!(statuses(&listed["items"][0]), expected);
    assert_eq!(statuses(&desk.call_ok(ALL_SCOPES, "consent.get", json!({"id": made["id"]}))), expected);
}
