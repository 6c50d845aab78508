//! `track_order`: a look that changes nothing, one in five seconds for each order.

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_engine::model::tool::Run;
use serde_json::{Value, json};

use super::support::{LIVE, SANDBOX, contract, move_order, open, ordered};

fn reference(order: &Value) -> Value {
    json!({"booking_ref": order["booking_ref"]})
}

#[tokio::test]
async fn an_order_is_followed_from_the_kitchen_to_the_door() {
    let (desk, _) = open();
    let placed = ordered(&desk, LIVE, "key-1").await;
    let track = async || {
        desk.clock.advance(10_000);
        desk.ok(LIVE, "track_order", reference(&placed)).await
    };
    assert_eq!(
        track().await,
        json!({"booking_ref": placed["booking_ref"], "status": "confirmed", "stage": "placed",
            "stage_at": "2027-02-20T06:00:00Z", "message": "The restaurant has the order.", "eta_minutes": 16,
            "eta_at": "2027-02-20T06:16:00Z", "progress_percent": 0, "couriers": [], "courier_positions": []})
    );
    let brought = json!({"courier_name": "Ravi Kumar", "eta_minutes": 9, "location": {"lat": 12.9701, "lng": 77.6012}});
    for (stage, details, percent, message) in [
        ("accepted", json!({}), 20, "The restaurant has accepted the order."),
        ("preparing", json!({}), 40, "The order is being prepared."),
        ("ready", json!({}), 60, "The order is ready to be picked up."),
        ("picked_up", brought, 80, "The order is on its way."),
    ] {
        move_order(&desk, &placed, stage, details).await.unwrap();
        let answer = track().await;
        assert_eq!((&answer["stage"], &answer["message"]), (&json!(stage), &json!(message)));
        assert_eq!((&answer["progress_percent"], &answer["status"]), (&json!(percent), &json!("confirmed")));
    }
    let answer = track().await;
    assert_eq!(answer["couriers"], json!([{"first_name": "Ravi"}]));
    assert_eq!(answer["courier_positions"], json!([{"lat": 12.9701, "lng": 77.6012}]));
    assert_eq!(answer["eta_minutes"], 9, "20 seconds later it is still the ninth minute");
    assert!(!answer.to_string().contains("Kumar"));
    // What is late is not told to arrive in the past.
    desk.clock.advance(3_600_000);
    assert_eq!(track().await["eta_minutes"], 0);
    move_order(&desk, &placed, "delivered", json!({})).await.unwrap();
    let answer = track().await;
    assert_eq!((&answer["status"], &answer["progress_percent"]), (&json!("completed"), &json!(100)));
}

#[tokio::test]
async fn every_end_has_its_message() {
    for (stage, status, message) in [
        ("cancelled", "cancelled", "The order was cancelled."),
        ("rejected", "failed", "The restaurant could not take the order."),
        ("failed", "failed", "The order could not be delivered."),
    ] {
        let (desk, _) = open();
        let placed = ordered(&desk, LIVE, "key-1").await;
        move_order(&desk, &placed, stage, json!({})).await.unwrap();
        let answer = desk.ok(LIVE, "track_order", reference(&placed)).await;
        assert_eq!((&answer["stage"], &answer["status"]), (&json!(stage), &json!(status)));
        assert_eq!((&answer["message"], &answer["eta_minutes"]), (&json!(message), &json!(0)));
    }
}

#[tokio::test]
async fn t_107_tracking_an_order_changes_nothing() {
    let (desk, store) = open();
    for (partner, key) in [(LIVE, "key-1"), (SANDBOX, "key-2")] {
        let placed = ordered(&desk, partner, key).await;
        let (before, events) = (store.contents(), store.events());
        for _ in 0..3 {
            desk.ok(partner, "track_order", reference(&placed)).await;
            desk.clock.advance(5_000);
        }
        assert_eq!((store.contents(), store.events()), (before, events));
    }
}

#[tokio::test]
async fn t_108_one_look_in_five_seconds_for_each_order() {
    let (desk, _) = open();
    let (one, other) = (ordered(&desk, LIVE, "key-1").await, ordered(&desk, LIVE, "key-2").await);
    desk.ok(LIVE, "track_order", reference(&one)).await;
    desk.clock.advance(1_000);
    let error = desk.error(LIVE, "track_order", reference(&one)).await;
    assert_eq!((&error["code"], &error["data"]["tomo_error_code"]), (&json!(-32001), &json!("RATE_LIMITED")));
    desk.ok(LIVE, "track_order", reference(&other)).await;
    desk.clock.advance(4_000);
    desk.ok(LIVE, "track_order", reference(&one)).await;
}

/// The engine asks it again while somebody listens, and stops when nothing more will happen.
#[test]
fn tracking_is_a_tool_that_watches() {
    let contract = contract();
    for tool in &contract.tools {
        let is_watched = matches!(tool.run, Run::Watch(_));
        assert_eq!(is_watched, tool.spec.name == "track_order", "{}", tool.spec.name);
    }
    let facts = super::support::intent().shape.facts(PartnerSource::Own, "track_order");
    assert!(facts.iter().copied().flatten().any(|fact| fact.name == "progress_percent"));
}
