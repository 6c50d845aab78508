//! Bookings that are made in the business's own system.

use std::sync::Arc;

use frontdesk_engine::ports::http_client::HttpError;
use frontdesk_engine::relay::RELAY;
use frontdesk_testkit::MemoryStore;
use serde_json::json;

use super::support::{Front, Mishap, payload};
use crate::support::{HOTEL, NOW};

#[tokio::test]
async fn t_100_a_booking_has_the_reference_of_the_system() {
    let memory = Arc::new(MemoryStore::with_tenants([HOTEL]));
    let front = Front::over(memory.clone());
    let mut asked = front.booking("k-1").await;
    asked["request_id"] = json!("req_1");
    let booked = front.call("create_booking", asked.clone()).await;
    assert_eq!(
        (&booked["status"], &booked["total_inr"], &booked["mode"]),
        (&json!("confirmed"), &json!(4256), &json!("live"))
    );
    let sent = front.hotel.last();
    assert_eq!((&sent["role"], &sent["attempt"], &sent["request_id"]), (&json!("create"), &json!(1), &json!("req_1")));
    assert!(sent["idempotency_key"].as_str().unwrap().starts_with("rly_"));
    assert_eq!(sent["arguments"]["guest"]["name"], "Asha Rao", "the system needs to know for whom it is");
    assert_eq!(memory.events(), ["tomo_booking created"]);
    assert_eq!((front.bookings().await, front.relays().await), (1, 0));
    let rows = memory.inspect(|state| state.rows.values().cloned().collect::<Vec<_>>());
    let stored: serde_json::Value = serde_json::from_str(&rows[0].body).unwrap();
    assert_eq!(
        (&stored["total_inr"], &stored["status"], &stored["request_id"]),
        (&json!(4256), &json!("confirmed"), &json!("req_1"))
    );
    assert_eq!(stored["starts_at"], "2027-03-10T08:30:00Z");
    for word in ["Asha", "9812345678", "asha.rao", "Halasuru"] {
        assert!(!rows[0].body.contains(word) && !memory.audit().join(" ").contains(word), "{word}");
    }
    let again = front.call("create_booking", asked).await;
    assert_eq!((again, front.hotel.count("create_booking")), (booked, 1), "a repeated key asks nobody");
}

#[tokio::test]
async fn t_101_a_key_with_another_body_is_a_conflict_and_asks_nobody() {
    let front = Front::new();
    let asked = front.booking("k-1").await;
    let mut other = asked.clone();
    other["guest"]["name"] = json!("Ravi Rao");
    // Also while it is not known whether the first was done.
    front.hotel.then(Mishap::DoneBut(HttpError::TimedOut));
    assert_eq!(front.code("create_booking", asked.clone()).await, "RATE_LIMITED");
    assert_eq!(front.code("create_booking", other.clone()).await, "IDEMPOTENCY_CONFLICT");
    front.call("create_booking", asked).await;
    assert_eq!(front.code("create_booking", other).await, "IDEMPOTENCY_CONFLICT");
    assert_eq!(front.hotel.count("create_booking"), 2);
}

#[tokio::test]
async fn t_102_an_answer_that_was_lost_is_asked_for_with_the_same_key() {
    for (lost, seen) in [
        (Mishap::DoneBut(HttpError::TimedOut), "RATE_LIMITED"),
        (Mishap::DoneBut(HttpError::Broken), "RATE_LIMITED"),
        (Mishap::Bytes(502, Vec::new()), "RATE_LIMITED"),
        (Mishap::DoneBut(HttpError::TooLarge), "INTERNAL_ERROR"),
        (Mishap::Changed(|answer| answer["result"]["room_id"] = json!(null)), "INTERNAL_ERROR"),
        (Mishap::Changed(|answer| answer["result"]["adBid"] = json!(1)), "INTERNAL_ERROR"),
        (Mishap::Changed(|answer| answer["result"]["booking_ref"] = json!("../etc")), "INTERNAL_ERROR"),
        (Mishap::Changed(|answer| answer["booking"] = json!({"total_inr": "4256"})), "INTERNAL_ERROR"),
        (Mishap::Changed(|answer| answer["booking"] = json!({"ref": "another"})), "INTERNAL_ERROR"),
        (Mishap::Changed(|answer| *answer = json!({"error": {"code": "INTERNAL_ERROR"}})), "INTERNAL_ERROR"),
    ] {
        let front = Front::new();
        let asked = front.booking("k-1").await;
        front.hotel.then(lost.clone());
        assert_eq!(front.code("create_booking", asked.clone()).await, seen, "{lost:?}");
        assert_eq!((front.bookings().await, front.relays().await), (0, 1), "{lost:?}");
        front.call("create_booking", asked).await;
        assert_eq!((front.bookings().await, front.relays().await), (1, 0));
        assert_eq!(front.hotel.keys("create_booking").len(), 1, "{lost:?}");
        assert_eq!(front.hotel.last()["attempt"], 2);
    }
}

#[tokio::test]
async fn what_the_system_refuses_or_never_gets_claims_no_key() {
    let front = Front::new();
    let asked = front.booking("k-1").await;
    for (mishap, seen) in [
        (Mishap::Answer(json!({"error": {"code": "NOT_AVAILABLE"}})), "NOT_AVAILABLE"),
        (Mishap::Error(HttpError::Unreachable), "PARTNER_MAINTENANCE"),
        (Mishap::Bytes(429, Vec::new()), "PARTNER_MAINTENANCE"),
        (Mishap::Answer(json!({"error": {"code": "RESULT_EXPIRED"}})), "RESULT_EXPIRED"),
    ] {
        front.hotel.then(mishap);
        assert_eq!(front.code("create_booking", asked.clone()).await, seen);
        assert_eq!(front.relays().await, 0, "{seen}");
    }
    let mut other = asked;
    other["guest"]["name"] = json!("Ravi Rao");
    front.call("create_booking", other).await;
    assert_eq!(front.hotel.last()["attempt"], 1, "nothing was left of the others");
}

#[tokio::test]
async fn what_did_not_arrive_again_may_have_been_done_before() {
    let front = Front::new();
    let asked = front.booking("k-1").await;
    front.hotel.then(Mishap::DoneBut(HttpError::Broken));
    front.hotel.then(Mishap::Error(HttpError::Unreachable));
    assert_eq!(front.code("create_booking", asked.clone()).await, "RATE_LIMITED");
    assert_eq!(front.code("create_booking", asked.clone()).await, "PARTNER_MAINTENANCE");
    assert_eq!(front.relays().await, 1);
    front.call("create_booking", asked).await;
    assert_eq!((front.bookings().await, front.relays().await, front.hotel.last()["attempt"].clone()), (1, 0, json!(3)));
}

#[tokio::test]
async fn two_orders_cannot_have_one_reference() {
    let front = Front::new();
    let first = front.call("create_booking", front.booking("k-1").await).await;
    let second = front.booking("k-2").await;
    STOLEN.set(first["booking_ref"].as_str().unwrap().to_owned()).unwrap();
    front.hotel.then(Mishap::Changed(|answer| answer["result"]["booking_ref"] = json!(STOLEN.get().unwrap())));
    assert_eq!(front.code("create_booking", second.clone()).await, "INTERNAL_ERROR");
    assert_eq!((front.bookings().await, front.relays().await), (1, 1));
    front.call("create_booking", second).await;
    assert_eq!((front.bookings().await, front.relays().await), (2, 0));
}

static STOLEN: std::sync::OnceLock<String> = std::sync::OnceLock::new();

#[tokio::test]
async fn a_key_that_was_forgotten_here_is_still_the_same_booking() {
    let memory = Arc::new(MemoryStore::with_tenants([HOTEL]));
    let front = Front::over(memory.clone());
    let asked = front.booking("k-1").await;
    let booked = front.call("create_booking", asked.clone()).await;
    memory.inspect(|state| state.claims.clear());
    let again = front.call("create_booking", asked).await;
    assert_eq!((again, front.bookings().await, front.relays().await), (booked, 1, 0));
    assert_eq!(front.hotel.keys("create_booking").len(), 1);
}

#[tokio::test]
async fn a_store_that_fails_after_sending_leaves_the_outcome_open() {
    let memory = Arc::new(MemoryStore::with_tenants([HOTEL]));
    let front = Front::over(memory.clone());
    let asked = front.booking("k-1").await;
    memory.inject(|faults| faults.commits_left = Some(1));
    assert_eq!(front.code("create_booking", asked.clone()).await, "RATE_LIMITED");
    memory.inject(|faults| faults.commits_left = None);
    assert!(memory.row(HOTEL, &RELAY, front.hotel.last()["idempotency_key"].as_str().unwrap()).is_some());
    front.clock.set(NOW.0 + 15_000);
    let booked = payload(&front.answer("create_booking", asked).await);
    assert_eq!((booked["status"].clone(), front.bookings().await), (json!("confirmed"), 1));
}
