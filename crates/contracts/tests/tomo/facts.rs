//! What is listed as known is what the tools answer with, and an intent that requires more is refused.

use std::collections::{BTreeMap, BTreeSet};

use frontdesk_contracts::partner::{IntentText, PartnerSource};
use frontdesk_contracts::tomo;
use frontdesk_contracts::tomo::intent::parse;
use serde_json::{Value, json};

use super::fact_lists::{answered, listed, with_every_fact};
use super::listing_examples::run_file;
use super::support::{TestDesk, partner, search};

/// What the tools of an intent answered with, against the lists.
fn compare(text: &str, source: PartnerSource, answers: &BTreeMap<String, BTreeSet<String>>) {
    let intent = parse(text).unwrap();
    for tool in &intent.tools {
        assert_eq!(answers[&tool.name], listed(intent.shape.facts(source, &tool.name)), "{}", tool.name);
    }
}

fn collected(answers: Vec<(String, Value)>) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (tool, answer) in answers {
        found.entry(tool).or_default().extend(answered(&answer));
    }
    found
}

#[test]
fn every_listed_fact_of_hotels_is_answered_on_the_demo() {
    let text = with_every_fact("travel.book_hotel", PartnerSource::Own);
    let desk = TestDesk::hotels_of(&text);
    let mut answers = run_file(&desk, &text, "tomo:live");
    let mut around = search();
    around["destination"] = json!({"city": "Bengaluru", "country_code": "IN", "lat": 12.97, "lng": 77.59});
    answers.push(("search_availability".to_owned(), desk.call("search_availability", around)));
    compare(&text, PartnerSource::Own, &collected(answers));
}

#[test]
fn every_listed_fact_of_cars_is_answered_on_a_dealership() {
    let text = with_every_fact("marketplace.buy_used_car", PartnerSource::Dealership);
    let desk = TestDesk::cars_of(&text);
    let answers = run_file(&desk, &text, "tomo:live");
    compare(&text, PartnerSource::Dealership, &collected(answers));
}

/// Why a changed intent file is refused.
fn refusals(id: &str, source: PartnerSource, change: impl FnOnce(String) -> String) -> Vec<String> {
    let mut settings = partner(id, source);
    let text = change(settings.intents[0].text.clone());
    settings.intents = vec![IntentText { name: "hotels.json".to_owned(), text }];
    let problems = tomo::contract(&settings).err().unwrap_or_default();
    problems.into_iter().map(|problem| format!("{}: {}", problem.key, problem.reason)).collect()
}

#[test]
fn a_response_that_requires_an_unknown_fact_is_refused() {
    let hotels = |from: &'static str, to: &'static str| {
        refusals("travel.book_hotel", PartnerSource::Own, |text| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        })
    };
    assert_eq!(refusals("travel.book_hotel", PartnerSource::Own, |text| text), [""; 0]);
    assert_eq!(
        hotels("\"hours_before\"", "\"days_before\""),
        ["intents: hotels.json: line 59, /definitions/cancellation_policy/items/properties/days_before: it is \
             required, but nothing of this name is known here; known are hours_before, refund_percent"]
    );
    assert_eq!(
        hotels(
            "\"booked_at\": {\"type\": \"string\", \"format\": \"date-time\"",
            "\"booked_at\": {\"type\": \"integer\""
        ),
        ["intents: hotels.json: line 528, /tools/2/output/properties/booked_at: what is known under this name is a \
             string"]
    );
    let refund_before =
        refusals("travel.book_hotel", PartnerSource::Own, |text| text.replace("\"booked_at\"", "\"refund_inr\""));
    assert_eq!(refund_before.len(), 1, "a booking that was never cancelled has none: {refund_before:?}");
}
