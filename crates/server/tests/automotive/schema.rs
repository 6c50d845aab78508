//! A small judge of JSON Schema: enough for what is published here, and strict about the rest, so that
//! a keyword it does not know is a failure and never a pass.

use serde_json::Value;

/// Where a value does not fit its schema, and by which rule.
pub(crate) fn misfits(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(schema, schema, value, "", &mut found);
    found
}

/// `root` holds the definitions.
fn visit(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().unwrap() {
        let holds = match keyword.as_str() {
            "description" | "properties" | "items" | "$defs" => true,
            "$ref" => {
                let target = root.pointer(rule.as_str().unwrap().trim_start_matches('#')).unwrap();
                visit(root, target, value, at, found);
                true
            }
            "type" => is(rule.as_str().unwrap(), value),
            "oneOf" => rule.as_array().unwrap().iter().filter(|one| fits(root, one, value)).count() == 1,
            "enum" => rule.as_array().unwrap().contains(value),
            "required" => rule.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
            "additionalProperties" => {
                assert_eq!(rule, &Value::from(false), "{at}");
                // The names of vendors' fields are the only pattern there is.
                let allowed = |name: &String| {
                    schema["properties"].get(name).is_some()
                        || (schema.get("patternProperties").is_some() && name.starts_with("x_"))
                };
                value.as_object().is_some_and(|object| object.keys().all(allowed))
            }
            "patternProperties" => {
                let patterns: Vec<&String> = rule.as_object().unwrap().keys().collect();
                patterns == ["^x_[a-z0-9]+_[a-z0-9_]+$"]
            }
            "maxItems" => value.as_array().is_some_and(|items| items.len() as u64 <= rule.as_u64().unwrap()),
            "minimum" => value.as_i64().is_some_and(|number| number >= rule.as_i64().unwrap()),
            "maximum" => value.as_i64().is_some_and(|number| number <= rule.as_i64().unwrap()),
            "minLength" => length(value).is_some_and(|length| length >= rule.as_u64().unwrap()),
            "maxLength" => length(value).is_some_and(|length| length <= rule.as_u64().unwrap()),
            "pattern" => value.as_str().is_some_and(|text| matches(rule.as_str().unwrap(), text)),
            "format" => value.as_str().is_some_and(|text| formed(rule.as_str().unwrap(), text)),
            unknown => panic!("{at}: the judge does not know `{unknown}`"),
        };
        if !holds {
            found.push(format!("{at}: {keyword}"));
        }
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            visit(root, field, value, &format!("{at}/{name}"), found);
        }
    }
    for (position, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(items) = schema.get("items") {
            visit(root, items, item, &format!("{at}/{position}"), found);
        }
    }
}

fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut found = Vec::new();
    visit(root, schema, value, "", &mut found);
    found.is_empty()
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        unknown => panic!("the judge does not know the type `{unknown}`"),
    }
}

fn length(value: &Value) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern {
        "^[A-Z]{3}$" => text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase()),
        unknown => panic!("the judge does not know the pattern `{unknown}`"),
    }
}

fn formed(format: &str, text: &str) -> bool {
    match format {
        "date-time" => is_instant(text),
        unknown => panic!("the judge does not know the format `{unknown}`"),
    }
}

/// `2026-01-31T09:30:00`, perhaps a fraction, and always an offset (A3-32).
pub(crate) fn is_instant(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (Some(moment), Some(rest)) = (text.get(..19), text.get(19..)) else { return false };
    let shape: String = moment.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|letter: char| letter.is_ascii_digit()),
        None => rest,
    };
    let named = offset.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':'));
    let offset_is_written = offset == "Z"
        || named
            .is_some_and(|(hours, minutes)| hours.len() == 2 && minutes.len() == 2 && digits(hours) && digits(minutes));
    shape == "0000-00-00T00:00:00" && offset_is_written
}

#[test]
fn the_schema_validator_reports_mismatches() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": ["new", "unknown"]},
            "amount": {"type": "integer", "minimum": 0, "maximum": 9},
            "at": {"type": "string", "format": "date-time"},
            "names": {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2},
        },
        "required": ["status"],
        "additionalProperties": false,
    });
    let judged = |value: serde_json::Value| misfits(&schema, &value).join(" ");
    assert_eq!(judged(serde_json::json!({"status": "new", "amount": 9, "at": "2026-01-31T09:30:00.5+02:00"})), "");
    assert_eq!(judged(serde_json::json!({})), ": required");
    assert_eq!(judged(serde_json::json!({"status": "weird!"})), "/status: enum");
    assert_eq!(judged(serde_json::json!({"status": "new", "more": 1})), ": additionalProperties");
    assert_eq!(
        judged(serde_json::json!({"status": "new", "amount": 1.5})),
        "/amount: maximum /amount: minimum /amount: type"
    );
    assert_eq!(judged(serde_json::json!({"status": "new", "at": "2026-01-31T09:30:00"})), "/at: format");
    assert_eq!(judged(serde_json::json!({"status": "new", "names": ["Dana"]})), "/names/0: maxLength");
}
