//! A small JSON Schema validator that shares no code with the engine: it supports the keywords that are published here,
//! and an unknown keyword is a failure.

use serde_json::{Value, json};

/// Where a value does not match its schema, and which keyword fails.
pub(crate) fn mismatches(schema: &Value, value: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    visit(schema, value, "", &mut problems);
    problems
}

fn visit(schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    let integer = |rule: &Value| rule.as_i64().unwrap();
    let length = |value: &Value| value.as_str().map(|text| text.chars().count() as i64);
    for (keyword, rule) in schema.as_object().unwrap() {
        let holds = match keyword.as_str() {
            "description" | "properties" | "items" => true,
            "type" => types(rule).iter().any(|kind| has_type(kind, value)),
            "anyOf" => rule.as_array().unwrap().iter().any(|one| mismatches(one, value).is_empty()),
            "enum" => rule.as_array().unwrap().contains(value),
            "required" => {
                let names: Vec<&str> = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
                value.as_object().is_none_or(|object| names.iter().all(|name| object.contains_key(*name)))
            }
            "additionalProperties" => value.as_object().is_none_or(|object| {
                let others = object.iter().filter(|(name, _)| schema["properties"].get(name).is_none());
                if rule == &Value::from(false) {
                    others.count() == 0
                } else {
                    others.map(|(_, value)| mismatches(rule, value)).all(|mismatches| mismatches.is_empty())
                }
            }),
            "minItems" => value.as_array().is_none_or(|items| items.len() as i64 >= integer(rule)),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as i64 <= integer(rule)),
            "minimum" => value.as_i64().is_none_or(|number| number >= integer(rule)),
            "maximum" => value.as_i64().is_none_or(|number| number <= integer(rule)),
            "minLength" => length(value).is_none_or(|length| length >= integer(rule)),
            "maxLength" => length(value).is_none_or(|length| length <= integer(rule)),
            unknown => panic!("{at}: the validator does not support `{unknown}`"),
        };
        if !holds {
            problems.push(format!("{at}: {keyword}"));
        }
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            visit(field, value, &format!("{at}/{name}"), problems);
        }
    }
    for (position, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(items) = schema.get("items") {
            visit(items, item, &format!("{at}/{position}"), problems);
        }
    }
}

fn types(rule: &Value) -> Vec<&str> {
    match rule.as_array() {
        Some(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        None => vec![rule.as_str().unwrap()],
    }
}

fn has_type(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        unknown => panic!("the validator does not support the type `{unknown}`"),
    }
}

#[test]
fn the_schema_validator_reports_mismatches() {
    let schema = json!({
        "type": ["object", "null"],
        "properties": {
            "a": {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "integer", "maximum": 3}]},
            "b": {"type": "array", "items": {"type": "boolean"}, "minItems": 1},
            "c": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        },
        "required": ["a"],
        "additionalProperties": false,
    });
    for (value, wrong) in [
        (json!(null), ""),
        (json!({"a": 3, "b": [true], "c": {"x": null, "y": ""}}), ""),
        (json!({"b": [true]}), ": required"),
        (json!({"a": 4}), "/a: anyOf"),
        (json!({"a": "", "b": []}), "/b: minItems"),
        (json!({"a": "", "b": [1]}), "/b/0: type"),
        (json!({"a": "", "c": {"x": 1}}), "/c: additionalProperties"),
        (json!({"a": "", "d": 1}), ": additionalProperties"),
        (json!([]), ": type"),
    ] {
        assert_eq!(mismatches(&schema, &value).join(" "), wrong, "{value}");
    }
}
