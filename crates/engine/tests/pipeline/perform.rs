//! Stage 8: doing it, once.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::FaultKind;
use frontdesk_engine::model::plan::{Change, Event};

use crate::support::requests::{call, post};
use crate::support::{KEEPER, TestDesk, eventually};
use frontdesk_testkit::memory_store::InjectedFault;

const ADD: &str = r#"{"title":"Emma","genre":"novel","copies":1,"shelfmark":"A1"}"#;

fn fault(tool: &str, message: &str, fault: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"{message}","data":{{"fault":"{fault}","at":"tool {tool}"}}}}}}"#
    )
}

#[tokio::test]
async fn a_plan_is_committed_with_its_event_and_its_record() {
    let test = TestDesk::new();
    let answer = test.call(KEEPER, "book.add", ADD).await;
    let id = test.store.inspect(|state| state.rows.keys().next().unwrap().2.clone());
    assert_eq!(
        answer,
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"item":{{"id":"{id}","title":"Emma","genre":"novel","copies":1}}}}}}"#
        )
    );
    let event = Event { kind: "book", id: id.clone(), change: Change::Created };
    test.store.inspect(|state| {
        assert_eq!(state.events.iter().map(|stored| &stored.event).collect::<Vec<_>>(), [&event]);
        assert!(state.events.iter().all(|stored| stored.id.starts_with("evt_")));
    });
    assert_eq!(
        test.store.audit(),
        [format!(
            r#"{{"at":"2026-01-01T00:00:00Z","trace":"t1","contract":"library","client":"keeper","address":"192.0.2.1","method":"tools/call","tool":"book.add","tenant":"north","outcome":"ok","ids":["{id}"]}}"#
        )]
    );
}

#[tokio::test]
async fn a_failing_step_is_its_fault_and_changes_nothing() {
    let test = TestDesk::new();
    test.call(KEEPER, "book.add", ADD).await;
    assert_eq!(test.call(KEEPER, "book.add", ADD).await, fault("book.add", "Another book stands there.", "book.taken"));
    test.store.inspect(|state| {
        assert_eq!((state.rows.len(), state.events.len(), state.audit.len()), (1, 1, 1));
    });
}

#[tokio::test]
async fn a_version_the_caller_named_is_the_callers_to_mend() {
    let test = TestDesk::stocked();
    let change = r#"{"id":"b1","title":"Emma II","expected_version":7}"#;
    assert_eq!(
        test.call(KEEPER, "book.change", change).await,
        fault("book.change", "The book has changed since.", "stale")
    );
    assert_eq!(test.store.inspect(|state| state.commits), 1);
}

#[tokio::test]
async fn a_stale_plan_is_retried() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.stale_commits = 15);
    assert_eq!(
        test.call(KEEPER, "book.lend", r#"{"id":"b1"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":1}}}"#
    );
    test.store.inspect(|state| assert_eq!((state.commits, state.audit.len()), (16, 1)));
}

#[tokio::test]
async fn a_plan_that_is_stale_sixteen_times_is_given_up() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.stale_commits = 16);
    assert_eq!(
        test.call(KEEPER, "book.lend", r#"{"id":"b1"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The service cannot do this right now; nothing was changed. Try again.","data":{"fault":"unavailable","at":"tool book.lend","retry_after":1}}}"#
    );
    test.store.inspect(|state| assert_eq!((state.commits, state.audit.len()), (16, 0)));
    assert_eq!(test.calls.causes(), ["the plan conflicted with other writes at every attempt"]);
}

#[tokio::test]
async fn two_calls_for_the_last_copy_give_it_to_one() {
    let test = Arc::new(TestDesk::stocked());
    test.store.inject(|faults| faults.commits = InjectedFault::Delay(Duration::from_millis(20)));
    let (one, other) = tokio::join!(
        test.call(KEEPER, "book.lend", r#"{"id":"b2"}"#),
        test.call(KEEPER, "book.lend", r#"{"id":"b2"}"#)
    );
    let mut answers = [one, other];
    answers.sort();
    assert_eq!(
        answers,
        [
            fault("book.lend", "No copy is left.", "book.none_left"),
            r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":0}}}"#
                .to_owned()
        ]
    );
}

#[tokio::test]
async fn a_store_that_fails_is_unavailable_and_says_nothing_of_itself() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.commits = InjectedFault::Fail);
    assert_eq!(
        test.call(KEEPER, "book.add", ADD).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"The service cannot do this right now; nothing was changed. Try again.","data":{"fault":"unavailable","at":"tool book.add","retry_after":1}}}"#
    );
    assert_eq!(test.calls.causes(), ["injected failure"]);
}

#[tokio::test]
async fn an_unknown_commit_without_a_key_asks_for_no_retry() {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.unknown_commit = true);
    assert_eq!(
        test.call(KEEPER, "book.add", ADD).await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"It is not known yet whether this was done. Look before you repeat it, and send an idempotency key next time.","data":{"fault":"outcome_unknown","at":"tool book.add"}}}"#
    );
    assert!(!FaultKind::OutcomeUnknown.retryable());
}

#[tokio::test]
async fn a_plan_handed_over_is_committed_even_if_the_caller_hangs_up() {
    let test = TestDesk::stocked();
    let gate = test.store.hold_commits();
    let waiting = test.serve(post(KEEPER, &call("1", "book.lend", r#"{"id":"b2"}"#)));
    let hung_up = tokio::time::timeout(Duration::from_millis(10), waiting).await;
    assert!(hung_up.is_err());
    assert_eq!(test.store.inspect(|state| state.commits), 0);
    gate.add_permits(1);
    eventually(|| test.store.inspect(|state| state.commits > 0)).await;
    test.store.inspect(|state| assert_eq!((state.commits, state.audit.len(), state.events.len()), (1, 1, 1)));
    assert_eq!(test.calls.outcomes(), ["cancelled"]);
}

#[tokio::test]
async fn writers_of_the_same_row_are_served_one_by_one() {
    let test = Arc::new(TestDesk::stocked());
    test.store.inject(|faults| faults.commits = InjectedFault::Delay(Duration::from_millis(1)));
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let test = Arc::clone(&test);
        crowd.spawn(async move { test.call(KEEPER, "book.change", r#"{"id":"b1","title":"Emma II"}"#).await });
    }
    while let Some(answer) = crowd.join_next().await {
        assert!(answer.unwrap().contains("result"));
    }
    assert_eq!(test.store.inspect(|state| state.audit.len()), 50);
}
