//! Messages that are accepted and run later.

use std::sync::Arc;

use frontdesk_engine::desk::DeskSettings;
use frontdesk_engine::dispatch::{DispatchMode, DispatchPreference, OnQueueFull};
use frontdesk_engine::limits::rate::{Budget, Quota};
use frontdesk_engine::model::caller::Scope;
use frontdesk_engine::model::glob::Glob;
use frontdesk_engine::model::incoming::Incoming;
use frontdesk_engine::model::mount_policy::{MethodScopes, MountPolicy, MountStatus};
use frontdesk_engine::model::trace::Trace;

use super::{Clerk, all_done, calls, letter, office, sent, sent_as, tasks};
use crate::support::requests::{call, post};
use crate::support::{KEEPER, SETTINGS, TestDesk, heard};

fn here() -> TestDesk {
    office(DispatchMode::Later, OnQueueFull::Refuse)
}

#[tokio::test]
async fn an_accepted_message_is_polled_by_sending_it_again() {
    let test = Arc::new(here());
    let get = || letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#);
    assert_eq!(sent(&test, get()).await, heard(202, ACCEPTED));
    let meanwhile = sent(&test, get()).await;
    assert_eq!(meanwhile, heard(202, &ACCEPTED.replace(r#""reused":false"#, r#""reused":true"#)));
    assert_eq!(calls(&test, "book.get"), 0);
    let _clerk = Clerk::of(&test);
    all_done(&test).await;
    assert_eq!(
        sent(&test, get()).await,
        heard(
            200,
            r#"{"status":"completed","task_id":"tsk_01kdvdna00w8gagebv3q6tyvkr","trace_id":"t1","idempotency_key":"k1","reused":true,"result":{"http_status":200,"session_id":"","trace_id":"t1","response":{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":2}}}}}"#
        )
    );
    assert_eq!(calls(&test, "book.get"), 1);
}

const ACCEPTED: &str = r#"{"status":"accepted","task_id":"tsk_01kdvdna00w8gagebv3q6tyvkr","trace_id":"t1","idempotency_key":"k1","reused":false}"#;

#[tokio::test]
async fn a_key_is_given_to_who_brings_none_so_that_it_can_ask_again() {
    let test = here();
    let get = post(KEEPER, &call("1", "book.get", r#"{"id":"b1"}"#));
    assert_eq!(
        sent(&test, get).await,
        heard(
            202,
            r#"{"status":"accepted","task_id":"tsk_01kdvdna000v25t640152mzy4b","trace_id":"t1","idempotency_key":"key_01kdvdna00w8gagebv3q6tyvkr","reused":false}"#
        )
    );
}

#[tokio::test]
async fn a_request_may_choose_to_be_answered_later() {
    let test = office(DispatchMode::Now, OnQueueFull::Refuse);
    let get = letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#);
    assert_eq!(sent_as(&test, DispatchPreference::Later, get).await.status, 202);
}

#[tokio::test]
async fn another_message_under_the_key_of_a_waiting_one_conflicts() {
    let test = here();
    sent(&test, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    let other = sent(&test, letter(KEEPER, "k1", "book.get", r#"{"id":"b2"}"#)).await;
    assert!(other.body.contains("key_reused"), "{other:?}");
    assert_eq!(tasks(&test).len(), 1);
}

#[tokio::test]
async fn a_full_queue_refuses_what_is_new_and_keeps_nothing_of_it() {
    let test = here();
    let get = |key: &str| letter(KEEPER, key, "book.get", r#"{"id":"b1"}"#);
    for key in ["a", "b"] {
        assert_eq!(sent(&test, get(key)).await.status, 202);
    }
    assert_eq!(
        sent(&test, get("c")).await,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"No more messages are accepted for later just now. Try again, or send it to be answered at once.","data":{"fault":"no_room","at":"transport","retry_after":5}}}"#
        )
    );
    assert_eq!(tasks(&test).len(), 2);
    // Whoever is in it can still ask.
    assert_eq!(sent(&test, get("a")).await.status, 202);
}

#[tokio::test]
async fn a_full_queue_may_mean_that_the_message_is_answered_at_once() {
    let test = office(DispatchMode::Later, OnQueueFull::RunNow);
    let get = |key: &str| letter(KEEPER, key, "book.get", r#"{"id":"b1"}"#);
    for key in ["a", "b"] {
        assert_eq!(sent(&test, get(key)).await.status, 202);
    }
    let third = sent(&test, get("c")).await;
    assert_eq!(third.status, 200);
    assert!(third.body.contains(r#""status":"completed""#), "{third:?}");
}

#[tokio::test]
async fn a_task_is_charged_when_accepted_and_then_runs() {
    let one = DeskSettings { calls: Budget { per_minute: 1, burst: 1 }, ..SETTINGS };
    let test = Arc::new(TestDesk::with(one).stock().taking("desk", DispatchMode::Later, OnQueueFull::Refuse));
    let get = |key: &str| letter(KEEPER, key, "book.get", r#"{"id":"b1"}"#);
    assert_eq!(sent(&test, get("a")).await.status, 202);
    let second = sent(&test, get("b")).await;
    assert!(second.body.contains("rate_limited"), "{second:?}");
    assert_eq!(tasks(&test).len(), 1);
    let _clerk = Clerk::of(&test);
    all_done(&test).await;
    assert!(sent(&test, get("a")).await.body.contains("Emma"));
}

#[tokio::test]
async fn what_was_asked_is_not_kept_once_it_has_been_answered() {
    let test = Arc::new(here());
    let get = || letter(KEEPER, "k1", "book.get", r#"{"id":"nowhere"}"#);
    sent(&test, get()).await;
    let kept = || tasks(&test)[0].personal.clone().unwrap();
    assert!(kept().contains("nowhere"));
    let _clerk = Clerk::of(&test);
    all_done(&test).await;
    assert!(kept().contains(r#""params":{"name":"book.get"}"#) && !kept().contains("nowhere"), "{}", kept());
    assert!(sent(&test, get()).await.body.contains("not_found"));
    let other = sent(&test, letter(KEEPER, "k1", "book.get", r#"{"id":"elsewhere"}"#)).await;
    assert!(other.body.contains("key_reused"), "{other:?}");
}

#[tokio::test]
async fn it_runs_as_who_sent_it_was_when_it_was_accepted() {
    let test = Arc::new(here());
    sent(&test, letter(KEEPER, "k1", "member.get", r#"{"id":"m1"}"#)).await;
    // Whoever judges credentials is not asked again, and knows nobody any more.
    test.callers.sleep();
    let _clerk = Clerk::of(&test);
    all_done(&test).await;
    let kept = tasks(&test)[0].personal.clone().unwrap();
    assert!(kept.contains("ada@example.org"), "{kept}");
}

#[tokio::test]
async fn a_tool_that_is_denied_by_the_time_it_runs_is_denied() {
    let test = Arc::new(here());
    sent(&test, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    let door = MountPolicy {
        scopes: MethodScopes::new([], Scope::new("books:read")),
        calls: Quota { per_minute: 100 },
        payload_bytes: 10_000,
        result_bytes: 10_000,
        denied_tools: vec![Glob::new("book.get")],
        status: MountStatus::Served,
    };
    assert_eq!(run_behind(door, &test).await, "tool_denied");
}

#[tokio::test]
async fn a_server_denied_meanwhile_runs_no_task() {
    let test = Arc::new(here());
    sent(&test, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    let door = MountPolicy {
        scopes: MethodScopes::new([], Scope::new("books:read")),
        calls: Quota { per_minute: 100 },
        payload_bytes: 10_000,
        result_bytes: 10_000,
        denied_tools: Vec::new(),
        status: MountStatus::Denied,
    };
    assert_eq!(run_behind(door, &test).await, "server_denied");
}

/// What becomes of the one task when the desk gets this door by another configuration.
async fn run_behind(door: MountPolicy, test: &Arc<TestDesk>) -> String {
    let _clerk = Clerk::of(&Arc::new(here().sharing(test).behind(door)));
    all_done(test).await;
    let answer = sent(test, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    assert!(!answer.body.contains("Emma"), "{answer:?}");
    let from = answer.body.find(r#""fault":""#).unwrap() + 9;
    answer.body[from..].split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_trace_name_is_in_replies_and_records() {
    let test = Arc::new(here());
    let get = |name: &str| Incoming {
        trace: Trace::new("t1").with_name(name),
        ..letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)
    };
    assert!(sent(&test, get("mine")).await.body.contains(r#""trace_id":"mine""#));
    let _clerk = Clerk::of(&test);
    all_done(&test).await;
    let answer = sent(&test, get("another")).await;
    assert_eq!(answer.body.matches(r#""trace_id":"mine""#).count(), 2, "{answer:?}");
    let run = test.calls.lines().into_iter().find(|line| line.contains("book.get")).unwrap();
    assert!(run.contains(r#""trace":"mine""#), "{run}");
}
