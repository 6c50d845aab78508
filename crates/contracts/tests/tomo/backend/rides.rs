//! Rides of the business's own system: every tool of the shape is forwarded, tracking too, and the system's word about a
//! ride counts.

use std::sync::Arc;

use frontdesk_contracts::tomo;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::http_client::HttpError;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::{Caller, ClientId, Fault, Scope, Scopes, TenantId};
use serde_json::{Map, Value, json};

use super::support::{Front, Mishap, RIDES};

fn estimate() -> Value {
    let place = |lat: f64, lng: f64, address: &str| json!({"lat": lat, "lng": lng, "address": address});
    json!({"city": "Bengaluru", "pickup": place(12.9756, 77.6068, "MG Road metro station"),
        "drop": place(12.9352, 77.6245, "Koramangala 5th Block")})
}

async fn ride(front: &Front, key: &str) -> (Value, Value) {
    let found = front.call("get_ride_estimates", estimate()).await;
    let asked = json!({"idempotency_key": key, "request_id": format!("req-{key}"), "result_token": found["result_token"],
        "option_id": found["options"][0]["option_id"], "rider": {"name": "Asha Rao", "phone": "+919812345678"}});
    let booked = front.call("book_ride", asked.clone()).await;
    (asked, booked)
}

#[tokio::test]
async fn t_037_t_039_every_tool_of_a_ride_is_the_systems() {
    let front = Front::of_rides();
    let (asked, booked) = ride(&front, "k-1").await;
    let reference = &booked["booking_ref"];
    assert_eq!((&booked["status"], &booked["stage"]), (&json!("confirmed"), &json!("driver_assigned")));
    let tracked = front.call("track_ride", json!({"booking_ref": reference})).await;
    assert_eq!((&tracked["booking_ref"], &tracked["progress_percent"]), (reference, &json!(20)));
    let drop = json!({"lat": 12.9116, "lng": 77.6389, "address": "HSR Layout Sector 1"});
    let moved = front.call("update_ride_drop", json!({"booking_ref": reference, "drop": drop})).await;
    assert_eq!(moved["previous_fare_inr"], booked["fare_inr"]);
    let shared = front.call("share_trip_status", json!({"booking_ref": reference})).await;
    assert_eq!(shared["booking_ref"], *reference);
    let cancelled = front.call("cancel_ride", json!({"booking_ref": reference})).await;
    assert_eq!((&cancelled["status"], &cancelled["refund_inr"]), (&json!("cancelled"), &moved["fare_inr"]));
    assert_eq!(front.code("rate_ride", json!({"booking_ref": reference, "rating": 5})).await, "BOOKING_CLOSED");
    let again = front.call("book_ride", asked).await;
    assert_eq!((&again["booking_ref"], &again["status"]), (reference, &json!("cancelled")));
    for (tool, count) in
        [("get_ride_estimates", 1), ("book_ride", 1), ("track_ride", 1), ("update_ride_drop", 1), ("cancel_ride", 1)]
    {
        assert_eq!(front.hotel.count(tool), count, "{tool}");
    }
    assert_eq!((front.bookings().await, front.relays().await), (1, 0));
}

#[tokio::test]
async fn t_107_tracking_changes_nothing_and_is_about_this_ride() {
    let front = Front::of_rides();
    let (_, booked) = ride(&front, "k-1").await;
    let asked = json!({"booking_ref": booked["booking_ref"]});
    front.hotel.then(Mishap::Changed(|answer| answer["result"]["booking_ref"] = json!("RIDE-OTHER")));
    assert_eq!(front.code("track_ride", asked.clone()).await, "INTERNAL_ERROR");
    front.clock.advance(10_000);
    // What is said while tracking is shown, and decides nothing here.
    front.hotel.then(Mishap::Changed(|answer| {
        answer["result"]["status"] = json!("completed");
        answer["result"]["stage"] = json!("completed");
        answer["booking"] = json!({"status": "completed", "net_inr": 100});
    }));
    assert_eq!(front.call("track_ride", asked.clone()).await["status"], "completed");
    front.clock.advance(10_000);
    assert_eq!(front.call("track_ride", asked.clone()).await["status"], "confirmed");
    front.clock.advance(10_000);
    front.hotel.then(Mishap::Error(HttpError::TimedOut));
    assert_eq!(front.code("track_ride", asked).await, "PARTNER_MAINTENANCE");
}

#[tokio::test]
async fn a_ride_without_a_total_is_no_booking() {
    let front = Front::of_rides();
    let found = front.call("get_ride_estimates", estimate()).await;
    let asked = json!({"idempotency_key": "k-1", "result_token": found["result_token"],
        "option_id": found["options"][0]["option_id"], "rider": {"name": "Asha Rao", "phone": "+919812345678"}});
    front.hotel.then(Mishap::Changed(|answer| drop(answer.as_object_mut().unwrap().remove("booking"))));
    assert_eq!(front.code("book_ride", asked.clone()).await, "INTERNAL_ERROR");
    assert_eq!((front.bookings().await, front.relays().await), (0, 1), "it may have been done");
    front.call("book_ride", asked).await;
    assert_eq!((front.bookings().await, front.relays().await), (1, 0));
    assert_eq!(front.hotel.keys("book_ride").len(), 1);
}

/// Says what became of a ride, as the system does in a notification, under its own name for the ride.
async fn advance(front: &Front, reference: &Value, stage: &str, details: Value) -> Result<(), Fault> {
    let caller = Caller {
        client: ClientId::new("demo_partner:notifications"),
        subject: "demo_partner:notifications".into(),
        tenants: vec![TenantId::parse(RIDES.tenant).unwrap()],
        scopes: Scopes::new([Scope::new(tomo::MANAGE)]),
        authenticated_at: None,
    };
    let origin = CallOrigin {
        caller: Arc::new(caller),
        address: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        trace: Trace::new("trace"),
        import_id: None,
    };
    let arguments = [("booking_ref", reference.clone()), ("stage", json!(stage)), ("details", details)];
    let arguments: Map<String, Value> = arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let tool = OwnTool::Operator("advance_booking");
    call_tool(&front.desk, &front.mount, &origin, tool, arguments, None).await.map(drop)
}

#[tokio::test]
async fn t_146_a_ride_ends_when_the_system_says_so_and_is_then_rated() {
    let front = Front::of_rides();
    let (asked, booked) = ride(&front, "k-1").await;
    let reference = &booked["booking_ref"];
    advance(&front, reference, "in_progress", json!({})).await.unwrap();
    let refused = advance(&front, reference, "completed", json!({})).await.unwrap_err();
    assert_eq!(refused.problems[0].pointer, "/details/net_inr", "what the business earns must be known");
    advance(&front, reference, "completed", json!({"net_inr": 150})).await.unwrap();
    assert_eq!(front.call("book_ride", asked).await["status"], "completed");
    assert_eq!(front.code("cancel_ride", json!({"booking_ref": reference})).await, "BOOKING_CLOSED");
    assert_eq!(front.hotel.count("cancel_ride"), 0, "a ride that is over is not asked about");
    // The rating of a ride that is over is the system's to take or to refuse.
    front.code("rate_ride", json!({"booking_ref": reference, "rating": 5})).await;
    assert_eq!(front.hotel.count("rate_ride"), 1);
    assert!(advance(&front, reference, "failed", json!({})).await.is_err(), "what has ended stays as it is");
}
