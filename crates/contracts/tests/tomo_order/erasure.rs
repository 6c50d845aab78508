//! Somebody who has ordered is erased: where it went, what they wrote and who brought it. What was ordered stays.

use frontdesk_contracts::automotive::erasure;
use serde_json::json;

use super::data::KITCHENS;
use super::support::{LIVE, SANDBOX, move_order, open, ordered, stored};

const PERSON: [&str; 8] =
    ["Asha", "9845012345", "asha@example.com", "Lantern", "Flat 3B", "Ring twice", "Ravi", "No gas"];

#[tokio::test]
async fn an_erased_customer_leaves_the_order_without_a_person() {
    let (desk, store) = open();
    let placed = ordered(&desk, LIVE, "key-1").await;
    let tried = ordered(&desk, SANDBOX, "key-1").await;
    let details = json!({"courier_name": "Ravi", "location": {"lat": 12.9701, "lng": 77.6012}, "reason": "No gas."});
    move_order(&desk, &placed, "ready", details).await.unwrap();
    let before = stored(&store, &placed);
    for word in PERSON {
        assert!(store.contents().contains(word), "{word}");
    }
    let by = json!({"phone": "+919845012345"});
    let found = desk.operate(KITCHENS, erasure::ERASURE.find_tool, by.clone()).await.unwrap();
    assert_eq!(found["records"].as_array().unwrap().len(), 2, "{found}");
    let erase = json!({"id": found["subject"], "records": found["records"]});
    desk.operate(KITCHENS, erasure::ERASURE.erase_tool, erase).await.unwrap();
    let contents = store.contents();
    for word in PERSON.iter().chain(&["12.9701", "12.9752"]) {
        assert!(!contents.contains(word), "{word}");
    }
    let found = desk.operate(KITCHENS, erasure::ERASURE.find_tool, by).await.unwrap();
    assert_eq!(found["records"], json!([]));

    let after = stored(&store, &placed);
    let (order, had) = (after.order.unwrap(), before.order.unwrap());
    assert_eq!((&order.lines, order.subtotal_inr, order.day), (&had.lines, had.subtotal_inr, had.day));
    assert_eq!((after.stage, after.total_inr), (before.stage, before.total_inr));
    // It can still be followed and ends as any other.
    let answer = desk.ok(LIVE, "track_order", json!({"booking_ref": placed["booking_ref"]})).await;
    assert_eq!((&answer["couriers"], &answer["stage"]), (&json!([]), &json!("ready")));
    move_order(&desk, &placed, "delivered", json!({})).await.unwrap();
    desk.ok(SANDBOX, "cancel_order", json!({"booking_ref": tried["booking_ref"]})).await;
}
