//! Schemas of files: what becomes one of ours, and what is refused with its place.

use frontdesk_engine::model::schema::Schema;
use serde_json::{Value, json};

#[test]
fn a_schema_of_a_file_checks_what_it_says() {
    let schema = Schema::from_json(&json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["day", "code"],
        "properties": {
            "day": {"type": "string", "format": "date", "description": "A day."},
            "code": {"type": "string", "pattern": "^[A-Z]{2}$", "maxLength": 2},
            "link": {"type": "string", "format": "uri"},
            "rating": {"type": "number", "minimum": 0, "maximum": 5},
            "kinds": {"type": "array", "maxItems": 1, "items": {"type": "string", "enum": ["a", "b"]}},
            "version": {"type": "integer", "const": 3},
            "more": {"type": "object"},
            "prices": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        },
    }))
    .unwrap();
    let problems = |value: Value| -> Vec<String> {
        schema.problems(&value).iter().map(|problem| format!("{}: {}", problem.pointer, problem.reason())).collect()
    };
    let right = json!({
        "day": "2028-02-29", "code": "IN", "link": "https://a.example/x", "rating": 4.5, "kinds": ["a"], "version": 3,
        "more": {"x": [1]}, "prices": {"room": 4200},
    });
    assert_eq!(problems(right), [""; 0]);
    let wrong = json!({
        "day": "2026-02-29", "code": "ind", "link": "http://a.example", "rating": 5.1, "kinds": ["c"], "version": 4,
        "prices": {"room": -1}, "extra": 1,
    });
    let mut found = problems(wrong);
    found.sort();
    assert_eq!(
        found,
        [
            "/code: it must match ^[A-Z]{2}$.",
            "/day: a date is expected, such as 2026-01-31.",
            "/kinds/0: one of these is expected: a, b.",
            "/link: an https URL is expected.",
            "/prices: it must be at least 0.",
            "/rating: it must be at most 5.",
            "/version: it must be at most 3.",
            ": only these are known: code, day, kinds, link, more, prices, rating, version.",
        ]
    );
}

#[test]
fn what_would_not_be_checked_is_refused_with_its_place() {
    let property = |schema: Value| {
        let object = json!({"type": "object", "additionalProperties": false, "properties": {"a/b": schema}});
        Schema::from_json(&object).unwrap_err().to_string()
    };
    for (schema, error) in [
        (
            json!({"type": "string", "contentEncoding": "x"}),
            "/properties/a~1b/contentEncoding: this keyword would not be checked here",
        ),
        (
            json!({"type": "string", "enum": ["a"], "maxLength": 1}),
            "/properties/a~1b/maxLength: this keyword would not be checked here",
        ),
        (
            json!({"type": "string", "format": "hostname"}),
            "/properties/a~1b: format must be one of date-time, date, email and uri",
        ),
        (
            json!({"type": "string", "pattern": "("}),
            "/properties/a~1b: pattern is no regular expression that we can check",
        ),
        (
            // Each character of a text would be compared with a hundred thousand states.
            json!({"type": "string", "pattern": "^((a|b|c){100}){100}$"}),
            "/properties/a~1b: pattern is no regular expression that we can check",
        ),
        (json!({"type": "string", "enum": []}), "/properties/a~1b: enum needs at least one word"),
        (json!({"type": ["string", "null"]}), "/properties/a~1b: `type` is required, as one word"),
        (
            json!({"type": "null"}),
            "/properties/a~1b: the type \"null\" is not one of object, array, string, integer, number and boolean",
        ),
        (json!({"type": "array"}), "/properties/a~1b: `items` is required"),
        (json!({"type": "array", "items": {"oneOf": []}}), "/properties/a~1b/items: `type` is required, as one word"),
        (json!({"type": "integer", "minimum": 0.5}), "/properties/a~1b: minimum must be an integer"),
        (
            json!({"type": "object", "required": ["x"]}),
            "/properties/a~1b: `required` without `properties` cannot be checked",
        ),
        (
            json!({"type": "object", "additionalProperties": false, "properties": {}, "required": ["x"]}),
            "/properties/a~1b: \"x\" is required, but no property",
        ),
        (
            json!({"type": "object", "properties": {}}),
            "/properties/a~1b: an object with `properties` needs `additionalProperties: false`: other members are refused",
        ),
        (json!(true), "/properties/a~1b: an object with `type` is expected"),
    ] {
        assert_eq!(property(schema), error);
    }
}

#[test]
fn a_schema_that_is_nested_without_end_is_refused() {
    let mut schema = json!({"type": "string"});
    for _ in 0..40 {
        schema = json!({"type": "array", "items": schema});
    }
    let error = Schema::from_json(&schema).unwrap_err();
    assert_eq!(error.reason, "the schema is nested too deeply");
}
