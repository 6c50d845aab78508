//! What the intent file says of itself: its tools, and examples that work on the demo.

use std::collections::{BTreeSet, HashMap};

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_contracts::tomo::intent::{Intent, Role, built_in, parse};
use frontdesk_contracts::tomo::mobility::demo;
use frontdesk_contracts::tomo::{LIVE, SANDBOX};
use serde_json::{Value, json};

use super::desk::{NOW, PartnerDesk};
use super::fact_lists::{answered, listed, with_every_fact};
use super::support::{INTENT, contract, contract_of};

fn intent() -> Intent {
    parse(built_in(INTENT).unwrap()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[test]
fn t_037_the_mobility_shape_has_its_seven_tools() {
    let mut tools: Vec<(String, Role)> = intent().tools.into_iter().map(|tool| (tool.name, tool.role)).collect();
    tools.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("book_ride", Role::Create),
        ("cancel_ride", Role::Cancel),
        ("get_ride_estimates", Role::Search),
        ("rate_ride", Role::Rate),
        ("share_trip_status", Role::Utility),
        ("track_ride", Role::Track),
        ("update_ride_drop", Role::Modify),
    ];
    assert_eq!(tools, expected.map(|(name, role)| (name.to_owned(), role)));
    assert_eq!(contract().tools.len(), 7);
}

#[test]
fn every_description_is_one_short_sentence() {
    for tool in intent().tools {
        let text = &tool.description;
        assert!(text.chars().count() <= 140 && text.ends_with('.') && !text.contains(". "), "{text}");
        assert!(!tool.widget.is_empty());
    }
    let words = intent().completion;
    let words = [words.completed.as_str(), words.cancelled.as_str(), words.failed.as_str()];
    assert_eq!(words, ["ride_completed", "ride_cancelled", "ride_failed"]);
}

/// A text `{{tool:/pointer}}` becomes the value of an earlier answer.
fn filled(value: &Value, answers: &HashMap<String, Value>) -> Value {
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

fn demo_rows() -> super::desk::Seeds {
    let mut number = 0;
    let (steps, events) = demo::rows(NOW, &mut |prefix| {
        number += 1;
        format!("{prefix}_demo{number:02}")
    });
    assert_eq!((steps.len(), events.len()), (20, 20));
    vec![(demo::BUSINESS.0, steps)]
}

/// A live ride is rated when it is complete, so its example does not work before that.
#[tokio::test]
async fn t_052_t_053_every_example_works_in_the_order_of_the_tools() {
    for scope in [SANDBOX, LIVE] {
        let (desk, _) = PartnerDesk::open(contract(), demo_rows());
        let mut answers = HashMap::new();
        for tool in intent().tools.iter().filter(|tool| tool.role != Role::Rate || scope == SANDBOX) {
            for example in &tool.examples {
                let answer = desk.ok((demo::BUSINESS.0, scope), &tool.name, filled(example, &answers)).await;
                assert_eq!(tool.output.problems(&answer), [], "{answer}");
                answers.insert(tool.name.clone(), answer);
            }
        }
        let options = answers["get_ride_estimates"]["options"].as_array().unwrap();
        let classes: Vec<_> = options.iter().map(|option| option["vehicle_class"].as_str().unwrap()).collect();
        assert_eq!(classes, ["bike", "auto", "mini", "sedan", "suv"]);
        assert_eq!(answers["book_ride"]["fare_inr"], options[0]["fare_inr"]);
        assert!(answers["update_ride_drop"]["difference_inr"].as_i64().unwrap() > 0);
        assert_eq!(answers["cancel_ride"]["status"], json!("cancelled"));
    }
}

#[tokio::test]
async fn every_listed_fact_is_answered() {
    let contract = contract_of(with_every_fact(INTENT, PartnerSource::Own));
    let (desk, _) = PartnerDesk::open(contract, demo_rows());
    let mut answers: HashMap<String, Value> = HashMap::new();
    for tool in intent().tools {
        let arguments = filled(&tool.examples[0], &answers);
        let answer = desk.ok((demo::BUSINESS.0, SANDBOX), &tool.name, arguments).await;
        let known = intent().shape.facts(PartnerSource::Own, &tool.name);
        let found: BTreeSet<String> = answered(&answer);
        assert_eq!(found, listed(known), "{}", tool.name);
        answers.insert(tool.name.clone(), answer);
    }
}
