//! Tasks whose node has gone: they are found, begun again a few times, and never by two.

use std::sync::Arc;

use frontdesk_engine::Desk;
use frontdesk_engine::dispatch::{DispatchMode, DispatchPreference, OnQueueFull, TaskQueue};
use frontdesk_engine::model::incoming::Incoming;
use frontdesk_engine::ports::Clock as _;

use super::{Clerk, RETAIN, all_done, calls, letter, office, sent, sent_as, tasks};
use crate::support::shelves::Mood;
use crate::support::{House, KEEPER, LIMITS, eventually, heard};

fn get() -> Incoming {
    letter(KEEPER, "k1", "book.get", r#"{"id":"b1"}"#)
}

fn is(house: &House, member: &str) -> bool {
    tasks(house).iter().all(|row| row.body.contains(member))
}

/// The message is begun for this time, and whoever runs it ends.
async fn cut_off(house: &Arc<House>, attempt: usize) {
    house.store.turn(|knobs| knobs.books = Mood::Hangs);
    let running = tokio::spawn({
        let house = Arc::clone(house);
        async move { sent(&house, get()).await }
    });
    let begun = format!(r#""state":"running","server":"desk","attempts":{attempt},"#);
    eventually(|| !tasks(house).is_empty() && is(house, &begun)).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    house.store.turn(|knobs| knobs.books = Mood::Well);
}

#[tokio::test]
async fn what_the_accepting_node_does_not_begin_is_begun_by_another_once_its_time_is_over() {
    let house = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    sent(&house, get()).await;
    let other = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse).beside(&house));
    let _clerk = Clerk::of(&other);
    house.clock.forward(9_999);
    let looks = house.store.look(|kept| kept.pages);
    eventually(|| house.store.look(|kept| kept.pages) > looks + 3).await;
    assert_eq!(calls(&other, "book.get"), 0);
    house.clock.forward(1);
    all_done(&house).await;
    assert_eq!((calls(&house, "book.get"), calls(&other, "book.get")), (0, 1));
    let answer = sent(&house, get()).await;
    assert!(answer.body.contains("Emma") && answer.body.contains(r#""reused":true"#), "{answer:?}");
}

#[tokio::test]
async fn of_two_nodes_that_find_a_task_one_runs_it() {
    let house = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    for key in ["a", "b"] {
        sent(&house, letter(KEEPER, key, "book.get", r#"{"id":"b1"}"#)).await;
    }
    house.clock.forward(10_000);
    let nodes = [(); 2].map(|()| Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse).beside(&house)));
    house.store.turn(|knobs| knobs.commits = Mood::Slow(std::time::Duration::from_millis(5)));
    let _clerks = [Clerk::of(&house), Clerk::of(&nodes[0]), Clerk::of(&nodes[1])];
    all_done(&house).await;
    let runs: usize = [&house, &nodes[0], &nodes[1]].map(|node| calls(node, "book.get")).iter().sum();
    assert_eq!(runs, 2);
}

#[tokio::test]
async fn a_message_cut_off_while_it_ran_is_taken_over_when_its_lease_ends_and_not_before() {
    let house = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse));
    cut_off(&house, 1).await;
    // The deadline of a call and ten seconds more.
    house.clock.forward(29_999);
    assert_eq!(
        sent(&house, get()).await,
        heard(
            202,
            r#"{"status":"accepted","task_id":"tsk_01kdvdna0002qz8kzckfne2f63","trace_id":"t1","idempotency_key":"k1","reused":true}"#
        )
    );
    house.clock.forward(1);
    let answer = sent(&house, get()).await;
    assert!(answer.body.contains("Emma") && answer.body.contains(r#""reused":false"#), "{answer:?}");
    assert!(is(&house, r#""state":"completed","server":"desk","attempts":2,"#));
}

#[tokio::test]
async fn a_message_cut_off_while_it_ran_is_run_again_without_being_sent_again() {
    let house = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse));
    cut_off(&house, 1).await;
    house.clock.forward(30_000);
    let other = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse).beside(&house));
    let _clerk = Clerk::of(&other);
    all_done(&house).await;
    assert_eq!(calls(&other, "book.get"), 1);
}

#[tokio::test]
async fn a_node_that_has_its_store_to_itself_takes_up_at_once_what_an_earlier_start_of_it_left() {
    let house = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse));
    cut_off(&house, 1).await;
    house.clock.forward(1);
    let again = office(DispatchMode::Now, OnQueueFull::Refuse).beside(&house);
    let tasks = TaskQueue::new(LIMITS).alone(house.clock.now());
    let again = Arc::new(House { desk: Desk { task_queue: tasks, ..again.desk }, ..again });
    let _clerk = Clerk::of(&again);
    all_done(&house).await;
    assert_eq!(calls(&again, "book.get"), 1);
}

#[tokio::test]
async fn what_was_begun_three_times_and_never_ended_has_failed_and_says_so() {
    let house = Arc::new(office(DispatchMode::Now, OnQueueFull::Refuse));
    for attempt in 1..=3 {
        cut_off(&house, attempt).await;
        house.clock.forward(30_000);
    }
    for _ in 0..2 {
        assert_eq!(
            sent(&house, get()).await,
            heard(
                200,
                r#"{"status":"failed","task_id":"tsk_01kdvdna0002qz8kzckfne2f63","trace_id":"t1","idempotency_key":"k1","reused":true,"error":{"code":"attempts_exhausted","message":"It was begun 3 times and not completed. Send it under another key."}}"#
            )
        );
    }
    // Three were cut off; none was begun after that.
    assert_eq!(calls(&house, "book.get"), 3);
}

#[tokio::test]
async fn a_run_without_a_worthy_answer_is_put_off_for_longer_each_time_and_given_up_when_its_time_is_over() {
    let house = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    house.store.turn(|knobs| knobs.books = Mood::Fails);
    sent(&house, get()).await;
    let _clerk = Clerk::of(&house);
    for (run, pause) in (1..).zip([5, 10, 20, 40, 80, 160, 300, 300]) {
        let put_off = format!(r#""state":"waiting","server":"desk","attempts":0,"pauses":{run},"#);
        eventually(|| is(&house, &put_off)).await;
        // What went wrong is nothing to be shown while it is to be tried again.
        assert_eq!(
            sent(&house, get()).await,
            heard(
                202,
                r#"{"status":"accepted","task_id":"tsk_01kdvdna0002qz8kzckfne2f63","trace_id":"t1","idempotency_key":"k1","reused":true}"#
            )
        );
        house.clock.forward(pause * 1_000 - 1);
        let looks = house.store.look(|kept| kept.pages);
        eventually(|| house.store.look(|kept| kept.pages) > looks + 2).await;
        assert!(is(&house, &put_off), "{run}");
        house.clock.forward(1);
    }
    house.clock.forward(RETAIN.as_millis() as i64);
    all_done(&house).await;
    let answer = sent(&house, get()).await;
    assert!(answer.body.starts_with(r#"{"status":"failed","#), "{answer:?}");
    assert!(answer.body.contains(r#""fault":"unavailable""#) && answer.body.contains("time_exhausted"), "{answer:?}");
}

#[tokio::test]
async fn a_run_that_is_put_off_succeeds_when_the_trouble_is_over() {
    let house = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    house.store.turn(|knobs| knobs.books = Mood::Fails);
    sent(&house, get()).await;
    let _clerk = Clerk::of(&house);
    eventually(|| is(&house, r#""state":"waiting","server":"desk","attempts":0,"pauses":1,"#)).await;
    house.store.turn(|knobs| knobs.books = Mood::Well);
    house.clock.forward(5_000);
    all_done(&house).await;
    assert!(sent(&house, get()).await.body.contains("Emma"));
}

#[tokio::test]
async fn who_asks_at_once_for_what_was_accepted_before_does_not_lose_it_to_the_trouble_of_the_moment() {
    let house = office(DispatchMode::Now, OnQueueFull::Refuse);
    house.store.turn(|knobs| knobs.books = Mood::Fails);
    assert_eq!(sent_as(&house, DispatchPreference::Later, get()).await.status, 202);
    house.clock.forward(10_000);
    let answer = sent(&house, get()).await;
    assert!(answer.status == 202 && answer.body.starts_with(r#"{"status":"accepted","#), "{answer:?}");
    house.store.turn(|knobs| knobs.books = Mood::Well);
    house.clock.forward(5_000);
    assert!(sent(&house, get()).await.body.contains("Emma"));
}

#[tokio::test]
async fn what_waits_does_not_expire_under_its_caller_and_is_kept_from_its_end_on() {
    let house = Arc::new(office(DispatchMode::Later, OnQueueFull::Refuse));
    sent(&house, get()).await;
    house.clock.forward(RETAIN.as_millis() as i64 + 1);
    let task = r#""task_id":"tsk_01kdvdna0002qz8kzckfne2f63""#;
    let waiting = sent(&house, get()).await;
    assert!(waiting.body.contains(task) && waiting.body.contains(r#""reused":true"#), "{waiting:?}");
    let _clerk = Clerk::of(&house);
    all_done(&house).await;
    house.clock.forward(RETAIN.as_millis() as i64 - 1);
    let answer = sent(&house, get()).await;
    assert!(answer.body.contains("Emma") && answer.body.contains(task), "{answer:?}");
    house.clock.forward(1);
    assert!(sent(&house, get()).await.body.contains(r#""reused":false"#));
}

#[tokio::test]
async fn a_write_that_happened_before_its_answer_was_kept_happens_once() {
    let house = office(DispatchMode::Now, OnQueueFull::Refuse);
    let add = || letter(KEEPER, "k1", "book.add", r#"{"title":"It","genre":"novel","copies":1}"#);
    let books = || house.store.look(|kept| kept.rows.keys().filter(|key| key.1 == "book" && key.0 == "north").count());
    // The task and the book are committed, the answer is not.
    house.store.turn(|knobs| knobs.commits_left = Some(2));
    assert!(sent(&house, add()).await.body.contains("key_in_flight"));
    house.store.turn(|knobs| knobs.commits_left = None);
    assert_eq!(books(), 4);
    house.clock.forward(30_000);
    let answer = sent(&house, add()).await;
    assert!(answer.body.starts_with(r#"{"status":"completed","#), "{answer:?}");
    assert_eq!(books(), 4);
}
