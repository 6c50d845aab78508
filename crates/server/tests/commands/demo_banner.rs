//! The card of `frontdesk demo`: what it says, and that what it says works as printed.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk, run_script};
use frontdesk_testkit::app::{DemoTenant, TestApp};

/// Blanks and a quote, as folders of real people have them.
const DATA: &str = "it's a desk";

/// Starts a demo that prints its card as text: the process and the card.
fn printed(folder: &TestFolder) -> (CommandProcess, String) {
    let mut demo = CommandProcess::new(folder.path(), &["demo", "--listen", "127.0.0.1:0", "--data", DATA], &[]);
    let card = demo.printed("Ctrl-C stops the server.\n");
    (demo, card)
}

fn pasted(card: &str) -> &str {
    let (_, lines) = card.split_once("Paste these one after the other:\n").unwrap();
    lines.split_once("\n  Ctrl-C").unwrap().0
}

/// What follows a word at the beginning of a line.
fn entry<'a>(card: &'a str, word: &str) -> &'a str {
    let line = card.lines().find_map(|line| line.trim_start().strip_prefix(word)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {word}: {card}")).trim()
}

#[test]
fn the_printed_lines_work_as_they_are_printed_from_any_folder() {
    let curl = Command::new("curl").arg("--version").output();
    assert!(curl.is_ok_and(|curl| curl.status.success()), "this test needs curl: install it and run again");
    let (folder, elsewhere) = (TestFolder::new(), TestFolder::new());
    let (_demo, card) = printed(&folder);
    assert!(
        card.contains(&format!(
            "\n  Frontdesk {} is running.\n  Demo data was created in /",
            env!("CARGO_PKG_VERSION")
        ))
    );

    let CommandOutput { code, out, err } = run_script(elsewhere.path(), pasted(&card));
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out.lines().count(), 3, "each answer is one line, and the last one ends: {out}");
    assert!(out.ends_with('\n'), "{out}");
    assert!(card.contains("\nTOKEN=$(curl ") && card.contains("\nSITE_TOKEN=$(curl "), "{card}");
    let answers: Vec<Value> = serde_json::Deserializer::from_str(&out).into_iter().map(Result::unwrap).collect();
    let [search, tools, pages] = answers.as_slice() else { panic!("not three answers: {out}") };
    let names: Vec<&str> =
        tools["result"]["tools"].as_array().unwrap().iter().filter_map(|t| t["name"].as_str()).collect();
    assert!(names.contains(&"inventory.search") && names.contains(&"leads.create"), "{names:?}");
    let items = search["result"]["structuredContent"]["items"].as_array().unwrap();
    assert_eq!(items.len(), 3);
    assert!(items.iter().all(|item| item["price"]["amount"].as_i64().unwrap() <= 3_500_000), "{items:?}");
    let pages = pages["result"]["structuredContent"]["items"].as_array().unwrap();
    let shown: Vec<(&Value, &Value)> = pages.iter().map(|page| (&page["pagetitle"], &page["tvs"])).collect();
    assert_eq!(
        shown,
        [
            (&json!("Harbour mug"), &json!({"price": "24.00", "glaze": "celadon"})),
            (&json!("Espresso cup"), &json!({"price": "14.50", "glaze": "tenmoku"})),
            (&json!("Bud vase"), &json!({"price": "19.00", "glaze": "celadon"})),
        ]
    );
}

#[test]
fn the_demo_serves_operators_where_it_is_told_and_else_anywhere() {
    let folder = TestFolder::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let arguments = ["demo", "--json", "--listen", "127.0.0.1:0", "--operator-listen", &address];
    let refused = CommandProcess::new(folder.path(), &arguments, &[]).end();
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("with `--operator-listen 127.0.0.1:0`"), "{}", refused.err);

    drop(taken);
    let mut demo = CommandProcess::new(folder.path(), &arguments, &[]);
    let card: Value = serde_json::from_str(&demo.printed("\n")).unwrap();
    assert_eq!(card["operator_endpoint"], json!(format!("https://{address}")));
}

/// A folder that is there is used as it is, and whoever says what is mounted gets that and nothing else.
#[test]
fn the_demo_site_is_made_once_if_nothing_is_mounted() {
    let desk = TestApp::start();
    let file = desk.data().join("demo-site.sqlite");
    let made = std::fs::metadata(&file).unwrap().modified().unwrap();
    let site = desk.banner["site"].clone();
    assert_eq!(site["endpoint"], json!(format!("https://localhost:{}/api/v1/mcp/content", desk.address.port())));
    assert_eq!(site["tenant"], json!("site"));
    let mounts = desk.banner["mounts"].as_array().unwrap();
    let url = desk.banner["endpoint"].as_str().unwrap().trim_end_matches("/mcp/automotive");
    assert_eq!((&mounts[0]["contract"], &mounts[0]["endpoint"]), (&json!("automotive"), &desk.banner["endpoint"]));
    assert_eq!(mounts[0]["rest"], format!("{url}/v1"));
    assert!(mounts[0]["scopes"].as_array().unwrap().contains(&json!("amcp:inventory:read")));
    assert_eq!((&mounts[1]["contract"], &mounts[1]["rest"]), (&json!("emcp"), &Value::Null));
    let again = desk.restart();
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), made);
    assert_eq!((&again.banner["site"]["id"], &again.banner["site"]["secret"]), (&site["id"], &Value::Null));

    let other = TestApp::start_with(&[("FRONTDESK_MOUNT", "automotive=/mcp/automotive")]);
    assert_eq!(other.banner["site"], Value::Null);
    assert!(!other.data().join("demo-site.sqlite").exists());
}

#[test]
fn the_second_start_reuses_data_and_shows_no_secret() {
    let folder = TestFolder::new();
    let (demo, first) = printed(&folder);
    let secret = entry(&first, "secret").split(' ').next().unwrap().to_owned();
    assert!(secret.starts_with("fds_") && first.contains("(shown once, stored as a hash)"), "{first}");
    assert_eq!(demo.stop().code, Some(0));

    let (_demo, second) = printed(&folder);
    assert!(second.contains("is used.\n"), "{second}");
    assert!(!second.contains("fds_"), "{second}");
    assert_eq!(entry(&second, "client"), entry(&first, "client"));
    let (_, advice) = entry(&second, "secret").split_once("for a new one: ").unwrap();
    let rotated = run_script(TestFolder::new().path(), advice);
    assert_eq!((rotated.code, rotated.err.as_str()), (Some(0), ""));
    let fresh = entry(&rotated.out, "secret").split(' ').next().unwrap();

    let answer = run_script(folder.path(), &pasted(&second).replace("YOUR_SECRET", fresh));
    assert!(answer.out.contains("inventory.search"), "{answer:?}");
    let refused = run_script(folder.path(), &pasted(&second).replace("YOUR_SECRET", &secret));
    assert!(!refused.out.contains("inventory.search") && refused.out.contains("auth.unauthorized"), "{refused:?}");
}

#[test]
fn the_banner_as_json_is_one_line_with_all_clients() {
    let desk = TestApp::start();
    let card = desk.banner.as_object().unwrap();
    let names: Vec<&str> = card.keys().map(String::as_str).collect();
    let wanted = [
        "ca_file",
        "clients",
        "data",
        "endpoint",
        "mounts",
        "operator_endpoint",
        "reused",
        "site",
        "token_endpoint",
        "user",
    ];
    assert_eq!(names, wanted);
    let base = format!("https://localhost:{}", desk.address.port());
    assert_eq!(card["endpoint"], json!(format!("{base}/mcp/automotive")));
    assert_eq!(card["token_endpoint"], json!(format!("{base}/token")));
    assert!(card["operator_endpoint"].as_str().unwrap().starts_with("https://127.0.0.1:"));
    assert_eq!(card["reused"], json!(false));
    assert!(Path::new(card["ca_file"].as_str().unwrap()).is_absolute());
    let clients = card["clients"].as_array().unwrap();
    let dealerships: Vec<&Value> = clients.iter().map(|client| &client["dealership_id"]).collect();
    assert_eq!(dealerships, [&json!("dlr_lakeside"), &json!("dlr_summit"), &json!("dlr_bengaluru")]);
    for client in clients {
        assert_eq!(client.as_object().unwrap().keys().collect::<Vec<_>>(), ["dealership_id", "id", "secret"]);
        assert!(client["id"].as_str().unwrap().starts_with("cli_"));
    }

    let again = desk.restart();
    assert_eq!(again.banner["reused"], json!(true));
    for client in again.banner["clients"].as_array().unwrap() {
        assert_eq!(client["secret"], Value::Null);
    }
}

#[tokio::test]
async fn new_demo_secrets_replace_the_old_ones() {
    let mut desk = TestApp::start();
    let (id, old, _) = desk.credentials(DemoTenant::Lakeside);
    assert_eq!(desk.stop(), Some(0));
    let arguments = ["demo", "--json", "--new-secrets", "--listen", "127.0.0.1:0", "--data", "data"];
    let mut demo = CommandProcess::new(desk.folder.path(), &arguments, &[]);
    let card: Value = serde_json::from_str(&demo.printed("\n")).unwrap();
    assert_eq!((&card["reused"], &card["clients"][0]["id"]), (&json!(true), &json!(id)));
    let fresh = card["clients"][0]["secret"].as_str().unwrap();
    assert!(fresh.starts_with("fds_") && fresh != old, "{card}");
    assert!(card["clients"][1]["secret"].as_str().unwrap().starts_with("fds_"), "{card}");
    let port = card["token_endpoint"].as_str().unwrap().strip_prefix("https://localhost:").unwrap();
    let address = format!("127.0.0.1:{}", port.strip_suffix("/token").unwrap()).parse().unwrap();
    let mut client = HttpClient::new(address, &desk.data().join("tls/ca.pem"));
    for (secret, status) in [(fresh, 200), (&old, 401)] {
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        assert_eq!(client.request("POST", "/token", &headers, form).await.status, status);
    }
    drop(demo);
    let (_, records, _) = desk.command(&["audit", "export"]);
    assert_eq!(records.matches("\"operator\":\"client.rotate\"").count(), 4, "{records}");
}

#[tokio::test]
async fn two_demos_run_side_by_side_and_know_nothing_of_each_other() {
    let (one, other) = (TestApp::start(), TestApp::start());
    assert_ne!(one.address, other.address);
    assert_ne!(one.banner["operator_endpoint"], other.banner["operator_endpoint"]);
    let mut agent = other.agent().await;
    assert_eq!(agent.send("tools/list", json!({})).await.status, 200);
    let (id, secret, _) = one.credentials(DemoTenant::Lakeside);
    assert_eq!(other.request_token(&id, &secret, "").await.status, 401);
}

/// Idempotency keys are forgotten after a week; the demo must not be made a second time then.
#[tokio::test]
async fn an_old_demo_still_starts_and_is_not_seeded_twice() {
    let mut desk = TestApp::start();
    let before = desk.agent().await.all("leads.list", json!({"limit": 100})).await.len();
    assert_eq!(desk.stop(), Some(0));
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    assert_eq!(database.execute("DELETE FROM fd_claim", []).unwrap(), 6);
    drop(database);
    let desk = desk.start_again();
    assert_eq!(desk.banner["reused"], json!(true));
    let after = desk.agent().await.all("leads.list", json!({"limit": 100})).await.len();
    assert_eq!(after, before);
}

#[test]
fn a_relative_data_folder_starts_at_the_working_directory() {
    let folder = TestFolder::new();
    let mut demo = CommandProcess::new(folder.path(), &["demo", "--json", "--listen", "127.0.0.1:0"], &[]);
    let card: Value = serde_json::from_str(&demo.printed("\n")).unwrap();
    let made = folder.path().canonicalize().unwrap().join("frontdesk-data");
    assert_eq!(card["data"], json!(made));
    assert_eq!(card["ca_file"], json!(made.join("tls/ca.pem")));
    assert_eq!(run_frontdesk(folder.path(), &["client", "list"]).code, Some(0));
}
