//! The body of one completion (T-147, T-148): nine fields, each as it must be.

use frontdesk_wire::json;
use serde_json::{Map, Value};

use crate::json_schema::timestamp;
use crate::report::shown;

const FIELDS: [&str; 9] =
    ["intent", "intent_version", "external_id", "amount_inr", "closed_at", "request_id", "status", "currency", "notes"];

/// A completion as far as it could be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Completion {
    pub(super) intent: String,
    pub(super) intent_version: String,
    pub(super) external_id: String,
    pub(super) request_id: String,
    pub(super) status: String,
}

/// What the body says, and everything that is wrong with its form.
pub(super) fn read(body: &[u8]) -> (Completion, Vec<String>) {
    let Ok(Value::Object(members)) = json::parse(body) else {
        return (Completion::default(), vec!["the body is no strict JSON object".to_owned()]);
    };
    let mut problems = Vec::new();
    for name in FIELDS.iter().filter(|name| !members.contains_key(**name)) {
        problems.push(format!("{name} is missing"));
    }
    for name in members.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
        problems.push(format!("{} is none of the nine fields", shown(name)));
    }
    let mut text = |name: &str| text_of(&members, name, &mut problems);
    let completion = Completion {
        intent: text("intent"),
        intent_version: text("intent_version"),
        external_id: text("external_id"),
        request_id: text("request_id"),
        status: text("status"),
    };
    if members.get("amount_inr").is_some_and(|amount| amount.as_u64().is_none()) {
        problems.push("amount_inr is no whole number of rupees".to_owned());
    }
    let closed_at = members.get("closed_at");
    if closed_at.is_some_and(|at| at.as_str().and_then(timestamp).is_none()) {
        problems.push("closed_at is no time of RFC 3339 with a zone".to_owned());
    }
    if members.get("currency").is_some_and(|currency| currency.as_str() != Some("INR")) {
        problems.push("currency is not INR".to_owned());
    }
    if members.get("notes").is_some_and(|notes| !notes.is_string()) {
        problems.push("notes is no text".to_owned());
    }
    (completion, problems)
}

fn text_of(members: &Map<String, Value>, name: &str, problems: &mut Vec<String>) -> String {
    match members.get(name) {
        None => String::new(),
        Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
        Some(_) => {
            problems.push(format!("{name} is no text, or empty"));
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;

    #[test]
    fn every_field_is_checked() {
        let right = json!({
            "intent": "a.b", "intent_version": "v1.0.0", "external_id": "b_1", "amount_inr": 0,
            "closed_at": "2026-01-31T09:30:00+05:30", "request_id": "req_1", "status": "done", "currency": "INR",
            "notes": "",
        });
        let problems = |change: &dyn Fn(&mut Value)| {
            let mut body = right.clone();
            change(&mut body);
            read(body.to_string().as_bytes()).1
        };
        assert_eq!(problems(&|_| {}), [""; 0]);
        assert_eq!(problems(&|body| body["amount_inr"] = json!(500.0)), ["amount_inr is no whole number of rupees"]);
        assert_eq!(problems(&|body| body["amount_inr"] = json!(-1)), ["amount_inr is no whole number of rupees"]);
        assert_eq!(
            problems(&|body| body["closed_at"] = json!("2026-01-31T09:30:00")),
            ["closed_at is no time of RFC 3339 with a zone"]
        );
        assert_eq!(problems(&|body| body["currency"] = json!("USD")), ["currency is not INR"]);
        assert_eq!(problems(&|body| body["notes"] = json!(null)), ["notes is no text"]);
        assert_eq!(problems(&|body| body["extra"] = json!(1)), ["extra is none of the nine fields"]);
        assert_eq!(problems(&|body| body["status"] = json!("")), ["status is no text, or empty"]);
        assert_eq!(problems(&|body| drop(body.as_object_mut().unwrap().remove("notes"))), ["notes is missing"]);
        assert_eq!(read(b"[]").1, ["the body is no strict JSON object"]);
        let twice = right.to_string().replace("\"notes\":\"\"", "\"notes\":\"\",\"notes\":\"\"");
        assert_eq!(read(twice.as_bytes()).1, ["the body is no strict JSON object"]);
    }
}
