//! What must be right about a dispatched message before anything is kept of it, and in which order it is looked at.

use frontdesk_engine::dispatch::{DispatchMode, DispatchPreference, OnQueueFull};
use frontdesk_engine::limits::rate::Quota;
use frontdesk_engine::model::caller::Scope;
use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::glob::Glob;
use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::mount_policy::{MethodScopes, MountPolicy, MountStatus};

use super::{letter, office, sent, tasks};
use crate::support::requests::{call, held, keyed, post, with_verb};
use crate::support::{KEEPER, READER, TestDesk, heard};

fn here() -> TestDesk {
    office(DispatchMode::Now, OnQueueFull::Refuse)
}

#[tokio::test]
async fn the_key_may_stand_in_the_body_and_the_headers_goes_before_it() {
    let test = here();
    let body = r#"{"method":"ping","idempotency_key":"from body"}"#;
    let answer = sent(&test, post(KEEPER, body)).await;
    assert!(answer.body.contains(r#""idempotency_key":"from body","reused":false"#), "{answer:?}");
    let answer = sent(&test, keyed("from header", post(KEEPER, body))).await;
    assert!(answer.body.contains(r#""idempotency_key":"from header","reused":false"#), "{answer:?}");
    let answer = sent(&test, post(KEEPER, body)).await;
    assert!(answer.body.contains(r#""idempotency_key":"from body","reused":true"#), "{answer:?}");
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_nothing_is_kept() {
    let test = here();
    let long = format!(r#"{{"method":"ping","idempotency_key":"{}"}}"#, "k".repeat(256));
    for (body, why) in [
        ("", "Send one JSON-RPC message as a JSON object."),
        ("{\"method\":", "Send one JSON-RPC message as a JSON object."),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "Send one JSON-RPC message as a JSON object."),
        (r#"{"method":"ping","method":"pong"}"#, "Send one JSON-RPC message as a JSON object."),
        ("{}", "The member `method` is required and must be a string."),
        (r#"{"method":""}"#, "The member `method` is required and must be a string."),
        (r#"{"method":7}"#, "The member `method` is required and must be a string."),
        (r#"{"jsonrpc":"1.0","method":"ping"}"#, r#"The member `jsonrpc` must be \"2.0\"."#),
        (r#"{"method":"ping","params":[]}"#, "The member `params` must be an object."),
        (r#"{"method":"ping","id":1.5}"#, "The member `id` must be a whole number or a string of at most 256 bytes."),
        (r#"{"method":"ping","idempotency_key":7}"#, "An idempotency key is 1 to 255 printable ASCII characters."),
        (r#"{"method":"ping","idempotency_key":""}"#, "An idempotency key is 1 to 255 printable ASCII characters."),
        (r#"{"method":"ping","idempotency_key":"ä"}"#, "An idempotency key is 1 to 255 printable ASCII characters."),
        (&long, "An idempotency key is 1 to 255 printable ASCII characters."),
    ] {
        let said = format!(
            r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-1,"message":"{why}","data":{{"fault":"bad_dispatch","at":"transport"}}}}}}"#
        );
        assert_eq!(sent(&test, post(KEEPER, body)).await, heard(200, &said), "{body}");
    }
    assert_eq!(tasks(&test).len(), 0);
}

#[tokio::test]
async fn a_message_without_an_id_is_answered_under_its_trace() {
    let answer = sent(&here(), post(KEEPER, r#"{"method":"ping"}"#)).await;
    assert_eq!(
        answer,
        heard(
            200,
            r#"{"status":"completed","task_id":null,"trace_id":"t1","idempotency_key":null,"reused":false,"result":{"http_status":200,"session_id":"","trace_id":"t1","response":{"jsonrpc":"2.0","id":"t1","result":{}}}}"#
        )
    );
}

#[tokio::test]
async fn a_stranger_a_wrong_verb_and_a_refused_transport_are_told_so() {
    let test = here();
    assert_eq!(sent(&test, letter("nobody", "k", "book.get", "{}")).await.status, 401);
    assert_eq!(sent(&test, with_verb(Verb::Get, KEEPER)).await.status, 405);
    let refused = sent(&test, held(KEEPER, Fault::new(FaultKind::UnsupportedMediaType, "JSON, please."))).await;
    assert!(refused.body.contains("wrong_media"), "{refused:?}");
}

#[tokio::test]
async fn a_mount_that_takes_no_dispatched_messages_says_so() {
    let answer = sent(&TestDesk::stocked(), letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    assert!(answer.body.contains("unknown_method"), "{answer:?}");
}

#[tokio::test]
async fn the_mount_policy_checks_in_its_order() {
    let door = |payload_bytes, standing| MountPolicy {
        scopes: MethodScopes::new([(Glob::new("tools/*"), Scope::new("books:write"))], Scope::new("books:read")),
        calls: Quota { per_minute: 100 },
        payload_bytes,
        result_bytes: 10_000,
        denied_tools: vec![Glob::new("book.a*")],
        status: standing,
    };
    let behind = |payload_bytes, standing| {
        let test = here();
        TestDesk { mount: test.mount.with_policy(door(payload_bytes, standing)), ..test }
    };
    let denied = call("1", "book.add", "{}");
    let word = async |test: TestDesk, who: &str, body: &str| {
        let answer = sent(&test, keyed("k", post(who, body))).await;
        assert_eq!(tasks(&test).len(), 0);
        let from = answer.body.find(r#""fault":""#).unwrap() + 9;
        answer.body[from..].split('"').next().unwrap().to_owned()
    };
    assert_eq!(word(behind(10, MountStatus::Denied), READER, &denied).await, "forbidden");
    assert_eq!(word(behind(10, MountStatus::Denied), KEEPER, &denied).await, "too_large");
    assert_eq!(word(behind(1_000, MountStatus::Denied), KEEPER, &denied).await, "server_denied");
    assert_eq!(word(behind(1_000, MountStatus::Unknown), KEEPER, "{}").await, "unknown_server");
    assert_eq!(word(behind(1_000, MountStatus::Served), KEEPER, "{}").await, "bad_dispatch");
    assert_eq!(word(behind(1_000, MountStatus::Served), KEEPER, &denied).await, "tool_denied");
}

/// Reading books is enough for a ping, and nothing else.
fn pings_only(standing: MountStatus) -> MountPolicy {
    MountPolicy {
        scopes: MethodScopes::new([(Glob::new("ping"), Scope::new("books:read"))], Scope::new("books:write")),
        calls: Quota { per_minute: 2 },
        payload_bytes: 1_000,
        result_bytes: 1_000,
        denied_tools: Vec::new(),
        status: standing,
    }
}

#[tokio::test]
async fn a_method_is_judged_wherever_it_stands_in_the_message() {
    let test = here().behind(pings_only(MountStatus::Served));
    let hidden = r#"{"params":null,"method":"tools/list"}"#;
    assert!(sent(&test, keyed("k", post(READER, hidden))).await.body.contains("forbidden"));
    assert_eq!(tasks(&test).len(), 0);
    for _ in 0..2 {
        let answer = sent(&test, post(KEEPER, hidden)).await;
        assert!(answer.body.contains("completed"), "{answer:?}");
    }
    let plain = sent(&test, post(KEEPER, r#"{"method":"tools/list","params":{}}"#)).await;
    assert!(plain.body.contains("rate_limited"), "{plain:?}");
}

#[tokio::test]
async fn a_refusal_names_the_id_of_the_message_where_it_could_be_read() {
    let test = here().behind(pings_only(MountStatus::Unknown));
    assert_eq!(
        sent(&test, post(KEEPER, r#"{"id":7,"method":"ping"}"#)).await,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"No server has this name; look at the last part of the address.","data":{"fault":"unknown_server","at":"method"}}}"#
        )
    );
}

#[tokio::test]
async fn what_is_told_is_no_larger_than_the_door_lets_out() {
    let door = |result_bytes| MountPolicy {
        result_bytes,
        calls: Quota { per_minute: 100 },
        ..pings_only(MountStatus::Served)
    };
    let ping = || keyed("k", post(KEEPER, r#"{"id":7,"method":"ping"}"#));
    let whole = sent(&here().behind(door(1_000)), ping()).await;
    assert!(whole.body.contains(r#""status":"completed""#), "{whole:?}");
    assert_eq!(sent(&here().behind(door(whole.body.len())), ping()).await, whole);
    assert!(sent(&here().behind(door(whole.body.len() - 1)), ping()).await.body.contains("answer_too_large"));
    // A repeat is a letter shorter: `true` for `false`.
    let small = here().behind(door(whole.body.len() - 2));
    for _ in 0..2 {
        assert!(sent(&small, ping()).await.body.contains("answer_too_large"));
    }
}

#[test]
fn a_preference_is_read_among_others() {
    for (header, wanted) in [
        (None, DispatchPreference::AsConfigured),
        (Some("wait=10"), DispatchPreference::AsConfigured),
        (Some("respond-asynchronously"), DispatchPreference::AsConfigured),
        (Some("respond-async"), DispatchPreference::Later),
        (Some("wait=10, Respond-Async; a=b"), DispatchPreference::Later),
    ] {
        assert_eq!(DispatchPreference::preferred(header), wanted, "{header:?}");
    }
}
