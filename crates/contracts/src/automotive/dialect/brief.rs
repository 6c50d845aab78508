//! The schemas of `tools/list` in a form that models and clients can afford: every tool together is read before the
//! first call. Repeated parts are under `$defs` of the same schema, so that each can be compiled alone. It never says
//! something else than the declared schema, only less: what is left out is still checked, and in the OpenAPI document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Longer texts are worth planning for; ids, names and codes are never near their limit.
const SHORT_TEXT: u64 = 255;
/// The limit that keeps integers exact in every JSON parser.
const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;
/// Shorter parts are repeated, because a reference costs as much.
const MIN_SHARED_BYTES: usize = 60;
/// What `{"$ref":"#/$defs/"}` and the name of a definition take.
const REFERENCE_BYTES: usize = 34;

/// Whether an answer says what its fields mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Descriptions {
    Kept,
    /// The tool that reads one record describes them.
    Omitted,
}

/// Arguments keep what a model needs to fill them in: types, words, descriptions, and limits that it could meet.
pub(super) fn input(mut schema: Value) -> Value {
    each(&mut schema, &mut |part| {
        remove_if(part, "minLength", |limit| limit <= 1);
        remove_if(part, "maxLength", |limit| limit <= SHORT_TEXT);
        remove_if(part, "minimum", |limit| limit == 0);
        remove_if(part, "maximum", |limit| limit == MAX_SAFE_INTEGER);
        if let Some(Value::Object(properties)) = part.get_mut("properties") {
            properties.values_mut().filter_map(Value::as_object_mut).for_each(|property| {
                if property.get("description").and_then(Value::as_str).is_some_and(is_plain_filter) {
                    property.remove("description");
                }
            });
        }
    });
    share(schema)
}

/// "Only leads with this status.": the name of the argument says as much.
fn is_plain_filter(description: &str) -> bool {
    description.starts_with("Only ") && description.contains(" this ") && !description.contains([';', ',', ':'])
}

/// Fields that a change has in common with the creation of a record are described only there. Who may call one of the
/// two may call the other. `own` are arguments that keep their description.
pub(super) fn describe_at_create(described: &mut Map<String, Value>, create: &str, create_input: &Value, own: &[&str]) {
    let Some(created) = create_input.get("properties").and_then(Value::as_object) else { return };
    let Some(input) = described.get_mut("inputSchema").and_then(|input| input.get_mut("properties")) else { return };
    let mut omitted = false;
    for (name, property) in input.as_object_mut().into_iter().flatten() {
        if !own.contains(&name.as_str()) && created.get(name) == Some(property) {
            each(property, &mut |part| drop(part.remove("description")));
            omitted = true;
        }
    }
    if let (true, Some(Value::String(description))) = (omitted, described.get_mut("description")) {
        description.push_str(&format!(" {create} describes the fields."));
    }
}

/// Answers keep their structure. Objects are open, because a later version may add fields (5.4).
pub(super) fn output(mut schema: Value, descriptions: Descriptions) -> Value {
    if let Some([own, error]) = schema.get_mut("oneOf").and_then(Value::as_array_mut).map(Vec::as_mut_slice) {
        simplify(own, descriptions);
        *error = error_schema();
    } else {
        simplify(&mut schema, descriptions);
    }
    share(schema)
}

fn simplify(schema: &mut Value, descriptions: Descriptions) {
    each(schema, &mut |part| {
        for limit in ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern"] {
            part.remove(limit);
        }
        // Nothing that is not declared is answered, but who validates must not depend on it.
        if part.get("additionalProperties") == Some(&Value::Bool(false)) {
            part.remove("additionalProperties");
            part.remove("patternProperties");
        }
        if part.contains_key("enum") {
            part.remove("type");
        }
        if descriptions == Descriptions::Omitted {
            part.remove("description");
        }
    });
}

/// What every error has; the rest is described in docs/errors.md and in the OpenAPI document.
fn error_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
            },
            "required": ["code", "message"],
        }},
        "required": ["error"],
    })
}

fn remove_if(part: &mut Map<String, Value>, keyword: &str, is_needless: impl Fn(u64) -> bool) {
    if part.get(keyword).and_then(Value::as_u64).is_some_and(is_needless) {
        part.remove(keyword);
    }
}

/// Every schema within a schema, itself first.
fn each(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Some(part) = schema.as_object_mut() else { return };
    change(part);
    for inner in inner_schemas(part) {
        each(inner, change);
    }
}

fn inner_schemas(part: &mut Map<String, Value>) -> Vec<&mut Value> {
    let mut found: Vec<&mut Value> = Vec::new();
    for (keyword, value) in part.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(members)) => {
                found.extend(members.values_mut());
            }
            ("anyOf" | "oneOf", Value::Array(members)) => found.extend(members.iter_mut()),
            ("items" | "additionalProperties", value @ Value::Object(_)) => found.push(value),
            _ => {}
        }
    }
    found
}

/// Puts what occurs more than once under `$defs`, the longest first. The descriptions stay where they were.
fn share(mut schema: Value) -> Value {
    let mut definitions: Map<String, Value> = Map::new();
    while let Some(text) = most_repeated(&mut schema, &mut definitions) {
        let Ok(shared) = serde_json::from_str::<Value>(&text) else { break };
        let name = free_name(&definitions, &shared);
        let reference = Value::from(format!("#/$defs/{name}"));
        let mut replace = |part: &mut Map<String, Value>| {
            if bare_text(part) == text {
                part.retain(|keyword, _| keyword == "description");
                part.insert("$ref".to_owned(), reference.clone());
            }
        };
        below(&mut schema, &mut replace);
        definitions.values_mut().for_each(|definition| each(definition, &mut replace));
        definitions.insert(name, shared);
    }
    if !definitions.is_empty()
        && let Some(schema) = schema.as_object_mut()
    {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

fn most_repeated(schema: &mut Value, definitions: &mut Map<String, Value>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |part: &mut Map<String, Value>| {
        let text = bare_text(part);
        if text.len() >= MIN_SHARED_BYTES && !part.contains_key("$ref") {
            *counts.entry(text).or_default() += 1;
        }
    };
    below(schema, &mut count);
    definitions.values_mut().for_each(|definition| below(definition, &mut count));
    let saves = |(text, times): &(String, usize)| {
        let shared = text.len().saturating_add(REFERENCE_BYTES.saturating_mul(times.saturating_add(1)));
        text.len().saturating_mul(*times) > shared
    };
    counts.into_iter().filter(saves).map(|(text, _)| text).max_by_key(String::len)
}

/// As `each`, without the schema itself.
fn below(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Some(part) = schema.as_object_mut() else { return };
    for inner in inner_schemas(part) {
        each(inner, change);
    }
}

/// A schema without its description, which says what it is for in one place.
fn bare_text(part: &Map<String, Value>) -> String {
    let bare: Map<String, Value> =
        part.iter().filter(|(keyword, _)| *keyword != "description").map(|(k, v)| (k.clone(), v.clone())).collect();
    Value::Object(bare).to_string()
}

/// Named after what it holds: `amount_currency`.
fn free_name(taken: &Map<String, Value>, shared: &Value) -> String {
    let words: Vec<&str> = match (shared.get("properties").and_then(Value::as_object), shared.get("enum")) {
        (Some(properties), _) => properties.keys().map(String::as_str).collect(),
        (None, Some(Value::Array(words))) => words.iter().filter_map(Value::as_str).collect(),
        (None, _) => shared.get("type").and_then(Value::as_str).into_iter().collect(),
    };
    let name = words.into_iter().take(3).collect::<Vec<&str>>().join("_");
    let mut candidates = (2..).map(|number: usize| format!("{name}_{number}"));
    if taken.contains_key(&name) || name.is_empty() {
        candidates.find(|candidate| !taken.contains_key(candidate)).unwrap_or(name)
    } else {
        name
    }
}
