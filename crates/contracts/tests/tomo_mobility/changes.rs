//! Another drop with a revised fare, and cancellations with their fee. Doing either again answers the same again.

use frontdesk_contracts::record::Integer;
use frontdesk_contracts::tomo::mobility::fare_table::{FareTable, VehicleClass};
use frontdesk_engine::model::plan::Step;
use serde_json::{Value, json};

use super::data::{RIDES, drop, far_drop, fare, insert, pickup};
use super::desk::PartnerDesk;
use super::support::{LIVE, SANDBOX, booked, estimates, move_to, open, parts, reference};

fn new_drop(ride: &Value, drop: Value) -> Value {
    json!({"booking_ref": ride["booking_ref"], "drop": drop})
}

/// 13.010 km and 40 minutes: 80 + 11.01 * 17.5 + 48 = 320.68, and 16 tax.
#[tokio::test]
async fn t_039_a_new_drop_has_a_revised_fare() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    desk.clock.advance(60_000);
    let revised = desk.ok(LIVE, "update_ride_drop", new_drop(&ride, far_drop())).await;
    let expected = json!({
        "booking_ref": ride["booking_ref"], "status": "confirmed", "stage": "driver_assigned", "fare_inr": 337,
        "previous_fare_inr": 176, "difference_inr": 161, "distance_km": 13.0, "duration_minutes": 40,
        "revised_at": "2027-02-20T06:01:00Z",
    });
    assert_eq!(revised, expected);
    let before = store.contents();
    desk.clock.advance(60_000);
    assert_eq!(desk.ok(LIVE, "update_ride_drop", new_drop(&ride, far_drop())).await, revised, "the same again");
    assert_eq!(store.contents(), before);
    let back = desk.ok(LIVE, "update_ride_drop", new_drop(&ride, drop())).await;
    assert_eq!((&back["fare_inr"], &back["difference_inr"]), (&json!(176), &json!(-161)));
}

#[tokio::test]
async fn a_new_drop_keeps_the_surge_and_the_fare_table_of_the_ride() {
    let (desk, store) = open();
    // 17:30 in India: 1.5 times as much. 320.68 * 1.5 = 481, and 24 tax.
    desk.clock.advance(6 * 3_600_000);
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    assert_eq!(ride["surge_multiplier"], 1.5);
    let dearer = FareTable { base_fare_inr: Integer::clamped(900), ..fare(VehicleClass::Sedan, 80, 1_750) };
    if let Step::Insert { table, row, .. } = insert(RIDES, "far_sedan", dearer) {
        store.put(RIDES, table, row);
    }
    desk.clock.advance(4 * 3_600_000);
    assert_eq!(estimates(&desk, LIVE).await["options"][0]["surge_multiplier"], 1.0, "now it costs less");
    let revised = desk.ok(LIVE, "update_ride_drop", new_drop(&ride, far_drop())).await;
    assert_eq!(revised["fare_inr"], 505);
}

#[tokio::test]
async fn a_drop_is_changed_until_the_ride_ends_and_not_everywhere() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let mysuru = json!({"lat": 12.3, "lng": 76.65, "address": "Mysuru"});
    let error = desk.error(LIVE, "update_ride_drop", new_drop(&ride, mysuru)).await;
    let expected = json!({"tomo_error_code": "NOT_AVAILABLE"});
    assert_eq!(parts(&error), (-32602, "This drop is further away than rides go.", &expected));
    let error = desk.error(LIVE, "update_ride_drop", new_drop(&ride, pickup())).await;
    assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "drop"}));
    move_to(&desk, &ride, "in_progress", json!({})).await.unwrap();
    desk.clock.advance(5_000);
    assert_eq!(desk.ok(LIVE, "track_ride", reference(&ride)).await["eta_minutes"], 18);
    desk.ok(LIVE, "update_ride_drop", new_drop(&ride, far_drop())).await;
    desk.clock.advance(5_000);
    assert_eq!(desk.ok(LIVE, "track_ride", reference(&ride)).await["eta_minutes"], 40);
    move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    let before = store.contents();
    let error = desk.error(LIVE, "update_ride_drop", new_drop(&ride, drop())).await;
    let message = "This ride is complete, so it can no longer be changed.";
    assert_eq!(parts(&error), (-32602, message, &json!({"tomo_error_code": "BOOKING_CLOSED"})));
    assert_eq!(store.contents(), before);
}

async fn fee(desk: &PartnerDesk, ride: &Value) -> (Value, Value) {
    let cancelled = desk.ok(LIVE, "cancel_ride", reference(ride)).await;
    (cancelled["cancellation_fee_inr"].clone(), cancelled["refund_inr"].clone())
}

#[tokio::test]
async fn t_039_a_cancellation_is_free_for_a_while_and_then_costs_its_fee() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    desk.clock.advance(5 * 60_000);
    let cancelled = desk.ok(LIVE, "cancel_ride", reference(&ride)).await;
    let expected = json!({
        "booking_ref": ride["booking_ref"], "status": "cancelled", "stage": "cancelled",
        "cancelled_at": "2027-02-20T06:05:00Z", "cancellation_fee_inr": 0, "refund_inr": 176,
    });
    assert_eq!(cancelled, expected);
    let before = store.contents();
    desk.clock.advance(60_000);
    assert_eq!(desk.ok(LIVE, "cancel_ride", reference(&ride)).await, cancelled, "the same again");
    assert_eq!(store.contents(), before);

    let late = booked(&desk, LIVE, "far_sedan", "key-2").await;
    desk.clock.advance(5 * 60_000 + 1_000);
    assert_eq!(fee(&desk, &late).await, (json!(40), json!(136)));
    let waiting = booked(&desk, LIVE, "far_sedan", "key-3").await;
    move_to(&desk, &waiting, "driver_arrived", json!({})).await.unwrap();
    assert_eq!(fee(&desk, &waiting).await, (json!(40), json!(136)), "the driver is there");
    let short = booked(&desk, SANDBOX, "far_sedan", "key-4").await;
    let cancelled = desk.ok(SANDBOX, "cancel_ride", reference(&short)).await;
    assert_eq!(cancelled["cancellation_fee_inr"], 0);
}

#[tokio::test]
async fn a_ride_that_has_begun_is_not_cancelled() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    move_to(&desk, &ride, "in_progress", json!({})).await.unwrap();
    let before = store.contents();
    let error = desk.error(LIVE, "cancel_ride", reference(&ride)).await;
    let message = "The ride has begun, so it can no longer be cancelled.";
    assert_eq!(parts(&error), (-32602, message, &json!({"tomo_error_code": "BOOKING_CLOSED"})));
    move_to(&desk, &ride, "failed", json!({})).await.unwrap();
    let error = desk.error(LIVE, "cancel_ride", reference(&ride)).await;
    assert_eq!(error["message"], "This ride could not be carried out.");
    assert_ne!(store.contents(), before);
}
