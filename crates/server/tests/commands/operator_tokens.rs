//! `frontdesk token`: tokens for clients that can only send a header.

use std::time::Duration;

use serde_json::{Value, json};

use frontdesk_testkit::app::{DemoTenant, READ_STOCK, TestApp};

fn issue(desk: &TestApp, client: &str, more: &[&str]) -> (Option<i32>, String, String) {
    desk.command(&[&["token", "issue", "--client", client], more].concat())
}

async fn status(desk: &TestApp, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    desk.stranger().request("POST", "/mcp/automotive", &headers, body).await.status
}

#[tokio::test]
async fn a_token_is_shown_once_listed_revoked_and_recorded() {
    let mut desk = TestApp::start();
    let (client, _, _) = desk.credentials(DemoTenant::Lakeside);
    let (code, out, errors) = issue(&desk, &client, &["--scope", READ_STOCK, "--days", "7", "--json"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{out}");
    let issued: Value = serde_json::from_str(&out).unwrap();
    let token = issued["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("fdo_") && token.len() == 47, "{token}");
    assert_eq!((&issued["client"], &issued["scopes"]), (&json!(client), &json!([READ_STOCK])));
    assert_eq!(status(&desk, &token).await, 200);
    let (_, listed, _) = desk.command(&["token", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed["id"], listed.get("token")), (&issued["id"], None));
    let id = issued["id"].as_str().unwrap().to_owned();
    let (code, out, errors) = desk.command(&["token", "revoke", &id]);
    assert_eq!((code, out), (Some(0), format!("Token {id} is revoked; it ends within a second.\n")), "{errors}");
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(status(&desk, &token).await, 401);
    let (code, audit, errors) = desk.command(&["audit", "export"]);
    assert_eq!(code, Some(0), "{errors}");
    for action in ["token.issue", "token.revoke"] {
        let line = audit.lines().find(|line| line.contains(action)).unwrap_or_else(|| panic!("{action}: {audit}"));
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["chain"].as_str().unwrap().starts_with("admin:"), "{line}");
    }
    assert!(!audit.contains(&token) && !desk.log().contains(&token));
    desk.stop();
}

#[test]
fn a_token_needs_a_registered_client_its_scopes_and_an_end() {
    let desk = TestApp::start();
    let (client, _, _) = desk.credentials(DemoTenant::Lakeside);
    let refused = |client: &str, more: &[&str]| {
        let (code, out, errors) = issue(&desk, client, more);
        assert_eq!((code, out.as_str()), (Some(1), ""));
        errors
    };
    assert!(refused("cli_none", &["--scope", READ_STOCK]).contains("there is no active client with this id"));
    assert!(refused(&client, &["--scope", "amcp:fni:read"]).contains("was not registered for all of these scopes"));
    assert!(refused(&client, &["--scope", "amcp:none:read"]).contains("there is no scope `amcp:none:read`"));
    assert!(refused(&client, &["--scope", READ_STOCK, "--days", "31"]).contains("a token is valid for 1 to 30 days"));
    assert!(refused(&client, &["--scope", READ_STOCK, "--mount", "/none"]).contains("there are: /mcp/automotive"));
    let (code, _, errors) = issue(&desk, &client, &["--scope", READ_STOCK, "--step-up"]);
    assert_eq!(code, Some(2), "{errors}");
}
