//! Tasks whose node has gone: they are found, begun again a few times, and never by two.

use std::sync::Arc;

use frontdesk_engine::dispatch::{Full, When};
use frontdesk_engine::incoming::Incoming;

use super::{Clerk, all_done, calls, letter, office, sent, tasks};
use crate::support::shelves::Mood;
use crate::support::{House, KEEPER, eventually, heard};

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
    let house = Arc::new(office(When::Later, Full::Refuse));
    sent(&house, get()).await;
    let other = Arc::new(office(When::Later, Full::Refuse).beside(&house));
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
    let house = Arc::new(office(When::Later, Full::Refuse));
    for key in ["a", "b"] {
        sent(&house, letter(KEEPER, key, "book.get", r#"{"id":"b1"}"#)).await;
    }
    house.clock.forward(10_000);
    let nodes = [(); 2].map(|()| Arc::new(office(When::Later, Full::Refuse).beside(&house)));
    house.store.turn(|knobs| knobs.commits = Mood::Slow(std::time::Duration::from_millis(5)));
    let _clerks = [Clerk::of(&house), Clerk::of(&nodes[0]), Clerk::of(&nodes[1])];
    all_done(&house).await;
    let runs: usize = [&house, &nodes[0], &nodes[1]].map(|node| calls(node, "book.get")).iter().sum();
    assert_eq!(runs, 2);
}

#[tokio::test]
async fn a_message_cut_off_while_it_ran_is_taken_over_when_its_lease_ends_and_not_before() {
    let house = Arc::new(office(When::Now, Full::Refuse));
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
    let house = Arc::new(office(When::Now, Full::Refuse));
    cut_off(&house, 1).await;
    house.clock.forward(30_000);
    let other = Arc::new(office(When::Now, Full::Refuse).beside(&house));
    let _clerk = Clerk::of(&other);
    all_done(&house).await;
    assert_eq!(calls(&other, "book.get"), 1);
}

#[tokio::test]
async fn what_was_begun_three_times_and_never_ended_has_failed_and_says_so() {
    let house = Arc::new(office(When::Now, Full::Refuse));
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
async fn a_run_without_a_worthy_answer_is_put_off_and_after_the_third_its_word_is_kept() {
    let house = Arc::new(office(When::Later, Full::Refuse));
    house.store.turn(|knobs| knobs.books = Mood::Fails);
    sent(&house, get()).await;
    let _clerk = Clerk::of(&house);
    for (attempt, pause) in [(1, 5_000), (2, 10_000)] {
        let put_off = format!(r#""state":"waiting","server":"desk","attempts":{attempt},"#);
        eventually(|| is(&house, &put_off)).await;
        assert_eq!(sent(&house, get()).await.status, 202);
        house.clock.forward(pause);
    }
    all_done(&house).await;
    let answer = sent(&house, get()).await;
    assert!(answer.body.starts_with(r#"{"status":"failed","#), "{answer:?}");
    assert!(
        answer.body.contains(r#""fault":"unavailable""#) && answer.body.contains("attempts_exhausted"),
        "{answer:?}"
    );
}

#[tokio::test]
async fn a_run_that_is_put_off_succeeds_when_the_trouble_is_over() {
    let house = Arc::new(office(When::Later, Full::Refuse));
    house.store.turn(|knobs| knobs.books = Mood::Fails);
    sent(&house, get()).await;
    let _clerk = Clerk::of(&house);
    eventually(|| is(&house, r#""state":"waiting","server":"desk","attempts":1,"#)).await;
    house.store.turn(|knobs| knobs.books = Mood::Well);
    house.clock.forward(5_000);
    all_done(&house).await;
    assert!(sent(&house, get()).await.body.contains("Emma"));
}

#[tokio::test]
async fn a_write_that_happened_before_its_answer_was_kept_happens_once() {
    let house = office(When::Now, Full::Refuse);
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
