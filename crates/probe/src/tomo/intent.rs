//! Intent files as the judge reads them: the syllabus that it shares with the server, in code of its own.

use serde_json::{Map, Value, json};

use crate::json_schema::unknown_keyword;
use crate::report::shown;

const BUILT_IN: [(&str, &str); 5] = [
    ("travel.book_hotel", include_str!("../../../../spec/tomo/intents/travel.book_hotel.json")),
    ("marketplace.buy_used_car", include_str!("../../../../spec/tomo/intents/marketplace.buy_used_car.json")),
    ("auto.book_general_service", include_str!("../../../../spec/tomo/intents/auto.book_general_service.json")),
    ("mobility.book_intracity_ride", include_str!("../../../../spec/tomo/intents/mobility.book_intracity_ride.json")),
    ("food.order_delivery", include_str!("../../../../spec/tomo/intents/food.order_delivery.json")),
];

/// References inside references: more are a circle.
const MAX_DEPTH: usize = 12;

/// What TOMO sends with every call (§3), whether or not the intent names it.
pub(super) const COMMON: [&str; 5] = ["intent", "intent_version", "request_id", "user_session_id", "context"];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct IntentFile {
    pub(super) id: String,
    pub(super) version: String,
    pub(super) error_codes: Vec<String>,
    pub(super) completion: CompletionWords,
    pub(super) tools: Vec<ToolFile>,
}

/// How a completion says what became of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompletionWords {
    pub(super) completed: String,
    pub(super) cancelled: String,
    pub(super) failed: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolFile {
    pub(super) name: String,
    pub(super) role: String,
    pub(super) widget: String,
    pub(super) input: Value,
    pub(super) output: Value,
    pub(super) examples: Vec<Value>,
}

/// The intents that were named on the command line; those built in are read when a server has them.
#[derive(Default)]
pub(super) struct KnownIntents {
    given: Vec<IntentFile>,
}

impl KnownIntents {
    pub(super) fn add(&mut self, text: &str) -> Result<(), String> {
        self.given.push(parse(text)?);
        Ok(())
    }

    pub(super) fn find(&self, id: &str) -> Result<Option<IntentFile>, String> {
        if let Some(given) = self.given.iter().find(|intent| intent.id == id) {
            return Ok(Some(given.clone()));
        }
        BUILT_IN.iter().find(|(known, _)| *known == id).map(|(_, text)| parse(text)).transpose()
    }

    pub(super) fn ids(&self) -> Vec<String> {
        let built_in = BUILT_IN.iter().map(|(id, _)| (*id).to_owned());
        let mut ids: Vec<String> = self.given.iter().map(|intent| intent.id.clone()).chain(built_in).collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

fn parse(text: &str) -> Result<IntentFile, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let file = file.as_object().ok_or("an object is expected")?;
    let mut tools = Vec::new();
    for tool in file.get("tools").and_then(Value::as_array).into_iter().flatten() {
        let name = text_of(tool, "name")?;
        let schema = |member: &str| {
            let schema = tool.get(member).ok_or_else(|| format!("{name} has no {member}"))?;
            let schema = resolved(schema, file, 0).map_err(|reason| format!("{name}, {member}: {reason}"))?;
            match unknown_keyword(&schema) {
                Some(pointer) => Err(format!("{name}, {member}{pointer}: this keyword is not checked here")),
                None => Ok(schema),
            }
        };
        tools.push(ToolFile {
            role: text_of(tool, "role")?,
            widget: text_of(tool, "widget")?,
            input: schema("input")?,
            output: schema("output")?,
            examples: tool.get("examples").and_then(Value::as_array).cloned().unwrap_or_default(),
            name,
        });
    }
    if tools.is_empty() {
        return Err("it has no tools".to_owned());
    }
    let codes = file.get("error_codes").and_then(Value::as_array).into_iter().flatten();
    let file = Value::Object(file.clone());
    // A file without these words is taken: only completions need them.
    let word = |name: &str| {
        let word = file.pointer(&format!("/completion/{name}")).and_then(Value::as_str);
        word.unwrap_or(name).to_owned()
    };
    Ok(IntentFile {
        completion: CompletionWords {
            completed: word("completed"),
            cancelled: word("cancelled"),
            failed: word("failed"),
        },
        id: text_of(&file, "intent")?,
        version: text_of(&file, "intent_version")?,
        error_codes: codes.filter_map(Value::as_str).map(str::to_owned).collect(),
        tools,
    })
}

fn text_of(object: &Value, member: &str) -> Result<String, String> {
    let text = object.get(member).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("`{member}` is required, as a text"))
}

fn resolved(value: &Value, file: &Map<String, Value>, depth: usize) -> Result<Value, String> {
    if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
        if depth >= MAX_DEPTH {
            return Err("the references go in a circle".to_owned());
        }
        let path = reference.strip_prefix("#/").and_then(|path| path.split_once('/'));
        let found = path.and_then(|(section, name)| Some((section, file.get(section)?.get(name)?)));
        return match found {
            Some(("vocabularies", words)) => Ok(json!({"type": "string", "enum": words})),
            Some(("definitions", schema)) => resolved(schema, file, depth + 1),
            Some(_) | None => Err(format!("{} leads nowhere", shown(reference))),
        };
    }
    if let Some(members) = value.as_object() {
        let members = members.iter().map(|(name, value)| Ok((name.clone(), resolved(value, file, depth)?)));
        return members.collect::<Result<Map<String, Value>, String>>().map(Value::Object);
    }
    if let Some(items) = value.as_array() {
        return items.iter().map(|item| resolved(item, file, depth)).collect();
    }
    Ok(value.clone())
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, KnownIntents};

    #[test]
    fn the_intents_built_in_can_be_read() {
        for (id, _) in BUILT_IN {
            let intent = KnownIntents::default().find(id).unwrap().unwrap();
            assert_eq!(intent.id, id);
        }
    }

    #[test]
    fn a_file_that_could_not_be_checked_by_is_refused() {
        let with = |input: &str| {
            let text = format!(
                r##"{{"intent": "a.b", "intent_version": "v1.0.0", "definitions": {{"x": {{"$ref": "#/definitions/x"}}}},
                "tools": [{{"name": "search_a", "role": "search", "widget": "w", "input": {input},
                "output": {{"type": "object"}}}}]}}"##
            );
            KnownIntents::default().add(&text).unwrap_err()
        };
        assert_eq!(with(r#"{"anyOf": []}"#), "search_a, input/anyOf: this keyword is not checked here");
        assert_eq!(with(r##"{"$ref": "#/definitions/y"}"##), "search_a, input: #/definitions/y leads nowhere");
        assert_eq!(with(r##"{"$ref": "#/definitions/x"}"##), "search_a, input: the references go in a circle");
        assert_eq!(KnownIntents::default().add("{}"), Err("it has no tools".to_owned()));
    }
}
