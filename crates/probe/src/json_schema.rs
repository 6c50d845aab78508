//! A check of JSON against the JSON Schema of an intent file, and of one schema against another. Only the keywords that
//! intent files use are known; a file with another one is refused, because it would not be checked.

use regex_lite::RegexBuilder;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const KEYWORDS: [&str; 20] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "enum",
    "const",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "description",
    "title",
    "$comment",
    "examples",
    "$schema",
];

/// The first keyword that would not be checked, by its pointer.
pub(crate) fn unknown_keyword(schema: &Value) -> Option<String> {
    let members = schema.as_object()?;
    if let Some(name) = members.keys().find(|name| !KEYWORDS.contains(&name.as_str())) {
        return Some(format!("/{name}"));
    }
    for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(found) = unknown_keyword(property) {
            return Some(format!("/properties/{name}{found}"));
        }
    }
    ["items", "additionalProperties"]
        .into_iter()
        .find_map(|below| unknown_keyword(members.get(below)?).map(|found| format!("/{below}{found}")))
}

/// Everything that is wrong with an answer, as `pointer: reason`. Beyond the schema, an answer has no null and no empty
/// text: both would be placeholders.
pub(crate) fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, pointer: &str, found: &mut Vec<String>) {
    let mut wrong = |reason: String| {
        let place = if pointer.is_empty() { "the answer" } else { pointer };
        found.push(format!("{place} {reason}"));
    };
    if value.is_null() {
        return wrong("is null".to_owned());
    }
    if value.as_str().is_some_and(str::is_empty) {
        return wrong("is an empty text".to_owned());
    }
    if let Some(kind) = schema.get("type").and_then(Value::as_str)
        && !is_of(kind, value)
    {
        return wrong(format!("is not of the type {kind}"));
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        let words: Vec<String> = words.iter().map(plain).collect();
        return wrong(format!("is none of {}", words.join(", ")));
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        return wrong(format!("is not {}", plain(only)));
    }
    if let Some(text) = value.as_str() {
        for reason in text_problems(schema, text) {
            wrong(reason);
        }
    }
    if let Some(number) = value.as_f64() {
        for (keyword, words, holds) in [
            ("minimum", "is less than", (|number, bound| number >= bound) as fn(f64, f64) -> bool),
            ("maximum", "is more than", |number, bound| number <= bound),
        ] {
            if let Some(bound) = schema.get(keyword)
                && !bound.as_f64().is_none_or(|bound| holds(number, bound))
            {
                wrong(format!("{words} {bound}"));
            }
        }
    }
    if let Some(members) = value.as_object() {
        check_object(schema, members, pointer, found);
    }
    if let Some(items) = value.as_array() {
        check_list(schema, items, pointer, found);
    }
}

fn check_object(schema: &Value, members: &Map<String, Value>, pointer: &str, found: &mut Vec<String>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            found.push(format!("{pointer}/{name} is missing"));
        }
    }
    for (name, member) in members {
        let below = format!("{pointer}/{}", crate::report::shown(name));
        match (properties.and_then(|properties| properties.get(name)), schema.get("additionalProperties")) {
            (Some(property), _) => check(property, member, &below, found),
            (None, Some(Value::Bool(false))) => found.push(format!("{below} is not in the response shape")),
            (None, Some(of @ Value::Object(_))) => check(of, member, &below, found),
            (None, Some(_) | None) => {}
        }
    }
}

fn check_list(schema: &Value, items: &[Value], pointer: &str, found: &mut Vec<String>) {
    let place = if pointer.is_empty() { "the answer" } else { pointer };
    let bound =
        |keyword: &str| schema.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    if let Some(min) = bound("minItems").filter(|min| items.len() < *min) {
        found.push(format!("{place} has {} items; at least {min} are expected", items.len()));
    }
    if let Some(max) = bound("maxItems").filter(|max| items.len() > *max) {
        found.push(format!("{place} has {} items; at most {max} are allowed", items.len()));
    }
    if let Some(of) = schema.get("items") {
        for (place, item) in items.iter().enumerate() {
            check(of, item, &format!("{pointer}/{place}"), found);
        }
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => false,
    }
}

/// Patterns and texts are the server's that is judged, and the time of a match grows with both.
fn matches(pattern: &str, text: &str) -> bool {
    const MAX_PATTERN: usize = 32 << 10;
    const MAX_TEXT: usize = 16 << 10;
    let pattern = RegexBuilder::new(pattern).size_limit(MAX_PATTERN).build();
    text.len() <= MAX_TEXT && pattern.is_ok_and(|pattern| pattern.is_match(text))
}

fn text_problems(schema: &Value, text: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    let length = text.chars().count();
    let bound =
        |keyword: &str| schema.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    if let Some(min) = bound("minLength").filter(|min| length < *min) {
        reasons.push(format!("has {length} characters; at least {min} are expected"));
    }
    if let Some(max) = bound("maxLength").filter(|max| length > *max) {
        reasons.push(format!("has {length} characters; at most {max} are allowed"));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
        && !matches(pattern, text)
    {
        reasons.push(format!("does not match {pattern}"));
    }
    let format = schema.get("format").and_then(Value::as_str);
    let fits = match format {
        Some("date-time") => timestamp(text).is_some(),
        Some("date") => text.len() == 10 && timestamp(&format!("{text}T00:00:00Z")).is_some(),
        Some("uri") => text.starts_with("https://") && text.bytes().all(|byte| byte.is_ascii_graphic()),
        Some("email") => text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')),
        Some(_) | None => true,
    };
    if !fits {
        reasons.push(format!("has not the format {}", format.unwrap_or_default()));
    }
    reasons
}

pub(crate) fn timestamp(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

/// How a published input differs from the one of the intent, as `pointer: difference`. Bounds that only the server names
/// are its own affair; those of the intent must be there.
pub(crate) fn differences(intent: &Value, published: &Value, free: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    compare(intent, published, "", free, &mut found);
    found
}

fn compare(intent: &Value, published: &Value, pointer: &str, free: &[&str], found: &mut Vec<String>) {
    let place = if pointer.is_empty() { "the input" } else { pointer };
    if intent.get("type") != published.get("type") {
        let kind = |schema: &Value| schema.get("type").map_or("nothing".to_owned(), plain);
        return found.push(format!("{place} has the type {}; the intent says {}", kind(published), kind(intent)));
    }
    let (wanted, given) = (words(intent), words(published));
    if wanted != given {
        let listed = |words: &[String]| if words.is_empty() { "any value".to_owned() } else { words.join(", ") };
        found.push(format!("{place} allows {}; the intent says {}", listed(&given), listed(&wanted)));
    }
    for keyword in ["format", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"] {
        let wanted = intent.get(keyword).filter(|wanted| !is_default(keyword, wanted));
        if let Some(wanted) = wanted
            && !is_equal(wanted, published.get(keyword))
        {
            let given = published.get(keyword).map_or("nothing".to_owned(), plain);
            found.push(format!("{place} has the {keyword} {given}; the intent says {}", plain(wanted)));
        }
    }
    let empty = Map::new();
    let properties = |schema: &'_ Value| schema.get("properties").and_then(Value::as_object).cloned();
    let wanted = properties(intent).unwrap_or_else(|| empty.clone());
    let given = properties(published).unwrap_or(empty);
    for (name, property) in &wanted {
        match given.get(name) {
            Some(published) => compare(property, published, &format!("{pointer}/{name}"), &[], found),
            None => found.push(format!("{pointer}/{name} is missing")),
        }
    }
    for name in given.keys().filter(|name| !wanted.contains_key(*name) && !free.contains(&name.as_str())) {
        found.push(format!("{pointer}/{} is not in the intent", crate::report::shown(name)));
    }
    let (wanted, given) = (required(intent), required(published));
    for name in wanted.iter().filter(|name| !given.contains(name)) {
        found.push(format!("{pointer}/{name} is not in required"));
    }
    for name in given.iter().filter(|name| !wanted.contains(name) && !free.contains(&name.as_str())) {
        found.push(format!("{pointer}/{} is in required; the intent does not ask for it", crate::report::shown(name)));
    }
    if let Some(wanted) = intent.get("items") {
        match published.get("items") {
            Some(given) => compare(wanted, given, &format!("{pointer}/items"), &[], found),
            None => found.push(format!("{place} does not say what its items are")),
        }
    }
}

/// The values that are allowed: `const` and an `enum` of one word say the same.
fn words(schema: &Value) -> Vec<String> {
    let only = schema.get("const").into_iter();
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let mut words: Vec<String> = only.chain(listed).map(plain).collect();
    words.sort();
    words
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn is_default(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "minLength" | "minItems") && value.as_u64() == Some(0)
}

fn is_equal(wanted: &Value, given: Option<&Value>) -> bool {
    match (wanted.as_f64(), given.and_then(Value::as_f64)) {
        (Some(wanted), Some(given)) => wanted == given,
        (Some(_), None) | (None, Some(_)) => false,
        (None, None) => given == Some(wanted),
    }
}

fn plain(value: &Value) -> String {
    crate::report::shown(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{differences, problems, unknown_keyword};

    #[test]
    fn a_pattern_that_is_too_large_is_not_tried() {
        let schema = json!({"type": "string", "pattern": "^((a|b|c){100}){100}$"});
        assert_eq!(problems(&schema, &json!("a".repeat(10_000))).len(), 1);
        let schema = json!({"type": "string", "pattern": "a"});
        assert_eq!(problems(&schema, &json!("a".repeat(10_000))).len(), 0);
        assert_eq!(problems(&schema, &json!("a".repeat(1 << 20))).len(), 1, "too long to be matched");
    }

    #[test]
    fn every_rule_is_checked_and_named() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["id", "at", "rooms"],
            "properties": {
                "id": {"type": "string", "pattern": "^h_[0-9]+$", "maxLength": 4},
                "at": {"type": "string", "format": "date-time"},
                "kind": {"type": "string", "enum": ["hotel", "hostel"]},
                "stars": {"type": "integer", "minimum": 1, "maximum": 5},
                "rooms": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 2}},
                "day": {"type": "string", "format": "date"}
            }
        });
        let right =
            json!({"id": "h_1", "at": "2026-01-31T09:30:00+05:30", "rooms": ["ok"], "stars": 5, "day": "2026-02-28"});
        assert_eq!(problems(&schema, &right), [""; 0]);
        let wrong = json!({
            "id": "x_123", "kind": "villa", "stars": 6, "rooms": ["a", "", null], "day": "2026-02-30", "extra": 1
        });
        assert_eq!(
            problems(&schema, &wrong),
            [
                "/at is missing",
                "/day has not the format date",
                "/extra is not in the response shape",
                "/id has 5 characters; at most 4 are allowed",
                "/id does not match ^h_[0-9]+$",
                "/kind is none of hotel, hostel",
                "/rooms/0 has 1 characters; at least 2 are expected",
                "/rooms/1 is an empty text",
                "/rooms/2 is null",
                "/stars is more than 5",
            ]
        );
        assert_eq!(problems(&schema, &json!([])), ["the answer is not of the type object"]);
    }

    #[test]
    fn inputs_are_compared_by_what_they_ask_for() {
        let intent = json!({
            "type": "object", "required": ["city", "nights"],
            "properties": {
                "city": {"type": "string", "const": "Pune"},
                "nights": {"type": "integer", "minimum": 1},
                "tags": {"type": "array", "items": {"type": "string"}}
            }
        });
        let same = json!({
            "type": "object", "required": ["nights", "city", "intent"], "additionalProperties": false,
            "properties": {
                "city": {"type": "string", "enum": ["Pune"]},
                "nights": {"type": "integer", "minimum": 1, "maximum": 9007199254740991_i64},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 4000}},
                "intent": {"type": "string"}
            }
        });
        assert_eq!(differences(&intent, &same, &["intent"]), [""; 0]);
        let other = json!({
            "type": "object", "required": ["city", "more"],
            "properties": {
                "city": {"type": "string"},
                "nights": {"type": "string"},
                "tags": {"type": "array"},
                "more": {"type": "string"}
            }
        });
        assert_eq!(
            differences(&intent, &other, &["intent"]),
            [
                "/city allows any value; the intent says Pune",
                "/nights has the type string; the intent says integer",
                "/tags does not say what its items are",
                "/more is not in the intent",
                "/nights is not in required",
                "/more is in required; the intent does not ask for it",
            ]
        );
    }

    #[test]
    fn keywords_that_would_not_be_checked_are_found() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"oneOf": []}}}});
        assert_eq!(unknown_keyword(&schema).as_deref(), Some("/properties/a/items/oneOf"));
    }
}
