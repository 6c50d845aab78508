//! A shape as JSON Schema 2020-12.

use serde_json::{Map, Value, json};

use super::{Field, Presence, Publication, Schema, TextFormat};

impl Schema {
    pub fn to_json(&self) -> Value {
        match self {
            Schema::Object(fields) => object(fields),
            Schema::Extended { fields, extensions } if extensions.publication == Publication::Unpublished => {
                object(fields)
            }
            Schema::Extended { fields, extensions } => {
                let mut shape = object(fields);
                if let Some(shape) = shape.as_object_mut() {
                    let names = json!({extensions.names.pattern: extensions.of.to_json()});
                    shape.insert("patternProperties".to_owned(), names);
                }
                shape
            }
            Schema::AnyObject => json!({"type": "object"}),
            Schema::Map(of) => json!({"type": "object", "additionalProperties": of.to_json()}),
            Schema::List { of, min: 0, max } => {
                json!({"type": "array", "items": of.to_json(), "maxItems": max})
            }
            Schema::List { of, min, max } => {
                json!({"type": "array", "items": of.to_json(), "minItems": min, "maxItems": max})
            }
            Schema::Text(text) => text.to_json(),
            Schema::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
            Schema::MinorUnits { max } => json!({"type": "integer", "minimum": 0, "maximum": max}),
            Schema::Number { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
            Schema::Boolean => json!({"type": "boolean"}),
            Schema::Nullable(of) => or_null(of.to_json()),
            Schema::Clearable(of) => of.to_json(),
            Schema::AnyOf { shapes, .. } => {
                json!({"anyOf": shapes.iter().map(Schema::to_json).collect::<Vec<Value>>()})
            }
        }
    }
}

fn object(fields: &[Field]) -> Value {
    let mut properties = Map::new();
    let mut needed = Vec::new();
    for field in fields {
        let mut shape = field.schema.to_json();
        if let Some(object) = shape.as_object_mut().filter(|_| !field.about.is_empty()) {
            object.insert("description".to_owned(), Value::from(field.about));
        }
        properties.insert(field.name.to_owned(), shape);
        match field.presence {
            Presence::Required => needed.push(Value::from(field.name)),
            Presence::Optional => {}
        }
    }
    let mut object = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !needed.is_empty()
        && let Some(object) = object.as_object_mut()
    {
        object.insert("required".to_owned(), Value::from(needed));
    }
    object
}

/// A word of an `enum` would forbid null again, so such a shape stands beside null instead.
fn or_null(mut shape: Value) -> Value {
    match shape.as_object_mut() {
        Some(object) if !object.contains_key("enum") && object.contains_key("type") => {
            if let Some(kind) = object.get("type").cloned() {
                object.insert("type".to_owned(), json!([kind, "null"]));
            }
            shape
        }
        Some(_) | None => json!({"anyOf": [shape, {"type": "null"}]}),
    }
}

impl TextFormat {
    fn to_json(&self) -> Value {
        match self {
            TextFormat::Free { min, max } => json!({"type": "string", "minLength": min, "maxLength": max}),
            TextFormat::OneOf(words) => json!({"type": "string", "enum": words}),
            TextFormat::Timestamp => json!({"type": "string", "format": "date-time"}),
            TextFormat::Email => json!({"type": "string", "format": "email", "maxLength": 254}),
            TextFormat::Phone => json!({"type": "string", "pattern": "^\\+[1-9][0-9]{6,14}$"}),
            TextFormat::Currency => json!({"type": "string", "pattern": "^[A-Z]{3}$"}),
            TextFormat::Date => json!({"type": "string", "format": "date"}),
            TextFormat::HttpsUrl => json!({"type": "string", "format": "uri", "pattern": "^https://"}),
            TextFormat::Matching(pattern) => pattern.to_json(),
            TextFormat::Pattern(form) => json!({"type": "string", "pattern": form.pattern}),
        }
    }
}
