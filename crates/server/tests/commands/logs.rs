//! The log goes to standard error, and a desk must not depend on anybody reading it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::CommandProcess;
use frontdesk_testkit::app::{DemoTenant, TestApp};

const UNLIMITED: [(&str, &str); 2] =
    [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"), ("FRONTDESK_LIMITS_BURST", "1000000")];

/// More lines than a pipe and the desk's own queue can hold together.
const MANY: usize = 6_500;

async fn ping(desk: &TestApp, times: usize) {
    let mut agent = desk.agent().await;
    for number in 0..times {
        assert_eq!(agent.send("ping", json!({})).await.status, 200, "ping {number}");
    }
}

#[tokio::test]
async fn a_desk_with_an_unread_log_serves_and_stops() {
    let mut desk = TestApp::start_unread(&UNLIMITED);
    ping(&desk, MANY).await;
    let asked = Instant::now();
    assert_eq!(desk.stop(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(20), "it took {:?}", asked.elapsed());
}

#[tokio::test]
async fn lines_that_found_no_room_are_counted_and_the_rest_is_whole() {
    let mut desk = TestApp::start_unread(&UNLIMITED);
    ping(&desk, MANY).await;
    desk.read_log();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !desk.log().contains("log lines lost") {
        assert!(Instant::now() < deadline, "nothing is said of lost lines");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    ping(&desk, 1).await;
    assert_eq!(desk.stop(), Some(0));
    let log = desk.log();
    let lost: usize = log
        .lines()
        .filter_map(|line| line.split_once(r#""message":"log lines lost","count":"#)?.1.strip_suffix('}'))
        .map(|count| count.parse::<usize>().unwrap())
        .sum();
    let pings = log.lines().filter(|line| line.contains(r#""method":"ping""#)).count();
    // The two requests for a token may be among the lost ones or not.
    let all = pings + lost;
    assert!(lost > 0 && (MANY + 1..=MANY + 3).contains(&all), "{pings} pings and {lost} lost");
}

/// The lines about calls, once there are so many.
async fn calls(desk: &TestApp, wanted: usize) -> Vec<Value> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let log = desk.log();
        // The last line may have come by half.
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        let lines = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let calls: Vec<Value> = lines.filter(|line| line["message"] == "call").collect();
        if calls.len() >= wanted {
            return calls;
        }
        assert!(Instant::now() < deadline, "{log}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_log_line_has_time_trace_status_code_and_duration() {
    let desk = TestApp::start();
    let mut agent = desk.weak_agent().await;
    agent.call("inventory.search", json!({"limit": 1})).await;
    agent.code("inventory.get", json!({"id": "veh_none"})).await;
    agent.code("inventory.get", json!({"id": 7})).await;
    assert_eq!(agent.send("tools/call", json!({"name": "leads.list", "arguments": {}})).await.status, 403);
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    assert_eq!(desk.request_token(&id, &secret, "amcp:all:write").await.status, 400);
    let lines = calls(&desk, 6).await;
    let told: Vec<String> =
        lines.iter().map(|line| format!("{} {} {}", line["outcome"], line["status"], line["code"])).collect();
    assert_eq!(
        told,
        [
            r#""ok" 200 null"#,
            r#""ok" 200 null"#,
            r#""not_found" 200 "inventory.not_found""#,
            r#""invalid_argument" 200 "request.invalid""#,
            r#""forbidden" 403 "auth.insufficient_scope""#,
            r#""invalid_scope" 400 "invalid_scope""#,
        ]
    );
    for line in &lines {
        assert!(line["at"].as_str().unwrap().ends_with('Z') && line["micros"].is_u64(), "{line}");
        assert_eq!(line["trace"].as_str().unwrap().len(), 32, "{line}");
    }
}

#[tokio::test]
async fn on_a_terminal_a_call_is_one_readable_line() {
    let mut desk = TestApp::start_with(&[("FRONTDESK_LOG_FORMAT", "pretty")]);
    let mut agent = desk.weak_agent().await;
    let parent = [("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")];
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inventory.get","arguments":{"id":"veh_none"}}}"#;
    agent.post(body, &parent).await;
    assert_eq!(desk.stop(), Some(0));
    let (client, _, dealership) = desk.credentials(DemoTenant::Lakeside);
    let log = desk.log();
    let line = log.lines().find(|line| line.contains("inventory.get")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(words[0].ends_with('Z') && words[6].parse::<f64>().is_ok(), "{line}");
    assert_eq!(&words[1..6], ["inventory.get", "200", "inventory.not_found", &client, &dealership], "{line}");
    assert_eq!(&words[7..], ["ms", "4bf92f3577b34da6a3ce929d0e0e4736"], "{line}");
}

#[tokio::test]
async fn what_is_not_about_a_call_has_its_time_too() {
    let json =
        r#""level":"warn","message":"calls refused","count":1,"address":"127.0.0.1","outcome":"unauthenticated"}"#;
    let pretty = "  warn   calls refused  count=1  address=127.0.0.1  outcome=unauthenticated";
    for (format, begins, ends) in [("json", "{\"at\":\"20", json), ("pretty", "20", pretty)] {
        let mut desk = TestApp::start_with(&[("FRONTDESK_LOG_FORMAT", format)]);
        desk.stranger().request("POST", frontdesk_testkit::app::PATH, &[], "{}").await;
        assert_eq!(desk.stop(), Some(0));
        let log = desk.log();
        let line = log.lines().find(|line| line.contains("calls refused")).unwrap();
        assert!(line.starts_with(begins) && line.ends_with(ends), "{line}");
    }
}

#[test]
fn start_and_stop_are_logged_with_version_data_mounts_and_addresses() {
    for (signal, reason) in [("TERM", "SIGTERM"), ("INT", "SIGINT")] {
        let folder = TestFolder::new();
        let environment = [("FRONTDESK_LISTEN", "127.0.0.1:0"), ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0")];
        let mut desk = CommandProcess::new(folder.path(), &["serve"], &environment);
        let address = desk.address();
        desk.signal(signal);
        let said = desk.end();
        assert_eq!(said.code, Some(0));
        let events: Vec<Value> = said.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let event = |message: &str| events.iter().find(|event| event["message"] == message).unwrap().clone();

        let started = event("serving");
        assert_eq!(started["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(started["url"], format!("https://localhost:{}", address.port()));
        assert_eq!(
            (&started["data"], &started["mounts"]),
            (&"frontdesk-data".into(), &"automotive at /mcp/automotive".into())
        );
        assert_eq!(started["listen"], address.to_string());
        assert!(started["operator"].as_str().unwrap().starts_with("127.0.0.1:"), "{started}");

        assert_eq!(event("shutting down")["reason"], reason);
        let stopped = event("stopped");
        assert_eq!(stopped["reason"], reason);
        assert!(stopped["millis"].is_u64(), "{stopped}");
    }
}
