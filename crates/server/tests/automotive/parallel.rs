//! Many at once: identical orders, and changes of one thing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::{PATH, TestAgent, TestApp};

use super::requests::{UNHURRIED, count, keyed, lead, structured};

/// Calls one tool once per argument list, each on a connection of its own and all at the same moment.
async fn at_once(desk: &TestApp, agent: &TestAgent, tool: &str, calls: Vec<Value>) -> Vec<String> {
    let start = std::sync::Arc::new(tokio::sync::Barrier::new(calls.len()));
    let tasks: Vec<_> = calls
        .into_iter()
        .map(|arguments| {
            let mut client = HttpClient::new(desk.address, &desk.ca_file());
            let (bearer, start) = (format!("Bearer {}", agent.token), std::sync::Arc::clone(&start));
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
            tokio::spawn(async move {
                client.get("/.well-known/automotive-mcp.json").await;
                start.wait().await;
                let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
                let response = client.request("POST", PATH, &headers, body.to_string()).await;
                assert_eq!(response.status, 200, "{}", response.text());
                structured(response.text())
            })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

#[tokio::test]
async fn two_hundred_identical_creates_at_once_make_exactly_one_lead() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let leads = count(&mut agent, "leads.list").await;
    let answers = at_once(&desk, &agent, "leads.create", vec![keyed("Dana Rivera", "k-1"); 200]).await;
    let different: BTreeSet<&String> = answers.iter().collect();
    assert_eq!(different.len(), 1, "{different:?}");
    assert!(answers[0].contains("\"id\":\"led_"), "{}", answers[0]);
    assert_eq!(count(&mut agent, "leads.list").await, leads + 1);
}

#[tokio::test]
async fn one_key_with_two_bodies_at_once_has_one_winner() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let leads = count(&mut agent, "leads.list").await;
    let calls = (0..40).map(|turn| keyed(["Dana Rivera", "Lee Chen"][turn % 2], "k-1")).collect();
    let answers = at_once(&desk, &agent, "leads.create", calls).await;
    let (made, refused): (Vec<&String>, Vec<&String>) =
        answers.iter().partition(|answer| answer.contains("\"id\":\"led_"));
    assert_eq!((made.len(), refused.len()), (20, 20));
    assert!(made.iter().all(|answer| *answer == made[0]));
    assert!(refused.iter().all(|answer| answer.contains("request.idempotency_conflict")));
    assert_eq!(count(&mut agent, "leads.list").await, leads + 1);
}

#[tokio::test]
async fn changes_of_one_version_at_once_have_one_winner() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let id = agent.call("leads.create", lead("Dana Rivera")).await["id"].clone();
    let change = |turn: usize| json!({"id": id, "comments": format!("turn {turn}"), "expected_version": 1});
    let answers = at_once(&desk, &agent, "leads.update", (0..30).map(change).collect()).await;
    let (won, lost): (Vec<&String>, Vec<&String>) = answers.iter().partition(|answer| answer.contains("\"version\":2"));
    assert_eq!((won.len(), lost.len()), (1, 29));
    assert!(lost.iter().all(|answer| answer.contains("request.version_conflict")), "{lost:?}");
    let won: Value = serde_json::from_str(won[0]).unwrap();
    assert_eq!(agent.call("leads.get", json!({"id": id})).await, won);
}

#[tokio::test]
async fn parallel_creates_all_happen_with_distinct_ids() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let leads = count(&mut agent, "leads.list").await;
    // All for one customer, whose record each of them changes.
    let customer = agent.call("customers.list", json!({"limit": 1})).await["items"][0]["id"].clone();
    let call = |turn: usize| {
        let mut lead = keyed("Dana Rivera", &format!("k-{turn}"));
        lead["customer_id"] = customer.clone();
        lead
    };
    let mut waiting: Vec<Value> = (0..30).map(call).collect();
    let mut made = BTreeSet::new();
    // Whoever met the others three times over is told to come again, and a key makes that safe.
    while !waiting.is_empty() {
        let answers = at_once(&desk, &agent, "leads.create", waiting.clone()).await;
        let mut again = Vec::new();
        for (answer, call) in answers.iter().zip(&waiting) {
            let answer: Value = serde_json::from_str(answer).unwrap();
            match answer["id"].as_str() {
                Some(id) => assert!(made.insert(id.to_owned()), "{id} came twice"),
                None => {
                    assert_eq!(answer["error"]["details"]["retryable"], json!(true), "{answer}");
                    again.push(call.clone());
                }
            }
        }
        assert!(again.len() < waiting.len(), "nobody got through: {answers:?}");
        waiting = again;
    }
    assert_eq!(made.len(), 30);
    assert_eq!(count(&mut agent, "leads.list").await, leads + 30);
    let latest = agent.call("customers.get", json!({"id": customer})).await;
    assert!(made.contains(latest["latest_lead"]["id"].as_str().unwrap()));
    assert_eq!(latest["version"], json!(31));
}
