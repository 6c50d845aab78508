//! What a clock can learn: an id of another dealership takes as long to refuse as one that never was.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::operator::UNHURRIED;
use frontdesk_testkit::app::{TestAgent, TestApp};

const SAMPLES: usize = 1500;
/// Chance alone goes beyond this once in more than a hundred thousand rounds.
const SUSPICIOUS: f64 = 4.5;
/// A machine that does something else for a while can fool one round, but not every one in the same way.
const ROUNDS: usize = 3;

#[tokio::test]
async fn timing_does_not_tell_foreign_ids_from_unknown_ones() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let mut other = desk.other_tenant().await;
    let foreign = ids(&other.all("inventory.list", json!({"limit": 100})).await);
    let own = ids(&agent.all("inventory.list", json!({"limit": 100})).await);
    // One letter beside a real one, and nobody's.
    let never: Vec<String> = foreign
        .iter()
        .map(|id| {
            let (most, last) = id.split_at(id.len() - 1);
            format!("{most}{}", if last == "0" { "1" } else { "0" })
        })
        .collect();

    // The method sees what there is to see: an answer that holds a car takes longer than a refusal.
    let mut seen = false;
    for _ in 0..ROUNDS {
        seen |= difference(&mut agent, &own, &never).await > SUSPICIOUS;
    }
    assert!(seen, "the clock is too coarse to judge by");

    let mut told = Vec::new();
    for _ in 0..ROUNDS {
        told.push(difference(&mut agent, &foreign, &never).await);
        if told.last().is_some_and(|z| z.abs() < SUSPICIOUS) {
            return;
        }
    }
    let same_way = told.iter().all(|z| *z > 0.0) || told.iter().all(|z| *z < 0.0);
    assert!(!same_way, "every round told them apart: {told:?}");
}

fn ids(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// By how many standard deviations asking for the first takes longer than asking for the second (Mann-Whitney, which
/// a few very slow calls do not disturb). The two take turns, in changing order, so that they see the same weather.
async fn difference(agent: &mut TestAgent, first: &[String], second: &[String]) -> f64 {
    let mut took = Vec::with_capacity(2 * SAMPLES);
    for turn in 0..SAMPLES {
        let mut pair = [(0, &first[turn % first.len()]), (1, &second[turn % second.len()])];
        // Bits of a multiplied counter: neither side is always the one after the other.
        if (turn.wrapping_mul(0x9E37_79B9) >> 7).is_multiple_of(2) {
            pair.reverse();
        }
        for (side, id) in pair {
            took.push((time(agent, id).await, side));
        }
    }
    took.sort();
    let ranks: usize = took.iter().enumerate().filter(|(_, (_, side))| *side == 0).map(|(at, _)| at + 1).sum();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand samples")]
    let (ranks, count) = (ranks as f64, SAMPLES as f64);
    let above = ranks - count * (count + 1.0) / 2.0;
    let spread = (count * count * (2.0 * count + 1.0) / 12.0).sqrt();
    (above - count * count / 2.0) / spread
}

async fn time(agent: &mut TestAgent, id: &str) -> Duration {
    let params = json!({"name": "inventory.get", "arguments": {"id": id}});
    let start = Instant::now();
    agent.send("tools/call", params).await;
    start.elapsed()
}
