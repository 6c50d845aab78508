//! From nothing to an answer, as a stranger would.

#[expect(dead_code, reason = "each test file uses its own part of the support")]
mod support;

use serde_json::json;
use support::desk::{Desk, EVERYTHING, House};

#[tokio::test]
async fn an_agent_lists_searches_and_reads() {
    let desk = Desk::open();
    let mut agent = desk.agent(House::Lakeside, EVERYTHING).await;
    let page = agent.call("inventory.search", json!({"make": "Toyota", "limit": 2})).await;
    let id = page["items"][0]["id"].clone();
    let vehicle = agent.call("inventory.get", json!({"id": id})).await;
    assert_eq!(vehicle, page["items"][0]);
}

#[tokio::test]
async fn a_signal_right_after_the_card_ends_the_desk_in_order() {
    let mut desk = Desk::open();
    assert_eq!(desk.close(), Some(0));
}
