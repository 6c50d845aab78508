//! Estimates: which classes there are, how soon, and at which fare.

use frontdesk_contracts::tomo::LIVE as LIVE_SCOPE;
use serde_json::json;

use super::data::{OTHER, far_drop, pickup};
use super::support::{LIVE, SANDBOX, asked, estimates, open, parts};

/// 5.782 km and 18 minutes. Auto: 30 + 3.782 * 15 + 18 * 1.2 = 108.33, 5 percent tax of 108 is 5.
#[tokio::test]
async fn t_039_estimates_have_every_class_with_a_driver_near() {
    let (desk, _) = open();
    let found = estimates(&desk, LIVE).await;
    let auto = json!({
        "option_id": "far_auto", "vehicle_class": "auto", "seats": 3, "drivers_available": 2, "eta_minutes": 5,
        "distance_km": 5.8, "duration_minutes": 18, "fare_inr": 113, "surge_multiplier": 1.0,
    });
    let sedan = json!({
        "option_id": "far_sedan", "vehicle_class": "sedan", "seats": 4, "drivers_available": 1, "eta_minutes": 7,
        "distance_km": 5.8, "duration_minutes": 18, "fare_inr": 176, "surge_multiplier": 1.0,
    });
    assert_eq!(found["options"], json!([auto, sedan]), "the driver of the SUV is off duty");
    assert_eq!(found["expires_at"], "2027-02-20T06:15:00Z");
}

#[tokio::test]
async fn the_sandbox_has_a_driver_of_its_own_for_every_class() {
    let (desk, store) = open();
    let before = store.contents();
    let found = estimates(&desk, SANDBOX).await;
    let options = found["options"].as_array().unwrap();
    assert_eq!(options.len(), 3);
    assert!(options.iter().all(|option| option["eta_minutes"] == 4 && option["drivers_available"] == 1));
    // 11:30 of a Saturday: only the SUV has a surge then. (120 + 90.768 + 21.6) * 1.25 = 290, and 15 tax.
    assert_eq!((&options[2]["surge_multiplier"], &options[2]["fare_inr"]), (&json!(1.25), &json!(305)));
    assert_eq!(store.contents(), before);
}

#[tokio::test]
async fn a_surge_holds_at_its_local_hours() {
    let (desk, _) = open();
    // Until 17:29:59 in India.
    desk.clock.advance(6 * 3_600_000 - 1_000);
    assert_eq!(estimates(&desk, LIVE).await["options"][0]["surge_multiplier"], 1.0);
    desk.clock.advance(1_000);
    let found = estimates(&desk, LIVE).await;
    // 108.33 * 1.5 = 162.495, and tax of 162.
    assert_eq!(
        (&found["options"][0]["surge_multiplier"], &found["options"][0]["fare_inr"]),
        (&json!(1.5), &json!(170))
    );
    desk.clock.advance(3_600_000 * 7 / 2);
    assert_eq!(estimates(&desk, LIVE).await["options"][0]["surge_multiplier"], 1.0);
}

#[tokio::test]
async fn a_city_that_is_not_served_has_no_rides() {
    let (desk, _) = open();
    let mut elsewhere = asked();
    elsewhere["city"] = json!("Mumbai");
    let error = desk.error(LIVE, "get_ride_estimates", elsewhere.clone()).await;
    let expected = json!({"tomo_error_code": "NOT_AVAILABLE"});
    assert_eq!(parts(&error), (-32602, "No rides are offered in this city.", &expected));
    elsewhere["city"] = json!("Hyderabad");
    let found = desk.ok(LIVE, "get_ride_estimates", elsewhere.clone()).await;
    assert_eq!(found["options"], json!([]), "served, but without fares");
    elsewhere["city"] = json!("Bangalore");
    let found = desk.ok(LIVE, "get_ride_estimates", elsewhere).await;
    assert_eq!(found["options"].as_array().unwrap().len(), 2, "the old name");
}

#[tokio::test]
async fn a_ride_has_two_places_and_is_not_endless() {
    let (desk, _) = open();
    let mut nowhere = asked();
    nowhere["drop"] = pickup();
    let error = desk.error(LIVE, "get_ride_estimates", nowhere.clone()).await;
    let expected = json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "drop"});
    assert_eq!(error["data"], expected);
    nowhere["drop"] = json!({"lat": 12.3, "lng": 76.65, "address": "Mysuru"});
    assert_eq!(desk.ok(LIVE, "get_ride_estimates", nowhere.clone()).await["options"], json!([]));
    nowhere["drop"] = json!({"lat": 91, "lng": 76.65, "address": "Nowhere"});
    let error = desk.error(LIVE, "get_ride_estimates", nowhere).await;
    assert_eq!(error["data"]["tomo_field"], "drop.lat");
}

#[tokio::test]
async fn a_driver_who_is_too_far_away_does_not_come() {
    let (desk, _) = open();
    let far =
        json!({"city": "Bengaluru", "pickup": {"lat": 12.8, "lng": 77.6, "address": "South"}, "drop": far_drop()});
    assert_eq!(desk.ok(LIVE, "get_ride_estimates", far).await["options"], json!([]));
    let near =
        json!({"city": "Bengaluru", "pickup": {"lat": 12.915, "lng": 77.6, "address": "South"}, "drop": far_drop()});
    let found = desk.ok(LIVE, "get_ride_estimates", near).await;
    assert_eq!(found["options"][0]["drivers_available"], 1, "7.2 km, and 8.3 km");
}

#[tokio::test]
async fn t_105_estimates_change_nothing_and_are_equal() {
    let (desk, store) = open();
    let before = store.contents();
    let (one, other) = (estimates(&desk, LIVE).await, estimates(&desk, LIVE).await);
    assert_eq!(one["options"], other["options"]);
    assert_eq!(store.contents(), before);
    let elsewhere = desk.ok((OTHER, LIVE_SCOPE), "get_ride_estimates", asked()).await;
    assert_eq!(elsewhere["options"], one["options"], "the same fares, another business");
}
