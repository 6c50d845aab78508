//! What was answered has happened: orders and their keys across restarts and crashes.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::{PATH, TestApp};

use super::requests::{UNHURRIED, count, ids, keyed, structured, text};

#[tokio::test]
async fn a_key_answers_the_same_bytes_after_restart_and_crash() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    let leads = count(&mut agent, "leads.list").await;
    let first = text(&mut agent, "leads.create", keyed("Dana Rivera", "k-1")).await;
    desk = desk.crash_and_restart();
    let mut agent = desk.agent().await;
    assert_eq!(text(&mut agent, "leads.create", keyed("Dana Rivera", "k-1")).await, first);
    desk = desk.restart();
    let mut agent = desk.agent().await;
    assert_eq!(text(&mut agent, "leads.create", keyed("Dana Rivera", "k-1")).await, first);
    assert_eq!(agent.code("leads.create", keyed("Lee Chen", "k-1")).await, "request.idempotency_conflict");
    assert_eq!(count(&mut agent, "leads.list").await, leads + 1);
    let id: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(text(&mut agent, "leads.get", json!({"id": id["id"]})).await, first);
}

/// Several callers create leads until the desk is killed under them; then each repeats all its orders.
#[tokio::test]
async fn a_crash_loses_no_answer_and_repeats_no_order() {
    const CALLERS: usize = 8;
    let mut desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let before = count(&mut agent, "leads.list").await;
    let answered: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let mut client = HttpClient::new(desk.address, &desk.ca_file());
            let bearer = format!("Bearer {}", agent.token);
            let (answered, sent) = (Arc::clone(&answered), Arc::clone(&sent));
            tokio::spawn(async move {
                for turn in 0.. {
                    let key = format!("caller-{caller}-turn-{turn}");
                    let call = json!({"name": "leads.create", "arguments": keyed("Dana Rivera", &key)});
                    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
                    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
                    sent.lock().unwrap().push(key.clone());
                    match client.try_request("POST", PATH, &headers, body).await {
                        Ok(response) => answered.lock().unwrap().push((key, structured(response.text()))),
                        Err(_) => return,
                    }
                }
            })
        })
        .collect();
    while answered.lock().unwrap().len() < 60 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    desk = desk.crash_and_restart();
    for caller in callers {
        caller.await.unwrap();
    }
    let (answered, sent) = (answered.lock().unwrap().clone(), sent.lock().unwrap().clone());
    let mut agent = desk.agent().await;
    let survived = count(&mut agent, "leads.list").await - before;
    assert!((answered.len()..=sent.len()).contains(&survived), "{} {survived} {}", answered.len(), sent.len());

    // Every answer given before is given again, byte for byte.
    for (key, answer) in &answered {
        assert_eq!(&text(&mut agent, "leads.create", keyed("Dana Rivera", key)).await, answer, "{key}");
    }
    // And every order that was cut off happens now, if it did not happen then.
    for key in &sent {
        agent.call("leads.create", keyed("Dana Rivera", key)).await;
    }
    let leads = ids(&agent.all("leads.list", json!({"limit": 100})).await);
    assert_eq!(leads.len(), before + sent.len());
    let (code, out, errors) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out}{errors}");
}
