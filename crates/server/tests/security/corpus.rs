//! Thousands of broken arguments for every tool: each is answered with a result or a fault of the caller's, never with a
//! fault of ours.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::arguments::{breakage, fitting};
use crate::requests::{code, first_id};
use frontdesk_contracts::automotive;
use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::test_scale;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// `FRONTDESK_TEST_SCALE` multiplies them; `cargo xtask test --long` sets it to 10.
const PER_TOOL: usize = 500;
const PER_BATCH: usize = 50;

const UNLIMITED: [(&str, &str); 2] =
    [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"), ("FRONTDESK_LIMITS_BURST", "1000000")];

#[tokio::test]
async fn no_arguments_whatever_make_the_desk_fail() {
    let desk = TestApp::start_with(&UNLIMITED);
    let mut agent = desk.agent().await;
    let known = [
        ("inventory", "inventory.list"),
        ("leads", "leads.list"),
        ("customers", "customers.list"),
        ("consent", "consent.list"),
        ("deals", "deals.list"),
        ("service", "service.list_appointments"),
        ("parts", "parts.list_orders"),
        ("signals", "signals.list"),
        // Imports have ids of their own; none is known here.
        ("x_frontdesk", "leads.list"),
    ];
    let mut ids = BTreeMap::new();
    for (domain, list) in known {
        ids.insert(domain, first_id(&mut agent, list).await);
    }
    // Always the same arguments, so that a failure comes back on every run.
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let tools = agent.result("tools/list", json!({})).await;
    for tool in tools["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        // It takes ten imports at a time, and says so with a code of ours.
        if name == "x_frontdesk.import_items" {
            continue;
        }
        let id = &ids[name.split('.').next().unwrap()];
        let arguments = broken(&declared_input(name), id);
        for _ in 0..PER_TOOL * test_scale() / PER_BATCH {
            let calls: Vec<Value> = (0..PER_BATCH)
                .map(|number| {
                    let arguments = arguments.new_tree(&mut runner).unwrap().current();
                    json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
                })
                .collect();
            let response = agent.post(&json!(calls).to_string(), &[]).await;
            assert_eq!(response.status, 200, "{}", response.text());
            let answers = response.json();
            assert_eq!(answers.as_array().map(Vec::len), Some(PER_BATCH));
            for (call, answer) in calls.iter().zip(answers.as_array().unwrap()) {
                let code = code(answer).unwrap_or("ok");
                let ours = code.starts_with("internal.") || answer.get("result").is_none();
                assert!(!ours, "{call}\n{answer}");
                *codes.entry(code.to_owned()).or_default() += 1;
            }
        }
    }
    // The corpus reached past the schemas, into the tools themselves.
    for reached in [
        "ok",
        "request.invalid",
        "request.invalid_cursor",
        "leads.not_found",
        "consent.required",
        "service.not_found",
        "parts.not_found",
        "service.invalid_service_code",
        "dealership.forbidden",
    ] {
        assert!(codes.get(reached).is_some_and(|count| *count >= 20), "{reached}: {codes:?}");
    }
    assert!(!desk.log().contains("\"cause\""), "{}", desk.log());
    assert_eq!(desk.command(&["audit", "verify"]).0, Some(0));
}

/// Mostly fitting arguments, broken in no, one or a few places.
/// The whole schema; the list leaves out limits and shares parts.
pub(super) fn declared_input(name: &str) -> Value {
    let tools = automotive::contract().tools;
    tools.iter().find(|tool| tool.spec.name == name).unwrap().spec.input.to_json()
}

fn broken(schema: &Value, id: &str) -> BoxedStrategy<Value> {
    let (schema, id) = (schema.clone(), id.to_owned());
    let kept = [(); 4].map(|()| prop::bool::weighted(0.15));
    let parts = (fitting(&schema), prop::bool::weighted(0.6), kept, vec(breakage(), 0..4));
    let made = parts.prop_map(move |(mut arguments, is_known, kept, breakages)| {
        if arguments.get("id").is_some() && is_known {
            arguments["id"] = json!(id);
        }
        for (name, is_kept) in ["dealership_id", "cursor", "vehicle_id", "customer_id"].into_iter().zip(kept) {
            if !is_kept && let Some(object) = arguments.as_object_mut() {
                object.remove(name);
            }
        }
        if schema["properties"].get("limit").is_some() {
            // Pages are not what is tested here.
            arguments["limit"] = json!(1);
        }
        for breakage in &breakages {
            breakage.apply(&mut arguments);
        }
        if arguments.is_object() { arguments } else { json!({"id": arguments}) }
    });
    made.boxed()
}
