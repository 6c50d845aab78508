//! Messages that are answered at once: one effect and one answer for each key.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::Desk;
use frontdesk_engine::dispatch::{DispatchLimits, DispatchMode, OnQueueFull, TaskQueue};
use frontdesk_engine::model::mount_policy::MountPolicy;
use tokio::task::JoinSet;

use super::{RETAIN, calls, letter, office, sent, tasks};
use crate::pipeline::precheck::door;
use crate::support::requests::{call, keyed, post, rpc};
use crate::support::{CLERK, KEEPER, LIMITS, SOUTHERNER, TestDesk, heard};
use frontdesk_testkit::memory_store::InjectedFault;

fn here() -> TestDesk {
    office(DispatchMode::Now, OnQueueFull::Refuse)
}

#[tokio::test]
async fn a_repeat_gets_the_same_answer_whatever_its_id() {
    let test = here();
    let first = sent(&test, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    assert_eq!(first, heard(200, FIRST));
    let again = keyed("k1", post(KEEPER, &call("\"other\"", "book.get", r#"{"id":"b1"}"#)));
    let again = sent(&test, again).await;
    assert_eq!(again, heard(200, &FIRST.replace(r#""reused":false"#, r#""reused":true"#)));
    assert_eq!(calls(&test, "book.get"), 1);
}

const FIRST: &str = r#"{"status":"completed","task_id":"tsk_01kdvdna00w8gagebv3q6tyvkr","trace_id":"t1","idempotency_key":"k1","reused":false,"result":{"http_status":200,"session_id":"","trace_id":"t1","response":{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":2}}}}}"#;

#[tokio::test]
async fn request_metadata_does_not_change_the_request_hash() {
    let test = here();
    let named = |trace: &str| {
        let params =
            format!(r#"{{"arguments":{{"id":"b1"}},"name":"book.get","_meta":{{"progressToken":"{trace}"}}}}"#);
        keyed("k1", post(KEEPER, &rpc("1", "tools/call", &params)))
    };
    sent(&test, named("a")).await;
    assert!(sent(&test, named("b")).await.body.contains(r#""reused":true"#));
}

#[tokio::test]
async fn the_same_key_for_another_message_conflicts_and_runs_nothing() {
    let test = here();
    sent(&test, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    let before = tasks(&test);
    let other = sent(&test, letter(KEEPER, "k1", "book.add", r#"{"title":"It","genre":"novel","copies":1}"#)).await;
    assert_eq!(
        other,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"This key was used for another message. Send this one under a key of its own.","data":{"fault":"key_reused","at":"transport"}}}"#
        )
    );
    assert_eq!((calls(&test, "book.add"), tasks(&test)), (0, before));
}

#[tokio::test]
async fn another_callers_same_key_is_another_key() {
    let test = here();
    sent(&test, letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    let other = sent(&test, letter(CLERK, "k1", "book.get", r#"{"id":"b2"}"#)).await;
    assert!(other.body.contains(r#""reused":false"#) && other.body.contains("Dune"), "{other:?}");
    assert_eq!(tasks(&test).len(), 2);
}

#[tokio::test]
async fn without_a_key_every_message_is_run_and_nothing_is_kept() {
    let test = here();
    for _ in 0..2 {
        let answer = sent(&test, post(KEEPER, &call("7", "book.get", r#"{"id":"b1"}"#))).await;
        assert_eq!(
            answer,
            heard(
                200,
                r#"{"status":"completed","task_id":null,"trace_id":"t1","idempotency_key":null,"reused":false,"result":{"http_status":200,"session_id":"","trace_id":"t1","response":{"jsonrpc":"2.0","id":7,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":2}}}}}"#
            )
        );
    }
    assert_eq!((calls(&test, "book.get"), tasks(&test).len()), (2, 0));
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_is_kept_like_one() {
    let test = here();
    let wrong = || letter(KEEPER, "k1", "book.get", r#"{"id":7}"#);
    let first = sent(&test, wrong()).await;
    assert_eq!(
        first,
        heard(
            200,
            r#"{"status":"completed","task_id":"tsk_01kdvdna00w8gagebv3q6tyvkr","trace_id":"t1","idempotency_key":"k1","reused":false,"result":{"http_status":200,"session_id":"","trace_id":"t1","response":{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The argument at /id is not valid: a string is expected.","data":{"fault":"invalid_argument","at":"tool book.get","problems":["/id type: a string is expected"]}}}}}"#
        )
    );
    let again = sent(&test, wrong()).await;
    assert_eq!(again.body, first.body.replace(r#""reused":false"#, r#""reused":true"#));
    assert_eq!(calls(&test, "book.get"), 1);
}

#[tokio::test]
async fn an_answer_that_only_says_not_now_is_given_and_not_kept() {
    let test = here();
    let lend = |key: &str| letter(KEEPER, key, "book.lend", r#"{"id":"b3"}"#);
    for key in ["a", "b", "c"] {
        sent(&test, lend(key)).await;
    }
    let limited = sent(&test, lend("d")).await;
    assert!(limited.body.contains("rate_limited") && !limited.body.contains("completed"), "{limited:?}");
    test.clock.advance(60_000);
    let later = sent(&test, lend("d")).await;
    assert!(later.body.contains("book.none_left") && later.body.contains(r#""reused":false"#), "{later:?}");
}

#[tokio::test]
async fn a_key_is_forgotten_after_its_time_and_not_before() {
    let test = here();
    let get = || letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#);
    sent(&test, get()).await;
    test.clock.advance(RETAIN.as_millis() as i64 - 1);
    assert!(sent(&test, get()).await.body.contains(r#""reused":true"#));
    test.clock.advance(1);
    assert!(sent(&test, get()).await.body.contains(r#""reused":false"#));
    assert!(sent(&test, get()).await.body.contains(r#""reused":true"#));
    assert_eq!((calls(&test, "book.get"), tasks(&test).len()), (2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_that_are_sent_at_once_are_one() {
    // However long the first one takes on a busy machine, the others wait for it.
    let limits = DispatchLimits { wait_timeout: Duration::from_secs(60), ..LIMITS };
    let test = here();
    let test = Arc::new(TestDesk { desk: Desk { task_queue: TaskQueue::new(limits), ..test.desk }, ..test });
    // All of them have looked before the first is written down.
    test.store.inject(|faults| faults.commits = InjectedFault::Delay(Duration::from_millis(50)));
    let mut all = JoinSet::new();
    for _ in 0..200 {
        let test = Arc::clone(&test);
        let add = letter(KEEPER, "k1", "book.add", r#"{"title":"It","genre":"novel","copies":1}"#);
        all.spawn(async move { sent(&test, add).await });
    }
    let answers = all.join_all().await;
    let first = answers.iter().filter(|answer| answer.body.contains(r#""reused":false"#)).count();
    let same = answers.iter().map(|answer| answer.body.replace(r#""reused":true"#, r#""reused":false"#));
    let same: std::collections::BTreeSet<String> = same.collect();
    assert_eq!((first, same.len(), calls(&test, "book.add")), (1, 1, 1));
    assert!(answers.iter().all(|answer| answer.status == 200));
}

#[tokio::test]
async fn an_answer_that_cannot_be_kept_is_not_given() {
    let test = here();
    test.store.inject(|faults| faults.commits_left = Some(1));
    let answer = sent(&test, letter(KEEPER, "k1", "member.get", r#"{"id":"m1"}"#)).await;
    assert!(answer.body.contains("key_in_flight") && !answer.body.contains("ada@"), "{answer:?}");
    assert_eq!(tasks(&test).len(), 1);
}

#[tokio::test]
async fn who_belongs_to_another_tenant_dispatches_nothing_here() {
    let test = here();
    let answer = sent(&test, letter(SOUTHERNER, "k1", "book.get", r#"{"id":"b1"}"#)).await;
    assert!(answer.body.contains("cross_tenant_denied"), "{answer:?}");
    assert_eq!(tasks(&test).len(), 0);
}

#[tokio::test]
async fn a_kept_answer_is_for_who_could_have_it_made_today() {
    let test = here();
    let get = || letter(KEEPER, "k1", "member.get", r#"{"id":"m1"}"#);
    assert!(sent(&test, get()).await.body.contains("ada@example.org"));
    assert!(sent(&test, get()).await.body.contains("ada@example.org"));
    test.callers.narrow();
    let answer = sent(&test, get()).await;
    assert_eq!(answer.status, 403);
    assert!(!answer.body.contains("ada@"), "{answer:?}");
}

#[tokio::test]
async fn an_answer_too_large_to_send_is_recorded_beside_its_call() {
    // Room for the answer, but not for what dispatch writes around it.
    let test = here().behind(MountPolicy { result_bytes: 120, ..door() });
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"The answer would be too large. Ask for less.","data":{"fault":"answer_too_large","at":"transport"}}}"#;
    let asked = call("1", "book.get", r#"{"id":"b1"}"#);
    for message in [post(KEEPER, &asked), keyed("k1", post(KEEPER, &asked))] {
        assert_eq!(sent(&test, message).await, heard(200, refused));
    }
    assert_eq!(test.calls.outcomes(), ["ok", "answer_too_large", "ok", "answer_too_large"]);
    assert_eq!(calls(&test, "book.get"), 2);
    assert_eq!(
        test.calls.lines()[1],
        r#"{"at":"2026-01-01T00:00:00Z","trace":"t1","contract":"library","client":"keeper","address":"192.0.2.1","tenant":"north","outcome":"answer_too_large"}"#
    );
}
