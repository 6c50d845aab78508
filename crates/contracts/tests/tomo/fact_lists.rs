//! The lists of facts against what tools really answer with.

use std::collections::BTreeSet;

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_contracts::tomo::intent::{built_in, parse};
use frontdesk_contracts::tomo::known_facts::{FactGroups, FactKind};
use serde_json::{Map, Value, json};

/// An intent file whose tools may answer with everything that is listed, and must answer with nothing.
pub(crate) fn with_every_fact(id: &str, source: PartnerSource) -> String {
    let text = built_in(id).unwrap();
    let shape = parse(text).unwrap().shape;
    let mut file: Value = serde_json::from_str(text).unwrap();
    for tool in file["tools"].as_array_mut().unwrap() {
        let facts = shape.facts(source, tool["name"].as_str().unwrap());
        tool["output"] = schema(facts);
    }
    file.to_string()
}

fn schema(groups: FactGroups) -> Value {
    let properties: Map<String, Value> = groups
        .iter()
        .copied()
        .flatten()
        .map(|fact| {
            let schema = match fact.kind {
                FactKind::Text => json!({"type": "string"}),
                FactKind::Whole => json!({"type": "integer"}),
                FactKind::Decimal => json!({"type": "number"}),
                FactKind::Boolean => json!({"type": "boolean"}),
                FactKind::Texts => json!({"type": "array", "items": {"type": "string"}}),
                FactKind::Object(of) => schema(of),
                FactKind::List(of) => json!({"type": "array", "items": schema(of)}),
            };
            (fact.name.to_owned(), schema)
        })
        .collect();
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

/// Every listed fact as a dotted path.
pub(crate) fn listed(groups: FactGroups) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for fact in groups.iter().copied().flatten() {
        paths.insert(fact.name.to_owned());
        match fact.kind {
            FactKind::Object(of) | FactKind::List(of) => {
                paths.extend(listed(of).into_iter().map(|below| format!("{}.{below}", fact.name)));
            }
            FactKind::Text | FactKind::Whole | FactKind::Decimal | FactKind::Boolean | FactKind::Texts => {}
        }
    }
    paths
}

/// Every member of an answer as a dotted path, whichever item of a list has it.
pub(crate) fn answered(answer: &Value) -> BTreeSet<String> {
    match answer {
        Value::Object(members) => {
            let below = |(name, value): (&String, &Value)| {
                let paths = answered(value).into_iter().map(|below| format!("{name}.{below}")).collect::<Vec<_>>();
                std::iter::once(name.clone()).chain(paths).collect::<Vec<_>>()
            };
            members.iter().flat_map(below).collect()
        }
        Value::Array(items) => items.iter().flat_map(answered).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}
