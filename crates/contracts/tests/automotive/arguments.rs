//! What the dialect extracts from arguments: dealership, page request, idempotency key.

use frontdesk_contracts::automotive::{Automotive, contract};
use frontdesk_engine::model::contract::Dialect;
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::tool_input::{PageRequest, ToolInput};
use frontdesk_engine::{Fault, FaultKind};
use serde_json::{Value, json};

fn read(tool: &str, arguments: Value, header_key: Option<&str>) -> Result<ToolInput, Fault> {
    let contract = contract();
    let tool = contract.tools.iter().find(|known| known.spec.name == tool).unwrap();
    Automotive::default().read(&tool.spec, arguments.as_object().unwrap().clone(), header_key)
}

#[test]
fn a_list_without_a_limit_has_twenty_five() {
    let reading = read("inventory.list", json!({"status": "sold"}), None).unwrap();
    let window = PageRequest { cursor: None, limit: None, default_limit: 10, with_total: false };
    assert_eq!(reading.window, Some(window));
    assert_eq!(Value::Object(reading.arguments), json!({"status": "sold"}));
    assert_eq!((reading.tenant, reading.idempotency_key), (None, None));
}

#[test]
fn dealership_window_and_key_are_no_filters() {
    let arguments = json!({"dealership_id": "dlr_lakeside", "cursor": "abc", "limit": 3, "make": "Ford"});
    let reading = read("inventory.search", arguments, None).unwrap();
    let window = PageRequest { cursor: Some("abc".to_owned()), limit: Some(3), default_limit: 10, with_total: false };
    assert_eq!(reading.window, Some(window));
    assert_eq!(reading.tenant.as_deref(), Some("dlr_lakeside"));
    assert_eq!(Value::Object(reading.arguments), json!({"make": "Ford"}));

    let reading = read("leads.update", json!({"id": "led_1", "idempotency_key": "k"}), None).unwrap();
    assert_eq!((reading.idempotency_key.as_ref().map(IdempotencyKey::as_str), reading.window), (Some("k"), None));
    assert_eq!(Value::Object(reading.arguments), json!({"id": "led_1"}));
}

#[test]
fn argument_and_header_must_not_have_different_keys() {
    let key = |arguments, header| -> Result<Option<String>, Fault> {
        let key = read("leads.create", arguments, header).map(|reading| reading.idempotency_key)?;
        Ok(key.map(|key| key.as_str().to_owned()))
    };
    assert_eq!(key(json!({}), Some("h")).unwrap().as_deref(), Some("h"));
    assert_eq!(key(json!({"idempotency_key": "h"}), Some("h")).unwrap().as_deref(), Some("h"));
    let fault = key(json!({"idempotency_key": "a"}), Some("h")).unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidArgument);
    assert_eq!(
        fault.message,
        "The argument at /idempotency_key is not valid: the argument and the Idempotency-Key header must be the same \
         when both are sent."
    );
}

#[test]
fn a_key_header_on_a_read_is_passed_over() {
    assert_eq!(read("inventory.get", json!({"id": "veh_1"}), Some("h")).unwrap().idempotency_key, None);
}
