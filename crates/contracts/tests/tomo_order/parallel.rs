//! Five hundred orders of the last portion at once: one is placed, the others are refused.

use std::sync::Arc;

use serde_json::{Value, json};

use super::data::seeds;
use super::desk::PartnerDesk;
use super::support::{LIVE, cart, contract, open, order_of};

const CALLS: usize = 500;

async fn cart_of(desk: &PartnerDesk, dish: &str, quantity: i64) -> Value {
    let items = json!([{"dish_id": dish, "quantity": quantity}]);
    desk.ok(LIVE, "compute_cart_total", cart("rst_tiffin", items)).await
}

/// Orders at once; `all_planned` is called when all have been sent. How many were placed, and the codes of the others.
async fn order_at_once(desk: &Arc<PartnerDesk>, cart: &Value, all_planned: impl FnOnce()) -> (Vec<Value>, Vec<Value>) {
    let call = |number: usize| {
        let (desk, order) = (Arc::clone(desk), order_of(cart, &format!("key-{number}")));
        tokio::spawn(async move { desk.call(LIVE, "place_order", order).await })
    };
    let tasks: Vec<_> = (0..CALLS).map(call).collect();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    all_planned();
    let (mut placed, mut refused) = (Vec::new(), Vec::new());
    for task in tasks {
        match task.await.unwrap() {
            Ok(answer) => placed.push(answer),
            Err(error) => refused.push(error["data"]["tomo_error_code"].clone()),
        }
    }
    (placed, refused)
}

async fn last_portion(desk: PartnerDesk, hold: impl FnOnce(), release: impl FnOnce()) {
    let desk = Arc::new(desk);
    let last = cart_of(&desk, "dsh_last", 1).await;
    hold();
    let (placed, refused) = order_at_once(&desk, &last, release).await;
    assert_eq!((placed.len(), refused.len()), (1, CALLS - 1));
    assert!(refused.iter().all(|code| code == "NOT_AVAILABLE"), "{refused:?}");
    // The portion is there once, and not more often, after it was given back.
    desk.ok(LIVE, "cancel_order", json!({"booking_ref": placed[0]["booking_ref"]})).await;
    desk.ok(LIVE, "place_order", order_of(&last, "after")).await;
    assert_eq!(desk.code(LIVE, "place_order", order_of(&last, "one-more")).await, "NOT_AVAILABLE");
}

async fn few_portions(desk: PartnerDesk) {
    let desk = Arc::new(desk);
    let few = cart_of(&desk, "dsh_few", 2).await;
    let (placed, refused) = order_at_once(&desk, &few, || ()).await;
    assert_eq!((placed.len(), refused.len()), (2, CALLS - 2), "five portions are two orders of two");
    assert!(refused.iter().all(|code| code == "NOT_AVAILABLE"), "{refused:?}");
}

#[tokio::test]
async fn t_102_five_hundred_orders_of_the_last_portion_in_memory() {
    let (desk, store) = open();
    let gate = std::cell::RefCell::new(None);
    // All have planned before the first of them is committed, so that everybody has seen the same portion.
    let hold = || *gate.borrow_mut() = Some(store.hold_commits());
    let release = || gate.borrow().as_ref().unwrap().add_permits(1);
    last_portion(desk, hold, release).await;
    few_portions(open().0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn t_102_five_hundred_orders_of_the_last_portion_on_sqlite() {
    last_portion(PartnerDesk::on_sqlite(contract(), seeds()).await, || (), || ()).await;
    few_portions(PartnerDesk::on_sqlite(contract(), seeds()).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn t_102_five_hundred_orders_of_the_last_portion_on_postgres() {
    last_portion(PartnerDesk::on_postgres(contract(), seeds()).await, || (), || ()).await;
    few_portions(PartnerDesk::on_postgres(contract(), seeds()).await).await;
}

#[tokio::test]
async fn t_102_fifty_equal_orders_at_once_are_one() {
    let desk = Arc::new(PartnerDesk::on_sqlite(contract(), seeds()).await);
    let order = order_of(&cart_of(&desk, "dsh_few", 1).await, "the-same-key");
    let call = |_: usize| {
        let (desk, order) = (Arc::clone(&desk), order.clone());
        tokio::spawn(async move { desk.ok(LIVE, "place_order", order).await })
    };
    let tasks: Vec<_> = (0..50).map(call).collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    // Only one portion is gone.
    let four = cart_of(&desk, "dsh_few", 4).await;
    desk.ok(LIVE, "place_order", order_of(&four, "others")).await;
}
