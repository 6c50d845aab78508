//! The examples of the intent files work as they stand, in their order.

use frontdesk_contracts::tomo::intent::{built_in, parse};
use serde_json::Value;

use super::support::TestDesk;

fn run(desk: &TestDesk, id: &str, scope: &str) -> usize {
    run_file(desk, built_in(id).unwrap(), scope).len()
}

/// Puts the values of earlier answers in, and calls every example of every tool. The first of a tool is the one that
/// later examples refer to.
pub(crate) fn run_file(desk: &TestDesk, text: &str, scope: &str) -> Vec<(String, Value)> {
    let intent = parse(text).unwrap();
    let mut answers: Vec<(String, Value)> = Vec::new();
    for tool in &intent.tools {
        for (place, example) in tool.examples.iter().enumerate() {
            let mut arguments = example.clone();
            fill(&mut arguments, &answers);
            let answer = desk.call_as(scope, &tool.name, arguments);
            assert_eq!(tool.output.problems(&answer), [], "{} {place}", tool.name);
            answers.push((tool.name.clone(), answer));
        }
    }
    answers
}

fn fill(value: &mut Value, answers: &[(String, Value)]) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| fill(member, answers)),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, answers)),
        Value::String(text) => {
            if let Some(reference) = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")) {
                let (tool, pointer) = reference.split_once(':').unwrap();
                let (_, answer) = answers.iter().find(|(name, _)| name == tool).unwrap();
                *value = answer.pointer(pointer).unwrap_or_else(|| panic!("{reference}: {answer}")).clone();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn the_examples_of_hotels_work_on_the_demo() {
    for scope in ["tomo:sandbox", "tomo:live"] {
        let desk = TestDesk::hotels();
        assert_eq!(run(&desk, "travel.book_hotel", scope), 6);
        // A later search has prices of its own, and its booking a key of its own.
        desk.clock.advance(1_000);
        assert_eq!(run(&desk, "travel.book_hotel", scope), 6, "they work again");
    }
}

#[test]
fn the_examples_of_cars_work_on_a_dealership() {
    for scope in ["tomo:sandbox", "tomo:live"] {
        let desk = TestDesk::cars();
        assert_eq!(run(&desk, "marketplace.buy_used_car", scope), 6);
        desk.clock.advance(1_000);
        assert_eq!(run(&desk, "marketplace.buy_used_car", scope), 6, "they work again");
    }
}

#[test]
fn t_021_descriptions_are_one_short_sentence() {
    for id in ["travel.book_hotel", "marketplace.buy_used_car"] {
        for tool in parse(built_in(id).unwrap()).unwrap().tools {
            let sentence = &tool.description;
            assert!(sentence.ends_with('.') && sentence.matches(". ").count() == 0, "{id} {sentence}");
            assert!(sentence.chars().count() <= 140 && !tool.widget.is_empty(), "{id} {sentence}");
        }
    }
}

#[test]
fn t_035_listings_have_their_five_tools_and_no_other() {
    for id in ["travel.book_hotel", "marketplace.buy_used_car"] {
        let mut tools: Vec<(String, &str)> = parse(built_in(id).unwrap())
            .unwrap()
            .tools
            .into_iter()
            .map(|tool| (tool.name, tool.role.as_str()))
            .collect();
        tools.sort();
        let expected = [
            ("cancel_booking", "cancel"),
            ("create_booking", "create"),
            ("get_listing", "get_detail"),
            ("modify_booking", "modify"),
            ("search_availability", "search"),
        ];
        assert_eq!(tools, expected.map(|(name, role)| (name.to_owned(), role)), "{id}");
    }
}
