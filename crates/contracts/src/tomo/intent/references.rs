//! References inside an intent file: `{"$ref": "#/definitions/money"}` and `{"$ref": "#/vocabularies/fuel"}` become what
//! they stand for, so that a published schema needs no other document.

use serde_json::{Map, Value, json};

use super::parse::IntentError;

/// More references inside references than this are a circle.
const MAX_DEPTH: usize = 12;

/// The schema without references. `pointer` is where it stands in the file.
pub(super) fn resolve(schema: &Value, file: &Map<String, Value>, pointer: &str) -> Result<Value, IntentError> {
    replaced(schema, file, pointer, 0)
}

fn replaced(value: &Value, file: &Map<String, Value>, pointer: &str, depth: usize) -> Result<Value, IntentError> {
    match value {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref") {
                return target(members, reference, file, pointer, depth);
            }
            let members = members
                .iter()
                .map(|(name, value)| Ok((name.clone(), replaced(value, file, &format!("{pointer}/{name}"), depth)?)));
            members.collect::<Result<Map<String, Value>, IntentError>>().map(Value::Object)
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(place, item)| replaced(item, file, &format!("{pointer}/{place}"), depth)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value.clone()),
    }
}

fn target(
    members: &Map<String, Value>,
    reference: &Value,
    file: &Map<String, Value>,
    pointer: &str,
    depth: usize,
) -> Result<Value, IntentError> {
    let wrong = |reason: &str| IntentError::new(format!("{pointer}/$ref"), reason);
    if depth >= MAX_DEPTH {
        return Err(wrong("the references go in a circle"));
    }
    let text = reference.as_str().unwrap_or_default();
    let path = text.strip_prefix("#/").and_then(|path| path.split_once('/'));
    let found = path.and_then(|(section, name)| Some((section, file.get(section)?.get(name)?)));
    let mut schema = match found {
        Some(("vocabularies", words)) => json!({"type": "string", "enum": words}),
        Some(("definitions", schema)) => {
            replaced(schema, file, &format!("/{}", text.trim_start_matches("#/")), depth + 1)?
        }
        Some(_) | None => return Err(wrong("it must name one of `definitions` or `vocabularies` of this file")),
    };
    // A description beside a reference describes this use of it.
    for (name, value) in members.iter().filter(|(name, _)| *name != "$ref") {
        if name != "description" {
            return Err(IntentError::new(format!("{pointer}/{name}"), "only a description may stand beside a $ref"));
        }
        if let Some(schema) = schema.as_object_mut() {
            schema.insert(name.clone(), value.clone());
        }
    }
    Ok(schema)
}

/// Whether a text of an example stands for a value of an earlier answer.
pub(super) fn is_reference(text: &str) -> bool {
    text.starts_with("{{") && text.ends_with("}}")
}
