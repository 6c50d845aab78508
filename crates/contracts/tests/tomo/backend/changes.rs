//! Changing and cancelling in the business's own system.

use std::sync::Arc;

use frontdesk_engine::ports::http_client::HttpError;
use frontdesk_testkit::MemoryStore;
use serde_json::{Value, json};

use super::support::{Front, Mishap};
use crate::support::{HOTEL, call};

async fn booked(front: &Front) -> Value {
    front.call("create_booking", front.booking("k-1").await).await
}

fn moved(booked: &Value, until: &str) -> Value {
    json!({"booking_ref": booked["booking_ref"], "dates": {"check_in": "2027-03-10", "check_out": until}})
}

/// What the row of the only booking says.
fn stored(memory: &MemoryStore) -> Value {
    let rows = memory.inspect(|state| state.rows.values().cloned().collect::<Vec<_>>());
    let row = rows.iter().find(|row| row.id.starts_with("bkg_")).unwrap();
    serde_json::from_str(&row.body).unwrap()
}

#[tokio::test]
async fn t_103_a_booking_is_cancelled_there_and_here() {
    let memory = Arc::new(MemoryStore::with_tenants([HOTEL]));
    let front = Front::over(memory.clone());
    let asked = front.booking("k-1").await;
    let first = front.call("create_booking", asked.clone()).await;
    let cancelled = front.call("cancel_booking", json!({"booking_ref": first["booking_ref"]})).await;
    assert_eq!((&cancelled["status"], &cancelled["refund_inr"]), (&json!("cancelled"), &json!(4256)));
    let row = stored(&memory);
    assert_eq!(
        (&row["status"], &row["net_inr"], &row["refund_inr"], &row["ended_at"]),
        (&json!("cancelled"), &json!(0), &json!(4256), &json!("2026-01-31T09:30:00Z"))
    );
    assert_eq!(memory.events(), ["tomo_booking created", "tomo_booking updated"]);
    // Again, also with other words, asks nobody and answers the same.
    let again = json!({"booking_ref": first["booking_ref"], "reason": "changed plans", "request_id": "req_2"});
    assert_eq!(front.call("cancel_booking", again).await, cancelled);
    assert_eq!(front.hotel.count("cancel_booking"), 1);
    // The create reflects the current state.
    let now = front.call("create_booking", asked).await;
    assert_eq!((&now["status"], &now["booking_ref"]), (&json!("cancelled"), &first["booking_ref"]));
    assert_eq!(front.code("modify_booking", moved(&first, "2027-03-13")).await, "BOOKING_CLOSED");
    assert_eq!(front.hotel.count("modify_booking"), 0);
}

#[tokio::test]
async fn the_same_change_again_asks_nobody_and_the_way_back_does() {
    let memory = Arc::new(MemoryStore::with_tenants([HOTEL]));
    let front = Front::over(memory.clone());
    let first = booked(&front).await;
    let longer = front.call("modify_booking", moved(&first, "2027-03-13")).await;
    let mut repeated = moved(&first, "2027-03-13");
    repeated["request_id"] = json!("req_2");
    assert_eq!(front.call("modify_booking", repeated).await, longer);
    assert_eq!(front.hotel.count("modify_booking"), 1);
    assert_eq!(
        (&stored(&memory)["total_inr"], &stored(&memory)["previous_total_inr"]),
        (&longer["total_inr"], &json!(4256))
    );
    front.call("modify_booking", moved(&first, "2027-03-12")).await;
    let third = front.call("modify_booking", moved(&first, "2027-03-13")).await;
    assert_eq!(third["check_out"], "2027-03-13");
    assert_eq!((front.hotel.count("modify_booking"), front.hotel.keys("modify_booking").len()), (3, 3));
    assert_eq!(front.relays().await, 0);
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_is_repeated_with_the_same_key() {
    let front = Front::new();
    let first = booked(&front).await;
    front.hotel.then(Mishap::DoneBut(HttpError::TimedOut));
    assert_eq!(front.code("cancel_booking", json!({"booking_ref": first["booking_ref"]})).await, "RATE_LIMITED");
    assert_eq!(front.relays().await, 1);
    front.clock.advance(15_000);
    front.repeat_due().await;
    assert_eq!((front.relays().await, front.hotel.keys("cancel_booking").len()), (0, 1));
    front.call("cancel_booking", json!({"booking_ref": first["booking_ref"]})).await;
    assert_eq!(front.hotel.count("cancel_booking"), 2, "the repetition was that of the server");
}

#[tokio::test]
async fn a_key_of_the_caller_repeats_a_change() {
    let front = Front::new();
    let first = booked(&front).await;
    let mut asked = moved(&first, "2027-03-13");
    asked["idempotency_key"] = json!("m-1");
    let longer = front.call("modify_booking", asked.clone()).await;
    front.call("modify_booking", moved(&first, "2027-03-12")).await;
    let replayed = front.call("modify_booking", asked.clone()).await;
    assert_eq!(replayed["booking_ref"], longer["booking_ref"]);
    assert_eq!(front.hotel.count("modify_booking"), 2, "a repeated key asks nobody");
    asked["dates"]["check_out"] = json!("2027-03-14");
    assert_eq!(front.code("modify_booking", asked).await, "IDEMPOTENCY_CONFLICT");
}

#[tokio::test]
async fn a_reference_that_is_not_ours_is_not_asked_about() {
    let front = Front::new();
    let first = booked(&front).await;
    for reference in [json!("bkg_unknown"), json!("../admin"), json!("demo_partner/travel.book_hotel/live/x")] {
        for tool in ["cancel_booking", "modify_booking"] {
            assert_eq!(
                front.code(tool, json!({"booking_ref": reference, "rooms": 1})).await.as_str(),
                match tool {
                    "cancel_booking" => "INVALID_REQUEST",
                    _ => "NOT_FOUND",
                }
            );
        }
        assert_eq!(front.code("cancel_booking", json!({"booking_ref": reference})).await, "NOT_FOUND");
    }
    // Nor one of live operation in the sandbox.
    let (token, asked) = (format!("{HOTEL}/tomo:sandbox"), json!({"booking_ref": first["booking_ref"]}));
    let answer = call(&front.desk, &front.mount, &token, "cancel_booking", asked).await;
    assert_eq!(super::support::code(&answer), "NOT_FOUND");
    assert_eq!(front.hotel.count("cancel_booking") + front.hotel.count("modify_booking"), 0);
}

#[tokio::test]
async fn an_answer_about_another_booking_changes_nothing() {
    let memory = Arc::new(MemoryStore::with_tenants([HOTEL]));
    let front = Front::over(memory.clone());
    let first = booked(&front).await;
    front.hotel.then(Mishap::Changed(|answer| answer["result"]["booking_ref"] = json!("bkg_other")));
    assert_eq!(front.code("cancel_booking", json!({"booking_ref": first["booking_ref"]})).await, "INTERNAL_ERROR");
    assert_eq!(stored(&memory)["status"], "confirmed");
}

#[tokio::test]
async fn what_a_cancellation_earns_is_what_the_system_says() {
    let memory = Arc::new(MemoryStore::with_tenants([HOTEL]));
    let front = Front::over(memory.clone());
    let first = booked(&front).await;
    front.hotel.then(Mishap::Changed(|answer| answer["booking"] = json!({"net_inr": 321, "stage": "released"})));
    front.call("cancel_booking", json!({"booking_ref": first["booking_ref"]})).await;
    let row = stored(&memory);
    assert_eq!((&row["net_inr"], &row["stage"]), (&json!(321), &json!("released")));
}
