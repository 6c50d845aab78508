//! Five hundred bookings of the last driver at once: one gets the ride, the others are refused.

use std::sync::Arc;

use serde_json::{Value, json};

use super::data::seeds;
use super::desk::PartnerDesk;
use super::support::{LIVE, contract, estimates, order, reference};

const CALLS: usize = 500;

async fn book_last_driver(desk: Arc<PartnerDesk>, hold: impl FnOnce(), release: impl FnOnce()) {
    let found = estimates(&desk, LIVE).await;
    hold();
    let call = |number: usize| {
        let (desk, order) = (Arc::clone(&desk), order(&found, "far_sedan", &format!("key-{number}")));
        tokio::spawn(async move { desk.call(LIVE, "book_ride", order).await })
    };
    let tasks: Vec<_> = (0..CALLS).map(call).collect();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    release();
    let (mut booked, mut refused): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for task in tasks {
        match task.await.unwrap() {
            Ok(answer) => booked.push(answer),
            Err(error) => refused.push(error["data"]["tomo_error_code"].clone()),
        }
    }
    assert_eq!((booked.len(), refused.len()), (1, CALLS - 1));
    assert!(refused.iter().all(|code| code == "NOT_AVAILABLE"), "{refused:?}");
    // The driver is free once, and not more often, after the ride was given up.
    desk.ok(LIVE, "cancel_ride", reference(&booked[0])).await;
    let next = desk.ok(LIVE, "book_ride", order(&found, "far_sedan", "after")).await;
    assert_eq!(next["driver"]["first_name"], "Prakash");
    assert_eq!(desk.code(LIVE, "book_ride", order(&found, "far_sedan", "one-more")).await, "NOT_AVAILABLE");
}

#[tokio::test]
async fn five_hundred_bookings_of_the_last_driver_in_memory() {
    let (desk, store) = super::support::open();
    let gate = std::cell::RefCell::new(None);
    // All have planned before the first of them is committed, so that everybody has seen the same free driver.
    let hold = || *gate.borrow_mut() = Some(store.hold_commits());
    let release = || gate.borrow().as_ref().unwrap().add_permits(1);
    book_last_driver(Arc::new(desk), hold, release).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_hundred_bookings_of_the_last_driver_on_sqlite() {
    book_last_driver(Arc::new(PartnerDesk::on_sqlite(contract(), seeds()).await), || (), || ()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_hundred_bookings_of_the_last_driver_on_postgres() {
    book_last_driver(Arc::new(PartnerDesk::on_postgres(contract(), seeds()).await), || (), || ()).await;
}

#[tokio::test]
async fn t_102_fifty_equal_bookings_at_once_are_one() {
    let desk = Arc::new(PartnerDesk::on_sqlite(contract(), seeds()).await);
    let order = order(&estimates(&desk, LIVE).await, "far_auto", "the-same-key");
    let call = |_: usize| {
        let (desk, order) = (Arc::clone(&desk), order.clone());
        tokio::spawn(async move { desk.ok(LIVE, "book_ride", order).await })
    };
    let tasks: Vec<_> = (0..50).map(call).collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let found = estimates(&desk, LIVE).await;
    assert_eq!(found["options"][0]["drivers_available"], json!(1), "one of two drivers has a ride");
}

/// A ride from its estimate to its end.
async fn whole_ride(desk: PartnerDesk) {
    let ride = super::support::booked(&desk, LIVE, "far_sedan", "key-1").await;
    desk.ok(LIVE, "track_ride", reference(&ride)).await;
    let drop = json!({"booking_ref": ride["booking_ref"], "drop": super::data::far_drop()});
    assert_eq!(desk.ok(LIVE, "update_ride_drop", drop).await["fare_inr"], 337);
    desk.clock.advance(60_000);
    super::support::move_to(&desk, &ride, "in_progress", json!({"location": {"lat": 12.95, "lng": 77.6}}))
        .await
        .unwrap();
    let ended = super::support::move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    assert_eq!(ended["net_inr"], 321);
    let rating = json!({"booking_ref": ride["booking_ref"], "rating": 5, "comment": "Fine"});
    assert_eq!(desk.ok(LIVE, "rate_ride", rating).await["acknowledged"], true);
    let found = estimates(&desk, LIVE).await;
    assert_eq!(found["options"][1]["drivers_available"], 1);
}

#[tokio::test]
async fn a_whole_ride_on_every_store() {
    whole_ride(super::support::open().0).await;
    whole_ride(PartnerDesk::on_sqlite(contract(), seeds()).await).await;
    whole_ride(PartnerDesk::on_postgres(contract(), seeds()).await).await;
}
