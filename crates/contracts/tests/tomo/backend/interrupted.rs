//! A create that is interrupted between its two halves: the same key is sent again, and by nobody twice at a time.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::ports::http_client::HttpError;
use frontdesk_testkit::MemoryStore;
use serde_json::{Value, json};

use super::support::{Front, Mishap, code};
use crate::support::HOTEL;

/// Sends a create, and drops it when the system has done it and before its outcome is stored.
async fn interrupt(front: &Front, asked: Value) {
    front.hotel.then(Mishap::Slow(Duration::from_secs(4)));
    let call = front.answer("create_booking", asked);
    assert!(tokio::time::timeout(Duration::from_secs(3), call).await.is_err(), "it was still under way");
}

#[tokio::test(start_paused = true)]
async fn nobody_else_sends_a_call_while_its_lease_lasts() {
    let front = Front::new();
    let asked = front.booking("k-1").await;
    interrupt(&front, asked.clone()).await;
    let started = tokio::time::Instant::now();
    let answer = front.answer("create_booking", asked.clone()).await;
    assert_eq!(code(&answer), "RATE_LIMITED");
    assert_eq!(answer["error"]["code"], -32001);
    assert!((5..6).contains(&started.elapsed().as_secs()), "it has waited for the first: {:?}", started.elapsed());
    front.repeat_due().await;
    assert_eq!(front.hotel.count("create_booking"), 1);
    front.clock.advance(15_000);
    let booked = front.call("create_booking", asked).await;
    assert_eq!((&booked["status"], front.bookings().await), (&json!("confirmed"), 1));
    assert_eq!((front.hotel.count("create_booking"), front.hotel.keys("create_booking").len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_call_is_repeated_by_the_server_itself() {
    let memory = Arc::new(MemoryStore::with_tenants([HOTEL]));
    let front = Front::over(memory.clone());
    let asked = front.booking("k-1").await;
    interrupt(&front, asked.clone()).await;
    front.clock.advance(15_000);
    front.repeat_due().await;
    assert_eq!((front.bookings().await, front.relays().await), (1, 0));
    assert_eq!((front.hotel.count("create_booking"), front.hotel.keys("create_booking").len()), (2, 1));
    assert_eq!(memory.events(), ["tomo_booking created"]);
    let booked = front.call("create_booking", asked).await;
    assert_eq!((&booked["status"], front.hotel.count("create_booking")), (&json!("confirmed"), 2), "and is known");
    front.repeat_due().await;
    assert_eq!(front.hotel.count("create_booking"), 2, "nothing is left to do");
}

#[tokio::test]
async fn the_server_gives_up_after_some_hours_and_says_so() {
    let front = Front::new();
    let asked = front.booking("k-1").await;
    front.hotel.then(Mishap::DoneBut(HttpError::TimedOut));
    assert_eq!(front.code("create_booking", asked.clone()).await, "RATE_LIMITED");
    let mut rounds = 0;
    while front.observed.notices() != ["relay_failed"] {
        // Not in a row, so that the system is not left alone.
        front.call("get_listing", json!({"listing_id": asked["listing_id"]})).await;
        front.hotel.then(Mishap::DoneBut(HttpError::TimedOut));
        front.clock.advance(3_600_000);
        front.repeat_due().await;
        rounds += 1;
        assert!(rounds < 20);
    }
    assert_eq!(rounds, 13, "twelve repetitions, and the end");
    assert_eq!((front.hotel.count("create_booking"), front.relays().await), (13, 1));
    front.clock.advance(3_600_000);
    front.repeat_due().await;
    assert_eq!(front.hotel.count("create_booking"), 13);
    // A caller who still asks is still served, under the same key.
    front.hotel.mishaps.lock().unwrap().clear();
    front.call("create_booking", asked).await;
    assert_eq!((front.bookings().await, front.relays().await), (1, 0));
    assert_eq!(front.hotel.keys("create_booking").len(), 1);
}

#[tokio::test]
async fn an_abandoned_call_that_is_refused_in_the_end_leaves_nothing() {
    let front = Front::new();
    let asked = front.booking("k-1").await;
    front.hotel.then(Mishap::Error(HttpError::TimedOut));
    front.hotel.then(Mishap::Answer(json!({"error": {"code": "NOT_AVAILABLE"}})));
    assert_eq!(front.code("create_booking", asked).await, "RATE_LIMITED");
    front.clock.advance(15_000);
    front.repeat_due().await;
    assert_eq!((front.bookings().await, front.relays().await), (0, 0));
}
