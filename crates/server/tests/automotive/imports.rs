//! Imports that are pushed over HTTP: feeds and ADF messages at their routes, and what is polled.

use std::time::Duration;

use frontdesk_contracts::automotive::sample_feed;
use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{READ_STOCK, TestAgent, TestApp};
use serde_json::{Value, json};
use tokio::time::sleep;

fn feed(rows: u32) -> String {
    let text: String = (0..rows).map(sample_feed::row).collect();
    format!("{}{text}", sample_feed::HEADER)
}

async fn post(agent: &mut TestAgent, path: &str, media_type: &str, body: &str) -> HttpResponse {
    let bearer = format!("Bearer {}", agent.token);
    let headers = [("authorization", bearer.as_str()), ("content-type", media_type)];
    agent.http.request("POST", path, &headers, body).await
}

/// Polls until the import has ended.
async fn ended(agent: &mut TestAgent, path: &str) -> Value {
    let bearer = format!("Bearer {}", agent.token);
    for _ in 0..600 {
        let answer = agent.http.request("GET", path, &[("authorization", &bearer)], "").await.json();
        if !["queued", "checking", "applying"].contains(&answer["status"].as_str().unwrap()) {
            return answer;
        }
        sleep(Duration::from_millis(100)).await;
    }
    panic!("the import does not end");
}

#[tokio::test]
async fn a_feed_that_is_pushed_is_accepted_and_can_be_polled() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let accepted = post(&mut agent, "/v1/imports/vehicles", "text/csv", &feed(600)).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let location = accepted.header("location").unwrap().to_owned();
    let id = accepted.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(location, format!("/v1/imports/{id}"));
    let done = ended(&mut agent, &location).await;
    assert_eq!(
        (&done["status"], &done["rows"], &done["created"]),
        (&json!("completed"), &json!(600), &json!(600)),
        "{done}"
    );
    let found = agent.call("inventory.search", json!({"text": "F000599"})).await;
    assert_eq!(found["items"][0]["stock_number"], "F000599");
}

#[tokio::test]
async fn an_accepted_import_survives_a_crash() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    let count = json!({"text": "Inspected", "x_frontdesk_total": true});
    let before = agent.call("inventory.search", count.clone()).await["x_frontdesk_total"].as_i64().unwrap();
    let accepted = post(&mut agent, "/v1/imports/vehicles", "text/csv", &feed(3_000)).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let location = accepted.header("location").unwrap().to_owned();
    // Once before or while it is checked, and once when rows have been applied, unless it has ended by then.
    desk = desk.crash_and_restart();
    let mut agent = desk.agent().await;
    let bearer = format!("Bearer {}", agent.token);
    for _ in 0..6_000 {
        let now = agent.http.request("GET", &location, &[("authorization", &bearer)], "").await.json();
        if now["created"].as_i64() > Some(0) {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    desk = desk.crash_and_restart();
    let mut agent = desk.agent().await;
    let done = ended(&mut agent, &location).await;
    assert_eq!((&done["status"], &done["rejected"]), (&json!("completed"), &json!(0)), "{done}");
    let all = agent.call("inventory.search", count).await;
    assert_eq!(all["x_frontdesk_total"], before + 3_000);
}

#[tokio::test]
async fn a_pushed_feed_is_bounded_and_needs_its_scope() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_IMPORT_BYTES", "2097152")]);
    let mut agent = desk.agent().await;
    let too_large = post(&mut agent, "/v1/imports/vehicles", "text/csv", &"x".repeat(2_097_153)).await;
    assert_eq!(too_large.status, 413);
    // Larger than an ordinary body may be.
    let mut agent = desk.agent().await;
    let large = format!("{}{}", feed(1), "\n".repeat(1_500_000));
    assert_eq!(post(&mut agent, "/v1/imports/vehicles", "text/csv", &large).await.status, 202);
    assert_eq!(post(&mut agent, "/v1/imports/vehicles", "application/zip", "PK").await.status, 415);
    assert_eq!(post(&mut agent, "/v1/imports/boats", "text/csv", "a,b").await.status, 400);
    let mut reader = desk.agent_with(READ_STOCK).await;
    assert_eq!(post(&mut reader, "/v1/imports/vehicles", "text/csv", &feed(1)).await.status, 403);
    let wrong = post(&mut agent, "/v1/imports/vehicles", "text/csv", "one,two\n1,2\n").await;
    let done = ended(&mut agent, wrong.header("location").unwrap()).await;
    assert_eq!(done["status"], "rejected");
    assert!(done["reason"].as_str().unwrap().contains("one"), "{done}");
}

fn message(more: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><adf><prospect><id source=\"portal\">9</id><vehicle><year>2024</year>\
         <make>Ford</make><model>Bronco</model></vehicle><customer><contact><name part=\"full\">Zo\u{eb} Doe</name>\
         <email>zoe@example.com</email></contact></customer></prospect>{more}</adf>"
    )
}

#[tokio::test]
async fn an_adf_message_is_answered_with_what_became_of_it() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let refused = post(&mut agent, "/v1/adf", "application/xml", &message("")).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (422, &json!("consent.required")));
    let path = "/v1/adf?consent_channels=email";
    // As ISO-8859-1, as its declaration says.
    let latin: Vec<u8> = message("").chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let bearer = format!("Bearer {}", agent.token);
    let headers = [("authorization", bearer.as_str()), ("content-type", "text/xml")];
    let taken = agent.http.request("POST", path, &headers, latin.clone()).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    let prospect = &taken.json()["prospects"][0];
    assert_eq!(prospect["status"], "created");
    let lead = agent.call("leads.get", json!({"id": prospect["lead_id"]})).await;
    assert_eq!(
        (&lead["contact"]["name"], &lead["source"]["channel"]),
        (&json!("Zo\u{eb} Doe"), &lead["source"]["channel"])
    );
    // Sent again, it is the same lead.
    let again = agent.http.request("POST", path, &headers, latin).await.json();
    assert_eq!(again["prospects"][0]["lead_id"], prospect["lead_id"]);
    let bomb = "<!DOCTYPE adf [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><adf><prospect>&b;</prospect></adf>";
    let refused = post(&mut agent, path, "application/xml", bomb).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("declares entities"), "{}", refused.text());
}
