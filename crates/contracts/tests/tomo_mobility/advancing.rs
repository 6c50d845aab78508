//! What happens to a ride: stages go forward, a final one frees the driver and says what was earned.

use serde_json::{Value, json};

use super::desk::PartnerDesk;
use super::support::{LIVE, SANDBOX, booked, estimates, fault_code, move_to, open, reference};

async fn free_sedans(desk: &PartnerDesk) -> Value {
    let found = estimates(desk, LIVE).await;
    let options = found["options"].as_array().unwrap();
    let sedan = options.iter().find(|option| option["vehicle_class"] == "sedan");
    sedan.map_or(json!(0), |sedan| sedan["drivers_available"].clone())
}

#[tokio::test]
async fn a_ride_goes_through_its_stages_and_frees_its_driver() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    assert_eq!(free_sedans(&desk).await, 0);
    for (stage, percent) in [("driver_arriving", 40), ("driver_arrived", 60), ("in_progress", 80)] {
        desk.clock.advance(60_000);
        let moved = move_to(&desk, &ride, stage, json!({})).await.unwrap();
        assert_eq!((&moved["net_inr"], &moved["ended_at"]), (&Value::Null, &Value::Null));
        let track = desk.ok(LIVE, "track_ride", reference(&ride)).await;
        assert_eq!((&track["stage"], &track["progress_percent"]), (&json!(stage), &json!(percent)));
    }
    let ended = move_to(&desk, &ride, "completed", json!({"location": {"lat": 12.93, "lng": 77.6}})).await.unwrap();
    let expected = json!({"changed": true, "total_inr": 176, "net_inr": 168, "ended_at": "2027-02-20T06:03:00Z"});
    assert_eq!(ended, expected, "176 with 8 tax");
    assert_eq!(free_sedans(&desk).await, 1);
    let found = estimates(&desk, LIVE).await;
    assert_eq!(found["options"][1]["eta_minutes"], 18, "the driver is at the drop now");
    desk.clock.advance(60_000);
    let again = move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    assert_eq!((&again["changed"], &again["ended_at"]), (&json!(false), &expected["ended_at"]));
}

#[tokio::test]
async fn each_final_stage_says_what_was_earned() {
    let (desk, _) = open();
    let cases = [
        ("completed", json!({}), 176, 168, "completed"),
        ("completed", json!({"final_fare_inr": 210}), 210, 200, "completed"),
        ("completed", json!({"final_fare_inr": 210, "net_inr": 180}), 210, 180, "completed"),
        ("cancelled", json!({"reason": "No driver could come."}), 176, 0, "cancelled"),
        ("no_show", json!({}), 176, 60, "cancelled"),
        ("failed", json!({"reason": "Breakdown"}), 176, 0, "failed"),
    ];
    for (place, (stage, details, total, net, status)) in cases.into_iter().enumerate() {
        let ride = booked(&desk, LIVE, "far_sedan", &format!("key-{place}")).await;
        let ended = move_to(&desk, &ride, stage, details).await.unwrap();
        assert_eq!((&ended["total_inr"], &ended["net_inr"]), (&json!(total), &json!(net)), "{stage}");
        assert!(ended["ended_at"].is_string());
        let track = desk.ok(LIVE, "track_ride", reference(&ride)).await;
        assert_eq!((&track["status"], &track["stage"]), (&json!(status), &json!(stage)));
        assert_eq!(free_sedans(&desk).await, 1, "{stage}");
    }
}

#[tokio::test]
async fn a_ride_does_not_go_back_and_does_not_begin_again() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    move_to(&desk, &ride, "in_progress", json!({})).await.unwrap();
    let before = store.contents();
    let past = move_to(&desk, &ride, "driver_arrived", json!({})).await.unwrap_err();
    assert_eq!((past.problems[0].pointer.as_str(), past.problems[0].keyword), ("/stage", "enum"));
    assert_eq!(past.problems[0].expected, "the ride is past this stage: it has come to in_progress");
    let absent = move_to(&desk, &ride, "no_show", json!({})).await.unwrap_err();
    assert_eq!(absent.problems[0].expected, "the ride has begun, so the rider was there");
    let unknown = move_to(&desk, &ride, "flying", json!({})).await.unwrap_err();
    assert!(unknown.problems[0].expected.starts_with("one of these is expected: driver_assigned, "), "{unknown:?}");
    assert_eq!(store.contents(), before);
    move_to(&desk, &ride, "completed", json!({})).await.unwrap();
    for stage in ["cancelled", "in_progress", "failed"] {
        let closed = move_to(&desk, &ride, stage, json!({})).await.unwrap_err();
        assert_eq!(fault_code(&closed), "Domain(Code(\"BOOKING_CLOSED\"))", "{stage}");
    }
}

#[tokio::test]
async fn details_are_checked_and_belong_to_their_stage() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let before = store.contents();
    let wrong = [
        ("driver_arriving", json!({"location": {"lat": 91, "lng": 77.6}}), "/details/location"),
        ("driver_arriving", json!({"location": {"lat": 12, "lng": 77.6, "who": 1}}), "/details/location"),
        ("driver_arriving", json!({"eta_minutes": 601}), "/details/eta_minutes"),
        ("driver_arriving", json!({"final_fare_inr": 10}), "/details/final_fare_inr"),
        ("driver_arriving", json!({"net_inr": 10}), "/details/net_inr"),
        ("in_progress", json!({"driver_code": "D2"}), "/details/driver_code"),
        ("completed", json!({"eta_minutes": 1}), "/details/eta_minutes"),
        ("completed", json!({"final_fare_inr": 12.5}), "/details/final_fare_inr"),
        ("completed", json!({"reason": "Because"}), "/details/reason"),
        ("failed", json!({"reason": ""}), "/details/reason"),
        ("failed", json!({"phone": "+919845012345"}), "/details/phone"),
    ];
    for (stage, details, pointer) in wrong {
        let fault = move_to(&desk, &ride, stage, details).await.unwrap_err();
        assert_eq!(fault.problems[0].pointer, pointer);
    }
    assert_eq!(store.contents(), before);
}

#[tokio::test]
async fn the_same_stage_again_brings_a_new_location_or_nothing() {
    let (desk, store) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    move_to(&desk, &ride, "driver_arriving", json!({})).await.unwrap();
    let before = store.contents();
    let again = move_to(&desk, &ride, "driver_arriving", json!({})).await.unwrap();
    assert_eq!(again["changed"], false);
    assert_eq!(store.contents(), before);
    desk.clock.advance(5_000);
    let moved = move_to(&desk, &ride, "driver_arriving", json!({"location": {"lat": 12.98, "lng": 77.6}})).await;
    assert_eq!(moved.unwrap()["changed"], true);
    assert_eq!(desk.ok(LIVE, "track_ride", reference(&ride)).await["location"]["lat"], 12.98);
}

#[tokio::test]
async fn another_driver_takes_a_ride_over() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_auto", "key-1").await;
    assert_eq!(ride["driver"]["first_name"], "Salma");
    for code in ["D1", "D9"] {
        let taken = move_to(&desk, &ride, "driver_assigned", json!({"driver_code": code})).await.unwrap_err();
        assert_eq!(fault_code(&taken), "Domain(Code(\"NOT_AVAILABLE\"))", "{code}: a sedan, and nobody");
    }
    move_to(&desk, &ride, "driver_arriving", json!({"driver_code": "D3"})).await.unwrap();
    let track = desk.ok(LIVE, "track_ride", reference(&ride)).await;
    assert_eq!((&track["driver"]["first_name"], &track["location"]["lat"]), (&json!("Manju"), &json!(12.99)));
    let next = booked(&desk, LIVE, "far_auto", "key-2").await;
    assert_eq!(next["driver"]["first_name"], "Salma", "free again");
    let taken = move_to(&desk, &ride, "driver_arriving", json!({"driver_code": "D2"})).await.unwrap_err();
    assert_eq!(fault_code(&taken), "Domain(Code(\"NOT_AVAILABLE\"))");
    let tried = booked(&desk, SANDBOX, "far_auto", "key-3").await;
    let refused = move_to(&desk, &tried, "driver_arriving", json!({"driver_code": "D1"})).await.unwrap_err();
    assert_eq!(refused.problems[0].expected, "a ride of the sandbox takes no driver");
}
