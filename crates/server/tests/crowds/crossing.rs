//! Two dealerships interleaved by the ten thousand over shared connections: every answer reaches the call it belongs to.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::operator::UNHURRIED;
use frontdesk_testkit::app::http_client::{HttpConnection, trusting};
use frontdesk_testkit::app::{DemoTenant, EVERYTHING, PATH, TestApp};

const CONNECTIONS: usize = 4;
const CALLS_EACH: usize = 2500;
/// So many calls are under way on a connection before the first answer is read.
const WINDOW: usize = 25;

/// What one dealership asks for, and what must come back.
#[derive(Clone)]
struct Side {
    token: String,
    dealership: String,
    tools: [(&'static str, Value); 3],
}

impl Side {
    async fn of(desk: &TestApp, house: DemoTenant) -> Side {
        let mut agent = desk.agent_of(house, EVERYTHING).await;
        let mut first = async |list: &str| agent.call(list, json!({"limit": 1})).await["items"][0]["id"].clone();
        let (car, lead) = (first("inventory.list").await, first("leads.list").await);
        let tools = [("inventory.get", car.clone()), ("inventory.get", car), ("leads.get", lead)];
        Side { token: agent.token.clone(), dealership: agent.dealership.clone(), tools }
    }

    fn request(&self, number: usize) -> String {
        let (tool, id) = &self.tools[number / 2 % 3];
        let params = json!({"name": tool, "arguments": {"id": id}});
        let body = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).to_string();
        format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        )
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interleaved_calls_of_two_tenants_stay_apart() {
    let desk = TestApp::start_with(&UNHURRIED);
    let sides = Arc::new([Side::of(&desk, DemoTenant::Lakeside).await, Side::of(&desk, DemoTenant::Summit).await]);
    let mut connections = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (sides, address) = (Arc::clone(&sides), desk.address);
        let tls = Arc::new(trusting(&desk.ca_file(), rustls::ALL_VERSIONS));
        connections.spawn(async move {
            let mut connection = HttpConnection::open(address, tls, "localhost").await.unwrap();
            for start in (0..CALLS_EACH).step_by(WINDOW) {
                let window = start..start + WINDOW;
                let sent: String = window.clone().map(|number| sides[number % 2].request(number)).collect();
                connection.send(sent.as_bytes()).await.unwrap();
                for number in window {
                    let side = &sides[number % 2];
                    let answer = connection.receive().await.unwrap().json();
                    let found = &answer["result"]["structuredContent"];
                    let told = (&answer["id"], &found["dealership_id"], &found["id"]);
                    let (_, id) = &side.tools[number / 2 % 3];
                    assert_eq!(told, (&json!(number), &json!(side.dealership), id), "{answer}");
                }
            }
        });
    }
    connections.join_all().await;
}
