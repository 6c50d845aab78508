//! Rides that are booked: what they answer, what is refused, and that a repeated one has one effect.

use frontdesk_contracts::record::Integer;
use frontdesk_contracts::tomo::LIVE as LIVE_SCOPE;
use frontdesk_contracts::tomo::mobility::fare_table::{FareTable, VehicleClass};
use frontdesk_engine::model::plan::Step;
use serde_json::json;

use super::data::{OTHER, RIDES, fare, insert};
use super::support::{LIVE, SANDBOX, booked, estimates, open, order, parts, reference};

#[tokio::test]
async fn t_039_t_052_a_ride_answers_with_its_reference_driver_and_terms() {
    let (desk, store) = open();
    let mut ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    assert!(ride["booking_ref"].take().as_str().unwrap().starts_with("bkg_"));
    let expected = json!({
        "booking_ref": null, "status": "confirmed", "stage": "driver_assigned", "mode": "live",
        "vehicle_class": "sedan",
        "driver": {"first_name": "Prakash", "rating": 4.7, "vehicle": "Maruti Suzuki Dzire", "plate": "KA01D1"},
        "eta_minutes": 7, "fare_inr": 176, "surge_multiplier": 1.0,
        "cancellation": {"free_until": "2027-02-20T06:05:00Z", "fee_inr": 40, "no_show_fee_inr": 60},
    });
    assert_eq!(ride, expected);
    assert_eq!(store.events(), ["tomo_booking created"]);
}

#[tokio::test]
async fn a_busy_driver_gets_no_second_ride() {
    let (desk, _) = open();
    let found = estimates(&desk, LIVE).await;
    let first = desk.ok(LIVE, "book_ride", order(&found, "far_auto", "key-1")).await;
    assert_eq!(first["driver"]["first_name"], "Salma", "the nearest");
    let second = desk.ok(LIVE, "book_ride", order(&found, "far_auto", "key-2")).await;
    assert_eq!(second["driver"]["first_name"], "Manju");
    let error = desk.error(LIVE, "book_ride", order(&found, "far_auto", "key-3")).await;
    let message = "No driver of this class is free near the pickup. Ask for estimates again.";
    assert_eq!(parts(&error), (-32602, message, &json!({"tomo_error_code": "NOT_AVAILABLE"})));
    let later = estimates(&desk, LIVE).await;
    assert_eq!(later["options"].as_array().unwrap().len(), 1, "{later}");
    desk.ok(LIVE, "cancel_ride", reference(&first)).await;
    let again = desk.ok(LIVE, "book_ride", order(&found, "far_auto", "key-4")).await;
    assert_eq!(again["driver"]["first_name"], "Salma");
}

#[tokio::test]
async fn t_122_a_ride_of_the_sandbox_takes_nobody() {
    let (desk, store) = open();
    let drivers = |store: &frontdesk_testkit::MemoryStore| {
        store.inspect(|state| {
            let rows = state.rows.iter().filter(|((_, table, _), _)| *table == "tomo_driver");
            format!("{:?}", rows.collect::<Vec<_>>())
        })
    };
    let before = drivers(&store);
    assert!(before.contains("drv_1"));
    for key in ["key-1", "key-2", "key-3"] {
        let ride = booked(&desk, SANDBOX, "far_suv", key).await;
        assert_eq!((&ride["mode"], &ride["driver"]["first_name"]), (&json!("sandbox"), &json!("Sandbox")));
        assert_eq!(desk.code(LIVE, "cancel_ride", reference(&ride)).await, "NOT_FOUND");
        desk.ok(SANDBOX, "cancel_ride", reference(&ride)).await;
    }
    assert_eq!(drivers(&store), before);
    assert_eq!(store.events(), [""; 0]);
}

#[tokio::test]
async fn t_100_a_repeated_booking_is_the_same_with_its_current_status() {
    let (desk, store) = open();
    let order = order(&estimates(&desk, LIVE).await, "far_sedan", "key-1");
    let ride = desk.ok(LIVE, "book_ride", order.clone()).await;
    let before = store.contents();
    assert_eq!(desk.ok(LIVE, "book_ride", order.clone()).await, ride);
    assert_eq!(store.contents(), before, "nobody was assigned again");
    desk.ok(LIVE, "cancel_ride", reference(&ride)).await;
    desk.clock.advance(3_600_000);
    let again = desk.ok(LIVE, "book_ride", order).await;
    assert_eq!((&again["booking_ref"], &again["status"]), (&ride["booking_ref"], &json!("cancelled")));
}

#[tokio::test]
async fn t_101_t_104_a_key_is_needed_and_means_one_ride() {
    let (desk, store) = open();
    let found = estimates(&desk, LIVE).await;
    desk.ok(LIVE, "book_ride", order(&found, "far_sedan", "key-1")).await;
    let before = store.contents();
    let other = order(&found, "far_auto", "key-1");
    assert_eq!(desk.code(LIVE, "book_ride", other.clone()).await, "IDEMPOTENCY_CONFLICT");
    let mut without = other;
    without.as_object_mut().unwrap().remove("idempotency_key");
    let error = desk.error(LIVE, "book_ride", without).await;
    assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "idempotency_key"}));
    assert_eq!(store.contents(), before);
}

#[tokio::test]
async fn t_103_equal_json_is_equal_however_it_is_written() {
    let (desk, _) = open();
    let one = order(&estimates(&desk, LIVE).await, "far_sedan", "key-1");
    let ride = desk.ok(LIVE, "book_ride", one.clone()).await;
    let members: Vec<_> = one.as_object().unwrap().clone().into_iter().rev().collect();
    let other = serde_json::Value::Object(members.into_iter().collect());
    assert_eq!(desk.ok(LIVE, "book_ride", other).await, ride);
}

#[tokio::test]
async fn t_056_a_fare_is_held_until_the_token_expires() {
    let (desk, store) = open();
    let found = estimates(&desk, LIVE).await;
    let dearer = FareTable { base_fare_inr: Integer::clamped(500), ..fare(VehicleClass::Sedan, 80, 1_750) };
    if let Step::Insert { table, row, .. } = insert(RIDES, "far_sedan", dearer) {
        store.put(RIDES, table, row);
    }
    desk.clock.advance(15 * 60_000 - 1);
    let ride = desk.ok(LIVE, "book_ride", order(&found, "far_sedan", "in-time")).await;
    assert_eq!(ride["fare_inr"], 176, "what the estimate promised");
    let before = store.contents();
    desk.clock.advance(1);
    let error = desk.error(LIVE, "book_ride", order(&found, "far_auto", "too-late")).await;
    let message = "This result_token has expired. Search again and book from there.";
    assert_eq!(parts(&error), (-32602, message, &json!({"tomo_error_code": "RESULT_EXPIRED"})));
    assert_eq!(store.contents(), before);
}

#[tokio::test]
async fn a_token_is_good_for_its_own_estimate_only() {
    let (desk, store) = open();
    let found = estimates(&desk, LIVE).await;
    let before = store.contents();
    let message = "This result_token is not about this option. Ask for estimates again.";
    let error = desk.error(LIVE, "book_ride", order(&found, "far_suv", "key-1")).await;
    assert_eq!(parts(&error), (-32602, message, &json!({"tomo_error_code": "RESULT_EXPIRED"})));
    for other in [SANDBOX, (OTHER, LIVE_SCOPE), (RIDES, "tomo:live another:partner")] {
        let code = desk.code(other, "book_ride", order(&found, "far_sedan", "key-1")).await;
        assert_eq!(code, "RESULT_EXPIRED", "{other:?}");
    }
    assert_eq!(store.contents(), before);
}

#[tokio::test]
async fn nobody_else_sees_a_ride() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    for tool in ["track_ride", "cancel_ride", "share_trip_status"] {
        let error = desk.error((OTHER, LIVE_SCOPE), tool, reference(&ride)).await;
        let message = "No booking with this booking_ref exists here.";
        assert_eq!(parts(&error), (-32602, message, &json!({"tomo_error_code": "NOT_FOUND"})), "{tool}");
    }
}
