//! What is listed as known is what the tools answer with.

use std::collections::{BTreeSet, HashMap};

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_contracts::tomo::service::demo;
use serde_json::{Value, json};

use super::examples::{filled, intent};
use super::fact_lists::{answered, listed, with_every_fact};
use super::support::{DEALERSHIP_LIVE, INTENT, NOW, OWN_LIVE, ServiceDesk, booking_of, general_service};

#[tokio::test]
async fn every_listed_fact_is_answered() {
    let (desk, store) = ServiceDesk::open();
    let desk = desk.serving(|source| with_every_fact(INTENT, source));
    let (steps, _) = demo::rows(NOW, &mut |prefix| format!("{prefix}_demo"));
    store.seed(demo::BUSINESS, steps);
    let mut found: HashMap<String, BTreeSet<String>> = HashMap::new();
    let mut answers: HashMap<String, Value> = HashMap::new();
    for tool in intent().tools {
        for example in &tool.examples {
            let answer = desk.ok(DEALERSHIP_LIVE, &tool.name, filled(example, &answers)).await;
            found.entry(tool.name.clone()).or_default().extend(answered(&answer));
            answers.insert(tool.name.clone(), answer);
        }
    }
    // A provider of its own knows more of its place than the workshop of the demo.
    let offered = desk.ok(OWN_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    let id = &offered["providers"][0]["provider_id"];
    let detail = desk.ok(OWN_LIVE, "get_provider_detail", json!({"provider_id": id})).await;
    let wanted = json!({"provider_id": id, "service": {"codes": ["GENERAL_SERVICE"]}, "date_from": "2027-03-01"});
    let slots = desk.ok(OWN_LIVE, "get_available_slots", wanted).await;
    let booked = desk.ok(OWN_LIVE, "book_slot", booking_of(&offered, "20270301T033000Z", "key-1")).await;
    let reference = json!({"booking_ref": booked["booking_ref"], "slot_id": "20270301T053000Z"});
    let moved = desk.ok(OWN_LIVE, "modify_booking", reference).await;
    let cancelled = desk.ok(OWN_LIVE, "cancel_booking", json!({"booking_ref": booked["booking_ref"]})).await;
    for (tool, answer) in [
        ("search_providers", offered),
        ("get_provider_detail", detail),
        ("get_available_slots", slots),
        ("book_slot", booked),
        ("modify_booking", moved),
        ("cancel_booking", cancelled),
    ] {
        found.entry(tool.to_owned()).or_default().extend(answered(&answer));
    }
    for tool in intent().tools {
        let known = intent().shape.facts(PartnerSource::Own, &tool.name);
        assert_eq!(found[&tool.name], listed(known), "{}", tool.name);
    }
}
