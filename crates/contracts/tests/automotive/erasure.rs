//! Erasure of a person: which records are found, what is left of them, and what follows from it.

mod belongings;

use frontdesk_contracts::automotive::{self, erasure};
use frontdesk_contracts::record::nested::maskable;
use frontdesk_contracts::record::{Record as _, Stored as _};
use frontdesk_contracts::tomo::{self, booking::Booking};
use frontdesk_engine::FaultKind;
use frontdesk_engine::import::{ImportRow, ImportSession, RowResult};
use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

const FIND: &str = erasure::ERASURE.find_tool;
const ERASE: &str = erasure::ERASURE.erase_tool;
/// Everything that must be gone.
const PERSON: [&str; 11] = [
    "Zara",
    "Quill",
    "zara@example.com",
    "Zz Town",
    "Zz Portal",
    "Zz Note",
    "+15125550199",
    "Zz Vendor",
    "Zz Trade",
    "zz-Zara",
    "es-ZZ",
];

/// Adds a customer; returns their id.
fn customer(desk: &TestDesk, contact: Value) -> String {
    let arguments = json!({
        "primary_contact": contact,
        "location": {"city": "Zz Town", "region": "TX", "country": "US"},
        "vehicle_of_interest": {"make": "Honda", "model": "Zz Model"},
        "lifetime_value": {"amount": 100, "currency": "USD"},
        "dms_customer_number": format!("zz-{}", contact["name"].as_str().unwrap().replace(' ', "-")),
        "language": "es-ZZ",
        "consent": {"granted": true, "channels": ["email", "sms"], "text": "Zz Note"},
    });
    let row = ImportRow {
        line: 1,
        arguments: arguments.as_object().unwrap().clone(),
        key: Some(contact.to_string().replace(' ', "")),
        is_new: false,
    };
    let results: Vec<RowResult> =
        desk.import("customers", async |session: &ImportSession<'_>| session.apply(&[row]).await.unwrap());
    results[0].id.clone().unwrap_or_else(|| panic!("{results:?}"))
}

/// Adds a lead; returns its id.
fn lead(desk: &TestDesk, contact: Value, more: Value) -> String {
    let mut arguments = json!({
        "contact": contact,
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email", "sms"], "text": "Zz Note"},
        "source": {"channel": "third_party", "provider": "Zz Portal", "external_id": "zz-1"},
        "vehicle_of_interest": {"make": "Honda", "model": "Zz Model"},
        "trade_in": {"make": "Zz Trade", "model": "Zz Trade"},
        "comments": "Zz Note",
        "x_acme_note": "Zz Vendor",
    });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    desk.call_ok(ALL_SCOPES, "leads.create", arguments)["id"].as_str().unwrap().to_owned()
}

fn zara() -> Value {
    json!({"name": "Zara Quill", "email": "zara@example.com", "phone": "+15125550199"})
}

/// Runs rounds until nothing is left; how many there were.
fn erase(desk: &TestDesk, by: &Value) -> usize {
    for round in 0.. {
        let found = desk.operate(FIND, by.clone()).unwrap();
        if found["records"] == json!([]) {
            return round;
        }
        desk.operate(ERASE, json!({"id": found["subject"], "records": found["records"]})).unwrap();
    }
    0
}

#[test]
fn a_customer_and_their_leads_lose_all_that_is_personal() {
    let desk = TestDesk::open();
    let id = customer(&desk, zara());
    let linked = lead(&desk, json!({"name": "Z. Q.", "email": "other@example.com"}), json!({"customer_id": id}));
    let same_email = lead(&desk, json!({"name": "Zara", "email": "ZARA@example.com"}), json!({}));
    let same_phone = lead(&desk, json!({"name": "Quill", "phone": "+15125550199"}), json!({}));
    let stranger = lead(&desk, json!({"name": "Somebody Else", "email": "else@example.com"}), json!({}));
    let mut found = desk.operate(FIND, json!({"id": id})).unwrap();
    let consents =
        found["records"].as_array_mut().unwrap().extract_if(.., |record| record["kind"] == "consent").count();
    assert_eq!(consents, 4);
    assert_eq!(
        found,
        json!({
            "subject": id,
            "records": [
                {"kind": "lead", "id": linked, "version": 1},
                {"kind": "lead", "id": same_email, "version": 1},
                {"kind": "lead", "id": same_phone, "version": 1},
                // Creating the linked lead has changed the customer's latest one.
                {"kind": "customer", "id": id, "version": 2},
            ],
            "counts": {"consent": 4, "customer": 1, "lead": 3},
            "others": [],
            "running_imports": 0,
        })
    );
    let (events, audited) = (desk.events().len(), desk.audit().len());
    assert_eq!(erase(&desk, &json!({"id": id})), 1);
    let leads = std::iter::repeat_n("lead updated", 3);
    let expected: Vec<&str> =
        std::iter::repeat_n("consent updated", 4).chain(leads).chain(["customer deleted"]).collect();
    assert_eq!(desk.events()[events..], expected);
    let record = &desk.audit()[audited..];
    assert_eq!(record.len(), 1);
    assert_eq!(
        (&record[0]["client"], &record[0]["tool"], &record[0]["tenant"], &record[0]["ids"], &record[0]["outcome"]),
        (&json!("operator"), &json!(ERASE), &json!("dlr_lakeside"), &json!([id]), &json!("ok"))
    );
    assert!(PERSON.iter().all(|word| !record[0].to_string().contains(word)), "{record:?}");
    let shown = desk.call_ok(ALL_SCOPES, "customers.get", json!({"id": id}));
    assert_eq!(shown["primary_contact"], json!({"name": "[erased]"}));
    assert_eq!((shown.get("location"), shown.get("vehicle_of_interest")), (None, None));
    assert_eq!(shown["lifetime_value"], json!({"amount": 100, "currency": "USD"}));
    let shown = desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": linked}));
    assert_eq!(shown["contact"], json!({"name": "[erased]"}));
    assert_eq!((&shown["source"], &shown["customer_id"]), (&json!({"channel": "third_party"}), &json!(id)));
    for gone in ["comments", "consent_text", "vehicle_of_interest", "trade_in", "x_acme_note"] {
        assert_eq!(shown.get(gone), None, "{gone}");
    }
    let consent = desk.call_ok(ALL_SCOPES, "consent.get", json!({"id": shown["consent_id"]}));
    assert_eq!((&consent["status"], &consent["lead_id"]), (&json!("granted"), &json!(linked)));
    assert_eq!((consent.get("contact"), consent.get("evidence")), (None, None));
    let other = desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": stranger}));
    assert_eq!((&other["contact"]["name"], &other["comments"]), (&json!("Somebody Else"), &json!("Zz Note")));
    for (tool, by) in [
        ("customers.list", json!({"email": "zara@example.com"})),
        ("customers.list", json!({"name": "Zara"})),
        ("customers.list", json!({"name": "erased"})),
        ("leads.list", json!({"email": "zara@example.com"})),
        ("leads.list", json!({"phone": "+15125550199"})),
        ("consent.list", json!({"email": "zara@example.com"})),
        ("consent.list", json!({"phone": "+15125550199"})),
    ] {
        assert_eq!(desk.call_ok(ALL_SCOPES, tool, by.clone())["items"], json!([]), "{tool} {by}");
    }
    let listed = desk.call_ok(ALL_SCOPES, "leads.list", json!({"customer_id": id}));
    assert_eq!(listed["items"][0]["contact"], json!({"name": "[erased]"}));
    assert_eq!(listed["items"][0]["redacted"], json!([]));
    let rows = desk.store.inspect(|state| {
        let is_strangers = |id: &str| id == stranger || id == other["consent_id"].as_str().unwrap();
        let kept = state.rows.iter().filter(|((_, _, row), _)| !is_strangers(row));
        kept.map(|(_, row)| format!("{row:?}")).collect::<String>()
    });
    for word in PERSON {
        assert!(!rows.contains(word), "{word}");
    }
}

#[test]
fn a_second_erasure_finds_nothing_and_changes_nothing() {
    let desk = TestDesk::open();
    let id = customer(&desk, zara());
    lead(&desk, zara(), json!({"customer_id": id}));
    assert_eq!(erase(&desk, &json!({"id": id})), 1);
    let before = desk.stored_data();
    let nothing = json!({"subject": null, "records": [], "counts": {}, "others": [], "running_imports": 0});
    assert_eq!(desk.operate(FIND, json!({"id": id})).unwrap(), nothing);
    assert_eq!(desk.operate(FIND, json!({"email": "zara@example.com"})).unwrap(), nothing);
    assert_eq!(desk.stored_data(), before);
}

#[test]
fn many_records_are_erased_in_rounds_the_customer_last() {
    let desk = TestDesk::open();
    let id = customer(&desk, zara());
    for _ in 0..erasure::ROUND_RECORDS + 1 {
        lead(&desk, zara(), json!({}));
    }
    let found = desk.operate(FIND, json!({"id": id})).unwrap();
    assert_eq!(found["counts"], json!({"consent": 202, "customer": 1, "lead": 201}));
    let first = found["records"].as_array().unwrap();
    assert_eq!(first.len(), 200);
    // A consent refers to its lead, so it comes before it.
    assert!(first.iter().all(|record| record["kind"] == "consent"));
    assert_eq!(erase(&desk, &json!({"id": id})), 3);
    assert_eq!(desk.operate(FIND, json!({"phone": "+15125550199"})).unwrap()["counts"], json!({}));
}

#[test]
fn records_of_another_customer_stay_and_are_named() {
    let desk = TestDesk::open();
    let id = customer(&desk, zara());
    let partner = customer(&desk, json!({"name": "Pat Quill", "phone": "+15125550199"}));
    let theirs = lead(&desk, json!({"name": "Pat", "phone": "+15125550199"}), json!({"customer_id": partner}));
    let found = desk.operate(FIND, json!({"id": id})).unwrap();
    assert_eq!((&found["counts"], &found["others"]), (&json!({"consent": 1, "customer": 1}), &json!([partner])));
    assert_eq!(erase(&desk, &json!({"id": id})), 1);
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": theirs}))["contact"]["name"], "Pat");
    assert_eq!(
        desk.call_ok(ALL_SCOPES, "customers.get", json!({"id": partner}))["primary_contact"]["name"],
        "Pat Quill"
    );
}

#[test]
fn an_address_means_every_customer_who_has_it() {
    let desk = TestDesk::open();
    let twice = [customer(&desk, zara()), customer(&desk, json!({"name": "Z Quill", "email": "Zara@Example.com"}))];
    lead(&desk, zara(), json!({}));
    let found = desk.operate(FIND, json!({"email": "zara@example.com"})).unwrap();
    assert_eq!((&found["counts"], &found["others"]), (&json!({"consent": 3, "customer": 2, "lead": 1}), &json!([])));
    let audited = desk.audit().len();
    assert_eq!(erase(&desk, &json!({"email": "zara@example.com"})), 2);
    // Each of them has a record of their own.
    let mut subjects: Vec<Value> = desk.audit()[audited..].iter().map(|record| record["ids"][0].clone()).collect();
    subjects.sort_by_key(Value::to_string);
    let mut expected = twice.map(Value::from);
    expected.sort_by_key(Value::to_string);
    assert_eq!(subjects, expected);
}

#[test]
fn somebody_who_is_no_customer_is_erased_by_any_of_their_leads() {
    let desk = TestDesk::open();
    let first = lead(&desk, zara(), json!({}));
    let second = lead(&desk, zara(), json!({}));
    assert_eq!(desk.operate(FIND, json!({"id": first})).unwrap()["counts"], json!({"consent": 2, "lead": 2}));
    assert_eq!(erase(&desk, &json!({"id": second})), 1);
    for id in [first, second] {
        assert_eq!(desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": id}))["contact"], json!({"name": "[erased]"}));
    }
}

#[test]
fn a_record_that_has_changed_since_is_not_erased() {
    let desk = TestDesk::open();
    let id = lead(&desk, zara(), json!({}));
    let found = desk.operate(FIND, json!({"id": id})).unwrap();
    desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": id, "comments": "Zz Note, again"}));
    let before = desk.stored_data();
    let fault = desk.operate(ERASE, json!({"id": id, "records": found["records"]})).unwrap_err();
    assert_eq!(
        (fault.kind, fault.message.as_ref()),
        (FaultKind::VersionConflict, "A record has changed meanwhile. Repeat the command.",)
    );
    assert_eq!(desk.stored_data(), before);
    assert_eq!(erase(&desk, &json!({"id": id})), 1);
}

#[test]
fn nobody_or_two_ways_to_find_somebody_are_refused() {
    let desk = TestDesk::open();
    let unknown = desk.operate(FIND, json!({"id": "cus_nobody"})).unwrap_err();
    assert_eq!(unknown.kind, FaultKind::NotFound);
    let both = desk.operate(FIND, json!({"id": "cus_nobody", "email": "zara@example.com"})).unwrap_err();
    assert_eq!(both.problems[0].expected, "one of id, email and phone is expected");
}

#[test]
fn running_imports_are_counted() {
    let desk = TestDesk::open();
    let import = json!({"resource": "vehicles", "items": [{"vin": "5YJ3E1EAXKF100004"}]});
    desk.call_ok("amcp:inventory:write", "x_frontdesk.import_items", import);
    assert_eq!(desk.operate(FIND, json!({"email": "zara@example.com"})).unwrap()["running_imports"], 1);
}

/// A new resource with personal data has to be added to erasure.
#[test]
fn every_resource_about_people_can_be_erased() {
    let resources = automotive::resources();
    let mut kinds: Vec<_> = resources.iter().map(|resource| (resource.table.name, resource.fields)).collect();
    kinds.push((Booking::TABLE_NAME, Booking::FIELDS));
    kinds.retain(|(_, fields)| maskable(fields));
    assert!(kinds.iter().any(|(table, _)| *table == Booking::TABLE_NAME));
    // Each of them may be the only one that is mounted.
    for contract in [automotive::contract(), tomo::without_partner()] {
        let erased = contract.operator_tools.iter().find(|tool| tool.spec.name == ERASE).unwrap().spec.clone();
        let published = format!("{:?}", erased.input);
        for (table, _) in &kinds {
            let kind = format!("\"{table}\"");
            assert!(published.contains(&kind), "{kind} is not among what erasure changes: {published}");
        }
    }
}

#[test]
fn callers_do_not_see_the_tools_of_the_operator() {
    let desk = TestDesk::open();
    let listed = desk.send("dlr_lakeside/amcp:leads:read amcp:leads:write", "tools/list", json!({}));
    let listed = String::from_utf8(listed.body.to_vec()).unwrap();
    assert!(listed.contains("leads.create") && !listed.contains(FIND) && !listed.contains(ERASE));
}
