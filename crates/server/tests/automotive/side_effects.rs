//! Reading changes nothing, and nothing but a tool call changes anything (section 3.1).

use serde_json::{Value, json};

use frontdesk_testkit::app::{TestAgent, TestApp};

use super::requests::{GETS, everything, ids, read};

/// All that can be seen: lists, and the whole of some records of each kind.
async fn state(agent: &mut TestAgent) -> Vec<Value> {
    let mut state = everything(agent).await;
    for (list, get) in GETS {
        for id in ids(&agent.all(list, json!({"limit": 100})).await).iter().take(20) {
            state.push(agent.call(get, json!({"id": id})).await);
        }
    }
    state
}

#[tokio::test]
async fn a3_01_a3_03_reading_twice_gives_the_same_and_changes_nothing() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let before = state(&mut agent).await;
    let search = json!({"make": "Toyota", "sort": "price_asc", "limit": 100});
    let mut seen = Vec::new();
    for _ in 0..2 {
        let mut round = vec![agent.call("inventory.search", search.clone()).await];
        // A key on a read is passed over: reading twice is harmless.
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "leads.list", "arguments": {"limit": 100}}});
        let response = agent.post(&body.to_string(), &[("idempotency-key", "a-read")]).await;
        round.push(response.json()["result"]["structuredContent"].clone());
        for noun in ["leads?limit=100", "customers?status=new", "inventory/veh_0"] {
            round.push(match read(&mut agent, &format!("amcp://dlr_lakeside/{noun}")).await {
                Ok(text) => json!(text),
                Err(error) => error,
            });
        }
        seen.push(round);
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(state(&mut agent).await, before);
}

#[tokio::test]
async fn a3_04_no_method_but_a_tool_call_changes_anything() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let before = state(&mut agent).await;
    let lead = before.iter().find(|item| item["type"] == json!("lead")).unwrap()["id"].as_str().unwrap().to_owned();
    let address = format!("amcp://dlr_lakeside/leads/{lead}");
    let change =
        json!({"name": "leads.update", "arguments": {"id": lead, "status": "sold"}, "uri": address, "status": "sold"});
    let methods = [
        "initialize",
        "ping",
        "server/discover",
        "resources/list",
        "resources/read",
        "resources/write",
        "resources/update",
        "resources/delete",
        "resources/subscribe",
        "resources/unsubscribe",
        "resources/templates/list",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "tools/list",
        "tools/CALL",
        "leads.update",
        "notifications/cancelled",
        "subscriptions/listen",
    ];
    for method in methods {
        agent.send(method, change.clone()).await;
    }
    // A tool call without an id is a notification: nobody could be told how it ended.
    let silent = json!({"jsonrpc": "2.0", "method": "tools/call", "params": change});
    assert_eq!(agent.post(&silent.to_string(), &[]).await.status, 202);
    let silent = json!({"jsonrpc": "2.0", "id": null, "method": "tools/call", "params": change});
    assert_eq!(agent.post(&silent.to_string(), &[]).await.status, 400);
    // An address that looks like a change is not one.
    for address in
        [format!("{address}?status=sold"), format!("{address}/update"), "amcp://dlr_lakeside/leads/create".into()]
    {
        assert_eq!(read(&mut agent, &address).await.unwrap_err()["code"], json!(-32002), "{address}");
    }
    assert_eq!(state(&mut agent).await, before);
    // And the tool call itself does.
    agent.call("leads.update", json!({"id": lead, "status": "sold"})).await;
    assert_ne!(state(&mut agent).await, before);
}
