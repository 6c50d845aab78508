//! What feeds and ADF messages are read into is what the tools take.

use std::path::Path;

use frontdesk_contracts::automotive::adf::{self, AdfSettings};
use frontdesk_contracts::automotive::{contract, feeds};
use frontdesk_contracts::feed::{FeedReader, FeedSettings};
use serde_json::{Value, json};

use super::support::TestDesk;

fn example(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/feeds").join(name)).unwrap()
}

#[test]
fn every_vehicle_of_the_example_feed_is_added() {
    let desk = TestDesk::open();
    let contract = contract();
    let import = contract.imports.iter().find(|import| import.name == "vehicles").unwrap();
    let target = feeds::target("vehicles", &import.create.spec.input);
    let file = example("vehicles.csv");
    let rows = FeedReader::open(&*file, &target, FeedSettings::default()).unwrap();
    let scopes = "amcp:inventory:read amcp:inventory:write";
    let added: Vec<Value> = rows
        .map(|row| desk.call_ok(scopes, import.create.spec.name, Value::Object(row.unwrap().arguments.unwrap())))
        .collect();
    assert_eq!(added.len(), 20);
    let found = desk.call_ok(scopes, "inventory.search", json!({"text": "S-1002"}));
    assert_eq!(found["items"], json!([added[1]]));
    assert_eq!(found["items"][0].get("trim"), None);
    assert_eq!(added[0]["options"], json!([{"name": "Heated seats"}, {"name": "Backup camera"}]));
}

#[test]
fn the_lead_of_the_example_message_is_created_once() {
    let desk = TestDesk::open();
    let scopes = "amcp:leads:read amcp:leads:write";
    let ids: Vec<Value> = [1, 2]
        .into_iter()
        .map(|_| {
            let prospect = adf::read(&example("lead.xml"), &AdfSettings::default()).unwrap().remove(0);
            let mut arguments = prospect.arguments;
            arguments.insert("idempotency_key".to_owned(), prospect.key.into());
            desk.call_ok(scopes, "leads.create", Value::Object(arguments))["id"].clone()
        })
        .collect();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(desk.events(), ["lead created", "consent created"]);
}

#[test]
fn a_message_without_consent_is_answered_with_consent_required() {
    let desk = TestDesk::open();
    for (consent, code) in
        [("", "consent.required"), ("<optin>no</optin>", "consent.required"), ("<optin>yes</optin>", "consent.invalid")]
    {
        let message = format!(
            "<adf><prospect><customer><contact><name>Dana Reyes</name><email>dana@example.com</email></contact>{consent}\
             </customer></prospect></adf>"
        );
        let prospect = adf::read(message.as_bytes(), &AdfSettings::default()).unwrap().remove(0);
        assert_eq!(
            desk.error_code("amcp:leads:write", "leads.create", Value::Object(prospect.arguments)),
            code,
            "{consent}"
        );
    }
}
