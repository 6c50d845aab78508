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

#[tokio::test]
async fn of_deals_accepted_at_once_one_has_the_vehicle() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let customer = agent.call("customers.list", json!({"limit": 1})).await["items"][0]["id"].clone();
    let stock = agent.call("inventory.list", json!({"status": "available", "limit": 1})).await;
    let vehicle = stock["items"][0]["id"].clone();
    let mut calls = Vec::new();
    for _ in 0..20 {
        let terms = json!({"deal_type": "cash", "customer_id": customer, "vehicle_id": vehicle});
        let id = agent.call("deals.create", terms).await["id"].clone();
        calls.push(json!({"id": id, "status": "accepted"}));
    }
    let answers = at_once(&desk, &agent, "deals.update", calls).await;
    let (won, lost): (Vec<&String>, Vec<&String>) =
        answers.iter().partition(|answer| answer.contains("\"status\":\"accepted\""));
    assert_eq!((won.len(), lost.len()), (1, 19), "{answers:?}");
    assert!(lost.iter().all(|answer| answer.contains("inventory.vehicle_unavailable")), "{lost:?}");
    let won: Value = serde_json::from_str(won[0]).unwrap();
    let held = agent.call("inventory.get", json!({"id": vehicle})).await;
    assert_eq!((&held["status"], &held["held_by"]["deal_id"]), (&json!("reserved"), &won["id"]));
}

#[tokio::test]
async fn two_hundred_bookings_of_three_places_book_exactly_three() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let free = agent.call("service.check_availability", json!({"service_codes": ["OIL"], "max_slots": 200})).await;
    // The last day has no bookings yet, so they also meet at making its row.
    let start = free["slots"].as_array().unwrap().last().unwrap()["start"].clone();
    let call = |turn: usize| {
        json!({"vehicle": {"make": "Honda", "model": "Civic"}, "start": start, "service_codes": ["OIL"],
            "idempotency_key": format!("k-{turn}")})
    };
    let mut waiting: Vec<Value> = (0..200).map(call).collect();
    let (mut booked, mut waitlisted) = (BTreeSet::new(), BTreeSet::new());
    // Who is told to come again does so, and a key makes that safe.
    while !waiting.is_empty() {
        let answers = at_once(&desk, &agent, "service.book_appointment", waiting.clone()).await;
        let mut again = Vec::new();
        for (answer, call) in answers.iter().zip(&waiting) {
            let answer: Value = serde_json::from_str(answer).unwrap();
            let id = answer["appointment_id"].as_str().unwrap_or_default().to_owned();
            match answer["status"].as_str() {
                Some("booked") => assert!(booked.insert(id)),
                Some("waitlisted") => assert!(waitlisted.insert(id)),
                _ => {
                    assert_eq!(answer["error"]["details"]["retryable"], json!(true), "{answer}");
                    again.push(call.clone());
                }
            }
        }
        assert!(again.len() < waiting.len(), "nobody got through: {answers:?}");
        waiting = again;
    }
    assert_eq!((booked.len(), waitlisted.len()), (3, 197));
    let now = json!({"service_codes": ["OIL"], "from": start, "max_slots": 1, "include_full": true});
    let slot = agent.call("service.check_availability", now).await["slots"][0].clone();
    assert_eq!((&slot["status"], &slot["places_left"]), (&json!("full"), &json!(0)));

    // Each cancellation lets exactly one move up, also when they come at once.
    let cancel = booked.iter().map(|id| json!({"id": id})).collect();
    let answers = at_once(&desk, &agent, "service.cancel_appointment", cancel).await;
    assert!(answers.iter().all(|answer| answer.contains("\"status\":\"cancelled\"")), "{answers:?}");
    let listed =
        agent.all("service.list_appointments", json!({"start_min": start, "start_max": start, "limit": 100})).await;
    let count = |status: &str| listed.iter().filter(|one| one["status"] == status).count();
    assert_eq!((count("booked"), count("waitlisted"), count("cancelled")), (3, 194, 3));
}
