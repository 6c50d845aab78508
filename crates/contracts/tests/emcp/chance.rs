//! Arguments made by chance from the published schemas, and then broken: whatever is asked, each database gives an answer
//! of the published shape or a refusal, and never an error of ours.

use std::sync::Arc;

use frontdesk_engine::model::tool::Tool;
use serde_json::{Value, json};

use crate::judge::misfits;
use crate::support::{House, TOKEN};
use crate::watch::Watch;

/// How many calls each tool gets on three databases, and how many on SQLite alone. `FRONTDESK_TEST_SCALE` multiplies
/// both; `cargo xtask test --long` sets it to 10.
const CALLS: u64 = 100;
const MORE_CALLS: u64 = 1_000;

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

#[tokio::test]
async fn random_calls_match_the_output_schema_or_are_refused() {
    let house = House::on_three().await;
    for tool in house.tools() {
        let output = tool.spec.output.to_json();
        asked_by_chance(&house, tool, calls(CALLS), |answer| assert_eq!(misfits(&output, answer), [""; 0])).await;
    }
}

/// Four runs at once, since each waits for its database half of the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn random_calls_only_select_readable_tables_and_columns() {
    let watch = Arc::new(Watch::default());
    let watched = Arc::clone(&watch);
    let house = Arc::new(House::on_sqlite_heard_by(move |select| watched.see(select)).await);
    let mut runs = tokio::task::JoinSet::new();
    for turn in 0..4 {
        let house = Arc::clone(&house);
        runs.spawn(async move {
            for tool in house.tools().iter().skip(turn).step_by(4) {
                asked_by_chance(&house, tool, calls(MORE_CALLS), |_| {}).await;
            }
        });
    }
    while let Some(ended) = runs.join_next().await {
        ended.unwrap();
    }
    let shapes = watch.0.lock().unwrap();
    assert!(shapes.len() > 100, "{} shapes", shapes.len());
}

async fn asked_by_chance(house: &House, tool: &Tool, calls: u64, judge: impl Fn(&Value)) {
    let input = tool.spec.input.to_json();
    let (mut answered, mut refused) = (0, 0);
    for number in 0..calls {
        let mut chance = Chance(number * 2 + 1);
        let mut arguments = chance.fitting(&input);
        for _ in 0..chance.below(3) {
            chance.spoil(&mut arguments);
        }
        let params = json!({"name": tool.spec.name, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        for (database, reply) in house.send_to_each(TOKEN, "2025-11-25", &body).await {
            let answer: Value = serde_json::from_slice(&reply.body).unwrap();
            assert_eq!(reply.status, 200, "seed {number} {database} {body}: {answer}");
            match answer.get("result") {
                Some(result) => {
                    judge(&result["structuredContent"]);
                    answered += 1;
                }
                None => {
                    let code = answer["error"]["code"].as_i64().unwrap();
                    let is_deep = answer["error"]["message"] == json!("The text is nested too deeply.");
                    let is_known = [-32602, -32601].contains(&code) || (code == -32700 && is_deep);
                    assert!(is_known, "seed {number} {database} {body}: {answer}");
                    refused += 1;
                }
            }
        }
    }
    // Both happen often, or this shows nothing.
    assert!(
        answered > calls / 10 && refused > calls / 10,
        "{}: {answered} answered, {refused} refused",
        tool.spec.name
    );
}

#[expect(clippy::disallowed_methods, reason = "a test asks how long it may take")]
fn calls(usual: u64) -> u64 {
    usual * std::env::var("FRONTDESK_TEST_SCALE").map_or(1, |scale| scale.parse::<u64>().unwrap())
}

/// Numbers that look random and are the same in each run (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A value that fits the schema, or nearly.
    fn fitting(&mut self, schema: &Value) -> Value {
        if let Some(words) = schema["enum"].as_array() {
            return self.one(words).clone();
        }
        if let Some(shapes) = schema["anyOf"].as_array() {
            let shape = self.one(shapes).clone();
            return self.fitting(&shape);
        }
        match schema["type"].as_str().unwrap() {
            "integer" => {
                let (least, most) = (schema["minimum"].as_i64().unwrap(), schema["maximum"].as_i64().unwrap());
                json!(
                    [least, most, (least + 1).min(most), (least + 8).min(most), (least + 248).min(most)][self.below(5)]
                )
            }
            "boolean" => json!(self.below(2) == 0),
            "string" if self.below(4) == 0 => json!(self.one(HOSTILE)),
            "string" => json!(self.one(NAMES)),
            "array" => (0..=self.below(3)).map(|_| self.fitting(&schema["items"])).collect(),
            "object" => {
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let mut object = serde_json::Map::new();
                for (name, field) in schema["properties"].as_object().unwrap() {
                    if required.contains(&json!(name)) || self.below(4) == 0 {
                        object.insert(name.clone(), self.fitting(field));
                    }
                }
                Value::Object(object)
            }
            unknown => panic!("the published schemas have no {unknown}"),
        }
    }

    /// Puts something else somewhere.
    fn spoil(&mut self, value: &mut Value) {
        match value {
            Value::Object(object) if !object.is_empty() && self.below(5) > 0 => {
                let place = self.below(object.len());
                self.spoil(object.values_mut().nth(place).unwrap());
            }
            Value::Array(items) if !items.is_empty() && self.below(5) > 0 => {
                let place = self.below(items.len());
                self.spoil(&mut items[place]);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                *value = match self.below(11) {
                    9 => deep(self.below(200)),
                    10 => json!([0, -0.0, 1e-300, i64::MIN, "\u{fffe}\u{0301}", {"": {"\u{0}": []}}]),
                    0 => json!(null),
                    1 => json!(-1),
                    2 => json!(1e308),
                    3 => json!(u64::MAX),
                    4 => json!([[[{}]]]),
                    5 => json!({"raw": "1=1"}),
                    6 => json!("x".repeat(3_000)),
                    7 => json!(true),
                    _ => json!(self.one(HOSTILE)),
                }
            }
        }
    }
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!("deep"), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({"a": inner}) })
}
