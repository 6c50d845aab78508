//! Random arguments from the published input schemas, some of them mutated: every database answers with the published
//! output schema or refuses the call, and never with an internal error.

use std::cell::Cell;
use std::sync::Arc;

use frontdesk_engine::model::tool::Tool;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::Union;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::query_recorder::QueryRecorder;
use crate::schema_validator::mismatches;
use crate::support::{TOKEN, TestDesk};

/// How many calls each tool gets on three databases, and how many on SQLite alone. `FRONTDESK_TEST_SCALE` multiplies
/// both; `cargo xtask test --long` sets it to 10.
const CALLS: u32 = 100;
const SQLITE_CALLS: u32 = 1_000;

const NAMES: &[&str] =
    &["price", "color:d", "color", "sku", "side-bar", "meta_title:d", "UNSIGNED", "DECIMAL(10,2)", "x"];

const HOSTILE: &[&str] = &[
    "' OR '1'='1",
    "x'; DROP TABLE evo_users; --",
    "\u{0}",
    "%_\\\\",
    "password",
    "9223372036854775808",
    "-0",
    "1e308",
    "новини \u{10ffff}\u{202e}",
    ":;",
    "",
];

#[test]
fn random_calls_match_the_output_schema_or_are_refused() {
    let runtime = Runtime::new().unwrap();
    let desk = runtime.block_on(TestDesk::on_three());
    for tool in desk.tools() {
        let output = tool.spec.output.to_json();
        call_randomly(&runtime, &desk, tool, scaled(CALLS), |answer| mismatches(&output, answer));
    }
}

/// Four threads, because each waits for its database half of the time.
#[test]
fn random_calls_only_select_readable_tables_and_columns() {
    let runtime = Runtime::new().unwrap();
    let recorder = Arc::new(QueryRecorder::default());
    let recording = Arc::clone(&recorder);
    let desk = runtime.block_on(TestDesk::on_sqlite_recording(move |select| recording.record(select)));
    std::thread::scope(|scope| {
        for first in 0..4 {
            let (runtime, desk) = (&runtime, &desk);
            scope.spawn(move || {
                for tool in desk.tools().iter().skip(first).step_by(4) {
                    call_randomly(runtime, desk, tool, scaled(SQLITE_CALLS), |_| Vec::new());
                }
            });
        }
    });
    let shapes = recorder.shapes();
    assert!(shapes.len() > 100, "{} shapes", shapes.len());
}

/// `check` returns what is wrong with an answer. The random numbers are the same in every run.
fn call_randomly(runtime: &Runtime, desk: &TestDesk, tool: &Tool, calls: u32, check: impl Fn(&Value) -> Vec<String>) {
    let (answered, refused) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: calls, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let tested = runner.run(&arguments(&tool.spec.input.to_json()), |arguments| {
        let params = json!({"name": tool.spec.name, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        for (database, reply) in runtime.block_on(desk.send_to_each(TOKEN, "2025-11-25", &body)) {
            let answer: Value = serde_json::from_slice(&reply.body).unwrap();
            let failed = |what: &str| Err(TestCaseError::fail(format!("{database}: {what}: {answer}")));
            if reply.status != 200 {
                return failed("not status 200");
            }
            match answer.get("result") {
                Some(result) => {
                    let problems = check(&result["structuredContent"]);
                    if !problems.is_empty() {
                        return failed(&problems.join(" "));
                    }
                    answered.set(answered.get() + 1);
                }
                None if !is_refusal(&answer["error"]) => return failed("not a refusal"),
                None => refused.set(refused.get() + 1),
            }
        }
        Ok(())
    });
    if let Err(failure) = tested {
        panic!("{}: {failure}", tool.spec.name);
    }
    // Without many of both the test would show nothing.
    let (answered, refused) = (answered.get(), refused.get());
    let enough = answered > calls / 10 && refused > calls / 10;
    assert!(enough, "{}: {answered} answered, {refused} refused", tool.spec.name);
}

fn is_refusal(error: &Value) -> bool {
    let is_too_deep = error["code"] == -32700 && error["message"] == "The text is nested too deeply.";
    is_too_deep || error["code"] == -32602 || error["code"] == -32601
}

#[expect(clippy::disallowed_methods, reason = "the test command sets how many cases to run")]
fn scaled(calls: u32) -> u32 {
    calls * std::env::var("FRONTDESK_TEST_SCALE").map_or(1, |scale| scale.parse::<u32>().unwrap())
}

/// Arguments of the schema, with up to two mutations.
fn arguments(schema: &Value) -> impl Strategy<Value = Value> {
    let mutation = (vec(any::<Index>(), 0..5), replacement());
    (matching(schema), vec(mutation, 0..3)).prop_map(|(mut arguments, mutations)| {
        for (path, replacement) in mutations {
            mutate(&mut arguments, &path, replacement);
        }
        arguments
    })
}

/// A value that matches the schema, except that a string may have the wrong pattern.
fn matching(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(values) = schema["enum"].as_array() {
        return select(values.clone()).boxed();
    }
    if let Some(schemas) = schema["anyOf"].as_array() {
        return Union::new(schemas.iter().map(matching)).boxed();
    }
    match schema["type"].as_str().unwrap() {
        "integer" => {
            let (min, max) = (schema["minimum"].as_i64().unwrap(), schema["maximum"].as_i64().unwrap());
            let near = [0, 1, 8, 248].map(|distance| (min + distance).min(max));
            prop_oneof![4 => select(near.to_vec()), 1 => Just(max), 1 => min..=max].prop_map(Value::from).boxed()
        }
        "number" => select(&[0.0, 1.0, -115.0, 99.95, 1e15][..]).prop_map(Value::from).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "string" => {
            prop_oneof![6 => select(NAMES).prop_map(Value::from), 2 => hostile(), 1 => ".{0,12}".prop_map(Value::from)]
                .boxed()
        }
        "array" => vec(matching(&schema["items"]), 1..=3).prop_map(Value::from).boxed(),
        "object" => object(schema).boxed(),
        unknown => panic!("the published schemas have no {unknown}"),
    }
}

/// All required members and a quarter of the others.
fn object(schema: &Value) -> impl Strategy<Value = Value> + use<> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let member = |(name, field): (&String, &Value)| {
        let value = matching(field);
        let is_required = required.contains(&json!(name));
        let value = if is_required { value.prop_map(Some).boxed() } else { weighted(0.25, value).boxed() };
        (Just(name.clone()), value)
    };
    let members: Vec<_> = schema["properties"].as_object().unwrap().iter().map(member).collect();
    members.prop_map(|members| {
        members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect::<serde_json::Map<_, _>>().into()
    })
}

fn hostile() -> impl Strategy<Value = Value> {
    select(HOSTILE).prop_map(Value::from)
}

/// A value that most arguments do not allow.
fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        hostile(),
        (0..200_usize).prop_map(nested),
        select(vec![
            json!(null),
            json!(true),
            json!(-1),
            json!(1e308),
            json!(u64::MAX),
            json!([[[{}]]]),
            json!({"raw": "1=1"}),
            json!("x".repeat(3_000)),
            json!([0, -0.0, 1e-300, i64::MIN, "\u{fffe}\u{0301}", {"": {"\u{0}": []}}]),
        ]),
    ]
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!("deep"), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({"a": inner}) })
}

/// Replaces the value at the end of the path, which goes as deep as there are containers.
fn mutate(value: &mut Value, path: &[Index], replacement: Value) {
    match (value, path) {
        (Value::Object(members), [index, rest @ ..]) if !members.is_empty() => {
            let position = index.index(members.len());
            mutate(members.values_mut().nth(position).unwrap(), rest, replacement);
        }
        (Value::Array(items), [index, rest @ ..]) if !items.is_empty() => {
            let position = index.index(items.len());
            mutate(&mut items[position], rest, replacement);
        }
        (value, _) => *value = replacement,
    }
}
