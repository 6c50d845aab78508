//! A resource that only this test declares has everything that the others have, from its one file (`loaner.rs`).

use std::sync::LazyLock;

use frontdesk_contracts::automotive::{all_codes, contract_of, resources};
use frontdesk_contracts::record::Stored;
use frontdesk_engine::Scope;
use serde_json::{Value, json};

use super::loaner::{self, Loaner};
use super::reference::page;
use super::support::TestDesk;

const READ: &str = "amcp:service:read";
const WRITE: &str = "amcp:service:write";
const BOTH: &str = "amcp:service:read amcp:service:write amcp:leads:read";

fn all() -> Vec<frontdesk_contracts::automotive::resource::ResourceParts> {
    // This is the one line.
    resources().into_iter().chain([loaner::resource()]).collect()
}

fn open() -> TestDesk {
    TestDesk::with_contract(contract_of(all()))
}

static ARGUMENTS: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "plate": "LOAN 1",
        "driver": {"name": "Dana Rivera", "email": "Dana@Example.com", "licence": "L-77"},
        "notes": "Back on Friday.",
        "key_code": "4711",
    })
});

#[test]
fn it_is_created_read_listed_searched_and_changed() {
    let desk = open();
    let made = desk.call_ok(BOTH, "service.create_loaner", ARGUMENTS.clone());
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("loa_"), "{id}");
    assert_eq!(
        made,
        json!({
            "id": id,
            "type": "loaner",
            "dealership_id": "dlr_lakeside",
            "plate": "LOAN 1",
            "status": "free",
            "seats": 5,
            "driver": {"name": "Dana Rivera", "email": "Dana@Example.com", "licence": "L-77"},
            "notes": "Back on Friday.",
            "since": "2026-01-31T09:30:00Z",
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
            "redacted": [],
        })
    );
    assert_eq!(desk.call_ok(BOTH, "service.get_loaner", json!({"id": id})), made);
    let changed = desk.call_ok(BOTH, "service.update_loaner", json!({"id": id, "status": "lent", "notes": null}));
    assert_eq!((&changed["status"], changed.get("notes"), &changed["version"]), (&json!("lent"), None, &json!(2)));
    for filter in [json!({"status": "lent"}), json!({"email": "dana@example.com"}), json!({"driver": "rivera dana"})] {
        let found = desk.call_ok(BOTH, "service.list_loaners", filter.clone());
        assert_eq!(found["items"][0]["id"], id, "{filter}");
        assert!(found.get("next_cursor").is_none());
    }
    for missed in
        [json!({"status": "free"}), json!({"email": "d@e.org"}), json!({"since_at_least": "2027-01-01T00:00:00Z"})]
    {
        let found = desk.call_ok(BOTH, "service.list_loaners", missed.clone());
        assert_eq!(found["items"], json!([]), "{missed}");
    }
    desk.call_ok(BOTH, "service.create_loaner", json!({"plate": "LOAN 2", "seats": 7}));
    let sorted = desk.call_ok(BOTH, "service.search_loaners", json!({"text": "loan", "sort": "seats_desc"}));
    let plates: Vec<&str> =
        sorted["items"].as_array().unwrap().iter().map(|car| car["plate"].as_str().unwrap()).collect();
    assert_eq!(plates, ["LOAN 2", "LOAN 1"]);
    assert_eq!(desk.events(), ["loaner created", "loaner updated", "loaner created"]);
}

#[test]
fn its_lists_are_masked_and_its_receipts_small() {
    let desk = open();
    let receipt = desk.call_ok(WRITE, "service.create_loaner", ARGUMENTS.clone());
    assert_eq!(
        receipt,
        json!({
            "id": receipt["id"],
            "type": "loaner",
            "dealership_id": "dlr_lakeside",
            "status": "free",
            "created_at": "2026-01-31T09:30:00Z",
            "updated_at": "2026-01-31T09:30:00Z",
            "version": 1,
            "redacted": ["plate", "seats", "customer_id", "driver", "notes", "since"],
        })
    );
    let listed = &desk.call_ok(READ, "service.list_loaners", json!({}))["items"][0];
    assert_eq!((&listed["driver"], listed.get("notes")), (&json!({"name": "D. R.", "email": "D***@E***.com"}), None));
    assert_eq!(listed["redacted"], json!(["driver.name", "driver.email", "driver.licence", "notes"]));
}

#[test]
fn a_write_only_value_is_kept_and_never_answered() {
    let desk = open();
    let made = desk.call_ok(BOTH, "service.create_loaner", ARGUMENTS.clone());
    let id = made["id"].as_str().unwrap();
    let secret = || desk.store.row("dlr_lakeside", Loaner::table(), id).unwrap().secret;
    assert_eq!(secret().as_deref(), Some(r#"{"key_code":"4711"}"#));
    let changed = desk.call_ok(BOTH, "service.update_loaner", json!({"id": id, "seats": 4}));
    assert_eq!(secret().as_deref(), Some(r#"{"key_code":"4711"}"#));
    for answer in [&made, &changed, &desk.call_ok(BOTH, "service.get_loaner", json!({"id": id}))] {
        assert!(!answer.to_string().contains("4711") && answer.get("key_code").is_none(), "{answer}");
    }
    desk.call_ok(BOTH, "service.update_loaner", json!({"id": id, "key_code": null}));
    assert_eq!(secret(), None);
}

#[test]
fn its_rules_references_and_unique_values_hold() {
    let desk = open();
    let id = desk.call_ok(BOTH, "service.create_loaner", ARGUMENTS.clone())["id"].clone();
    let refused = |tool: &str, arguments: Value| {
        let (failed, answer) = desk.call(BOTH, tool, arguments);
        assert!(failed, "{answer}");
        (answer["error"]["code"].clone(), answer["error"]["message"].clone())
    };
    assert_eq!(
        refused("service.create_loaner", ARGUMENTS.clone()),
        (
            json!("request.duplicate"),
            json!("A loaner car with this plate exists already. Find that one and change it.")
        )
    );
    desk.call_ok(BOTH, "service.update_loaner", json!({"id": id, "status": "retired"}));
    assert_eq!(
        refused("service.update_loaner", json!({"id": id, "status": "free"})),
        (json!("service.invalid_transition"), json!("Status retired is final."))
    );
    assert_eq!(
        refused("service.update_loaner", json!({"id": id, "customer_id": "cus_none"})),
        (
            json!("customers.not_found"),
            json!(
                "No customer with this id exists here. An id looks like cus_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a customer is one. Find it with customers.search."
            )
        )
    );
    assert_eq!(
        refused("service.get_loaner", json!({"id": "loa_none"})),
        (
            json!("service.not_found"),
            json!(
                "No loaner car with this id exists here. An id looks like loa_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a loaner car is one. Find it with service.search_loaners."
            )
        )
    );
    assert_eq!(
        refused("service.update_loaner", json!({"id": id, "seats": 4, "expected_version": 7})).1,
        "The loaner car has changed since expected_version. Read it again, then repeat the update with its current \
         version."
    );
}

#[test]
fn it_has_templates_scopes_a_level_codes_and_a_reference() {
    let contract = contract_of(all());
    let templates: Vec<&str> = contract.resources.iter().map(|resource| resource.template).collect();
    assert!(templates.contains(&"amcp://{dealership_id}/loaners{?cursor,limit}"));
    assert!(templates.contains(&"amcp://{dealership_id}/loaners/{id}"));
    let scopes: Vec<&str> = contract.scopes.iter().map(Scope::as_str).collect();
    assert!(scopes.contains(&READ) && scopes.contains(&WRITE), "{scopes:?}");
    assert!(contract.documents[0].1.contains(r#""service":{"level":2}"#));
    let codes = all_codes(&all());
    let not_found = codes.iter().find(|spec| spec.code.0 == "service.not_found").unwrap();
    assert!(
        not_found.means.ends_with(" or workshop or loaner car with this id exists for this caller."),
        "{not_found:?}"
    );
    assert!(not_found.next.ends_with(" or `service.list_workshops` or `service.search_loaners`."), "{not_found:?}");
    let page = page(&all());
    for text in ["## loaner", "`service.update_loaner`", "LoanerStatus", "The code of the key box; never shown again."]
    {
        assert!(page.contains(text), "{text}");
    }
    let desk = open();
    let id = desk.call_ok(BOTH, "service.create_loaner", ARGUMENTS.clone())["id"].clone();
    let uri = format!("amcp://dlr_lakeside/loaners/{}", id.as_str().unwrap());
    let reply = desk.send(&format!("dlr_lakeside/{READ}"), "resources/read", json!({"uri": uri}));
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    let text = body["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["id"], id);
}
