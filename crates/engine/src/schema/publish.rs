//! A shape as JSON Schema 2020-12.

use serde_json::{Map, Value, json};

use super::{Presence, Schema, Text};

impl Schema {
    pub fn to_json(&self) -> Value {
        match self {
            Schema::Object(fields) => {
                let mut properties = Map::new();
                let mut needed = Vec::new();
                for field in fields {
                    let mut shape = field.shape.to_json();
                    if let Some(object) = shape.as_object_mut() {
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
            Schema::List { of, most } => json!({"type": "array", "items": of.to_json(), "maxItems": most}),
            Schema::Text(text) => text.to_json(),
            Schema::Integer { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
            Schema::Boolean => json!({"type": "boolean"}),
        }
    }
}

impl Text {
    fn to_json(&self) -> Value {
        match self {
            Text::Free { least, most } => json!({"type": "string", "minLength": least, "maxLength": most}),
            Text::OneOf(words) => json!({"type": "string", "enum": words}),
            Text::Instant => json!({"type": "string", "format": "date-time"}),
            Text::Email => json!({"type": "string", "format": "email", "maxLength": 254}),
            Text::Phone => json!({"type": "string", "pattern": "^\\+[1-9][0-9]{6,14}$"}),
            Text::Currency => json!({"type": "string", "pattern": "^[A-Z]{3}$"}),
        }
    }
}
