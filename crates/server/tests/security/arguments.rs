//! Arguments for tools as strategies: made from a tool's own schema, then changed to something hostile in a few places.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

/// Something that fits the schema, as far as a schema can say it.
pub(crate) fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(words) = schema["enum"].as_array() {
        return select(words.clone()).boxed();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "object" => object(schema),
        "array" => vec(fitting(&schema["items"]), 0..4).prop_map(Value::Array).boxed(),
        "integer" => {
            let min = schema["minimum"].as_i64().unwrap_or(0);
            let max = schema["maximum"].as_i64().unwrap_or(100);
            let middle = (min / 2).saturating_add(max / 2);
            select(vec![min, max, min.saturating_add(1), middle]).prop_map(|number| json!(number)).boxed()
        }
        "boolean" => prop::bool::weighted(0.8).prop_map(|yes| json!(yes)).boxed(),
        _ => text(schema),
    }
}

fn object(schema: &Value) -> BoxedStrategy<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let members: Vec<BoxedStrategy<Option<(String, Value)>>> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, shape)| {
            let share = if required.contains(&json!(name)) { 1.0 } else { 0.4 };
            let name = name.clone();
            let member = fitting(shape).prop_map(move |value| (name.clone(), value));
            prop::option::weighted(share, member).boxed()
        })
        .collect();
    members.prop_map(|members| Value::Object(members.into_iter().flatten().collect::<Map<_, _>>())).boxed()
}

fn text(schema: &Value) -> BoxedStrategy<Value> {
    let fixed = match (schema["format"].as_str(), schema["pattern"].as_str()) {
        (Some("date-time"), _) => "2026-01-31T09:30:00Z",
        (Some("email"), _) => "a@example.com",
        (_, Some(pattern)) if pattern.contains("A-Z") => "USD",
        (_, Some(_)) => "+15125550123",
        (_, None) => {
            let max = usize::try_from(schema["maxLength"].as_u64().unwrap_or(10)).unwrap();
            let letters = |length: usize| "toyota".chars().cycle().take(length).collect::<String>();
            return (1..=max.min(40)).prop_map(move |length| json!(letters(length))).boxed();
        }
    };
    Just(json!(fixed)).boxed()
}

/// A change in one place of a value: something there is replaced, added or removed.
#[derive(Debug, Clone)]
pub(crate) struct Breakage {
    /// Which member or item is entered at each level.
    path: Vec<Index>,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Replace(Value),
    Add(String),
    Remove,
}

pub(crate) fn breakage() -> impl Strategy<Value = Breakage> {
    let change = prop_oneof![
        8 => hostile().prop_map(Change::Replace),
        1 => hostile_text().prop_map(Change::Add),
        1 => Just(Change::Remove),
    ];
    (vec(any::<Index>(), 0..4), change).prop_map(|(path, change)| Breakage { path, change })
}

impl Breakage {
    pub(crate) fn apply(&self, value: &mut Value) {
        self.apply_at(value, &self.path);
    }

    fn apply_at(&self, value: &mut Value, path: &[Index]) {
        if let Some((first, rest)) = path.split_first() {
            if let Some(object) = value.as_object_mut().filter(|object| !object.is_empty()) {
                let name = object.keys().nth(first.index(object.len())).unwrap().clone();
                match &self.change {
                    Change::Remove if rest.is_empty() => drop(object.remove(&name)),
                    Change::Add(name) if rest.is_empty() => drop(object.insert(name.clone(), json!(1))),
                    Change::Replace(_) | Change::Add(_) | Change::Remove => self.apply_at(&mut object[&name], rest),
                }
                return;
            }
            if let Some(items) = value.as_array_mut().filter(|items| !items.is_empty()) {
                let at = first.index(items.len());
                return self.apply_at(&mut items[at], rest);
            }
        }
        *value = match &self.change {
            Change::Replace(hostile) => hostile.clone(),
            Change::Add(text) => json!(text),
            Change::Remove => Value::Null,
        };
    }
}

fn hostile() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(json!(null)),
        1 => any::<bool>().prop_map(|yes| json!(yes)),
        1 => select(vec![0, -1, 1, i64::MIN, i64::MAX, 9_007_199_254_740_993, 2_147_483_648]).prop_map(|number| json!(number)),
        1 => Just(json!(u64::MAX)),
        1 => select(vec![0.5, -0.0, 1e300, 5e-324, 1.0]).prop_map(|number| json!(number)),
        1 => Just(json!([])),
        1 => Just(json!({})),
        1 => Just(json!([[[[[[[["x"]]]]]]]])),
        1 => Just(json!({"$ref": "https://evil.example/schema", "__proto__": {"a": 1}})),
        1 => (0..300_usize).prop_map(|length| Value::Array((0..length).map(|at| json!(at)).collect())),
        2 => hostile_text().prop_map(|text| json!(text)),
    ]
}

fn hostile_text() -> impl Strategy<Value = String> {
    const TEXTS: [&str; 28] = [
        "",
        " ",
        "\0",
        "\u{feff}",
        "\u{202e}txet",
        "a\u{301}\u{300}\u{30a}",
        "\u{1f468}\u{200d}\u{1f469}",
        "\u{fffd}\u{ffff}",
        "\u{10ffff}",
        "\r\n\r\nHTTP/1.1 200 OK",
        "\u{1b}[31m",
        "' OR 1=1 --",
        "\"; DROP TABLE lead; --",
        "%s%n%x",
        "../../../../etc/passwd",
        "${jndi:ldap://x}",
        "{{7*7}}",
        "<script>alert(1)</script>",
        "+0",
        "+1",
        "@",
        "a@b",
        "a@b.c@d.e",
        "9999-12-31T23:59:59-23:59",
        "0000-01-01T00:00:00+23:59",
        "2016-12-31T23:59:60Z",
        "\\",
        "\"}",
    ];
    prop_oneof![
        1 => (1..=9000_usize).prop_map(|length| "x".repeat(length)),
        1 => vec(any::<char>(), 0..40).prop_map(|letters| letters.into_iter().collect()),
        1 => (0..60_usize).prop_map(|count| "word ".repeat(count)),
        5 => select(&TEXTS[..]).prop_map(str::to_owned),
    ]
}
