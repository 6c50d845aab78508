//! Riders and drivers are people: what is in no answer and no log, what is sealed, and what erasure removes.

use serde_json::{Value, json};

use super::data::{RIDES, far_drop};
use super::desk::PartnerDesk;
use super::support::{LIVE, booked, move_to, open, order, parts, reference};

const FIND: &str = "x_frontdesk.find_person";
const ERASE: &str = "x_frontdesk.erase_person";

/// What nobody but the business may read.
const PERSONAL: [&str; 9] =
    ["Asha", "9845012345", "asha@example.com", "Secret Lane", "Hidden Street", "Hegde", "+9198", "12.97,", "Wonderful"];

#[tokio::test]
async fn riders_places_and_numbers_are_in_no_answer_and_no_log() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let mut told = ride.to_string();
    let found = super::support::estimates(&desk, LIVE).await;
    let mut wrong = order(&found, "far_auto", "key-2");
    wrong["rider"]["phone"] = json!("98450 12345");
    let error = desk.error(LIVE, "book_ride", wrong).await;
    assert_eq!(error["data"]["tomo_field"], "rider.phone");
    told += &error.to_string();
    for tool in ["track_ride", "share_trip_status"] {
        told += &desk.ok(LIVE, tool, reference(&ride)).await.to_string();
    }
    move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    let rating = json!({"booking_ref": ride["booking_ref"], "rating": 5, "comment": "Wonderful"});
    told += &desk.ok(LIVE, "rate_ride", rating).await.to_string();
    told += &format!("{:?}", desk.observed.lines_with_causes());
    for personal in PERSONAL {
        assert!(!told.contains(personal), "{personal} in {told}");
    }
}

#[tokio::test]
async fn personal_data_is_sealed_in_its_rows() {
    let (desk, store) = open();
    let mut asked = super::support::asked();
    asked["drop"]["lat"] = json!(12.934567);
    let found = desk.ok(LIVE, "get_ride_estimates", asked).await;
    let ride = desk.ok(LIVE, "book_ride", order(&found, "far_sedan", "key-1")).await;
    desk.clock.advance(1_000);
    // Without a location of its own the drop is where the driver is then.
    move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    let other = booked(&desk, LIVE, "far_auto", "key-2").await;
    desk.clock.advance(1_000);
    move_to(&desk, &other, "completed", json!({"location": {"lat": 12.945678, "lng": 77.6}})).await.unwrap();
    let rating = json!({"booking_ref": ride["booking_ref"], "rating": 5, "comment": "Wonderful"});
    desk.ok(LIVE, "rate_ride", rating).await;
    store.inspect(|state| {
        for ((_, table, id), row) in state.rows.iter().filter(|((_, table, _), _)| table.starts_with("tomo_")) {
            let clear = format!("{} {:?}", row.body, row.masked);
            for personal in ["Asha", "Secret Lane", "Hidden Street", "Hegde", "KA01D", "Wonderful", "12.934", "12.945"]
            {
                assert!(!clear.contains(personal), "{table} {id}: {personal} in {clear}");
            }
        }
    });
}

/// Everything that is found about a number, erased.
async fn erase(desk: &PartnerDesk, phone: &str) -> Value {
    let found = desk.operate(RIDES, FIND, json!({"phone": phone})).await.unwrap();
    let arguments = json!({"id": found["subject"], "records": found["records"]});
    desk.operate(RIDES, ERASE, arguments).await.unwrap();
    found
}

#[tokio::test]
async fn an_erased_rider_leaves_no_place_behind() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let found = erase(&desk, "+919845012345").await;
    assert_eq!(found["counts"], json!({"tomo_booking": 1}));
    let left = store.contents();
    for personal in ["Asha", "9845012345", "Secret Lane", "Hidden Street", "12.93"] {
        assert!(!left.contains(personal), "{personal}");
    }
    desk.clock.advance(5_000);
    let error = desk.error(LIVE, "track_ride", reference(&ride)).await;
    let message = "The rider was erased, so this ride can no longer be followed.";
    assert_eq!(parts(&error), (-32602, message, &json!({"tomo_error_code": "NOT_FOUND"})));
    let drop = json!({"booking_ref": ride["booking_ref"], "drop": far_drop()});
    let error = desk.error(LIVE, "update_ride_drop", drop).await;
    let message = "The rider was erased, so this ride can no longer be changed.";
    assert_eq!(parts(&error), (-32602, message, &json!({"tomo_error_code": "BOOKING_CLOSED"})));
    let moved = move_to(&desk, &ride, "in_progress", json!({"location": {"lat": 12.955, "lng": 77.6}})).await;
    assert_eq!(moved.unwrap()["changed"], true);
    assert!(!store.contents().contains("12.955"), "nobody is followed after that");
    let ended = move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    assert_eq!(ended["net_inr"], 168, "what it cost stays");
    assert_eq!(super::support::estimates(&desk, LIVE).await["options"][1]["drivers_available"], 1);
}

#[tokio::test]
async fn an_erased_driver_has_no_name_and_gets_no_ride() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let found = erase(&desk, "+919800000011").await;
    assert_eq!(found["counts"], json!({"tomo_driver": 1}));
    let of_business = store.inspect(|state| {
        let rows = state.rows.iter().filter(|((tenant, _, _), _)| tenant.as_str() == RIDES);
        format!("{:?}", rows.collect::<Vec<_>>())
    });
    for personal in ["Hegde", "+919800000011", "KA01D1"] {
        assert!(!of_business.contains(personal), "{personal}");
    }
    let track = desk.ok(LIVE, "track_ride", reference(&ride)).await;
    assert_eq!(track["driver"]["first_name"], "[erased]");
    move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    let options = super::support::estimates(&desk, LIVE).await["options"].clone();
    assert_eq!(options.as_array().unwrap().len(), 1, "no sedan any more: {options}");
}
