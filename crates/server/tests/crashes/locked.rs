//! The database file is held by another process: whoever wants to write is told in time, and readers go on.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use super::line::Answer;
use super::load::lead;
use super::order_log::{Order, OrderLog};
use super::stage::Stage;
use super::tables::Before;

#[tokio::test]
async fn a_locked_database_file_is_unavailable_to_writers_in_time() {
    let stage = Stage::embedded().await;
    let before = Before::look(&stage.database, &stage.desk);
    let mut order_log = OrderLog::default();
    let lock = stage.database.lock(&stage.desk);
    let mut crowd = JoinSet::new();
    let asked = Instant::now();
    for number in 0..12_u64 {
        let dealership = number as usize % stage.dealerships();
        let order = Order { dealership, tool: "leads.create", arguments: lead(&format!("locked-out-{number}")) };
        order_log.send(&order);
        let mut line = stage.line(dealership);
        crowd.spawn(async move {
            // Not all at the same time, so that some come while others already wait.
            tokio::time::sleep(Duration::from_millis(100 * number)).await;
            line.call(order.tool, &order.arguments).await
        });
    }
    let mut reader = stage.line(0);
    assert!(matches!(reader.call("inventory.search", &json!({"text": "sunroof"})).await, Answer::Done(_)));
    assert!(matches!(reader.call("leads.list", &json!({"limit": 5})).await, Answer::Done(_)));
    for answer in crowd.join_all().await {
        match answer {
            Answer::Later(text) => assert!(text.contains("nothing was changed"), "it is known what happened: {text}"),
            Answer::Done(text) => panic!("it was answered: {text}"),
            Answer::Cut => panic!("the desk is gone"),
        }
    }
    assert!(asked.elapsed() < Duration::from_secs(30), "it took {:?} to be told", asked.elapsed());
    drop(lock);
    let order_log = stage.repeat(order_log.orders(), order_log).await;
    before.and_then(&order_log, &stage.database, &stage.desk);
}
