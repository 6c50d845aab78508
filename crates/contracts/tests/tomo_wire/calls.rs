//! Calls that succeed (§3), as TOMO sends them.

use std::collections::BTreeMap;

use frontdesk_contracts::tomo::{self, forbidden};
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::reply::ReplyKind;
use serde_json::{Value, json};

use crate::support::{HOTEL, TENANT, WireDesk, call, examples, filled_in, payload};

/// Calls every tool with its example under this scope.
fn run(desk: &WireDesk, scope: &str) -> BTreeMap<String, Value> {
    let mut answers = BTreeMap::new();
    for (tool, example) in examples() {
        let message = call("anon_session_xyz", &tool, &filled_in(&example, &answers)).to_string();
        let reply = desk.send_as(Credential::Bearer(format!("{TENANT}/{scope}")), None, &message);
        let answer: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(forbidden::find(&answer), None);
        answers.insert(tool, payload(&answer));
    }
    answers
}

#[test]
fn t_002_t_050_t_122_every_example_is_answered_and_does_no_harm() {
    let desk = WireDesk::open();
    let search = |scope: &str| {
        let message = call("anon_other", "search_availability", &examples()[0].1).to_string();
        let reply = desk.send_as(Credential::Bearer(format!("{TENANT}/{scope}")), None, &message);
        payload(&serde_json::from_slice(&reply.body).unwrap())["listings"].clone()
    };
    let before = search("tomo:live");
    let answers = run(&desk, "tomo:sandbox");
    assert_eq!(answers.len(), 5);
    assert_eq!(answers["cancel_booking"]["booking_ref"], answers["create_booking"]["booking_ref"]);
    assert_eq!(search("tomo:live"), before, "what the sandbox books is no live unit");
}

#[test]
fn t_052_t_053_t_054_answers_are_exactly_what_the_intent_says() {
    let intent = tomo::intent::parse(tomo::intent::built_in(HOTEL).unwrap()).unwrap();
    let answers = run(&WireDesk::open(), "tomo:sandbox");
    for (tool, answer) in &answers {
        let output = &intent.tool(tool).unwrap().output;
        assert_eq!(output.problems(answer), [], "{tool}");
        assert!(!answer.to_string().contains("null") && !answer.to_string().contains("\"\""), "{answer}");
    }
    // The schema is no mere form: another word is refused by it.
    let mut answer = answers["create_booking"].clone();
    answer["status"] = json!("all good");
    let found = intent.tool("create_booking").unwrap().output.problems(&answer);
    assert_eq!(found.iter().map(|problem| problem.pointer.as_str()).collect::<Vec<_>>(), ["/status"]);
}

#[test]
fn t_051_t_086_the_payload_is_json_in_one_text() {
    let desk = WireDesk::open();
    let reply = desk.send(&call("anon_session_xyz", "search_availability", &examples()[0].1).to_string());
    assert_eq!((reply.status, reply.kind), (200, ReplyKind::Rpc), "one JSON document");
    let answer: Value = serde_json::from_slice(&reply.body).unwrap();
    let result = answer["result"].as_object().unwrap();
    assert_eq!(result.keys().collect::<Vec<_>>(), ["content"]);
    let content = result["content"].as_array().unwrap();
    assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")));
    let members = payload(&answer);
    assert_eq!(members.as_object().unwrap().keys().collect::<Vec<_>>(), ["expires_at", "listings", "result_token"]);
}

#[test]
fn later_versions_get_the_same_as_structured_content() {
    let desk = WireDesk::open();
    let message = call("anon_session_xyz", "search_availability", &examples()[0].1).to_string();
    let credential = Credential::Bearer(format!("{TENANT}/tomo:live"));
    let reply = desk.send_as(credential, Some("2025-11-25"), &message);
    let answer: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(answer["result"]["structuredContent"], payload(&answer));
}

#[test]
fn t_057_a_call_for_another_intent_or_version_is_refused() {
    let desk = WireDesk::open();
    for (field, value) in [("intent", "travel.book_flight"), ("intent_version", "v2.0.0")] {
        let mut arguments = examples()[0].1.clone();
        arguments[field] = json!(value);
        let error = desk.call("search_availability", &arguments)["error"].clone();
        assert_eq!(error["code"], -32602);
        assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": field}));
    }
}

#[test]
fn t_089_no_origin_is_needed_and_none_is_asked_for() {
    let reply = WireDesk::open().send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.headers.iter().find(|(name, _)| name.starts_with("Access-Control")), None);
}
