//! What a browser and the operator of the machine see.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::http_client::HttpClient;

#[tokio::test]
async fn the_front_page_names_endpoint_tools_and_how_to_connect() {
    let desk = TestApp::start();
    let page = desk.stranger().get("/").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let endpoint = desk.banner["endpoint"].as_str().unwrap();
    for part in ["<!doctype html>", "<title>Frontdesk</title>", endpoint, "inventory.search", "How to connect"] {
        assert!(page.text().contains(part), "no {part}: {}", page.text());
    }
    // How to connect comes first, with what to paste for each client.
    let how = page.text().find("How to connect").unwrap();
    assert!(how < page.text().find("<section class=\"mount\">").unwrap());
    for client in frontdesk::connect::CLIENTS {
        assert!(page.text().contains(&format!("<summary>{} <small>", client.title)), "{}", client.title);
    }
    let paste =
        format!("export NODE_EXTRA_CA_CERTS=frontdesk-ca.pem\nclaude mcp add --transport http frontdesk {endpoint}\n");
    assert!(page.text().contains(&paste) && page.text().contains("scope=amcp:consent:read "), "{}", page.text());
    // It is public: no folder and no client of this installation.
    let (id, ..) = desk.credentials(frontdesk_testkit::app::DemoTenant::Lakeside);
    assert!(!page.text().contains(&id) && !page.text().contains(desk.data().to_str().unwrap()), "{}", page.text());
    let site = format!("-d resource={}</code>", desk.banner["site"]["endpoint"].as_str().unwrap());
    assert!(page.text().contains(&site) && page.text().contains("evo.content.search"), "{}", page.text());
    let (_, secret, _) = desk.credentials(frontdesk_testkit::app::DemoTenant::Lakeside);
    assert!(!page.text().contains(&secret));
    for place in ["{endpoint}", "{mounts}", "{clients}", "{style}", "{ca", "{search}", "{name}", "{url}"] {
        assert!(!page.text().contains(place), "{place}: {}", page.text());
    }

    let head = desk.stranger().request("HEAD", "/", &[], "").await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    let posted = desk.stranger().request("POST", "/", &[], "").await;
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")));
}

/// Whoever sends calls here must know that they cannot be answered.
#[tokio::test]
async fn a_desk_that_cannot_write_is_alive_but_not_ready() {
    let desk = TestApp::start();
    let operator = desk.banner["operator_endpoint"].as_str().unwrap().strip_prefix("https://").unwrap();
    let mut client = HttpClient::new(operator.parse().unwrap(), &desk.ca_file());
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let asked = Instant::now();
    let answer = client.get("/readyz").await;
    assert_eq!((answer.status, answer.text()), (503, "the database cannot be written\n"));
    assert!(asked.elapsed() < Duration::from_secs(30), "it took {:?}", asked.elapsed());
    assert_eq!(client.get("/healthz").await.status, 200);

    database.execute_batch("ROLLBACK").unwrap();
    let answer = client.get("/readyz").await;
    assert_eq!((answer.status, answer.text()), (200, "ready\n"));
}

#[tokio::test]
async fn health_is_served_to_the_operator_only() {
    let desk = TestApp::start();
    let operator: SocketAddr =
        desk.banner["operator_endpoint"].as_str().unwrap().strip_prefix("https://").unwrap().parse().unwrap();
    assert!(operator.ip().is_loopback());
    let mut client = HttpClient::new(operator, &desk.ca_file());
    for (path, status, text) in [
        ("/healthz", 200, "ok\n"),
        ("/healthz/", 200, "ok\n"),
        ("/readyz", 200, "ready\n"),
        ("/mcp/automotive", 404, "there are /healthz, /readyz and /metrics\n"),
        ("/", 404, "there are /healthz, /readyz and /metrics\n"),
    ] {
        let answer = client.get(path).await;
        assert_eq!((path, answer.status, answer.text()), (path, status, text));
    }
    assert_eq!(client.request("POST", "/healthz", &[], "").await.status, 405);
    assert_eq!(desk.stranger().get("/healthz").await.status, 404);
}
