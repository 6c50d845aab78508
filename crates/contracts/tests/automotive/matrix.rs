//! Every tool with every single scope, for the caller's own dealership, for another one and for none, generated from the
//! tools themselves.

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::model::schema::{Presence, Schema, TextFormat};
use frontdesk_engine::model::tool::ToolSpec;
use frontdesk_engine::{Contract, Scope};
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

/// The records that can be imported, and the scope that each needs.
const IMPORTED: [(&str, &str); 15] = [
    ("vehicles", "amcp:inventory:write"),
    ("leads", "amcp:leads:write"),
    ("customers", "amcp:leads:write"),
    ("consents", "amcp:consent:write"),
    ("deals", "amcp:deals:write"),
    ("fees", "amcp:deals:write"),
    ("trade_values", "amcp:deals:write"),
    ("appointments", "amcp:service:write"),
    ("repair_orders", "amcp:service:write"),
    ("service_codes", "amcp:service:write"),
    ("advisors", "amcp:service:write"),
    ("workshops", "amcp:service:write"),
    ("parts", "amcp:parts:write"),
    ("part_orders", "amcp:parts:write"),
    ("fni_products", "amcp:fni:write"),
];

/// The scopes any of which a tool needs, from its name alone: what the declarations say is compared with it.
fn needed(tool: &str, scopes: &[Scope]) -> Vec<String> {
    let (domain, verb) = tool.split_once('.').unwrap();
    match (domain, verb) {
        ("x_frontdesk", "get_import" | "list_imports") => {
            let writing = scopes.iter().map(Scope::as_str).filter(|scope| scope.ends_with(":write"));
            writing.map(str::to_owned).collect()
        }
        ("x_frontdesk", "import_adf") => vec!["amcp:leads:write".to_owned()],
        ("x_frontdesk", _) => panic!("{tool} is not in this table"),
        (_, _) => {
            let domain = if domain == "customers" { "leads" } else { domain };
            let is_reading = ["list", "get", "search", "check"].contains(&verb.split('_').next().unwrap());
            let access = if is_reading || verb == "request_quote" { "read" } else { "write" };
            vec![format!("amcp:{domain}:{access}")]
        }
    }
}

/// A call of the matrix: a tool, arguments without a dealership, and the scopes any of which it needs.
struct MatrixCall {
    tool: &'static str,
    arguments: Map<String, Value>,
    needed: Vec<String>,
}

/// One call of each tool, and one for each kind of record where the kind decides.
fn calls(contract: &Contract) -> Vec<MatrixCall> {
    let mut calls = Vec::new();
    for ToolSpec { name, input, .. } in contract.tools.iter().map(|tool| &tool.spec) {
        let Value::Object(arguments) = sample(input) else { panic!("{name} takes no object") };
        if *name == "x_frontdesk.import_items" {
            let kinds = input.fields().iter().find(|field| field.name == "resource").unwrap();
            let Schema::Text(TextFormat::OneOf(words)) = &kinds.schema else { panic!("{:?}", kinds.schema) };
            assert_eq!(*words, IMPORTED.map(|(kind, _)| kind));
            for (kind, scope) in IMPORTED {
                let mut arguments = arguments.clone();
                arguments.insert("resource".to_owned(), json!(kind));
                calls.push(MatrixCall { tool: name, arguments, needed: vec![scope.to_owned()] });
            }
        } else {
            calls.push(MatrixCall { tool: name, arguments, needed: needed(name, &contract.scopes) });
        }
    }
    calls
}

/// The HTTP status, and the code of an error.
fn answer(desk: &TestDesk, token: &str, call: &MatrixCall, dealership: Option<&str>) -> (u16, String) {
    let mut arguments = call.arguments.clone();
    arguments.extend(dealership.map(|id| ("dealership_id".to_owned(), json!(id))));
    let reply = desk.send(token, "tools/call", json!({"name": call.tool, "arguments": arguments}));
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    let error = body.pointer("/result/structuredContent/error/code").or_else(|| body.pointer("/error/code"));
    (reply.status, error.and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// For two dealerships, after a login.
fn both(desk: &TestDesk, scope: &str) -> String {
    desk.login_token(scope).replace("dlr_lakeside", "dlr_lakeside,dlr_summit")
}

#[test]
fn every_tool_scope_and_tenant_gives_its_answer() {
    let desk = TestDesk::open();
    let contract = contract();
    let calls = calls(&contract);
    for call in &calls {
        let mut admitted = 0;
        for scope in contract.scopes.iter().map(Scope::as_str) {
            let what = format!("{} {:?} with {scope}", call.tool, call.arguments.get("resource"));
            let own = answer(&desk, &desk.login_token(scope), call, Some("dlr_lakeside"));
            let other = answer(&desk, &desk.login_token(scope), call, Some("dlr_summit"));
            let none = answer(&desk, &both(&desk, scope), call, None);
            if call.needed.iter().any(|needed| needed == scope) {
                admitted += 1;
                let is_refused = own.1.starts_with("auth.") || own.1.starts_with("dealership.");
                assert!(own.0 == 200 && !is_refused, "{what}: {own:?}");
                assert_eq!(other, (200, "dealership.forbidden".to_owned()), "{what}");
                assert_eq!(none, (200, "dealership.required".to_owned()), "{what}");
            } else {
                // Whoever lacks the scope learns nothing else.
                for answer in [own, other, none] {
                    assert_eq!(answer, (403, "auth.insufficient_scope".to_owned()), "{what}");
                }
            }
        }
        assert_eq!(admitted, call.needed.len(), "{}: each of {:?} is a scope", call.tool, call.needed);
    }
    // Every tool is called, and the one of imports for each kind of record.
    assert_eq!(calls.len(), contract.tools.len() + IMPORTED.len() - 1);
}
