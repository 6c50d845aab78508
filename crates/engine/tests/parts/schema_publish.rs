//! Shapes as JSON Schema.

use frontdesk_engine::model::schema::{Pattern, Schema, TextFormat, optional, required};
use serde_json::json;

static EVEN: Pattern = Pattern { pattern: "^(..)*$", fits: |text| text.len() % 2 == 0, expected: "pairs are expected" };

#[test]
fn every_shape_is_published_with_the_rules_it_is_checked_by() {
    for (shape, published) in [
        (Schema::text(9), json!({"type": "string", "minLength": 1, "maxLength": 9})),
        (Schema::Text(TextFormat::Free { min: 0, max: 2 }), json!({"type": "string", "minLength": 0, "maxLength": 2})),
        (Schema::one_of(&["a", "b"]), json!({"type": "string", "enum": ["a", "b"]})),
        (Schema::Text(TextFormat::Timestamp), json!({"type": "string", "format": "date-time"})),
        (Schema::Text(TextFormat::Email), json!({"type": "string", "format": "email", "maxLength": 254})),
        (Schema::Text(TextFormat::Phone), json!({"type": "string", "pattern": "^\\+[1-9][0-9]{6,14}$"})),
        (Schema::Text(TextFormat::Currency), json!({"type": "string", "pattern": "^[A-Z]{3}$"})),
        (Schema::integer(-1, 7), json!({"type": "integer", "minimum": -1, "maximum": 7})),
        (Schema::Boolean, json!({"type": "boolean"})),
        (Schema::list(Schema::Boolean, 3), json!({"type": "array", "items": {"type": "boolean"}, "maxItems": 3})),
        (
            Schema::non_empty_list(Schema::Boolean, 3),
            json!({"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3}),
        ),
        (Schema::Text(TextFormat::Pattern(&EVEN)), json!({"type": "string", "pattern": "^(..)*$"})),
        (Schema::nullable(Schema::Boolean), json!({"type": ["boolean", "null"]})),
        (
            Schema::nullable(Schema::one_of(&["a"])),
            json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
        ),
        (Schema::map(Schema::Boolean), json!({"type": "object", "additionalProperties": {"type": "boolean"}})),
        (
            Schema::AnyOf { shapes: vec![Schema::Boolean, Schema::integer(0, 1)], expected: "x" },
            json!({"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 0, "maximum": 1}]}),
        ),
        (Schema::object([]), json!({"type": "object", "properties": {}, "additionalProperties": false})),
    ] {
        assert_eq!(shape.to_json(), published);
    }
}

#[test]
fn an_object_schema_has_fields_meanings_and_required() {
    let inner = Schema::object([required("c", Schema::Boolean, "See.")]);
    let schema = Schema::object([required("a", Schema::Boolean, "Eh."), optional("b", inner, "Be.")]);
    assert_eq!(
        schema.to_json(),
        json!({
            "type": "object",
            "properties": {
                "a": {"type": "boolean", "description": "Eh."},
                "b": {
                    "type": "object",
                    "properties": {"c": {"type": "boolean", "description": "See."}},
                    "required": ["c"],
                    "additionalProperties": false,
                    "description": "Be."
                }
            },
            "required": ["a"],
            "additionalProperties": false
        })
    );
}
