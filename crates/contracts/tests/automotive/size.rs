//! What the tools cost a model that reads them all, and a client that fetches them.

use std::collections::BTreeMap;

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::Scope;
use serde_json::{Value, json};

use crate::support::TestDesk;

/// Bytes that make one token of a model, about.
const TOKEN_BYTES: usize = 4;
/// Names, descriptions and input schemas of all tools: what hosts hand on to a model.
const MAX_TOKENS: usize = 25_000;
/// The whole of `tools/list`.
const MAX_LIST_BYTES: usize = 300_000;

#[test]
fn all_tools_together_stay_within_25000_tokens() {
    let tokens: usize = tokens_by_tool().values().sum();
    assert!(tokens <= MAX_TOKENS, "{tokens} tokens; shorten descriptions, see docs/reference/automotive.md");
}

#[test]
fn tools_list_stays_within_300_kilobytes() {
    let bytes = list_text().len();
    assert!(bytes <= MAX_LIST_BYTES, "{bytes} bytes");
}

#[test]
fn shared_parts_are_defined_in_their_own_schema() {
    let mut references = 0;
    for tool in tools() {
        for kind in ["inputSchema", "outputSchema"] {
            let schema = &tool[kind];
            each_reference(schema, &mut |reference| {
                references += 1;
                let target = schema.pointer(reference.trim_start_matches('#'));
                assert!(target.is_some_and(Value::is_object), "{}: {kind}: {reference}", tool["name"]);
            });
        }
    }
    assert!(references > 100, "only {references} references");
}

/// Money occurs six times in a deal's arguments, and is described once.
#[test]
fn a_schema_says_once_what_money_is() {
    let tools = tools();
    let create = &tools.iter().find(|tool| tool["name"] == "deals.create").unwrap()["inputSchema"];
    assert_eq!(
        create["properties"]["down_payment"],
        json!({"$ref": "#/$defs/amount_currency", "description": "What is paid at once."})
    );
    assert_eq!(
        create["$defs"]["amount_currency"],
        json!({
            "type": "object",
            "properties": {
                "amount": {"type": "integer", "description": "Minor units: 2499999 is 24,999.99 USD."},
                "currency": {"type": "string", "pattern": "^[A-Z]{3}$", "description": "ISO 4217, such as USD."},
            },
            "required": ["amount", "currency"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn an_update_refers_to_the_create_for_its_fields() {
    let tools = tools();
    let update = tools.iter().find(|tool| tool["name"] == "service.update_repair_order").unwrap();
    let about = update["description"].as_str().unwrap();
    assert!(
        about.ends_with("null clears a field, except status, jobs. service.create_repair_order describes the fields."),
        "{about}"
    );
    let properties = &update["inputSchema"]["properties"];
    assert_eq!(properties["tag_number"], json!({"type": "string"}));
    // What only an update has is described here.
    assert_eq!(properties["status"]["description"], "The new status.");
}

/// Tokens per tool, by its name.
pub(crate) fn tokens_by_tool() -> BTreeMap<String, usize> {
    let cost = |tool: &Value| {
        let name = tool["name"].as_str().unwrap();
        let about = tool["description"].as_str().unwrap();
        let bytes = name.len() + about.len() + tool["inputSchema"].to_string().len();
        (name.to_owned(), bytes.div_ceil(TOKEN_BYTES))
    };
    tools().iter().map(cost).collect()
}

fn tools() -> Vec<Value> {
    let answer: Value = serde_json::from_str(&list_text()).unwrap();
    answer["result"]["tools"].as_array().unwrap().clone()
}

/// The answer for a caller with every scope there is.
fn list_text() -> String {
    let contract = contract();
    let scopes = contract.scopes.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ");
    let desk = TestDesk::with_contract(contract);
    let reply = desk.send(&format!("dlr_lakeside/{scopes}"), "tools/list", json!({}));
    String::from_utf8(reply.body.to_vec()).unwrap()
}

fn each_reference(schema: &Value, found: &mut impl FnMut(&str)) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("$ref", Value::String(reference)) => found(reference),
                    (_, value) => each_reference(value, found),
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| each_reference(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
