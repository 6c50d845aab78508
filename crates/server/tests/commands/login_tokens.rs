//! `frontdesk token issue --step-up`: a token that counts as a login, until there is an interactive one.

use serde_json::{Value, json};

use frontdesk_testkit::app::{DemoTenant, READ_STOCK, TestApp};

const CREDIT: &str = "amcp:fni:read";

fn issue(desk: &TestApp, client: &str, more: &[&str]) -> (Option<i32>, String, String) {
    desk.command(&[&["token", "issue", "--client", client], more].concat())
}

#[tokio::test]
async fn a_login_token_is_shown_once_and_recorded_as_administration() {
    let mut desk = TestApp::start();
    let client = desk.add_client(&["dlr_lakeside"], CREDIT);
    let (code, out, errors) = issue(&desk, &client.0, &["--scope", CREDIT, "--step-up", "--json"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{out}");
    let issued: Value = serde_json::from_str(&out).unwrap();
    let token = issued["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("fdt_") && token.len() == 47, "{token}");
    let resource = format!("https://localhost:{}/mcp/automotive", desk.address.port());
    assert_eq!(
        (&issued["client"], &issued["scopes"], &issued["resource"]),
        (&json!(client.0), &json!([CREDIT]), &json!(resource))
    );
    let mut agent = desk.agent_after_login(&client.0, CREDIT);
    assert!(agent.call("fni.list_lender_decisions", json!({"limit": 1})).await.get("items").is_some());
    let (code, audit, errors) = desk.command(&["audit", "export"]);
    assert_eq!(code, Some(0), "{errors}");
    let records: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let issued: Vec<&Value> = records.iter().filter(|line| line.to_string().contains("token.issue")).collect();
    assert_eq!(issued.len(), 2, "{audit}");
    assert!(issued.iter().all(|line| line.to_string().contains(CREDIT) && line.to_string().contains(&client.0)));
    let chains: Vec<&str> = issued.iter().map(|line| line["chain"].as_str().unwrap()).collect();
    assert!(chains.iter().all(|chain| chain.starts_with("admin:")), "{chains:?}");
    let (code, verified, _) = desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{verified}");
    assert!(!audit.contains(&token) && !desk.log().contains(&token));
    // A client that is revoked has no tokens any more.
    let (code, _, errors) = desk.command(&["client", "revoke", &client.0]);
    assert_eq!(code, Some(0), "{errors}");
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert_eq!(agent.send("tools/list", json!({})).await.status, 401);
    desk.stop();
}

#[test]
fn a_login_token_needs_the_flag_a_registered_client_and_its_scopes() {
    let desk = TestApp::start();
    let (ordinary, _, _) = desk.credentials(DemoTenant::Lakeside);
    let (code, _, errors) = issue(&desk, &ordinary, &["--scope", READ_STOCK]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("--step-up"), "{errors}");
    let refused = |client: &str, more: &[&str]| {
        let (code, out, errors) = issue(&desk, client, more);
        assert_eq!((code, out.as_str()), (Some(1), ""));
        errors
    };
    let none = refused("cli_none", &["--scope", READ_STOCK, "--step-up"]);
    assert_eq!(none, "frontdesk: there is no active client with this id; `frontdesk client list` shows them\n");
    let not_allowed = refused(&ordinary, &["--scope", CREDIT, "--step-up"]);
    assert!(
        not_allowed
            .starts_with("frontdesk: the client was not registered for all of these scopes; it has: amcp:consent:read"),
        "{not_allowed}"
    );
    let unknown = refused(&ordinary, &["--scope", "amcp:none:read", "--step-up"]);
    assert!(unknown.starts_with("frontdesk: there is no scope `amcp:none:read`"), "{unknown}");
    let no_mount = refused(&ordinary, &["--scope", READ_STOCK, "--step-up", "--mount", "/none"]);
    assert!(no_mount.starts_with("frontdesk: no tokens are issued for a mount at this path"), "{no_mount}");
}

#[test]
fn a_login_token_can_be_issued_while_no_server_runs() {
    let mut desk = TestApp::start();
    let client = desk.add_client(&["dlr_lakeside"], CREDIT);
    desk.stop();
    let (code, out, errors) = issue(&desk, &client.0, &["--scope", CREDIT, "--step-up"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.starts_with("token    fdt_") && out.contains("(shown once, stored as a hash)"), "{out}");
}
