//! The search form on the demo's page: public stock for anybody, by a caller of its own, and nowhere else.

use serde_json::Value;

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::process::CommandProcess;
use frontdesk_testkit::{TestFolder, eventually};

#[tokio::test]
async fn the_demo_page_searches_the_stock() {
    let desk = TestApp::start();
    let mut visitor = desk.stranger();
    let front = visitor.get("/").await;
    assert!(front.text().contains("<form action=\"/demo/search\" method=\"get\">"), "{}", front.text());
    let found = visitor.get("/demo/search?text=&make=toyota&limit=500&status=sold").await;
    assert_eq!((found.status, found.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(found.header("content-security-policy").unwrap().contains("form-action 'self'"));
    assert_eq!(found.header("cache-control"), Some("no-store"));
    let rows: Vec<&str> =
        found.text().lines().filter(|line| line.starts_with("<tr><td>") || line.contains("<tbody><tr>")).collect();
    assert_eq!(rows.len(), 10, "{}", found.text());
    assert!(rows.iter().all(|row| row.contains(" Toyota ") && row.contains(" USD</td>")), "{rows:?}");
    assert!(found.text().contains("value=\"toyota\""), "{}", found.text());
    let nothing = visitor.get("/demo/search?make=Nobody").await;
    assert!(nothing.status == 200 && nothing.text().contains("<p>Nothing was found.</p>"), "{}", nothing.text());
    // What was typed is shown as text.
    let typed = visitor.get("/demo/search?text=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").await;
    assert!(!typed.text().contains("<script") && typed.text().contains("&quot;&gt;&lt;script&gt;"), "{}", typed.text());
    let posted = visitor.request("POST", "/demo/search", &[], "").await;
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET")));

    // One client, that may read stock and nothing else; its calls are in the audit log with the others.
    let (_, clients, _) = desk.command(&["client", "list", "--json"]);
    let clients: Vec<Value> = clients.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let own: Vec<&Value> = clients.iter().filter(|client| client["name"] == "Demo page").collect();
    assert_eq!(own.len(), 1, "{clients:?}");
    assert_eq!(own[0]["scopes"], serde_json::json!(["amcp:inventory:read"]));
    let id = own[0]["id"].as_str().unwrap();
    eventually("the search is in the audit log", async || {
        let (_, audit, _) = desk.command(&["audit", "export"]);
        audit.lines().any(|line| line.contains(id) && line.contains("inventory.search"))
    })
    .await;

    // Revoked, the form gets another one.
    assert_eq!(desk.command(&["client", "revoke", id]).0, Some(0));
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let refused = visitor.get("/demo/search?make=Toyota").await;
    assert_eq!(refused.status, 503, "{}", refused.text());
}

#[tokio::test]
async fn searches_of_one_visitor_are_limited() {
    let desk = TestApp::start();
    let mut visitor = desk.stranger();
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(visitor.get("/demo/search?make=Toyota").await.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 10, "{statuses:?}");
    let refused = visitor.get("/demo/search?make=Toyota").await;
    assert!(refused.status == 429 && refused.text().contains("Too many searches; try again in "), "{}", refused.text());
    // Agents are not affected.
    let mut agent = desk.agent().await;
    assert_eq!(agent.send("tools/list", serde_json::json!({})).await.status, 200);
}

#[tokio::test]
async fn a_server_that_is_no_demo_has_no_search() {
    let mut desk = TestApp::start();
    let mut visitor = desk.stranger();
    assert_eq!(visitor.get("/demo/search?make=Toyota").await.status, 200);
    assert_eq!(desk.stop(), Some(0));
    // The same data, served.
    let arguments = ["serve", "--data", "data"];
    let mut served = CommandProcess::new(
        desk.folder.path(),
        &arguments,
        &[("FRONTDESK_LISTEN", "127.0.0.1:0"), ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0")],
    );
    let mut visitor = HttpClient::new(served.address(), &desk.ca_file());
    assert_eq!(visitor.get("/demo/search?make=Toyota").await.status, 404);
    let front = visitor.get("/").await;
    assert!(front.status == 200 && !front.text().contains("<form"), "{}", front.text());
}

#[tokio::test]
async fn the_ca_file_can_be_downloaded_where_clients_need_it() {
    let desk = TestApp::start();
    let file = desk.stranger().get("/ca.pem").await;
    assert_eq!((file.status, file.header("content-type")), (200, Some("application/x-pem-file")));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"frontdesk-ca.pem\""));
    assert_eq!(file.text(), std::fs::read_to_string(desk.ca_file()).unwrap());
    assert!(!file.text().contains("PRIVATE KEY"));
    assert_eq!(desk.stranger().request("POST", "/ca.pem", &[], "").await.status, 405);

    // With a certificate of somebody else's there is no such file.
    let folder = TestFolder::new();
    let tls = desk.data().join("tls");
    let environment = [
        ("FRONTDESK_LISTEN", "127.0.0.1:0"),
        ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0"),
        ("FRONTDESK_TLS_CERTIFICATE", &*tls.join("server.pem").display().to_string()),
        ("FRONTDESK_TLS_KEY", &*tls.join("server.key").display().to_string()),
    ];
    let mut served = CommandProcess::new(folder.path(), &["serve", "--data", "data"], &environment);
    let mut visitor = HttpClient::new(served.address(), &desk.ca_file());
    assert_eq!(visitor.get("/ca.pem").await.status, 404);
    let front = visitor.get("/").await;
    assert!(!front.text().contains("/ca.pem") && !front.text().contains("NODE_EXTRA_CA_CERTS"), "{}", front.text());
}
