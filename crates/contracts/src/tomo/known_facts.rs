//! Which facts a tool can answer with, so that an intent file which requires another one is refused before anything is
//! served. The lists stand next to the code that makes the facts.

use frontdesk_engine::model::schema::{Presence, Schema};
use serde_json::Value;

use super::facts::only_word;
use super::intent::IntentError;

/// A fact that a shape can know. A record may lack it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fact {
    pub name: &'static str,
    pub kind: FactKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FactKind {
    Text,
    Whole,
    Decimal,
    Boolean,
    Texts,
    Object(FactGroups),
    /// Of objects.
    List(FactGroups),
}

/// Facts that stand beside each other, in the groups in which they are made.
pub type FactGroups = &'static [&'static [Fact]];

pub(super) const fn text(name: &'static str) -> Fact {
    Fact { name, kind: FactKind::Text }
}

pub(super) const fn whole(name: &'static str) -> Fact {
    Fact { name, kind: FactKind::Whole }
}

pub(super) const fn decimal(name: &'static str) -> Fact {
    Fact { name, kind: FactKind::Decimal }
}

pub(super) const fn boolean(name: &'static str) -> Fact {
    Fact { name, kind: FactKind::Boolean }
}

pub(super) const fn texts(name: &'static str) -> Fact {
    Fact { name, kind: FactKind::Texts }
}

pub(super) const fn object(name: &'static str, of: FactGroups) -> Fact {
    Fact { name, kind: FactKind::Object(of) }
}

pub(super) const fn list(name: &'static str, of: FactGroups) -> Fact {
    Fact { name, kind: FactKind::List(of) }
}

/// What every search answers with besides.
pub(super) const TOKEN: &[Fact] = &[text("result_token"), text("expires_at")];

/// What a response schema requires and these facts cannot give, each with its place below `pointer`.
pub(super) fn unknown(schema: &Schema, groups: FactGroups, pointer: &str) -> Vec<IntentError> {
    let mut found = Vec::new();
    for field in schema.fields() {
        let below = format!("{pointer}/properties/{}", field.name.replace('~', "~0").replace('/', "~1"));
        match find(groups, field.name) {
            Some(fact) => found.extend(misfit(&field.schema, fact.kind, &below)),
            None if field.presence == Presence::Required && only_word(&field.schema).is_none() => {
                let mut known: Vec<&str> = groups.iter().copied().flatten().map(|fact| fact.name).collect();
                known.sort_unstable();
                let reason =
                    format!("it is required, but nothing of this name is known here; known are {}", known.join(", "));
                found.push(IntentError::new(below, reason));
            }
            None => {}
        }
    }
    found
}

fn find(groups: FactGroups, name: &str) -> Option<&'static Fact> {
    groups.iter().copied().flatten().find(|fact| fact.name == name)
}

/// Why a fact of this kind can never be what the schema says.
fn misfit(schema: &Schema, kind: FactKind, pointer: &str) -> Vec<IntentError> {
    let expected = match (kind, schema) {
        (FactKind::Object(groups), Schema::Object(_) | Schema::Extended { .. }) => {
            return unknown(schema, groups, pointer);
        }
        (FactKind::List(groups), Schema::List { of, .. }) if !of.fields().is_empty() => {
            return unknown(of, groups, &format!("{pointer}/items"));
        }
        (FactKind::Texts, Schema::List { of, .. }) if matches!(**of, Schema::Text(_)) => return Vec::new(),
        (FactKind::Text, Schema::Text(_))
        | (FactKind::Whole, Schema::Integer { .. } | Schema::Number { .. })
        | (FactKind::Decimal, Schema::Number { .. })
        | (FactKind::Boolean, Schema::Boolean) => return Vec::new(),
        (FactKind::Text, _) => "a string",
        (FactKind::Whole, _) => "an integer",
        (FactKind::Decimal, _) => "a number",
        (FactKind::Boolean, _) => "a boolean",
        (FactKind::Texts, _) => "an array of strings",
        // Members that are not listed could be anything, even null.
        (FactKind::Object(_), _) => "an object with properties",
        (FactKind::List(_), _) => "an array of objects with properties",
    };
    vec![IntentError::new(pointer, format!("what is known under this name is {expected}"))]
}

/// The first fact that was made and is not listed, as a dotted path. Null is no fact.
pub(super) fn unlisted(facts: &Value, groups: FactGroups) -> Option<String> {
    let members = facts.as_object()?;
    members.iter().filter(|(_, value)| !value.is_null()).find_map(|(name, value)| {
        let Some(fact) = find(groups, name) else { return Some(name.clone()) };
        let below = match (fact.kind, value) {
            (FactKind::Object(of), _) => unlisted(value, of),
            (FactKind::List(of), Value::Array(items)) => items.iter().find_map(|item| unlisted(item, of)),
            _ => None,
        };
        below.map(|below| format!("{name}.{below}"))
    })
}
