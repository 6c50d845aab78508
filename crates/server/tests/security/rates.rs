//! Rates: one budget for one client however it comes, and waiting as long as told is enough.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::requests::{a_lead, pings};
use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{DemoTenant, READ_STOCK, TestAgent, TestApp};

/// One call every ten seconds, two at once.
const SLOW: [(&str, &str); 2] = [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "6"), ("FRONTDESK_LIMITS_BURST", "2")];

async fn look(agent: &mut TestAgent) -> HttpResponse {
    agent.send("tools/call", json!({"name": "inventory.list", "arguments": {"limit": 1}})).await
}

fn limited(seconds: u64) -> Value {
    json!({"error": {
        "code": "rate_limited",
        "message": "Too many calls; wait before the next one.",
        "details": {"retryable": true, "retry_after": seconds},
        "retry_after": seconds
    }})
}

/// How long it is told to wait, here and there the same.
fn told(response: &HttpResponse) -> u64 {
    let seconds = response.header("retry-after").unwrap_or_else(|| panic!("{}", response.text())).parse().unwrap();
    let result = &response.json()["result"];
    assert_eq!((response.status, &result["structuredContent"]), (200, &limited(seconds)));
    assert_eq!(result["isError"], json!(true));
    seconds
}

fn is_served(response: &HttpResponse) {
    assert_eq!(response.json()["result"]["isError"], json!(false), "{}", response.text());
    assert_eq!(response.header("retry-after"), None);
}

#[tokio::test]
async fn a6_20_a6_21_who_waits_exactly_as_long_as_told_gets_in() {
    let desk = TestApp::start_with(&SLOW);
    let mut agent = desk.weak_agent().await;
    let mut other = desk.agent_of(DemoTenant::Summit, READ_STOCK).await;
    // What is refused for its scope costs nothing of this budget; refusals have one of their own.
    for status in [403, 403, 200, 200] {
        let response = agent.send("tools/call", json!({"name": "leads.create", "arguments": a_lead()})).await;
        assert_eq!(response.status, status, "{}", response.text());
    }
    is_served(&look(&mut agent).await);
    is_served(&look(&mut agent).await);
    let mut wait = told(&look(&mut agent).await);
    assert!((1..=10).contains(&wait), "{wait}");
    // Asking again does not make it worse, and the answer counts down.
    for _ in 0..10 {
        let again = told(&look(&mut agent).await);
        assert!(again <= wait, "{again} after {wait}");
        wait = again;
    }
    is_served(&look(&mut other).await);
    sleep(Duration::from_secs(1)).await;
    let later = told(&look(&mut agent).await);
    assert!(later < wait, "{later} after {wait}");
    sleep(Duration::from_secs(later)).await;
    is_served(&look(&mut agent).await);
    told(&look(&mut agent).await);
}

#[tokio::test]
async fn a6_20_tokens_routes_and_forged_addresses_share_one_budget() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "1"), ("FRONTDESK_LIMITS_BURST", "2")]);
    let mut agent = desk.agent().await;
    let mut again = desk.weak_agent().await;
    is_served(&look(&mut agent).await);
    is_served(&look(&mut again).await);
    let over = |response: HttpResponse| {
        let answer = response.json();
        let seconds = answer.pointer("/error/data/error/retry_after").and_then(Value::as_u64).unwrap_or_default();
        assert_eq!((response.status, answer["error"]["code"].clone()), (200, json!(4290)), "{answer}");
        assert_eq!(answer["error"]["data"], limited(seconds));
        assert_eq!(response.header("retry-after"), Some(seconds.to_string().as_str()));
        assert!((50..=60).contains(&seconds), "{seconds}");
    };
    let uri = format!("amcp://{}/inventory", agent.dealership);
    over(again.send("resources/read", json!({"uri": uri})).await);
    over(again.send("resources/list", json!({})).await);
    over(again.send("tools/list", json!({})).await);
    over(agent.send("ping", json!({})).await);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inventory.list"}}"#;
    for header in [("x-forwarded-for", "203.0.113.9"), ("x-real-ip", "203.0.113.9"), ("forwarded", "for=203.0.113.9")] {
        let answer = agent.post(call, &[header]).await.json();
        assert_eq!(answer["result"]["structuredContent"]["error"]["code"], json!("rate_limited"), "{header:?}");
    }
    let batch = agent.post(&format!("[{call},{}]", call.replace("\"id\":1", "\"id\":2")), &[]).await.json();
    for answer in batch.as_array().unwrap() {
        assert_eq!(answer["result"]["structuredContent"]["error"]["code"], json!("rate_limited"));
    }
    let mut fresh = desk.weak_agent().await;
    over(fresh.send("tools/list", json!({})).await);
    assert_eq!(pings(&mut desk.agent_of(DemoTenant::Summit, READ_STOCK).await).await, 200);
}

#[tokio::test]
async fn a6_21_the_token_endpoint_says_how_long_to_wait_and_means_it() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_TOKEN_REQUESTS_PER_MINUTE", "30")]);
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    for _ in 0..40 {
        assert_eq!(desk.request_token(&id, "wrong", READ_STOCK).await.status, 401);
    }
    // Somebody who does not know the secret cannot use up the client's requests.
    for _ in 0..30 {
        desk.token(&id, &secret, READ_STOCK).await;
    }
    let mut response = desk.request_token(&id, &secret, READ_STOCK).await;
    for _ in 0..100 {
        if response.status == 200 {
            response = desk.request_token(&id, &secret, READ_STOCK).await;
        }
    }
    assert_eq!((response.status, response.json()["error"].clone()), (429, json!("temporarily_unavailable")));
    let seconds: u64 = response.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&seconds), "{seconds}");
    let (other, its, _) = desk.credentials(DemoTenant::Summit);
    desk.token(&other, &its, READ_STOCK).await;
    sleep(Duration::from_secs(seconds)).await;
    desk.token(&id, &secret, READ_STOCK).await;
}
