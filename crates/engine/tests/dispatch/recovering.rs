//! Tasks whose node has gone: they are found, begun again a few times, and never by two.

use std::sync::Arc;

use frontdesk_engine::Desk;
use frontdesk_engine::dispatch::{DispatchMode, DispatchPreference, OnQueueFull, TaskQueue};
use frontdesk_engine::model::incoming::Incoming;
use frontdesk_engine::ports::Clock as _;

use super::{Clerk, RETAIN, all_done, calls, letter, office, sent, sent_as, tasks};
use crate::support::{KEEPER, LIMITS, TestDesk, eventually, heard};
use frontdesk_testkit::memory_store::InjectedFault;

fn get() -> Incoming {
    letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)
}

fn is(test: &TestDesk, member: &str) -> bool {
    tasks(test).iter().all(|row| row.body.contains(member))
}

/// The message is begun for this time, and whoever runs it ends.
async fn cut_off(test: &Arc<TestDesk>, attempt: usize) {
    test.store.inject(|faults| faults.reads_of = Some(("book", InjectedFault::Hang)));
    let running = tokio::spawn({
        let test = Arc::clone(test);
        async move { sent(&test, get()).await }
    });
    let begun = format!(r#""state":"running","server":"desk","attempts":{attempt},"#);
    eventually(|| !tasks(test).is_empty() && is(test, &begun)).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    test.store.inject(|faults| faults.reads_of = None);
}

#[tokio::test]
async fn another_node_begins_a_task_after_its_grace_time() {
    let test = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    sent(&test, get()).await;
    let other = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse).beside(&test));
    let _clerk = Clerk::of(&other);
    test.clock.advance(9_999);
    let looks = test.store.inspect(|state| state.pages);
    eventually(|| test.store.inspect(|state| state.pages) > looks + 3).await;
    assert_eq!(calls(&other, "book.get"), 0);
    test.clock.advance(1);
    all_done(&test).await;
    assert_eq!((calls(&test, "book.get"), calls(&other, "book.get")), (0, 1));
    let answer = sent(&test, get()).await;
    assert!(answer.body.contains("Emma") && answer.body.contains(r#""reused":true"#), "{answer:?}");
}

#[tokio::test]
async fn of_two_nodes_that_find_a_task_one_runs_it() {
    let test = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    for key in ["a", "b"] {
        sent(&test, letter(KEEPER, key, "book.get", r#"{"id":"b1"}"#)).await;
    }
    test.clock.advance(10_000);
    let nodes = [(); 2].map(|()| Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse).beside(&test)));
    test.store.inject(|faults| faults.commits = InjectedFault::Delay(std::time::Duration::from_millis(5)));
    let _clerks = [Clerk::of(&test), Clerk::of(&nodes[0]), Clerk::of(&nodes[1])];
    all_done(&test).await;
    let runs: usize = [&test, &nodes[0], &nodes[1]].map(|node| calls(node, "book.get")).iter().sum();
    assert_eq!(runs, 2);
}

#[tokio::test]
async fn an_interrupted_task_is_taken_over_after_its_lease() {
    let test = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse));
    cut_off(&test, 1).await;
    // The deadline of a call and ten seconds more.
    test.clock.advance(29_999);
    assert_eq!(
        sent(&test, get()).await,
        heard(
            202,
            r#"{"status":"accepted","task_id":"tsk_01kdvdna00w8gagebv3q6tyvkr","trace_id":"t1","idempotency_key":"k1","reused":true}"#
        )
    );
    test.clock.advance(1);
    let answer = sent(&test, get()).await;
    assert!(answer.body.contains("Emma") && answer.body.contains(r#""reused":false"#), "{answer:?}");
    assert!(is(&test, r#""state":"completed","server":"desk","attempts":2,"#));
}

#[tokio::test]
async fn an_interrupted_task_is_run_again() {
    let test = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse));
    cut_off(&test, 1).await;
    test.clock.advance(30_000);
    let other = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse).beside(&test));
    let _clerk = Clerk::of(&other);
    all_done(&test).await;
    assert_eq!(calls(&other, "book.get"), 1);
}

#[tokio::test]
async fn a_sole_node_resumes_its_tasks_at_once() {
    let test = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse));
    cut_off(&test, 1).await;
    test.clock.advance(1);
    let again = office(DispatchMode::Now, OnQueueFull::Refuse).beside(&test);
    let tasks = TaskQueue::new(LIMITS).alone(test.clock.now());
    let again = Arc::new(TestDesk { desk: Desk { task_queue: tasks, ..again.desk }, ..again });
    let _clerk = Clerk::of(&again);
    all_done(&test).await;
    assert_eq!(calls(&again, "book.get"), 1);
}

#[tokio::test]
async fn a_task_fails_after_three_attempts() {
    let test = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse));
    for attempt in 1..=3 {
        cut_off(&test, attempt).await;
        test.clock.advance(30_000);
    }
    for _ in 0..2 {
        assert_eq!(
            sent(&test, get()).await,
            heard(
                200,
                r#"{"status":"failed","task_id":"tsk_01kdvdna00w8gagebv3q6tyvkr","trace_id":"t1","idempotency_key":"k1","reused":true,"error":{"code":"attempts_exhausted","message":"It was begun 3 times and not completed. Send it under another key."}}"#
            )
        );
    }
    // Three were cut off; none was begun after that.
    assert_eq!(calls(&test, "book.get"), 3);
}

#[tokio::test]
async fn a_failing_task_is_rescheduled_until_its_time_is_over() {
    let test = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    test.store.inject(|faults| faults.reads_of = Some(("book", InjectedFault::Fail)));
    sent(&test, get()).await;
    let _clerk = Clerk::of(&test);
    for (run, pause) in (1..).zip([5, 10, 20, 40, 80, 160, 300, 300]) {
        let rescheduled = format!(r#""state":"waiting","server":"desk","attempts":0,"pauses":{run},"#);
        eventually(|| is(&test, &rescheduled)).await;
        // What went wrong is nothing to be shown while it is to be tried again.
        assert_eq!(
            sent(&test, get()).await,
            heard(
                202,
                r#"{"status":"accepted","task_id":"tsk_01kdvdna00w8gagebv3q6tyvkr","trace_id":"t1","idempotency_key":"k1","reused":true}"#
            )
        );
        test.clock.advance(pause * 1_000 - 1);
        let looks = test.store.inspect(|state| state.pages);
        eventually(|| test.store.inspect(|state| state.pages) > looks + 2).await;
        assert!(is(&test, &rescheduled), "{run}");
        test.clock.advance(1);
    }
    test.clock.advance(RETAIN.as_millis() as i64);
    all_done(&test).await;
    let answer = sent(&test, get()).await;
    assert!(answer.body.starts_with(r#"{"status":"failed","#), "{answer:?}");
    assert!(answer.body.contains(r#""fault":"unavailable""#) && answer.body.contains("time_exhausted"), "{answer:?}");
}

#[tokio::test]
async fn a_run_that_is_put_off_succeeds_when_the_trouble_is_over() {
    let test = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    test.store.inject(|faults| faults.reads_of = Some(("book", InjectedFault::Fail)));
    sent(&test, get()).await;
    let _clerk = Clerk::of(&test);
    eventually(|| is(&test, r#""state":"waiting","server":"desk","attempts":0,"pauses":1,"#)).await;
    test.store.inject(|faults| faults.reads_of = None);
    test.clock.advance(5_000);
    all_done(&test).await;
    assert!(sent(&test, get()).await.body.contains("Emma"));
}

#[tokio::test]
async fn an_immediate_retry_of_an_accepted_task_keeps_the_task() {
    let test = office(DispatchMode::Now, OnQueueFull::Refuse);
    test.store.inject(|faults| faults.reads_of = Some(("book", InjectedFault::Fail)));
    assert_eq!(sent_as(&test, DispatchPreference::Later, get()).await.status, 202);
    test.clock.advance(10_000);
    let answer = sent(&test, get()).await;
    assert!(answer.status == 202 && answer.body.starts_with(r#"{"status":"accepted","#), "{answer:?}");
    test.store.inject(|faults| faults.reads_of = None);
    test.clock.advance(5_000);
    assert!(sent(&test, get()).await.body.contains("Emma"));
}

#[tokio::test]
async fn a_waiting_task_does_not_expire_before_it_ends() {
    let test = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    sent(&test, get()).await;
    test.clock.advance(RETAIN.as_millis() as i64 + 1);
    let task = r#""task_id":"tsk_01kdvdna00w8gagebv3q6tyvkr""#;
    let waiting = sent(&test, get()).await;
    assert!(waiting.body.contains(task) && waiting.body.contains(r#""reused":true"#), "{waiting:?}");
    let _clerk = Clerk::of(&test);
    all_done(&test).await;
    test.clock.advance(RETAIN.as_millis() as i64 - 1);
    let answer = sent(&test, get()).await;
    assert!(answer.body.contains("Emma") && answer.body.contains(task), "{answer:?}");
    test.clock.advance(1);
    assert!(sent(&test, get()).await.body.contains(r#""reused":false"#));
}

#[tokio::test]
async fn a_write_whose_answer_was_not_stored_happens_once() {
    let test = office(DispatchMode::Now, OnQueueFull::Refuse);
    let add = || letter(KEEPER, "k1", "book.add", r#"{"title":"It","genre":"novel","copies":1}"#);
    let books =
        || test.store.inspect(|state| state.rows.keys().filter(|key| key.1 == "book" && key.0 == "north").count());
    // The task and the book are committed, the answer is not.
    test.store.inject(|faults| faults.commits_left = Some(2));
    assert!(sent(&test, add()).await.body.contains("key_in_flight"));
    test.store.inject(|faults| faults.commits_left = None);
    assert_eq!(books(), 4);
    test.clock.advance(30_000);
    let answer = sent(&test, add()).await;
    assert!(answer.body.starts_with(r#"{"status":"completed","#), "{answer:?}");
    assert_eq!(books(), 4);
}
