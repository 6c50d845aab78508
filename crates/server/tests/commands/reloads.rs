//! SIGHUP: a good configuration is in effect whole, a bad one changes nothing, and the log says which.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;

use frontdesk::app::RESTART_KEYS;
use frontdesk::config::KEYS;
use serde_json::{Value, json};

use crate::certificates::address;
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpConnection, HttpResponse, trusting};
use frontdesk_testkit::app::process::{CommandProcess, run_frontdesk};

/// A served configuration file.
struct Served {
    folder: TestFolder,
    desk: CommandProcess,
    address: SocketAddr,
    client: (String, String),
}

impl Served {
    fn open(more: &str) -> Served {
        let folder = TestFolder::new();
        write(&folder, more);
        let added = run_frontdesk(
            folder.path(),
            &[
                "client",
                "add",
                "--name",
                "a",
                "--tenant",
                "dlr_a",
                "--new-tenant",
                "--scope",
                "amcp:inventory:read",
                "--json",
                "--data",
                "data",
            ],
        );
        let added: Value = serde_json::from_str(&added.out).unwrap();
        let text = |place: &str| added.pointer(place).and_then(Value::as_str).unwrap().to_owned();
        let client = (text("/id"), text("/secret"));
        let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
        let address = address(&mut desk);
        Served { folder, desk, address, client }
    }

    fn http(&self) -> HttpClient {
        HttpClient::new(self.address, &self.folder.join("data/tls/ca.pem"))
    }

    /// Changes the file, asks for a reload, and waits until the log says this.
    fn reload(&mut self, more: &str, awaited: &str) -> String {
        write(&self.folder, more);
        self.desk.reload(awaited)
    }

    async fn token(&self) -> HttpResponse {
        let (id, secret) = &self.client;
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.http().request("POST", "/token", &headers, form).await
    }

    async fn addressed_to(&self, host: &str) -> u16 {
        self.http().request("GET", "/", &[("host", host)], "").await.status
    }
}

fn write(folder: &TestFolder, more: &str) {
    let text = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:0\"\n{more}\n[operator]\nlisten = \"127.0.0.1:0\"\n\
         [[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n"
    );
    fs::write(folder.join("desk.toml"), text).unwrap();
}

#[test]
fn every_key_that_needs_a_restart_is_a_key() {
    for name in RESTART_KEYS {
        assert!(KEYS.iter().any(|key| key.path == name), "{name}");
    }
}

#[tokio::test]
async fn limits_hosts_and_lifetimes_change_by_a_reload() {
    let mut served = Served::open("");
    assert_eq!(served.token().await.json()["expires_in"], json!(300));
    assert_eq!(served.addressed_to("desk.example.com").await, 403);

    let more = "allowed_hosts = [\"localhost\", \"desk.example.com\"]\n[token]\nlifetime_seconds = 60\n";
    served.reload(more, "configuration reloaded\",\"changed\":\"allowed_hosts, token.lifetime_seconds\"");
    assert_eq!(served.token().await.json()["expires_in"], json!(60));
    assert_eq!(served.addressed_to("desk.example.com").await, 200);

    served.reload(more, "configuration reloaded: no keys changed");
    assert_eq!(served.desk.stop().code, Some(0));
}

#[tokio::test]
async fn an_invalid_configuration_reports_all_and_changes_none() {
    let mut served = Served::open("[token]\nlifetime_seconds = 60\n");
    let more = "allowed_hosts = [\"desk.example.com\"]\n[token]\nlifetime_secs = 90\n[limits]\nburst = 0\n";
    let log = served.reload(more, "configuration not reloaded; the current one stays in effect\",\"error\":");
    assert!(log.contains("token.lifetime_seconds") && log.contains("limits.burst"), "{log}");
    assert_eq!(served.addressed_to("desk.example.com").await, 403);
    assert_eq!(served.token().await.json()["expires_in"], json!(60));

    // A certificate that cannot be read is found after the rest was good; still nothing is swapped.
    let more =
        "allowed_hosts = [\"desk.example.com\", \"localhost\"]\n[tls]\ncertificate = \"no.pem\"\nkey = \"no.key\"\n";
    served.reload(more, "no.key");
    assert_eq!(served.addressed_to("desk.example.com").await, 403);

    served
        .reload("[token]\nlifetime_seconds = 90\n", "configuration reloaded\",\"changed\":\"token.lifetime_seconds\"");
    assert_eq!(served.token().await.json()["expires_in"], json!(90));
}

#[tokio::test]
async fn settings_that_need_a_restart_are_reported() {
    let mut served = Served::open("");
    let more = "[limits]\nconnections = 100\nconnections_per_address = 50\n[token]\nlifetime_seconds = 60\n[log]\nformat = \"pretty\"\n";
    let log = served
        .reload(more, "restart required\",\"keys\":\"limits.connections, limits.connections_per_address, log.format\"");
    assert!(log.contains("configuration reloaded\",\"changed\":\"token.lifetime_seconds\""), "{log}");
    assert_eq!(served.token().await.json()["expires_in"], json!(60));
}

#[tokio::test]
async fn derived_values_of_a_pending_restart_are_not_reported() {
    let mut served = Served::open("");
    let file = served.folder.join("desk.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("listen = \"127.0.0.1:0\"", "listen = \"127.0.0.1:9\"", 1)).unwrap();
    let log = served.desk.reload("restart required\",\"keys\":\"listen\"");
    assert!(log.contains("configuration reloaded: no keys changed\""), "{log}");
    assert_eq!(served.addressed_to("localhost").await, 200);

    served.reload(
        "public_url = \"https://desk.example.com\"",
        "\"changed\":\"public_url, allowed_hosts, allowed_origins\"",
    );
}

#[tokio::test]
async fn a_reload_gives_nobody_a_fresh_budget() {
    let mut served = Served::open("[limits]\ntoken_requests_per_minute = 2\n");
    for status in [200, 200, 429] {
        assert_eq!(served.token().await.status, status);
    }
    served.reload("[limits]\ntoken_requests_per_minute = 2\nburst = 7\n", "\"changed\":\"limits.burst\"");
    assert_eq!(served.token().await.status, 429);
}

#[tokio::test]
async fn a_call_that_runs_during_a_reload_is_answered() {
    let mut served = Served::open("");
    let token = served.token().await.json()["access_token"].as_str().unwrap().to_owned();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let (first, rest) = body.split_at(body.len() / 2);
    let trust = Arc::new(trusting(&served.folder.join("data/tls/ca.pem"), rustls::ALL_VERSIONS));
    let mut running = HttpConnection::open(served.address, trust, "localhost").await.unwrap();
    let head = format!(
        "POST /mcp/automotive HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    running.send(head.as_bytes()).await.unwrap();
    running.receive_continue().await;
    running.send(first.as_bytes()).await.unwrap();
    served.reload("allowed_hosts = [\"desk.example.com\"]\n", "\"changed\":\"allowed_hosts\"");
    running.send(rest.as_bytes()).await.unwrap();
    assert_eq!(running.receive().await.unwrap().status, 200);
    assert_eq!(served.addressed_to("localhost").await, 403);
}
