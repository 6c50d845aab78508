//! Free text is encrypted at rest, omitted from lists, and never part of the cause of a fault.

use frontdesk_contracts::automotive::customer::Customer;
use frontdesk_contracts::automotive::lead::Lead;
use frontdesk_contracts::record::{Entity, Stored};
use frontdesk_engine::TenantId;
use frontdesk_engine::model::table::StoredRow;
use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

const WRITTEN: [&str; 6] = ["Zz Portal", "zz@example.com", "Zz Make", "Zz Model", "Zz Seller", "Zz Comment"];

/// A lead with free text in every field that allows it.
fn kept(desk: &TestDesk) -> Value {
    let wish = json!({
        "contact": {"name": "Dana Rivera", "email": "dana@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
        "source": {"channel": "third_party", "provider": "Zz Portal", "external_id": "zz@example.com"},
        "vehicle_of_interest": {"make": "Zz Make", "model": "Zz Model", "year": 2020},
        "comments": "Zz Comment",
    });
    let id = desk.call_ok(ALL_SCOPES, "leads.create", wish)["id"].clone();
    desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": id, "owner": {"id": "emp_zz-3", "name": "Zz Seller"}}))
}

#[test]
fn a6_12_a_list_leaves_out_what_people_wrote_and_says_so() {
    let desk = TestDesk::open();
    kept(&desk);
    let listed = &desk.call_ok(ALL_SCOPES, "leads.list", json!({"owner_id": "emp_zz-3"}))["items"][0];
    assert_eq!((&listed["source"], &listed["owner"]), (&json!({"channel": "third_party"}), &json!({"id": "emp_zz-3"})));
    assert_eq!((listed.get("vehicle_of_interest"), listed.get("comments")), (None, None));
    assert_eq!(
        listed["redacted"],
        json!([
            "contact.name",
            "contact.email",
            "source.provider",
            "source.external_id",
            "owner.name",
            "vehicle_of_interest",
            "comments"
        ])
    );
}

#[test]
fn an_update_keeps_the_personal_part_of_a_lead() {
    let desk = TestDesk::open();
    let lead = kept(&desk);
    assert_eq!(
        lead["source"],
        json!({"channel": "third_party", "provider": "Zz Portal", "external_id": "zz@example.com"})
    );
    assert_eq!(lead["owner"], json!({"id": "emp_zz-3", "name": "Zz Seller"}));
    assert_eq!(lead["vehicle_of_interest"], json!({"make": "Zz Make", "model": "Zz Model", "year": 2020}));
    assert_eq!(lead["redacted"], json!([]));
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.get", json!({"id": lead["id"]})), lead);
}

#[test]
fn free_text_is_stored_only_in_the_personal_part() {
    let desk = TestDesk::open();
    let id = kept(&desk)["id"].as_str().unwrap().to_owned();
    let row = desk.store.row("dlr_lakeside", Lead::table(), &id).unwrap();
    let open = format!("{}{}{:?}", row.body, row.masked.unwrap(), row.cells);
    for text in WRITTEN {
        assert!(!open.contains(text), "{text} in {open}");
        assert!(row.personal.as_ref().unwrap().contains(text), "{text}");
    }
}

#[test]
fn an_owner_id_cannot_hold_a_name_or_an_email_address() {
    let desk = TestDesk::open();
    let id = kept(&desk)["id"].clone();
    for owner in ["Dana Rivera", "dana@example.com", "+15125550123", "ämp", "a.b", "a b"] {
        let change = json!({"id": id, "owner": {"id": owner, "name": "Dana"}});
        let (failed, answer) = desk.call(ALL_SCOPES, "leads.update", change);
        assert!(failed, "{owner}");
        assert_eq!(
            answer["error"]["details"]["errors"][0],
            json!({
                "pointer": "/owner/id",
                "keyword": "pattern",
                "expected": "only letters A to Z, digits, _ and - are allowed"
            })
        );
    }
}

#[test]
fn a6_15_an_unreadable_row_is_not_quoted_in_the_cause() {
    let found = |body: &str, personal: &str| StoredRow {
        id: "x_1".to_owned(),
        version: 1,
        created_at: 0,
        body: body.to_owned(),
        masked: None,
        personal: Some(personal.to_owned()),
        secret: None,
    };
    let desk = TestDesk::open();
    let id = kept(&desk)["id"].as_str().unwrap().to_owned();
    let good = desk.store.row("dlr_lakeside", Lead::table(), &id).unwrap();
    let tenant = TenantId::parse("dlr_lakeside").unwrap();
    let causes = [
        Entity::<Lead>::restore(&tenant, &found(r#"{"id":"led_1","type":"Zz Secret"}"#, "{}"))
            .unwrap_err()
            .cause
            .unwrap(),
        Entity::<Lead>::restore(&tenant, &found(&good.body, r#"{"contact":"Zz Secret"}"#)).unwrap_err().cause.unwrap(),
        Entity::<Customer>::restore(&tenant, &found(r#"{"id":"cus_1","type":"Zz Secret"}"#, "{}"))
            .unwrap_err()
            .cause
            .unwrap(),
    ];
    assert_eq!(
        causes,
        [
            "a stored lead cannot be read: interest",
            "a stored lead cannot be read: contact",
            "a stored customer cannot be read: primary_contact",
        ]
    );
}
