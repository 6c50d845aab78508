//! What the tests of this contract ask again and again.

use serde_json::{Value, json};

use frontdesk_testkit::app::TestAgent;

/// Every tool that lists, with the noun of its resource's address.
pub(crate) const LISTS: [(&str, &str); 3] =
    [("inventory.list", "inventory"), ("leads.list", "leads"), ("customers.list", "customers")];

/// The same of the workshop.
pub(crate) const SERVICE_LISTS: [(&str, &str); 5] = [
    ("service.list_appointments", "appointments"),
    ("service.list_repair_orders", "repair_orders"),
    ("service.list_service_codes", "service_codes"),
    ("service.list_advisors", "advisors"),
    ("service.list_workshops", "workshops"),
];

/// Every tool that reads one thing, after the list that gives its ids.
pub(crate) const GETS: [(&str, &str); 3] =
    [("inventory.list", "inventory.get"), ("leads.list", "leads.get"), ("customers.list", "customers.get")];

/// Room for tests that make thousands of calls.
pub(crate) const UNHURRIED: [(&str, &str); 2] =
    [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"), ("FRONTDESK_LIMITS_BURST", "1000000")];

/// The answer of a tool as the bytes it came in; it is checked that text and structure are the same bytes.
pub(crate) async fn text(agent: &mut TestAgent, tool: &str, arguments: Value) -> String {
    let response = agent.send("tools/call", json!({"name": tool, "arguments": arguments})).await;
    assert_eq!(response.status, 200, "{}", response.text());
    structured(response.text())
}

/// The structured content of one answer to a tool call, byte for byte.
pub(crate) fn structured(answer: &str) -> String {
    let parsed: Value = serde_json::from_str(answer).unwrap();
    let text = parsed["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    assert!(answer.contains(&format!(",\"structuredContent\":{text},\"isError\":")), "{answer}");
    text
}

/// What a resource holds, or the JSON-RPC error of asking for it.
pub(crate) async fn read(agent: &mut TestAgent, address: &str) -> Result<String, Value> {
    let answer = agent.send("resources/read", json!({"uri": address})).await.json();
    match answer.get("error") {
        Some(error) => Err(error.clone()),
        None => {
            let content = &answer["result"]["contents"][0];
            assert_eq!((&content["uri"], &content["mimeType"]), (&json!(address), &json!("application/json")));
            Ok(content["text"].as_str().unwrap().to_owned())
        }
    }
}

/// Whatever a token can list, a hundred at a time.
pub(crate) async fn everything(agent: &mut TestAgent) -> Vec<Value> {
    let mut items = Vec::new();
    for (list, _) in LISTS {
        items.extend(agent.all(list, json!({"limit": 100})).await);
    }
    items
}

pub(crate) fn ids(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn count(agent: &mut TestAgent, list: &str) -> usize {
    agent.all(list, json!({"limit": 100})).await.len()
}

/// A lead that `leads.create` takes.
pub(crate) fn lead(name: &str) -> Value {
    json!({
        "contact": {"name": name, "email": "dana.rivera@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
    })
}

/// The same lead under an idempotency key.
pub(crate) fn keyed(name: &str, key: &str) -> Value {
    let mut lead = lead(name);
    lead["idempotency_key"] = json!(key);
    lead
}

/// Visits every value inside a value, with the name of the field it stands in.
pub(crate) fn walk(name: &str, value: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(name, value);
    for (name, field) in value.as_object().into_iter().flatten() {
        walk(name, field, visit);
    }
    for item in value.as_array().into_iter().flatten() {
        walk(name, item, visit);
    }
}
