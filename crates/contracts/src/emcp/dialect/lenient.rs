//! Spellings that the original accepts too: numbers as text, booleans as 0 and 1, null for absent, names and keywords in
//! any case. What is not understood stays unchanged, so that validation can report it.

use frontdesk_engine::model::schema::{Field, Schema, TextFormat, exact_integer};
use serde_json::{Map, Value};

use crate::emcp::{model, patterns, schemas, variables};

/// Accepted by the tools beside `descendants` and meaningless there (E-24).
const DEPTH: &str = "depth";

/// An unknown argument stays, and is refused: the original ignores it, and a model then takes the first pages of the site
/// for what it searched.
pub(super) fn normalize(input: &Schema, mut arguments: Map<String, Value>) -> Map<String, Value> {
    if let Schema::Object(fields) = input {
        let takes = |name: &str| fields.iter().any(|field| field.name == name);
        if takes("id") && takes(schemas::LIMIT) && !takes(DEPTH) {
            arguments.remove(DEPTH);
        }
        // Without a field to order by, the direction has no effect, so it is not validated either.
        if arguments.get("order_by").is_none_or(Value::is_null) {
            arguments.remove("order_dir");
        }
        // PHP, for one, serializes an empty object as an empty array.
        if arguments.get("filters").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            arguments.remove("filters");
        }
        object(fields, arguments)
    } else {
        arguments
    }
}

fn object(fields: &[Field], mut given: Map<String, Value>) -> Map<String, Value> {
    given.retain(|_, value| !value.is_null());
    for (name, value) in &mut given {
        if let Some(field) = fields.iter().find(|field| field.name == name) {
            *value = field_value(field, value.take());
        }
    }
    given
}

fn field_value(field: &Field, given: Value) -> Value {
    match (field.name, given) {
        ("model", Value::String(text)) => model::canonical(&text).map_or(Value::String(text), Value::from),
        ("value", given) => filter_value(given),
        (variables::WITH, Value::Array(entries)) => entries.into_iter().filter_map(trimmed_entry).collect(),
        (_, given) => by_schema(&field.schema, given),
    }
}

fn by_schema(shape: &Schema, given: Value) -> Value {
    match (shape, given) {
        (Schema::Object(fields), Value::Object(given)) => Value::Object(object(fields, given)),
        (Schema::List { of, .. }, Value::Array(items)) => items.into_iter().map(|item| by_schema(of, item)).collect(),
        (Schema::Integer { .. }, given) => integer(&given).map_or(given, Value::from),
        (Schema::Boolean, given) => boolean(&given).map_or(given, Value::from),
        (Schema::Text(TextFormat::OneOf(words)), Value::String(text)) if *words == schemas::DIRECTIONS => {
            Value::from(text.trim().to_ascii_lowercase())
        }
        (Schema::Text(TextFormat::Pattern(form)), Value::String(text)) if **form == patterns::CAST => {
            Value::from(text.trim().to_ascii_uppercase())
        }
        (
            Schema::Object(_)
            | Schema::Extended { .. }
            | Schema::AnyObject
            | Schema::Map(_)
            | Schema::List { .. }
            | Schema::Text(_)
            | Schema::MinorUnits { .. }
            | Schema::Number { .. }
            | Schema::Nullable(_)
            | Schema::Clearable(_)
            | Schema::AnyOf { .. },
            given,
        ) => given,
    }
}

/// Blank entries of `with_tvs` are ignored.
fn trimmed_entry(given: Value) -> Option<Value> {
    match given.as_str().map(str::trim) {
        Some("") => None,
        Some(name) if Some(name) != given.as_str() => Some(Value::from(name)),
        Some(_) | None => Some(given),
    }
}

/// The value of a filter is text; numbers and booleans become text.
fn filter_value(given: Value) -> Value {
    match given {
        Value::Array(items) => items.into_iter().map(scalar).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => scalar(given),
    }
}

fn scalar(given: Value) -> Value {
    match &given {
        Value::Bool(boolean) => Value::from(if *boolean { "1" } else { "0" }),
        Value::Number(number) => match integer(&given) {
            Some(whole) => Value::from(whole.to_string()),
            None => Value::from(number.to_string()),
        },
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => given,
    }
}

/// 2, 2.0, "2" and true (1) are integers; 2.5, "2.0", "02" and false are not.
fn integer(given: &Value) -> Option<i64> {
    match given {
        Value::Number(number) => exact_integer(number),
        Value::String(text) => {
            let text = text.trim();
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            let plain = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()));
            plain.then(|| text.parse().ok()).flatten()
        }
        Value::Bool(true) => Some(1),
        Value::Null | Value::Bool(false) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn boolean(given: &Value) -> Option<bool> {
    match given {
        Value::Number(number) => match number.as_i64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            Some(_) | None => None,
        },
        Value::String(text) => match text.as_str() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        },
        Value::Bool(boolean) => Some(*boolean),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
