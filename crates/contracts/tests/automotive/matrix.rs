//! Every tool with every single scope, for the caller's own dealership, for another one and for none, generated from the
//! tools themselves.

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::Scope;
use frontdesk_engine::model::schema::{Presence, Schema, TextFormat};
use frontdesk_engine::model::tool::ToolSpec;
use serde_json::{Map, Value, json};

use super::support::TestDesk;

/// A value that the schema accepts; whether anything like it exists is another question.
fn sample(schema: &Schema) -> Value {
    match schema {
        Schema::Object(fields) | Schema::Extended { fields, .. } => {
            let required = fields.iter().filter(|field| field.presence == Presence::Required);
            Value::Object(required.map(|field| (field.name.to_owned(), sample(&field.schema))).collect())
        }
        Schema::Map(_) | Schema::AnyObject => json!({}),
        Schema::List { of, min, .. } => Value::Array((0..*min).map(|_| sample(of)).collect()),
        Schema::Text(TextFormat::OneOf(words)) => json!(words[0]),
        Schema::Text(TextFormat::Timestamp) => json!("2026-02-02T15:00:00Z"),
        Schema::Text(TextFormat::Email) => json!("dana@example.com"),
        Schema::Text(TextFormat::Phone) => json!("+15125550123"),
        Schema::Text(TextFormat::Currency) => json!("USD"),
        Schema::Text(TextFormat::Free { min, .. }) => json!("x".repeat(*min)),
        Schema::Text(TextFormat::Pattern(pattern)) => panic!("no sample of {}", pattern.pattern),
        Schema::Text(TextFormat::Date | TextFormat::HttpsUrl | TextFormat::Matching(_)) => {
            panic!("no tool of this contract has one")
        }
        Schema::Integer { min, .. } => json!(min),
        Schema::Number { min, .. } => json!(min),
        Schema::MinorUnits { .. } => json!(0),
        Schema::Boolean => json!(true),
        Schema::Nullable(of) | Schema::Clearable(of) => sample(of),
        Schema::AnyOf { shapes, .. } => sample(&shapes[0]),
    }
}

fn arguments(spec: &ToolSpec, dealership: Option<&str>) -> Value {
    let Value::Object(mut arguments) = sample(&spec.input) else { panic!("{} takes no object", spec.name) };
    arguments.extend(dealership.map(|id| ("dealership_id".to_owned(), json!(id))));
    Value::Object(arguments)
}

/// The HTTP status, and the code of an error.
fn answer(desk: &TestDesk, token: &str, spec: &ToolSpec, dealership: Option<&str>) -> (u16, Option<String>) {
    let params = json!({"name": spec.name, "arguments": arguments(spec, dealership)});
    let reply = desk.send(token, "tools/call", params);
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    let error = body.pointer("/result/structuredContent/error/code").or_else(|| body.pointer("/error/code"));
    (reply.status, error.and_then(Value::as_str).map(str::to_owned))
}

#[test]
fn every_tool_scope_and_tenant_gives_its_answer() {
    let desk = TestDesk::open();
    let contract = contract();
    let mut admitted = 0;
    for spec in contract.tools.iter().map(|tool| &tool.spec) {
        let sent: Map<String, Value> = arguments(spec, None).as_object().unwrap().clone();
        for scope in contract.scopes.iter().map(Scope::as_str) {
            let granted = frontdesk_engine::Scopes::parse(scope).unwrap();
            let is_admitted = spec.scope.missing(&sent, &granted).is_none();
            let what = format!("{} with {scope}", spec.name);
            let own = answer(&desk, &format!("dlr_lakeside/{scope}"), spec, Some("dlr_lakeside"));
            let other = answer(&desk, &format!("dlr_lakeside/{scope}"), spec, Some("dlr_summit"));
            let none = answer(&desk, &format!("dlr_lakeside,dlr_summit/{scope}"), spec, None);
            let code = |answer: &(u16, Option<String>)| answer.1.clone().unwrap_or_default();
            if is_admitted {
                admitted += 1;
                assert_eq!(own.0, 200, "{what}");
                assert!(!code(&own).starts_with("auth."), "{what}: {own:?}");
                assert_eq!(code(&other), "dealership.forbidden", "{what}: {other:?}");
                assert_eq!(code(&none), "dealership.required", "{what}: {none:?}");
            } else {
                // Whoever lacks the scope learns nothing else.
                for answer in [own, other, none] {
                    assert_eq!((answer.0, code(&answer).as_str()), (403, "auth.insufficient_scope"), "{what}");
                }
            }
        }
    }
    assert!(admitted >= contract.tools.len(), "every tool was admitted once");
}
