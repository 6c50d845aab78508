//! Arguments to call a tool with, from the example of its intent.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::intent::IntentFile;

/// The answers so far, by tool.
pub(super) type Answers = BTreeMap<String, Value>;

/// The example with every `{{tool:/pointer}}` replaced by what that tool has answered.
pub(super) fn filled_in(example: &Value, answers: &Answers) -> Result<Value, String> {
    if let Some(text) = example.as_str() {
        let Some(inner) = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")) else {
            return Ok(example.clone());
        };
        let (tool, pointer) = inner.split_once(':').unwrap_or((inner, ""));
        let found = answers.get(tool).and_then(|answer| answer.pointer(pointer));
        return found.cloned().ok_or_else(|| format!("its example needs {pointer} of {tool}, which was not answered"));
    }
    if let Some(members) = example.as_object() {
        let members = members.iter().map(|(name, value)| Ok((name.clone(), filled_in(value, answers)?)));
        return members.collect::<Result<Map<String, Value>, String>>().map(Value::Object);
    }
    if let Some(items) = example.as_array() {
        return items.iter().map(|item| filled_in(item, answers)).collect();
    }
    Ok(example.clone())
}

/// The tools whose answers an example needs.
pub(super) fn needed(example: &Value) -> Vec<&str> {
    if let Some(text) = example.as_str() {
        let inner = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}"));
        return inner.map(|inner| inner.split_once(':').map_or(inner, |(tool, _)| tool)).into_iter().collect();
    }
    let members = example.as_object().into_iter().flat_map(|members| members.values());
    let items = example.as_array().into_iter().flatten();
    members.chain(items).flat_map(needed).collect()
}

/// The arguments as TOMO sends them (§3): with the common ones, each session and key used once.
pub(super) fn as_sent(arguments: Value, intent: &IntentFile, unique: &str) -> Value {
    let mut arguments = arguments;
    if let Some(members) = arguments.as_object_mut() {
        members.insert("intent".to_owned(), json!(intent.id));
        members.insert("intent_version".to_owned(), json!(intent.version));
        members.insert("request_id".to_owned(), json!(format!("req_{unique}")));
        members.insert("user_session_id".to_owned(), json!(format!("anon_{unique}")));
        members.entry("context").or_insert_with(|| json!({}));
        if members.contains_key("idempotency_key") {
            members.insert("idempotency_key".to_owned(), json!(format!("key_{unique}")));
        }
    }
    arguments
}

/// The same arguments with one difference that the schema allows: another body under the same key. None if there is none.
pub(super) fn altered(arguments: &Value, schema: &Value) -> Option<Value> {
    let mut changed = arguments.clone();
    change(&mut changed, schema, "").then_some(changed)
}

/// Texts that name a thing or the call itself are left alone: a change there would be another mistake.
fn is_free(name: &str) -> bool {
    let names_a_thing = ["id", "ref", "token", "key", "intent", "intent_version"];
    !names_a_thing.iter().any(|word| name == *word || name.ends_with(&format!("_{word}")))
}

fn change(value: &mut Value, schema: &Value, name: &str) -> bool {
    if let Some(members) = value.as_object_mut() {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return false };
        return members
            .iter_mut()
            .filter(|(name, _)| is_free(name))
            .any(|(name, member)| properties.get(name).is_some_and(|schema| change(member, schema, name)));
    }
    let is_bound = ["enum", "const", "format", "pattern"].iter().any(|keyword| schema.get(keyword).is_some());
    let Some(text) = value.as_str().filter(|_| !is_bound && !name.is_empty()) else { return false };
    let longer = format!("{text} B");
    let max = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let fits = u64::try_from(longer.chars().count()).is_ok_and(|length| length <= max);
    if fits {
        *value = Value::from(longer);
    }
    fits
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Answers, altered, filled_in};

    #[test]
    fn placeholders_become_what_was_answered() {
        let answers = Answers::from([("search_a".to_owned(), json!({"items": [{"id": "h_1", "price": 5}]}))]);
        let example = json!({"id": "{{search_a:/items/0/id}}", "list": ["{{search_a:/items/0/price}}"], "plain": "x"});
        assert_eq!(filled_in(&example, &answers), Ok(json!({"id": "h_1", "list": [5], "plain": "x"})));
        assert_eq!(
            filled_in(&json!("{{create_a:/ref}}"), &answers),
            Err("its example needs /ref of create_a, which was not answered".to_owned())
        );
    }

    #[test]
    fn another_body_differs_in_one_text_that_is_free() {
        let schema = json!({"properties": {
            "customer": {"properties": {"name": {"type": "string"}, "phone": {"type": "string", "pattern": "^x$"}}},
            "listing_id": {"type": "string"}
        }});
        let arguments = json!({"customer": {"name": "A", "phone": "x"}, "listing_id": "h_1"});
        assert_eq!(
            altered(&arguments, &schema),
            Some(json!({"customer": {"name": "A B", "phone": "x"}, "listing_id": "h_1"}))
        );
        assert_eq!(altered(&json!({"listing_id": "h_1"}), &schema), None);
    }
}
