//! What is published about the tools, held against the file that says what version 1.0 of the toolset is.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::stage::{Stage, message};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/emcp/toolset-1.0.json");

pub(crate) const TOOLS: [&str; 14] = [
    "evo.content.search",
    "evo.content.get",
    "evo.content.root_tree",
    "evo.content.descendants",
    "evo.content.ancestors",
    "evo.content.children",
    "evo.content.siblings",
    "evo.content.neighbors",
    "evo.content.prev_siblings",
    "evo.content.next_siblings",
    "evo.content.children_range",
    "evo.content.siblings_range",
    "evo.model.list",
    "evo.model.get",
];

/// Those of the arguments that the tool takes: it refuses others.
pub(crate) fn taken_by(tool: &str, mut arguments: Value) -> Value {
    let refused: &[&str] = match tool {
        "evo.content.search" | "evo.content.root_tree" => &["id", "from", "to", "model"],
        "evo.content.get" => &["from", "to", "model", "limit", "depth"],
        "evo.model.list" => &["id", "from", "to", "depth"],
        "evo.model.get" => &["from", "to", "limit", "depth"],
        "evo.content.children_range" | "evo.content.siblings_range" => &["model"],
        _ => &["from", "to", "model"],
    };
    arguments.as_object_mut().unwrap().retain(|name, _| !refused.contains(&name.as_str()));
    arguments
}

async fn listed() -> Vec<Value> {
    let stage = Stage::open();
    let mut answer = stage.agent().post(message("tools/list", json!({}))).await.json();
    assert_eq!(answer["result"].get("nextCursor"), None, "they fit on one page");
    answer["result"]["tools"].as_array_mut().unwrap().iter_mut().map(Value::take).collect()
}

#[tokio::test]
async fn e_06_e_07_e_08_fourteen_read_only_tools_in_order() {
    let tools = listed().await;
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], json!(true), "{}", tool["name"]);
        assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false));
    }
}

/// To publish more, take the new file that a failure leaves behind; what it takes away is a new toolset.
#[tokio::test]
async fn e_01_e_02_the_toolset_keeps_what_its_version_promises() {
    let now: Map<String, Value> = listed().await.iter().map(promise).collect();
    let text = fs::read_to_string(GOLDEN).unwrap_or_default();
    let golden: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    let mut broken = Vec::new();
    for (name, before) in &golden {
        match now.get(name) {
            None => broken.push(format!("{name} is gone")),
            Some(after) => {
                taken(&before["input"], &after["input"], name, &mut broken);
                given(&before["output"], &after["output"], name, &mut broken);
            }
        }
    }
    if golden.len() < TOOLS.len() || !broken.is_empty() {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("toolset-1.0.json");
        // A tool a line, so that a change shows where it is.
        let lines: Vec<String> = now.iter().map(|(name, promise)| format!("{}: {promise}", json!(name))).collect();
        fs::write(&file, format!("{{\n{}\n}}\n", lines.join(",\n"))).unwrap();
        panic!("{broken:#?}; what is published now is in {}", file.display());
    }
}

fn promise(tool: &Value) -> (String, Value) {
    let name = tool["name"].as_str().unwrap().to_owned();
    (name, json!({"input": bare(&tool["inputSchema"]), "output": bare(&tool["outputSchema"])}))
}

/// A schema without its words for people, which may change.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, value)| *name != "description" || !value.is_string());
            Value::Object(kept.map(|(name, value)| (name.clone(), bare(value))).collect())
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

/// Whatever fitted the schema before fits it now.
fn taken(before: &Value, after: &Value, at: &str, broken: &mut Vec<String>) {
    common(before, after, at, broken);
    let required = |schema: &Value| words(&schema["required"]);
    for name in required(after).into_iter().filter(|name| !required(before).contains(name)) {
        broken.push(format!("{at}/{name} has become required"));
    }
    for word in words(&before["enum"]) {
        if after.get("enum").is_some() && !words(&after["enum"]).contains(&word) {
            broken.push(format!("{at} no longer takes {word}"));
        }
    }
    for (keyword, sign) in [("minimum", 1), ("maximum", -1), ("minItems", 1), ("maxItems", -1), ("maxLength", -1)] {
        let bound = |schema: &Value| schema[keyword].as_i64().map(|number| number * sign);
        match (bound(before), bound(after)) {
            (Some(before), Some(after)) if after <= before => {}
            (_, None) => {}
            (before, after) => broken.push(format!("{at}: {keyword} went from {before:?} to {after:?}")),
        }
    }
    if let (Some(before), Some(after)) = (before.get("pattern"), after.get("pattern"))
        && before != after
    {
        broken.push(format!("{at}: another pattern"));
    }
    below(before, after, at, broken, taken);
}

/// Whatever the answer had before it has now.
fn given(before: &Value, after: &Value, at: &str, broken: &mut Vec<String>) {
    common(before, after, at, broken);
    for name in words(&before["required"]).into_iter().filter(|name| !words(&after["required"]).contains(name)) {
        broken.push(format!("{at}/{name} is no longer always there"));
    }
    below(before, after, at, broken, given);
}

fn common(before: &Value, after: &Value, at: &str, broken: &mut Vec<String>) {
    if before["type"] != after["type"] {
        broken.push(format!("{at}: {} has become {}", before["type"], after["type"]));
    }
    for name in before["properties"].as_object().into_iter().flatten().map(|(name, _)| name) {
        if after["properties"].get(name).is_none() {
            broken.push(format!("{at}/{name} is gone"));
        }
    }
}

type Judge = fn(&Value, &Value, &str, &mut Vec<String>);

fn below(before: &Value, after: &Value, at: &str, broken: &mut Vec<String>, judge: Judge) {
    for (name, field) in before["properties"].as_object().into_iter().flatten() {
        if let Some(after) = after["properties"].get(name) {
            judge(field, after, &format!("{at}/{name}"), broken);
        }
    }
    if let (Some(before), Some(after)) = (before.get("items"), after.get("items")) {
        judge(before, after, &format!("{at}/[]"), broken);
    }
    let shapes = |schema: &Value| schema["anyOf"].as_array().cloned().unwrap_or_default();
    if shapes(before).len() > shapes(after).len() {
        broken.push(format!("{at} has fewer shapes"));
    }
    for (number, (before, after)) in shapes(before).iter().zip(shapes(after)).enumerate() {
        judge(before, &after, &format!("{at}/{number}"), broken);
    }
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
}

/// The comparison itself, seen red for each thing that would break the promise and green for each that would not.
#[test]
fn e_02_removals_are_detected_and_additions_are_not() {
    let before = json!({
        "type": "object",
        "properties": {"a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["a"],
    });
    let changed = |place: &str, value: Value| {
        let mut after = before.clone();
        *after.pointer_mut(place).unwrap() = value;
        let mut broken = Vec::new();
        taken(&before, &after, "t", &mut broken);
        broken.join("; ")
    };
    assert_eq!(changed("/required", json!(["a", "b"])), "t/b has become required");
    assert_eq!(changed("/required", json!([])), "");
    assert_eq!(changed("/properties/a/enum", json!(["x"])), "t/a no longer takes y");
    assert_eq!(changed("/properties/a/enum", json!(["x", "y", "z"])), "");
    assert_eq!(changed("/properties/a/type", json!("integer")), "t/a: \"string\" has become \"integer\"");
    assert_eq!(changed("/properties/b/maximum", json!(8)), "t/b: maximum went from Some(-9) to Some(-8)");
    assert_eq!(changed("/properties/b/maximum", json!(10)), "");
    let mut more = before.clone();
    more["properties"]["c"] = json!({"type": "boolean"});
    assert_eq!(changed("", more), "");
    let mut less = before.clone();
    less["properties"].as_object_mut().unwrap().remove("b");
    assert_eq!(changed("", less), "t/b is gone");
    let mut broken = Vec::new();
    given(&before, &json!({"type": "object", "properties": before["properties"], "required": []}), "t", &mut broken);
    assert_eq!(broken, ["t/a is no longer always there"]);
}

/// A client that checks arguments by the schema must not refuse what the server takes.
#[tokio::test]
async fn e_16_the_value_of_a_filter_may_be_a_number() {
    let stage = Stage::open();
    let mut agent = stage.agent();
    let as_number = json!({"limit": 100, "tv_filters": [{"tv": "price", "op": ">", "value": 500, "cast": "SIGNED"}]});
    let as_text = json!({"limit": 100, "tv_filters": [{"tv": "price", "op": ">", "value": "500", "cast": "SIGNED"}]});
    let found = agent.ids("evo.content.search", as_number).await;
    assert_eq!(found.split(' ').count(), 20);
    assert_eq!(found, agent.ids("evo.content.search", as_text).await);
    let listed = listed().await;
    let schema = |tool: usize, filter: &str| listed[tool]["inputSchema"].pointer(filter).unwrap().clone();
    for value in [
        schema(0, "/properties/tv_filters/items/properties/value"),
        schema(12, "/properties/filters/properties/where/items/properties/value"),
    ] {
        let types = |shapes: &Value| -> Vec<String> {
            shapes.as_array().unwrap().iter().map(|shape| shape["type"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(types(&value["anyOf"]), ["string", "array", "number", "boolean", "array"]);
        let [texts, numbers] = [1, 4].map(|shape| value["anyOf"][shape]["items"]["type"].clone());
        assert_eq!((texts, numbers), (json!("string"), json!("number")));
    }
}
