//! A PostgreSQL server that neither answers nor hangs up: callers are told within their deadline, and once it
//! answers again so does the desk.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use frontdesk_testkit::databases::PostgresServer;

use super::line::Answer;
use super::load::lead;
use super::order_log::{Order, OrderLog};
use super::stage::Stage;
use super::tables::Before;

#[tokio::test]
async fn a_hanging_postgres_is_unavailable_within_the_deadline() {
    let stage = Stage::on_postgres_with(PostgresServer::start(), &[("FRONTDESK_DEADLINES_CALL_SECONDS", "2")]).await;
    let before = Before::look(&stage.database, &stage.desk);
    let mut order_log = OrderLog::default();
    let first = Order { dealership: 0, tool: "leads.create", arguments: lead("before") };
    order_log.send(&first);
    order_log = stage.repeat(vec![first], order_log).await;

    stage.database.server().freeze();
    let orders: Vec<Order> = (0..6)
        .map(|number| Order {
            dealership: number % stage.dealerships(),
            tool: "leads.create",
            arguments: lead(&format!("meanwhile-{number}")),
        })
        .collect();
    for order in &orders {
        order_log.send(order);
    }
    let asked = Instant::now();
    let mut waiting = JoinSet::new();
    for Order { dealership, tool, arguments } in orders {
        let mut line = stage.line(dealership);
        waiting.spawn(async move { line.call(tool, &arguments).await });
    }
    let mut searching = stage.line(0);
    waiting.spawn(async move { searching.call("inventory.search", &json!({"text": "sunroof"})).await });
    for answer in waiting.join_all().await {
        match answer {
            Answer::Later(text) => assert!(text.contains("internal.unavailable"), "{text}"),
            Answer::Done(text) => panic!("it was answered: {text}"),
            Answer::Cut => panic!("the desk is gone"),
        }
    }
    assert!(asked.elapsed() < Duration::from_secs(30), "it took {:?} to be told", asked.elapsed());
    stage.database.server().thaw();

    let orders = order_log.orders();
    let order_log = stage.repeat(orders, order_log).await;
    before.and_then(&order_log, &stage.database, &stage.desk);
}
