//! Two hundred orders of the last units at once, on the store in memory.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::parts::{BOTH, by_number, import, part};
use super::support::TestDesk;

/// All have planned before the first of them is committed, so that everybody has seen the same stock. On a busy machine
/// somebody is told that it takes long; they ask again with their key, which makes that safe.
async fn at_once(desk: &Arc<TestDesk>, tool: &'static str, calls: Vec<Value>) -> Vec<Value> {
    let gate = desk.store.hold_commits();
    let call = |(number, mut arguments): (usize, Value)| {
        let desk = Arc::clone(desk);
        arguments["idempotency_key"] = json!(format!("{tool}-{number}"));
        tokio::spawn(async move {
            loop {
                let answer = desk.call_async(BOTH, tool, arguments.clone()).await;
                if answer["error"]["details"]["retryable"] != json!(true) {
                    return answer;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
    };
    let tasks: Vec<_> = calls.into_iter().enumerate().map(call).collect();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

fn stock(desk: &TestDesk) -> [i64; 4] {
    let part = by_number(desk, "TST-100");
    ["on_hand", "reserved", "available", "backordered"].map(|name| part[format!("quantity_{name}")].as_i64().unwrap())
}

#[test]
fn two_hundred_orders_at_once_take_the_last_five() {
    let desk = Arc::new(TestDesk::open());
    import(&desk, &[part(json!({}))]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let order = json!({"lines": [{"part_number": "TST-100", "quantity": 1}]});
    let answers = runtime.block_on(at_once(&desk, "parts.create_order", vec![order; 200]));
    let (made, refused): (Vec<&Value>, Vec<&Value>) = answers.iter().partition(|answer| answer["id"].is_string());
    assert_eq!((made.len(), refused.len()), (5, 195));
    assert!(refused.iter().all(|answer| answer["error"]["code"] == "parts.insufficient_stock"), "{refused:?}");
    assert_eq!(stock(&desk), [5, 5, 0, 0]);
}

#[test]
fn two_hundred_that_wait_are_each_served_once() {
    let desk = Arc::new(TestDesk::open());
    import(&desk, &[part(json!({}))]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let order = json!({"lines": [{"part_number": "TST-100", "quantity": 1}], "allow_backorder": true});
    let answers = runtime.block_on(at_once(&desk, "parts.create_order", vec![order; 200]));
    let of = |status: &str| answers.iter().filter(|answer| answer["status"] == status).collect::<Vec<_>>();
    assert_eq!((of("requested").len(), of("backordered").len()), (5, 195), "{:?}", answers.last());
    assert_eq!(stock(&desk), [5, 5, 0, 195]);
    // Five cancellations at once serve the five who came first.
    let cancel = of("requested").iter().map(|answer| json!({"id": answer["id"]})).collect();
    runtime.block_on(at_once(&desk, "parts.cancel_order", cancel));
    assert_eq!(stock(&desk), [5, 5, 0, 190]);
    // More comes in than one call serves; the next calls about the part go on.
    import(&desk, &[json!({"part_number": "TST-100", "quantity_on_hand": 300})]);
    assert_eq!(stock(&desk), [300, 55, 245, 140]);
    for _ in 0..3 {
        // What those who wait leave can be had at once.
        let lines = json!({"lines": [{"part_number": "TST-100", "quantity": 1}]});
        let ordered = desk.call_ok(BOTH, "parts.create_order", lines);
        assert_eq!(ordered["status"], "requested");
    }
    assert_eq!(stock(&desk), [300, 198, 102, 0]);
    let confirmed = desk.call_ok(BOTH, "parts.list_orders", json!({"status": "confirmed", "x_frontdesk_total": true}));
    let waiting = desk.call_ok(BOTH, "parts.list_orders", json!({"status": "backordered", "x_frontdesk_total": true}));
    // Those of the demo, too.
    assert_eq!((&confirmed["x_frontdesk_total"], &waiting["x_frontdesk_total"]), (&json!(1 + 195), &json!(1)));
}
