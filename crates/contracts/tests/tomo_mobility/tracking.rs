//! Tracking: what it says of a ride, that it changes nothing, and that it is limited.

use serde_json::json;

use super::support::{LIVE, SANDBOX, booked, move_to, open, reference};

#[tokio::test]
async fn t_039_t_052_tracking_says_how_a_ride_stands() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let mut track = desk.ok(LIVE, "track_ride", reference(&ride)).await;
    assert_eq!(track["booking_ref"].take(), ride["booking_ref"]);
    let driver = json!({"first_name": "Prakash", "rating": 4.7, "vehicle": "Maruti Suzuki Dzire", "plate": "KA01D1"});
    let expected = json!({
        "booking_ref": null, "status": "confirmed", "stage": "driver_assigned", "driver": driver,
        "location": {"lat": 12.985, "lng": 77.6, "updated_at": "2027-02-20T06:00:00Z"},
        "eta_minutes": 7, "progress_percent": 20, "fare_inr": 176,
    });
    assert_eq!(track, expected);
    desk.clock.advance(120_000);
    let details = json!({"location": {"lat": 12.98, "lng": 77.601}, "eta_minutes": 4});
    move_to(&desk, &ride, "driver_arriving", details).await.unwrap();
    desk.clock.advance(61_000);
    let mut track = desk.ok(LIVE, "track_ride", reference(&ride)).await;
    track["booking_ref"].take();
    let expected = json!({
        "booking_ref": null, "status": "confirmed", "stage": "driver_arriving", "driver": driver,
        "location": {"lat": 12.98, "lng": 77.601, "updated_at": "2027-02-20T06:02:00Z"},
        "eta_minutes": 3, "progress_percent": 40, "fare_inr": 176,
    });
    assert_eq!(track, expected);
}

#[tokio::test]
async fn t_107_tracking_changes_nothing() {
    let (desk, store) = open();
    for (partner, key) in [(LIVE, "key-1"), (SANDBOX, "key-2")] {
        let ride = booked(&desk, partner, "far_sedan", key).await;
        let (before, events) = (store.contents(), store.events());
        for _ in 0..3 {
            desk.ok(partner, "track_ride", reference(&ride)).await;
            desk.clock.advance(5_000);
        }
        assert_eq!((store.contents(), store.events()), (before, events));
    }
}

#[tokio::test]
async fn t_108_one_look_in_five_seconds_for_each_ride() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let other = booked(&desk, LIVE, "far_auto", "key-2").await;
    desk.ok(LIVE, "track_ride", reference(&ride)).await;
    desk.clock.advance(1_000);
    let error = desk.error(LIVE, "track_ride", reference(&ride)).await;
    assert_eq!((&error["code"], &error["data"]["tomo_error_code"]), (&json!(-32001), &json!("RATE_LIMITED")));
    desk.ok(LIVE, "track_ride", reference(&other)).await;
    desk.clock.advance(4_000);
    desk.ok(LIVE, "track_ride", reference(&ride)).await;
    for _ in 0..12 {
        desk.clock.advance(5_000);
        desk.ok(LIVE, "track_ride", reference(&ride)).await;
    }
}

/// Looks that are sent every five seconds do not arrive so.
#[tokio::test]
async fn t_117_a_look_that_was_held_up_makes_the_next_not_too_early() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    for late in [0, 700, 0, 900, 100, 1_000] {
        desk.clock.advance(late);
        desk.ok(LIVE, "track_ride", reference(&ride)).await;
        desk.clock.advance(5_000 - late);
    }
    desk.ok(LIVE, "track_ride", reference(&ride)).await;
    desk.clock.advance(3_900);
    let error = desk.error(LIVE, "track_ride", reference(&ride)).await;
    assert_eq!(error["data"]["tomo_error_code"], "RATE_LIMITED");
}

#[tokio::test]
async fn a_ride_that_is_over_is_told_as_it_ended() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    desk.ok(LIVE, "cancel_ride", reference(&ride)).await;
    let track = desk.ok(LIVE, "track_ride", reference(&ride)).await;
    let told = [&track["status"], &track["stage"], &track["eta_minutes"], &track["progress_percent"]];
    assert_eq!(told, [&json!("cancelled"), &json!("cancelled"), &json!(0), &json!(100)]);
    let error = desk.error(LIVE, "track_ride", json!({"booking_ref": "bkg_nobody"})).await;
    assert_eq!(error["data"], json!({"tomo_error_code": "NOT_FOUND"}));
}
