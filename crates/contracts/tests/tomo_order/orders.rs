//! Placing orders: exactly once, at the promised total, with nothing of the person in any answer.

use std::sync::Arc;

use serde_json::{Value, json};

use super::data::NOW;
use super::desk::PartnerDesk;
use super::support::{LIVE, cart, contract, intent, open, order_of, ordered, stored};

#[tokio::test]
async fn t_052_t_053_an_order_answers_every_member_and_no_other() {
    let (desk, store) = open();
    let placed = ordered(&desk, LIVE, "key-1").await;
    assert_eq!(
        placed,
        json!({
            "booking_ref": placed["booking_ref"], "status": "confirmed", "mode": "live", "stage": "placed",
            "restaurant_id": "rst_tiffin", "restaurant_name": "Anytime Tiffin",
            "lines": [{"dish_id": "dsh_dosa", "name": "Masala Dosa", "diet": "veg", "quantity": 2, "options": [],
                "unit_price_inr": 95, "line_total_inr": 190}],
            "subtotal_inr": 190, "packaging_inr": 10, "delivery_fee_inr": 29, "tax_percent": 5, "tax_inr": 10,
            "total_inr": 239, "eta_minutes": 16, "accepted_refund_percent": 50,
        })
    );
    let reference = json!({"booking_ref": placed["booking_ref"]});
    for tool in ["track_order", "cancel_order"] {
        let answer = desk.ok(LIVE, tool, reference.clone()).await;
        let output = &intent().tool(tool).unwrap().output.clone();
        assert_eq!(output.problems(&answer).len(), 0, "{answer}");
        let members: Vec<&str> = output.fields().iter().map(|field| field.name).collect();
        assert_eq!(answer.as_object().unwrap().len(), members.len(), "{answer}");
        for word in ["Asha", "9845012345", "asha@example.com", "Lantern", "Ring twice"] {
            assert!(!answer.to_string().contains(word), "{tool}: {word}");
        }
    }
    let order = stored(&store, &placed).order.unwrap();
    assert_eq!(&*order.delivery.unwrap().line1, "14 Lantern Street");
    assert_eq!(order.notes.as_deref(), Some("Ring twice."));
}

#[tokio::test]
async fn what_is_personal_is_not_in_the_open_part_of_the_row() {
    use frontdesk_contracts::record::Stored as _;
    use frontdesk_contracts::tomo::booking::Booking;
    let (desk, store) = open();
    let placed = ordered(&desk, LIVE, "key-1").await;
    let row = store.row(LIVE.0, Booking::table(), placed["booking_ref"].as_str().unwrap()).unwrap();
    let open_part = format!("{} {}", row.body, row.masked.unwrap());
    for word in ["Asha Menon", "9845012345", "asha@example.com", "Lantern", "Flat 3B", "Ring twice", "12.9752"] {
        assert!(!open_part.contains(word), "{word}: {open_part}");
        assert!(row.personal.as_ref().unwrap().contains(word), "{word}");
    }
}

#[tokio::test]
async fn t_100_a_repeated_order_is_the_same_as_it_is_by_now() {
    let (desk, _) = open();
    let total =
        desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", json!([{"dish_id": "dsh_last", "quantity": 1}]))).await;
    let placed = desk.ok(LIVE, "place_order", order_of(&total, "key-1")).await;
    assert_eq!(desk.ok(LIVE, "place_order", order_of(&total, "key-1")).await, placed, "though it was the last portion");
    desk.ok(LIVE, "cancel_order", json!({"booking_ref": placed["booking_ref"]})).await;
    let again = desk.ok(LIVE, "place_order", order_of(&total, "key-1")).await;
    assert_eq!(again["booking_ref"], placed["booking_ref"]);
    assert_eq!((&again["status"], &again["stage"]), (&json!("cancelled"), &json!("cancelled")));
}

#[tokio::test]
async fn t_101_the_same_key_for_another_order_is_refused() {
    let (desk, store) = open();
    let total =
        desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", json!([{"dish_id": "dsh_dosa", "quantity": 2}]))).await;
    desk.ok(LIVE, "place_order", order_of(&total, "key-1")).await;
    let before = store.contents();
    let mut other = order_of(&total, "key-1");
    other["notes"] = json!("Ring once.");
    assert_eq!(desk.code(LIVE, "place_order", other).await, "IDEMPOTENCY_CONFLICT");
    assert_eq!(store.contents(), before);
}

#[tokio::test]
async fn t_103_keys_outlive_a_restart_and_any_spelling() {
    let (desk, store) = open();
    let total =
        desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", json!([{"dish_id": "dsh_dosa", "quantity": 2}]))).await;
    let order = order_of(&total, "key-1");
    let placed = desk.ok(LIVE, "place_order", order.clone()).await;
    drop(desk);
    let restarted = PartnerDesk::over(contract(), Arc::clone(&store), NOW);
    // The members in another order, with other white space.
    let members: Vec<String> =
        order.as_object().unwrap().iter().rev().map(|(name, value)| format!("{name:?} :  {value}")).collect();
    let message = format!(
        r#"{{"params": {{"arguments": {{ {} }}, "name": "place_order"}}, "method": "tools/call", "id": 42, "jsonrpc": "2.0"}}"#,
        members.join(" ,\n")
    );
    let body = restarted.send(LIVE, message).await;
    let text: Value = serde_json::from_str(body["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["booking_ref"], placed["booking_ref"]);
}

#[tokio::test]
async fn t_104_an_order_without_a_key_is_refused() {
    let (desk, _) = open();
    let total =
        desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", json!([{"dish_id": "dsh_dosa", "quantity": 2}]))).await;
    let mut order = order_of(&total, "key-1");
    order.as_object_mut().unwrap().remove("idempotency_key");
    let error = desk.error(LIVE, "place_order", order).await;
    assert_eq!(error["data"], json!({"tomo_error_code": "INVALID_REQUEST", "tomo_field": "idempotency_key"}));
}

#[tokio::test]
async fn two_lines_of_one_dish_share_its_portions() {
    let (desk, _) = open();
    let both = |one: i64, other: i64| {
        cart("rst_tiffin", json!([{"dish_id": "dsh_few", "quantity": one}, {"dish_id": "dsh_few", "quantity": other}]))
    };
    assert_eq!(desk.code(LIVE, "compute_cart_total", both(3, 3)).await, "NOT_AVAILABLE");
    let first = desk.ok(LIVE, "compute_cart_total", both(2, 2)).await;
    let second = desk.ok(LIVE, "compute_cart_total", both(1, 1)).await;
    desk.ok(LIVE, "place_order", order_of(&first, "key-1")).await;
    assert_eq!(desk.code(LIVE, "place_order", order_of(&second, "key-2")).await, "NOT_AVAILABLE", "one is left");
    super::support::ordered_dish(&desk, LIVE, "dsh_few", 1, "key-3").await;
}
