//! From what a shape knows to exactly what an intent's response schema asks for: every member that the schema has, no
//! other, and no null. A record that lacks a fact cannot be offered; that is for the caller of `project` to decide.

use frontdesk_engine::model::schema::{Presence, Schema, TextFormat};
use serde_json::{Map, Value};

/// The member that could not be filled, as a dotted path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFact(pub String);

/// The facts that the schema asks for.
pub fn project(schema: &Schema, facts: &Value) -> Result<Value, MissingFact> {
    pick(schema, facts, Path::Root)
}

/// Whether `project` would succeed, without making what it would return.
pub fn fills(schema: &Schema, facts: &Value) -> bool {
    match (schema, facts) {
        (Schema::Object(fields) | Schema::Extended { fields, .. }, _) => {
            fields.iter().all(|field| match facts.get(field.name).filter(|fact| !is_empty(fact)) {
                Some(fact) => fills(&field.schema, fact),
                None => field.presence == Presence::Optional || only_word(&field.schema).is_some(),
            })
        }
        (Schema::List { of, min, max }, Value::Array(items)) => {
            items.len() >= *min && items.iter().take(*max).all(|item| fills(of, item))
        }
        (Schema::List { .. }, _) => false,
        (_, fact) => schema.accepts(&mut fact.clone()),
    }
}

/// Facts with more of them.
pub(in crate::tomo) fn with(facts: Value, more: Value) -> Value {
    match (facts, more) {
        (Value::Object(mut facts), Value::Object(more)) => {
            facts.extend(more);
            Value::Object(facts)
        }
        (facts, _) => facts,
    }
}

/// A place in the facts; spelled only if something is missing there.
#[derive(Clone, Copy)]
enum Path<'a> {
    Root,
    Name(&'a Path<'a>, &'static str),
    Place(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn missing(self) -> MissingFact {
        MissingFact(self.spelled())
    }

    fn spelled(self) -> String {
        let joined = |above: &Path<'_>, part: &str| match above {
            Path::Root => part.to_owned(),
            Path::Name(..) | Path::Place(..) => format!("{}.{part}", above.spelled()),
        };
        match self {
            Path::Root => String::new(),
            Path::Name(above, name) => joined(above, name),
            Path::Place(above, place) => joined(above, &place.to_string()),
        }
    }
}

fn pick(schema: &Schema, facts: &Value, path: Path<'_>) -> Result<Value, MissingFact> {
    match schema {
        Schema::Object(fields) | Schema::Extended { fields, .. } => {
            let mut object = Map::new();
            for field in fields {
                let below = Path::Name(&path, field.name);
                match (facts.get(field.name).filter(|fact| !is_empty(fact)), only_word(&field.schema)) {
                    (Some(fact), _) => {
                        object.insert(field.name.to_owned(), pick(&field.schema, fact, below)?);
                    }
                    (None, Some(word)) => {
                        object.insert(field.name.to_owned(), Value::from(word));
                    }
                    (None, None) if field.presence == Presence::Required => return Err(below.missing()),
                    (None, None) => {}
                }
            }
            Ok(Value::Object(object))
        }
        Schema::List { of, min, max } => match facts {
            Value::Array(items) if items.len() >= *min => {
                let items = items.iter().take(*max).enumerate();
                items.map(|(place, item)| pick(of, item, Path::Place(&path, place))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                Err(path.missing())
            }
        },
        Schema::Map(_)
        | Schema::AnyObject
        | Schema::Text(_)
        | Schema::Integer { .. }
        | Schema::MinorUnits { .. }
        | Schema::Number { .. }
        | Schema::Boolean
        | Schema::Nullable(_)
        | Schema::Clearable(_)
        | Schema::AnyOf { .. } => {
            let mut fact = facts.clone();
            if schema.accepts(&mut fact) { Ok(fact) } else { Err(path.missing()) }
        }
    }
}

/// Whether it says nothing, even where the schema would take it.
fn is_empty(fact: &Value) -> bool {
    match fact {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// The only word that a text may be, if there is only one: it needs no fact.
pub(super) fn only_word(schema: &Schema) -> Option<&'static str> {
    match schema {
        Schema::Text(TextFormat::OneOf([only])) => Some(only),
        Schema::Text(_)
        | Schema::Object(_)
        | Schema::Extended { .. }
        | Schema::List { .. }
        | Schema::Map(_)
        | Schema::AnyObject
        | Schema::Integer { .. }
        | Schema::MinorUnits { .. }
        | Schema::Number { .. }
        | Schema::Boolean
        | Schema::Nullable(_)
        | Schema::Clearable(_)
        | Schema::AnyOf { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use frontdesk_engine::model::schema::Schema;
    use serde_json::json;

    use super::{MissingFact, fills, project};

    #[test]
    fn t_052_t_053_answers_have_every_member_of_the_schema_and_no_other() {
        let schema = Schema::from_json(&json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "kind", "rooms"],
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "kind": {"type": "string", "const": "hotel"},
                "rooms": {"type": "array", "items": {
                    "type": "object", "additionalProperties": false, "required": ["price_inr"],
                    "properties": {"price_inr": {"type": "integer", "minimum": 0}}
                }},
                "note": {"type": "string"}
            }
        }))
        .unwrap();
        let facts = json!({"name": "Sea View", "secret": 1, "rooms": [{"price_inr": 4200, "cost_inr": 3000}]});
        let expected = json!({"name": "Sea View", "kind": "hotel", "rooms": [{"price_inr": 4200}]});
        assert!(fills(&schema, &facts));
        assert_eq!(project(&schema, &facts), Ok(expected));
        let without = json!({"name": "Sea View", "rooms": [{"price_inr": null}]});
        assert_eq!(project(&schema, &without), Err(MissingFact("rooms.0.price_inr".to_owned())));
        assert!(!fills(&schema, &without));
        let empty = json!({"name": "", "rooms": []});
        assert_eq!(project(&schema, &empty), Err(MissingFact("name".to_owned())), "an empty text is no fact");
        let free = json!({"type": "object", "additionalProperties": false, "required": ["area"],
            "properties": {"area": {"type": "string"}, "note": {"type": "string"}}});
        let free = Schema::from_json(&free).unwrap();
        let missing = Err(MissingFact("area".to_owned()));
        assert_eq!(project(&free, &json!({"area": " "})), missing, "also where the schema would allow it");
        assert_eq!(project(&free, &json!({"area": "Fort", "note": ""})), Ok(json!({"area": "Fort"})));
        let pictures = json!({"type": "array", "minItems": 1, "items": {"type": "string"}});
        let pictures = Schema::from_json(&pictures).unwrap();
        assert_eq!(project(&pictures, &json!([])), Err(MissingFact(String::new())), "too few items are no fact");
    }
}
