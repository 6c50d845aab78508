//! What becomes visible when something breaks: nothing from the inside.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use serde_json::json;

use crate::requests::{a_lead, code, pings};
use frontdesk_testkit::app::{DemoTenant, TestApp};

#[tokio::test]
async fn a_broken_database_is_never_quoted() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    assert_eq!(pings(&mut agent).await, 200);
    let mut broken = 0;
    for entry in fs::read_dir(desk.data()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_file() && (name.ends_with(".db") || name.ends_with(".db-wal") || name.contains("sqlite")) {
            let length = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
            OpenOptions::new().write(true).open(&path).unwrap().write_all(&vec![0xa5; length]).unwrap();
            broken += 1;
        }
    }
    assert!(broken > 0);
    let mut failures = 0;
    for (tool, arguments) in [
        ("inventory.search", json!({"text": "toyota"})),
        ("inventory.search", json!({"sort": "price_asc", "limit": 100})),
        ("leads.list", json!({"limit": 100})),
        ("customers.list", json!({"limit": 100})),
        ("customers.get", json!({"id": "cus_1"})),
        ("leads.create", a_lead()),
        ("leads.update", json!({"id": "led_1", "comments": "x"})),
    ] {
        let response = agent.send("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let text = response.text().to_lowercase();
        for word in
            ["sqlite", "database", "malformed", "disk image", "select ", "insert ", "rusqlite", "panicked", ".rs:"]
        {
            assert!(!text.contains(word), "{tool}: {text}");
        }
        match code(&response.json()) {
            Some("internal.error" | "internal.unavailable" | "internal.outcome_unknown") => failures += 1,
            Some(other) => assert!(other.ends_with("not_found"), "{tool}: {other}"),
            None => {}
        }
    }
    assert!(failures > 0, "{}", desk.log());
    assert_eq!(desk.stranger().get("/").await.status, 200);
}

#[tokio::test]
async fn answers_tell_nothing_about_the_inside() {
    let desk = TestApp::start();
    let mut stranger = desk.stranger();
    for path in ["/", "/nothing", "/mcp/automotive", "/token", "/.well-known/oauth-authorization-server"] {
        let response = stranger.get(path).await;
        for name in ["server", "x-powered-by", "via", "set-cookie"] {
            assert_eq!(response.header(name), None, "{path}");
        }
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{path}");
        // With a development certificate it would bind every other port of this host.
        assert_eq!(response.header("strict-transport-security"), None, "{path}");
        let (_, secret, dealership) = desk.credentials(DemoTenant::Lakeside);
        assert!(!response.text().contains(&secret) && !response.text().contains(&dealership), "{path}");
    }
    // Lists differ by token, so no answer may be kept for another.
    let mut agent = desk.agent().await;
    for method in ["ping", "tools/list", "resources/list", "resources/templates/list", "nonsense"] {
        assert_eq!(agent.send(method, json!({})).await.header("cache-control"), Some("no-store"), "{method}");
    }
}
