//! Five hundred bookings of the last place at once: one is made, the others are refused.

use std::sync::Arc;

use serde_json::{Value, json};

use super::support::{
    DEALERSHIP_LIVE, DEALERSHIP_SANDBOX, OWN_LIVE, Partner, ServiceDesk, booking_at, general_service,
};

const CALLS: usize = 500;
const SLOT: &str = "20270301T033000Z";

/// Partner, provider, and how many places there are before the last one.
const LAST_PLACES: [(Partner, &str, usize); 3] =
    [(OWN_LIVE, "prv_indiranagar", 0), (DEALERSHIP_LIVE, "wsp_main", 1), (DEALERSHIP_SANDBOX, "wsp_main", 1)];

/// Books the last place of each provider as often as said, at once. `all_planned` is called when all have been sent.
async fn book_last_places(desk: Arc<ServiceDesk>, mut before: impl FnMut(), mut all_planned: impl FnMut()) {
    for (partner, id, others) in LAST_PLACES {
        let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        for number in 0..others {
            desk.ok(partner, "book_slot", booking_at(&found, id, SLOT, &format!("other-{number}"))).await;
        }
        before();
        let call = |number: usize| {
            let desk = Arc::clone(&desk);
            let order = booking_at(&found, id, SLOT, &format!("key-{number}"));
            tokio::spawn(async move { desk.call(partner, "book_slot", order).await })
        };
        let tasks: Vec<_> = (0..CALLS).map(call).collect();
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        all_planned();
        let (mut booked, mut refused): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
        for task in tasks {
            match task.await.unwrap() {
                Ok(answer) => booked.push(answer),
                Err(error) => refused.push(error["data"]["tomo_error_code"].clone()),
            }
        }
        assert_eq!((booked.len(), refused.len()), (1, CALLS - 1), "{partner:?}");
        assert!(refused.iter().all(|code| code == "NOT_AVAILABLE"), "{partner:?} {refused:?}");
        // The place is free once, and not more often, after it was given back.
        desk.ok(partner, "cancel_booking", json!({"booking_ref": booked[0]["booking_ref"]})).await;
        desk.ok(partner, "book_slot", booking_at(&found, id, SLOT, "after")).await;
        let more = booking_at(&found, id, SLOT, "one-more");
        assert_eq!(desk.code(partner, "book_slot", more).await, "NOT_AVAILABLE", "{partner:?}");
    }
}

#[tokio::test]
async fn five_hundred_bookings_of_the_last_place_in_memory() {
    let (desk, store) = ServiceDesk::open();
    let gate = std::cell::RefCell::new(None);
    // All have planned before the first of them is committed, so that everybody has seen the same free place.
    let hold = || *gate.borrow_mut() = Some(store.hold_commits());
    let release = || gate.borrow().as_ref().unwrap().add_permits(1);
    book_last_places(Arc::new(desk), hold, release).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_hundred_bookings_of_the_last_place_on_sqlite() {
    book_last_places(Arc::new(ServiceDesk::on_sqlite().await), || (), || ()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_hundred_bookings_of_the_last_place_on_postgres() {
    book_last_places(Arc::new(ServiceDesk::on_postgres().await), || (), || ()).await;
}

#[tokio::test]
async fn t_102_fifty_equal_bookings_at_once_are_one() {
    let desk = Arc::new(ServiceDesk::on_sqlite().await);
    for (partner, id, _) in LAST_PLACES {
        let found = desk.ok(partner, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
        let order = booking_at(&found, id, SLOT, "the-same-key");
        let call = |_: usize| {
            let (desk, order) = (Arc::clone(&desk), order.clone());
            tokio::spawn(async move { desk.ok(partner, "book_slot", order).await })
        };
        let tasks: Vec<_> = (0..50).map(call).collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.unwrap());
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }
}
