//! Two hundred orders of the last units of a part at once, over HTTPS: stock never falls below zero. It is the same on both
//! databases.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Barrier;

use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::{PATH, TestAgent, TestApp};
use frontdesk_testkit::databases::PostgresDatabase;

const ROOM: [(&str, &str); 2] =
    [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"), ("FRONTDESK_LIMITS_BURST", "1000000")];
const ORDERS: usize = 200;
/// Of the demo: four on hand, of which an order has one.
const NUMBER: &str = "04465-42160";

#[tokio::test]
async fn two_hundred_orders_of_the_last_units_on_sqlite() {
    last_units(TestApp::start_with(&ROOM)).await;
}

#[tokio::test]
async fn two_hundred_orders_of_the_last_units_on_postgres() {
    let database = PostgresDatabase::create();
    let url = database.url();
    last_units(TestApp::start_with(&[ROOM[0], ROOM[1], ("FRONTDESK_DATABASE", &url)])).await;
}

/// Calls the tool once for each argument, each on a connection of its own and all at the same moment. Who is told to come
/// again does so; a key makes that safe.
async fn at_once(desk: &TestApp, agent: &TestAgent, tool: &str, calls: Vec<Value>) -> Vec<Value> {
    let start = Arc::new(Barrier::new(calls.len()));
    let call = |(number, mut arguments): (usize, Value)| {
        let mut client = HttpClient::new(desk.address, &desk.ca_file());
        let (bearer, start) = (format!("Bearer {}", agent.token), Arc::clone(&start));
        arguments["idempotency_key"] = json!(format!("{tool}-{number}"));
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        tokio::spawn(async move {
            client.get("/.well-known/automotive-mcp.json").await;
            start.wait().await;
            let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
            loop {
                let response = client.request("POST", PATH, &headers, body.clone()).await;
                let answer = response.json()["result"]["structuredContent"].clone();
                if answer["error"]["details"]["retryable"] != json!(true) {
                    return answer;
                }
            }
        })
    };
    let tasks: Vec<_> = calls.into_iter().enumerate().map(call).collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

/// On hand, reserved, available and backordered, as a list shows them.
async fn stock(agent: &mut TestAgent) -> [i64; 4] {
    let part = agent.call("parts.search", json!({"part_number": NUMBER})).await["items"][0].clone();
    assert_eq!(agent.call("parts.get", json!({"id": part["id"]})).await, part, "lists are not stale");
    ["on_hand", "reserved", "available", "backordered"].map(|name| part[format!("quantity_{name}")].as_i64().unwrap())
}

async fn last_units(desk: TestApp) {
    let mut agent = desk.agent().await;
    assert_eq!(stock(&mut agent).await, [4, 1, 3, 0]);
    let order = json!({"lines": [{"part_number": NUMBER, "quantity": 1}]});
    let answers = at_once(&desk, &agent, "parts.create_order", vec![order.clone(); ORDERS]).await;
    let (made, refused): (Vec<&Value>, Vec<&Value>) = answers.iter().partition(|answer| answer["id"].is_string());
    assert_eq!((made.len(), refused.len()), (3, ORDERS - 3));
    assert!(refused.iter().all(|answer| answer["error"]["code"] == "parts.insufficient_stock"), "{refused:?}");
    assert_eq!(stock(&mut agent).await, [4, 4, 0, 0]);

    // Fifty wait; those who are cancelled at once serve three of them and nobody twice.
    let mut waits = order;
    waits["allow_backorder"] = json!(true);
    for _ in 0..50 {
        assert_eq!(agent.call("parts.create_order", waits.clone()).await["status"], "backordered");
    }
    let cancel = made.iter().map(|answer| json!({"id": answer["id"]})).collect();
    let answers = at_once(&desk, &agent, "parts.cancel_order", cancel).await;
    assert!(answers.iter().all(|answer| answer["status"] == "cancelled"), "{answers:?}");
    assert_eq!(stock(&mut agent).await, [4, 4, 0, 47]);
    let orders = agent.all("parts.list_orders", json!({"ordered_since": "2020-01-01T00:00:00Z", "limit": 100})).await;
    let filled = |order: &&Value| order["status"] == "confirmed" && order["lines"][0]["part_number"] == NUMBER;
    // One of the demo's.
    assert_eq!(orders.iter().filter(filled).count(), 1 + 3);
}
