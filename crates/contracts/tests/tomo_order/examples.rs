//! What the intent file says of itself: its tools, and examples that work one after the other at any hour.

use std::collections::HashMap;

use frontdesk_contracts::tomo;
use frontdesk_contracts::tomo::intent::Role;
use frontdesk_contracts::tomo::order::demo;
use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Value, json};

use super::data::NOW;
use super::desk::{PartnerDesk, Seeds, filled};
use super::support::{contract, intent};

#[test]
fn t_038_the_order_shape_has_its_seven_tools() {
    let mut tools: Vec<(String, Role)> = intent().tools.into_iter().map(|tool| (tool.name, tool.role)).collect();
    tools.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("cancel_order", Role::Cancel),
        ("compute_cart_total", Role::Utility),
        ("get_dish_detail", Role::GetDetail),
        ("get_restaurant_menu", Role::GetDetail),
        ("place_order", Role::Create),
        ("search_restaurants_and_dishes", Role::Search),
        ("track_order", Role::Track),
    ];
    assert_eq!(tools, expected.map(|(name, role)| (name.to_owned(), role)));
    assert_eq!(contract().tools.len(), 7);
}

#[test]
fn the_intent_has_words_for_what_becomes_of_an_order() {
    let words = intent().completion;
    assert_eq!(
        (words.completed.as_str(), words.cancelled.as_str(), words.failed.as_str()),
        ("order_delivered", "order_cancelled", "order_failed")
    );
}

/// The demo at this time, with short ids.
fn demo_desk(now: Millis) -> PartnerDesk {
    let mut count = 0;
    let (steps, events) = demo::rows(now, &mut |prefix| {
        count += 1;
        format!("{prefix}_{count:03}")
    });
    assert_eq!((steps.len(), events.len()), (47, 47), "six restaurants and 41 dishes");
    PartnerDesk::in_memory(contract(), Seeds { now, tenants: vec![(demo::BUSINESS.0, steps)] }).0
}

#[tokio::test]
async fn t_039_every_example_works_at_any_hour_and_answers_its_type() {
    for hour in 0..24 {
        let now = Millis(NOW.0 + hour * 3_600_000);
        for scope in [tomo::LIVE, tomo::SANDBOX] {
            let (desk, partner) = (demo_desk(now), (demo::BUSINESS.0, scope));
            let mut answers: HashMap<String, Value> = HashMap::new();
            for tool in intent().tools {
                for example in &tool.examples {
                    let answer = desk.ok(partner, &tool.name, filled(example, &answers)).await;
                    assert_eq!(tool.output.problems(&answer).len(), 0, "{} {answer}", tool.name);
                    answers.insert(tool.name.clone(), answer);
                }
            }
            assert_eq!(answers["search_restaurants_and_dishes"]["results"][0]["name"], "Anytime Tiffin Room");
            // Two dosas for 95, packaging for 10, 5 percent of 200, and delivery for 29.
            assert_eq!(answers["compute_cart_total"]["total_inr"], 239);
            assert_eq!(answers["place_order"]["total_inr"], 239);
            assert_eq!(answers["track_order"]["stage"], json!("placed"));
            assert_eq!(answers["cancel_order"]["refund_inr"], 239);
        }
    }
}

#[tokio::test]
async fn the_example_can_be_ordered_again_and_again() {
    let desk = demo_desk(NOW);
    let partner = (demo::BUSINESS.0, tomo::LIVE);
    for _ in 0..300 {
        let mut answers: HashMap<String, Value> = HashMap::new();
        for tool in intent().tools.into_iter().filter(|tool| tool.role != Role::Track && tool.role != Role::Cancel) {
            let answer = desk.ok(partner, &tool.name, filled(&tool.examples[0], &answers)).await;
            answers.insert(tool.name.clone(), answer);
        }
        desk.clock.advance(1_000);
    }
}
