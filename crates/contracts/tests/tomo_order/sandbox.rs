//! The sandbox takes nothing from anybody and is seen by nobody else.

use frontdesk_contracts::tomo;
use serde_json::json;

use super::data::OTHERS;
use super::support::{LIVE, SANDBOX, cart, here, move_order, open, order_of, ordered, ordered_dish};

#[tokio::test]
async fn t_122_a_sandbox_order_takes_no_portion_and_causes_no_event() {
    let (desk, store) = open();
    for key in ["key-1", "key-2"] {
        let placed = ordered_dish(&desk, SANDBOX, "dsh_last", 1, key).await;
        assert_eq!(placed["mode"], "sandbox");
    }
    let tried = ordered_dish(&desk, SANDBOX, "dsh_last", 1, "key-3").await;
    desk.ok(SANDBOX, "cancel_order", json!({"booking_ref": tried["booking_ref"]})).await;
    let rejected = ordered_dish(&desk, SANDBOX, "dsh_last", 1, "key-4").await;
    move_order(&desk, &rejected, "rejected", json!({})).await.unwrap();
    assert!(store.events().is_empty(), "{:?}", store.events());
    assert!(!store.contents().contains("dsd_"), "no portion is counted");
    // The live portion is still there, once.
    ordered_dish(&desk, LIVE, "dsh_last", 1, "key-1").await;
    assert_eq!(store.events().len(), 1);
    let cart = cart("rst_tiffin", json!([{"dish_id": "dsh_last", "quantity": 1}]));
    assert_eq!(desk.code(LIVE, "compute_cart_total", cart).await, "NOT_AVAILABLE");
    ordered_dish(&desk, SANDBOX, "dsh_last", 1, "key-5").await;
}

#[tokio::test]
async fn live_and_sandbox_and_others_do_not_see_each_others_orders() {
    let (desk, _) = open();
    let live = json!({"booking_ref": ordered(&desk, LIVE, "key-1").await["booking_ref"]});
    let tried = json!({"booking_ref": ordered(&desk, SANDBOX, "key-1").await["booking_ref"]});
    for tool in ["track_order", "cancel_order"] {
        assert_eq!(desk.code(SANDBOX, tool, live.clone()).await, "NOT_FOUND");
        assert_eq!(desk.code(LIVE, tool, tried.clone()).await, "NOT_FOUND");
        assert_eq!(desk.code((OTHERS, tomo::LIVE), tool, live.clone()).await, "NOT_FOUND");
    }
    for (tool, arguments) in [
        ("get_restaurant_menu", json!({"restaurant_id": "rst_tiffin"})),
        ("get_dish_detail", json!({"dish_id": "dsh_dosa"})),
    ] {
        assert_eq!(desk.code((OTHERS, tomo::LIVE), tool, arguments).await, "NOT_FOUND");
    }
    let found = desk.ok((OTHERS, tomo::LIVE), "search_restaurants_and_dishes", json!({"location": here()})).await;
    assert_eq!(found["results"], json!([]));
}

#[tokio::test]
async fn a_cart_of_another_mode_is_none() {
    let (desk, _) = open();
    let items = json!([{"dish_id": "dsh_dosa", "quantity": 1}]);
    let tried = desk.ok(SANDBOX, "compute_cart_total", cart("rst_tiffin", items)).await;
    assert_eq!(desk.code(LIVE, "place_order", order_of(&tried, "key-1")).await, "RESULT_EXPIRED");
}
