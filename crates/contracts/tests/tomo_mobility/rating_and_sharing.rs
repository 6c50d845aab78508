//! Ratings of rides that are complete, and links that show how a trip stands until it ends.

use serde_json::{Value, json};

use super::data::OTHER;
use super::support::{LIVE, SANDBOX, booked, fault_code, move_to, open, parts, reference};

fn rating(ride: &Value, stars: i64, comment: &str) -> Value {
    json!({"booking_ref": ride["booking_ref"], "rating": stars, "comment": comment})
}

#[tokio::test]
async fn t_039_only_a_complete_ride_is_rated() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let error = desk.error(LIVE, "rate_ride", rating(&ride, 5, "Fine")).await;
    let expected = json!({"tomo_error_code": "BOOKING_CLOSED"});
    assert_eq!(parts(&error), (-32602, "Only a ride that is complete can be rated.", &expected));
    move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    let rated = desk.ok(LIVE, "rate_ride", rating(&ride, 4, "Fine")).await;
    let expected = json!({
        "booking_ref": ride["booking_ref"], "acknowledged": true, "rating": 4, "rated_at": "2027-02-20T06:00:00Z",
    });
    assert_eq!(rated, expected);
    let before = store.contents();
    desk.clock.advance(60_000);
    assert_eq!(desk.ok(LIVE, "rate_ride", rating(&ride, 4, "Fine")).await, rated, "the same again");
    assert_eq!(store.contents(), before);
    let replaced = desk.ok(LIVE, "rate_ride", rating(&ride, 2, "Fine")).await;
    assert_eq!((&replaced["rating"], &replaced["rated_at"]), (&json!(2), &json!("2027-02-20T06:01:00Z")));
    for (stars, field) in [(0, "rating"), (6, "rating")] {
        let error = desk.error(LIVE, "rate_ride", rating(&ride, stars, "Fine")).await;
        assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": field}));
    }
    let error = desk.error(LIVE, "rate_ride", rating(&ride, 5, &"x".repeat(501))).await;
    assert_eq!(error["data"]["tomo_field"], "comment");
}

#[tokio::test]
async fn one_of_the_sandbox_is_rated_at_once_and_a_cancelled_one_never() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    desk.ok(LIVE, "cancel_ride", reference(&ride)).await;
    assert_eq!(desk.code(LIVE, "rate_ride", rating(&ride, 5, "Fine")).await, "BOOKING_CLOSED");
    let tried = booked(&desk, SANDBOX, "far_sedan", "key-2").await;
    assert_eq!(desk.ok(SANDBOX, "rate_ride", rating(&tried, 5, "Fine")).await["rating"], 5);
    desk.ok(SANDBOX, "cancel_ride", reference(&tried)).await;
    assert_eq!(desk.code(SANDBOX, "rate_ride", rating(&tried, 5, "Fine")).await, "BOOKING_CLOSED");
}

fn token(shared: &Value) -> String {
    let url = shared["share_url"].as_str().unwrap();
    url.strip_prefix("https://desk.example/mcp/tomo/trips/").unwrap_or_else(|| panic!("{url}")).to_owned()
}

#[tokio::test]
async fn a_shared_link_shows_the_trip_without_personal_data_until_it_ends() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let before = store.contents();
    let shared = desk.ok(LIVE, "share_trip_status", reference(&ride)).await;
    assert_eq!(store.contents(), before);
    assert_eq!(shared["expires_at"], "2027-02-20T12:00:00Z");
    let token = token(&shared);
    assert!(!token.contains("bkg_"));
    let trip = async |tenant: &str, token: &str| desk.operate(tenant, "test.trip", json!({"token": token})).await;
    let expected = json!({
        "stage": "driver_assigned", "message": "A driver was assigned.", "eta_minutes": 7, "vehicle_class": "sedan",
        "city": "Bengaluru", "expires_at": "2027-02-20T12:00:00Z",
    });
    assert_eq!(trip(super::data::RIDES, &token).await.unwrap(), expected);
    let not_found = "Domain(Code(\"NOT_FOUND\"))";
    let mut wrong = token.clone();
    wrong.replace_range(10..11, if token.as_bytes()[10] == b'A' { "B" } else { "A" });
    for (tenant, token) in [(OTHER, token.as_str()), (super::data::RIDES, &wrong), (super::data::RIDES, "x")] {
        assert_eq!(fault_code(&trip(tenant, token).await.unwrap_err()), not_found);
    }
    let search = super::support::estimates(&desk, LIVE).await;
    let other_purpose = search["result_token"].as_str().unwrap();
    assert_eq!(fault_code(&trip(super::data::RIDES, other_purpose).await.unwrap_err()), not_found);
    move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    assert_eq!(fault_code(&trip(super::data::RIDES, &token).await.unwrap_err()), not_found, "the trip is over");
    assert_eq!(desk.code(LIVE, "share_trip_status", reference(&ride)).await, "BOOKING_CLOSED");
}

#[tokio::test]
async fn a_shared_link_expires() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let token = token(&desk.ok(LIVE, "share_trip_status", reference(&ride)).await);
    desk.clock.advance(6 * 3_600_000 - 1);
    desk.operate(super::data::RIDES, "test.trip", json!({"token": token})).await.unwrap();
    desk.clock.advance(1);
    let ended = desk.operate(super::data::RIDES, "test.trip", json!({"token": token})).await.unwrap_err();
    assert_eq!(ended.message, "This link has ended or is wrong.");
}
