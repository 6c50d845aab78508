//! What the intent file says of itself: its tools, and examples that work one after the other.

use std::collections::HashMap;

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_contracts::tomo::intent::{Intent, Role, built_in, parse};
use frontdesk_contracts::tomo::service::demo;
use serde_json::{Value, json};

use super::support::{DEALERSHIP_LIVE, DEALERSHIP_SANDBOX, INTENT, NOW, ServiceDesk, contract};

pub(crate) fn intent() -> Intent {
    parse(built_in(INTENT).unwrap()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[test]
fn t_036_the_service_shape_has_its_six_tools() {
    let mut tools: Vec<(String, Role)> = intent().tools.into_iter().map(|tool| (tool.name, tool.role)).collect();
    tools.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("book_slot", Role::Create),
        ("cancel_booking", Role::Cancel),
        ("get_available_slots", Role::GetDetail),
        ("get_provider_detail", Role::GetDetail),
        ("modify_booking", Role::Modify),
        ("search_providers", Role::Search),
    ];
    assert_eq!(tools, expected.map(|(name, role)| (name.to_owned(), role)));
    for source in [PartnerSource::Own, PartnerSource::Dealership] {
        assert_eq!(contract(source).tools.len(), 6);
    }
}

#[test]
fn every_description_is_one_short_sentence() {
    for tool in intent().tools {
        let text = &tool.description;
        assert!(
            text.chars().count() <= 140 && text.ends_with('.') && !text.trim_end_matches('.').contains(". "),
            "{text}"
        );
        assert!(!tool.widget.is_empty());
    }
}

/// A text `{{tool:/pointer}}` becomes the value of an earlier answer.
pub(crate) fn filled(value: &Value, answers: &HashMap<String, Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")) {
            Some(reference) => {
                let (tool, pointer) = reference.split_once(':').unwrap();
                answers[tool].pointer(pointer).unwrap_or_else(|| panic!("{reference}")).clone()
            }
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, answers)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), filled(value, answers))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[tokio::test]
async fn every_example_works_in_the_order_of_the_tools() {
    for partner in [DEALERSHIP_LIVE, DEALERSHIP_SANDBOX] {
        let (desk, store) = ServiceDesk::open();
        let (steps, events) = demo::rows(NOW, &mut |prefix| format!("{prefix}_demo"));
        assert_eq!(events.len(), 1);
        store.seed(demo::BUSINESS, steps);
        let mut answers = HashMap::new();
        for tool in intent().tools {
            for example in &tool.examples {
                let arguments = filled(example, &answers);
                let answer = desk.ok(partner, &tool.name, arguments).await;
                assert_eq!(tool.output.problems(&answer).len(), 0, "{answer}");
                answers.insert(tool.name.clone(), answer);
            }
        }
        assert_eq!(answers["search_providers"]["providers"][0]["price_inr"], 3499);
        assert_eq!(answers["search_providers"]["providers"][0]["address"], "21 Sample Lake Road, Halasuru");
        let slots = &answers["get_available_slots"]["slots"];
        assert_eq!(answers["book_slot"]["slot_id"], slots[0]["slot_id"]);
        assert_eq!(answers["modify_booking"]["slot_id"], slots[1]["slot_id"]);
        assert_eq!(answers["cancel_booking"]["status"], json!("cancelled"));
    }
}
