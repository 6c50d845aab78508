//! The metrics page: what is counted, in the words Prometheus reads, and what is never named.

use std::time::{Duration, Instant};

use serde_json::json;

use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use frontdesk_testkit::app::{DemoTenant, TestApp};

async fn metrics(desk: &TestApp) -> HttpResponse {
    let operator = desk.banner["operator_endpoint"].as_str().unwrap().strip_prefix("https://").unwrap();
    HttpClient::new(operator.parse().unwrap(), &desk.ca_file()).get("/metrics").await
}

/// The page, once all these numbers are on it: what is written in groups or counted once a second comes a moment later.
async fn soon(desk: &TestApp, wanted: &[(&str, f64)]) -> HttpResponse {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let page = metrics(desk).await;
        let Some((series, wanted)) = wanted.iter().find(|(series, wanted)| value(page.text(), series) != Some(*wanted))
        else {
            return page;
        };
        assert!(Instant::now() < deadline, "never {wanted}: {series}\n{}", page.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn value(page: &str, series: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

#[tokio::test]
async fn calls_are_counted_by_contract_tool_and_outcome() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for _ in 0..3 {
        agent.call("inventory.search", json!({"limit": 1})).await;
    }
    agent.code("inventory.get", json!({"id": "veh_none"})).await;
    agent.result("ping", json!({})).await;
    agent.send("made/up", json!({})).await;

    let page = metrics(&desk).await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/plain; version=0.0.4; charset=utf-8")));
    let page = page.text();
    for (series, wanted) in [
        (r#"frontdesk_calls_total{contract="automotive",tool="inventory.search",outcome="ok"}"#, 3.0),
        (r#"frontdesk_calls_total{contract="automotive",tool="inventory.get",outcome="not_found"}"#, 1.0),
        (r#"frontdesk_calls_total{contract="automotive",tool="ping",outcome="ok"}"#, 1.0),
        (r#"frontdesk_calls_total{contract="automotive",tool="unknown",outcome="unknown_method"}"#, 1.0),
        (r#"frontdesk_calls_total{contract="identity",tool="token",outcome="ok"}"#, 1.0),
        (r#"frontdesk_call_seconds_bucket{contract="automotive",tool="inventory.search",le="30"}"#, 3.0),
        (r#"frontdesk_call_seconds_bucket{contract="automotive",tool="inventory.search",le="+Inf"}"#, 3.0),
        (r#"frontdesk_call_seconds_count{contract="automotive",tool="inventory.search"}"#, 3.0),
        (concat!("frontdesk_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}"), 1.0),
    ] {
        assert_eq!(value(page, series), Some(wanted), "{series}\n{page}");
    }
    let sum = value(page, r#"frontdesk_call_seconds_sum{contract="automotive",tool="inventory.search"}"#).unwrap();
    assert!(sum > 0.0 && sum < 30.0, "{sum}");
}

#[tokio::test]
async fn every_metric_line_is_valid_and_every_series_has_help() {
    let desk = TestApp::start();
    desk.agent().await.call("inventory.search", json!({})).await;
    let page = metrics(&desk).await;
    let mut explained: Vec<&str> = Vec::new();
    for line in page.text().lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            explained.push(rest.split(' ').next().unwrap());
        } else if !line.starts_with("# HELP ") {
            let (series, number) = line.rsplit_once(' ').unwrap();
            assert!(number.parse::<f64>().is_ok(), "{line}");
            let name = series.split('{').next().unwrap();
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|ending| name.strip_suffix(ending));
            assert!(explained.contains(&name) || explained.contains(&family.unwrap_or("")), "{line}");
        }
    }
    assert!(explained.len() > 10, "{explained:?}");
}

#[tokio::test]
async fn the_writer_shows_its_groups_and_its_queue() {
    let desk = TestApp::start();
    let before = metrics(&desk).await;
    let pieces = |page: &HttpResponse| value(page.text(), "frontdesk_commit_group_sum").unwrap();
    let mut agent = desk.agent().await;
    for number in 0..5 {
        let contact = json!({"name": "Dana Rivera", "email": format!("dana{number}@example.com")});
        let order = json!({"contact": contact, "interest": "buy", "consent": {"granted": true, "channels": ["email"]}});
        agent.call("leads.create", order).await;
    }
    let after = soon(&desk, &[("frontdesk_writer_queue", 0.0)]).await;
    // Five leads and one token.
    assert!(pieces(&after) >= pieces(&before) + 6.0, "{}", after.text());
    let page = after.text();
    assert_eq!(value(page, "frontdesk_commits_failed_total"), Some(0.0));
    let (most, all) = (
        value(page, r#"frontdesk_commit_group_bucket{le="256"}"#),
        value(page, r#"frontdesk_commit_group_bucket{le="+Inf"}"#),
    );
    assert!(most == all && most >= Some(6.0), "{page}");
}

#[tokio::test]
async fn what_waits_for_a_disk_that_is_held_is_seen_waiting() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The writer takes the first and waits for the disk with it; some that come later stay in the queue.
    let mut orders = Vec::new();
    let mut seen = 0.0;
    while seen == 0.0 && orders.len() < 40 {
        let number = orders.len();
        let mut http = desk.stranger();
        let (token, dealership) = (agent.token.clone(), agent.dealership.clone());
        orders.push(tokio::spawn(async move {
            let arguments = json!({"contact": {"name": "Dana Rivera", "email": "dana@example.com"}, "interest": "buy",
                "consent": {"granted": true, "channels": ["email"]}, "dealership_id": dealership,
                "idempotency_key": format!("held-{number}")});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "leads.create", "arguments": arguments}});
            let bearer = format!("Bearer {token}");
            let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
            http.request("POST", frontdesk_testkit::app::PATH, &headers, body.to_string()).await.status
        }));
        tokio::time::sleep(Duration::from_millis(50)).await;
        seen = value(metrics(&desk).await.text(), "frontdesk_writer_queue").unwrap();
    }
    database.execute_batch("ROLLBACK").unwrap();
    assert!(seen > 0.0, "nothing was seen waiting");
    for order in orders {
        assert_eq!(order.await.unwrap(), 200);
    }
    agent.call("inventory.search", json!({})).await;
    soon(&desk, &[("frontdesk_writer_queue", 0.0)]).await;
}

#[tokio::test]
async fn connections_strangers_and_the_limit_are_counted() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_CONNECTIONS_PER_ADDRESS", "2")]);
    let mut kept = [desk.stranger(), desk.stranger()];
    for client in &mut kept {
        client.get("/").await;
    }
    assert!(desk.stranger().try_request("GET", "/", &[], "").await.is_err());
    kept[0].request("POST", frontdesk_testkit::app::PATH, &[("content-type", "application/json")], "{}").await;
    let wanted = [
        // A stranger's body is not read, so the connection it came on ends.
        (r#"frontdesk_connections_open{listener="public"}"#, 1.0),
        (r#"frontdesk_connections_open{listener="operator"}"#, 1.0),
        (r#"frontdesk_connections_accepted_total{listener="public"}"#, 2.0),
        (r#"frontdesk_connections_refused_total{listener="public",reason="address"}"#, 1.0),
        (r#"frontdesk_connections_refused_total{listener="public",reason="full"}"#, 0.0),
        (r#"frontdesk_refusals_total{whose="stranger",outcome="unauthenticated"}"#, 1.0),
    ];
    soon(&desk, &wanted).await;
}

/// L5 of our list of attacks: whoever may read the page learns of no business, client or person.
#[tokio::test]
async fn metrics_have_no_tenant_client_address_or_input() {
    let desk = TestApp::start();
    let (client, secret, dealership) = desk.credentials(DemoTenant::Lakeside);
    let mut agent = desk.weak_agent().await;
    agent.call("inventory.search", json!({"text": "canary-text", "dealership_id": dealership})).await;
    agent.send("canary/method", json!({"canary": "canary-value"})).await;
    let page = metrics(&desk).await;
    for word in [client.as_str(), &secret, &dealership, "dlr_", "Lakeside", "127.0.0.1", "canary", &agent.token] {
        assert!(!page.text().contains(word), "{word}\n{}", page.text());
    }
}
