//! `frontdesk client` on a running desk and on one that is closed.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{CommandProcess, run_frontdesk};
use frontdesk_testkit::app::{DemoTenant, READ_STOCK, TestAgent, TestApp};

/// A look-up of a token is believed for a second at most.
const BITES_WITHIN: Duration = Duration::from_millis(1100);

/// The JSON that a client command answers with.
fn ordered(desk: &TestApp, arguments: &[&str]) -> Value {
    let (code, out, err) = desk.command(&[arguments, &["--json"]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    serde_json::from_str(&out).unwrap()
}

fn refused(desk: &TestApp, arguments: &[&str]) -> String {
    let (code, out, err) = desk.command(arguments);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    err
}

/// Every client that `client list --json` names, a line each.
fn listed(desk: &TestApp) -> Vec<Value> {
    let (code, out, errors) = desk.command(&["client", "list", "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn status(agent: &mut TestAgent) -> u16 {
    agent.send("tools/list", json!({})).await.status
}

#[tokio::test]
async fn a_client_is_added_listed_and_let_in_while_the_desk_runs() {
    let desk = TestApp::start();
    let added = ordered(&desk, &["client", "add", "--name", "Finder", "--tenant", "dlr_summit", "--scope", READ_STOCK]);
    let (id, created) = (added["id"].as_str().unwrap(), added["created_at"].clone());
    let wanted = json!({"id": id, "name": "Finder", "tenants": ["dlr_summit"], "groups": [], "scopes": [READ_STOCK],
        "created_at": created, "revoked_at": null});
    let secret = added["secret"].as_str().unwrap();
    let mut shown = wanted.clone();
    shown["secret"] = json!(secret);
    shown["new_tenants"] = json!([]);
    assert_eq!(added, shown);
    let listed = listed(&desk);
    assert_eq!(listed.len(), 5);
    assert!(listed.contains(&wanted), "{listed:?}");

    let mut agent = desk.agent_of_client(&(id.to_owned(), secret.to_owned()), READ_STOCK).await;
    let page = agent.call("inventory.list", json!({"limit": 1})).await;
    assert_eq!(page["items"][0]["dealership_id"], "dlr_summit");
    assert_eq!(desk.request_token(id, secret, "amcp:leads:read").await.status, 400);

    let (_, table, _) = desk.command(&["client", "list"]);
    let row = table.lines().find(|line| line.starts_with(id)).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), [id, "Finder", "dlr_summit", "-", READ_STOCK, "active"]);
    assert!(!table.contains(secret) && !json!(listed).to_string().contains(secret));
}

#[test]
fn the_operators_socket_is_for_the_owner_alone() {
    let desk = TestApp::start();
    let socket = fs::metadata(desk.data().join("operator.sock")).unwrap();
    assert!(socket.file_type().is_socket());
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(desk.data()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn rotating_a_secret_ends_its_tokens_while_serving() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let mut neighbour = desk.other_tenant().await;
    assert_eq!((status(&mut agent).await, status(&mut neighbour).await), (200, 200));
    let (id, old, _) = desk.credentials(DemoTenant::Lakeside);

    let rotated = ordered(&desk, &["client", "rotate", &id]);
    let new = rotated["secret"].as_str().unwrap();
    assert_ne!(new, old);
    assert_eq!(desk.request_token(&id, &old, READ_STOCK).await.status, 401);
    sleep(BITES_WITHIN).await;
    assert_eq!((status(&mut agent).await, status(&mut neighbour).await), (401, 200));
    let mut agent = desk.agent_of_client(&(id, new.to_owned()), READ_STOCK).await;
    assert_eq!(status(&mut agent).await, 200);
}

#[tokio::test]
async fn revoking_a_client_takes_effect_within_a_second() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    assert_eq!(status(&mut agent).await, 200);
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);

    let (code, out, _) = desk.command(&["client", "revoke", &id]);
    assert_eq!((code, out), (Some(0), format!("Client {id} is revoked; its tokens end within a second.\n")));
    assert_eq!(desk.request_token(&id, &secret, READ_STOCK).await.status, 401);
    sleep(BITES_WITHIN).await;
    assert_eq!(status(&mut agent).await, 401);

    let gone = format!("frontdesk: there is no active client `{id}`; `frontdesk client list` shows them\n");
    assert_eq!(refused(&desk, &["client", "revoke", &id]), gone);
    assert_eq!(refused(&desk, &["client", "rotate", &id]), gone);
    let listed = listed(&desk);
    let revoked = listed.iter().find(|client| client["id"] == id.as_str()).unwrap();
    assert!(revoked["revoked_at"].is_string());
}

/// The same orders on a closed desk give the same answers, and hold when it opens.
#[tokio::test]
async fn clients_can_be_managed_while_the_desk_is_stopped() {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    let kept = desk.add_client(&["dlr_lakeside"], READ_STOCK);
    let (lost, _) = desk.add_client(&["dlr_lakeside"], READ_STOCK);
    let rotated = ordered(&desk, &["client", "rotate", &kept.0]);
    let fresh = rotated["secret"].as_str().unwrap().to_owned();
    assert_eq!(ordered(&desk, &["client", "revoke", &lost]), json!({"id": lost, "revoked": true}));
    assert_eq!(listed(&desk).len(), 6);
    assert!(refused(&desk, &["client", "rotate", "cli_nobody"]).contains("no active client `cli_nobody`"));

    let desk = desk.start_again();
    assert_eq!(desk.request_token(&kept.0, &kept.1, READ_STOCK).await.status, 401);
    let mut agent = desk.agent_of_client(&(kept.0, fresh), READ_STOCK).await;
    assert_eq!(status(&mut agent).await, 200);
}

#[test]
fn a_client_can_be_added_before_the_first_start() {
    let folder = TestFolder::new();
    let add = [
        "client",
        "add",
        "--name",
        "First",
        "--tenant",
        "house",
        "--new-tenant",
        "--scope",
        READ_STOCK,
        "--data",
        "data",
    ];
    let said = run_frontdesk(folder.path(), &add);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(
        said.out.ends_with(
            "scopes   amcp:inventory:read\nNew and empty: house\nBring its records in with `frontdesk import`; see `frontdesk import --help`.\n\
             A tenant that exists elsewhere is moved by `frontdesk tenant import`, to an id that is new here.\n"
        ),
        "{said:?}"
    );
    assert!(!run_frontdesk(folder.path(), &add).out.contains("New and empty"));
    let environment = [("FRONTDESK_LISTEN", "127.0.0.1:0"), ("FRONTDESK_OPERATOR_LISTEN", "127.0.0.1:0")];
    let mut desk =
        CommandProcess::new(folder.path(), &["serve"], &[&environment[..], &[("FRONTDESK_DATA", "data")]].concat());
    desk.logged("serving\",\"url\":\"https://localhost:");
    let listed = run_frontdesk(folder.path(), &["client", "list", "--data", "data"]);
    assert_eq!(listed.out.lines().filter(|line| line.contains(" First ")).count(), 2, "{listed:?}");
}

#[test]
fn invalid_scopes_tenants_and_names_are_refused() {
    let desk = TestApp::start();
    let add = |name: &str, tenant: &str, scope: &str| {
        refused(&desk, &["client", "add", "--name", name, "--tenant", tenant, "--scope", scope])
    };
    assert_eq!(
        add("Finder", "new_house", "amcp:inventory:wipe"),
        "frontdesk: there is no scope `amcp:inventory:wipe`; \
         there are: amcp:inventory:read, amcp:inventory:write, amcp:leads:read, amcp:leads:write, \
         amcp:deals:read, amcp:deals:write, amcp:service:read, amcp:service:write, \
         amcp:parts:read, amcp:parts:write, amcp:fni:read, amcp:fni:write, amcp:signals:read, \
         amcp:consent:read, amcp:consent:write, mcp:read, mcp:call, mcp:admin\n"
    );
    for tenant in ["two words", "", "../x", &"x".repeat(65)] {
        assert_eq!(
            add("Finder", tenant, READ_STOCK),
            "frontdesk: a tenant id has 1 to 64 letters, digits, `_` or `-`\n"
        );
    }
    for name in ["", "a\nb", &"x".repeat(101)] {
        assert_eq!(
            add(name, "new_house", READ_STOCK),
            "frontdesk: a client's name has 1 to 100 characters, none of them a control character\n"
        );
    }
    assert_eq!(listed(&desk).len(), 4);
    assert_eq!(
        add("Finder", "dlr_lakside", READ_STOCK),
        "frontdesk: there is no tenant `dlr_lakside`; there are: dlr_bengaluru, dlr_lakeside, dlr_summit, fod_monsoon, htl_monsoon, rid_monsoon, site. `frontdesk tenant add` creates one\n"
    );
    let new = ["client", "add", "--name", "F", "--tenant", "new_house", "--new-tenant", "--scope", READ_STOCK];
    assert_eq!(ordered(&desk, &new)["new_tenants"], json!(["new_house"]));
}

#[test]
fn an_order_right_after_the_card_finds_the_desk() {
    for _ in 0..3 {
        let desk = TestApp::start();
        let (code, _, err) = desk.command(&["client", "list"]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
    }
}
