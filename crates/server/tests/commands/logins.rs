//! People log in over HTTPS, connect an agent, and end it again.

use std::time::Duration;

use serde_json::{Value, json};

use frontdesk_testkit::app::{READ_STOCK, TestApp, authorization};

async fn status(desk: &TestApp, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    desk.stranger().request("POST", "/mcp/automotive", &headers, body).await.status
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{value}"))
}

/// The whole way.
#[tokio::test]
async fn an_agent_stays_connected_until_it_is_ended() {
    let desk = TestApp::start();
    let (name, password) = desk.demo_user();
    let client = desk.add_login_client();
    let tokens = desk.log_in(&client, "dlr_lakeside", READ_STOCK).await;
    assert_eq!((text(&tokens, "scope"), text(&tokens, "token_type")), (READ_STOCK, "Bearer"));
    assert_eq!(status(&desk, text(&tokens, "access_token")).await, 200);
    let refresh = |token: &str| {
        [("grant_type", "refresh_token"), ("client_id", client.as_str()), ("refresh_token", token)]
            .map(|(name, value)| (name, value.to_owned()))
    };
    let fields = refresh(text(&tokens, "refresh_token"));
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let refreshed = desk.post_form("/token", &fields).await;
    assert_eq!(refreshed.status, 200, "{}", refreshed.text());
    let token = text(&refreshed.json(), "access_token").to_owned();
    assert_eq!(status(&desk, &token).await, 200);

    let mut browser = desk.browser();
    let page = browser.get("/account").await;
    let page = match page.text().contains("id=\"login\"") {
        true => {
            let fields = [("name", name.as_str()), ("password", password.as_str()), ("next", "account")];
            let response = browser.submit("/login", &page, &fields).await;
            assert_eq!((response.status, response.header("location")), (303, Some("/account")));
            browser.get("/account").await
        }
        false => page,
    };
    assert!(
        page.text().contains("<h2>an agent</h2>") && page.text().contains("see the vehicles in stock"),
        "{}",
        page.text()
    );
    let grant = page.text().split("name=\"grant\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(browser.submit("/account/end", &page, &[("grant", &grant)]).await.status, 303);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(status(&desk, &token).await, 401);
}

#[tokio::test]
async fn pages_carry_their_headers_over_https() {
    let desk = TestApp::start();
    let client = desk.add_login_client();
    let query = authorization(&client, READ_STOCK);
    let mut browser = desk.browser();
    let page = browser.get(&format!("/authorize?{query}")).await;
    let cookie = page.header("set-cookie").unwrap();
    assert!(
        cookie.starts_with("__Host-frontdesk=") && cookie.ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("form-action 'self' https://agent.example;") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!((page.header("cache-control"), page.header("x-frame-options")), (Some("no-store"), Some("DENY")));
    let style = desk.stranger().get("/frontdesk.css").await;
    assert_eq!((style.status, style.header("content-type")), (200, Some("text/css; charset=utf-8")));
    // A form from a page of somebody else does not arrive.
    let (name, password) = desk.demo_user();
    let body = format!("form_token=x&name={name}&password={password}&next=account");
    let form = ("content-type", "application/x-www-form-urlencoded");
    for origin in ["https://evil.example", "null"] {
        let headers = [form, ("origin", origin), ("cookie", browser.cookie.as_str())];
        assert_eq!(desk.stranger().request("POST", "/login", &headers, body.clone()).await.status, 403, "{origin}");
    }
}

#[tokio::test]
async fn users_are_invited_listed_disabled_and_reset() {
    let desk = TestApp::start();
    let run = |arguments: &[&str]| -> Value {
        let (code, out, errors) = desk.command(arguments);
        assert_eq!(code, Some(0), "{errors}");
        serde_json::from_str(out.lines().next().unwrap()).unwrap()
    };
    let invited = run(&["user", "invite", "ada@north.example", "--tenant", "dlr_lakeside", "--json"]);
    assert_eq!((text(&invited, "state"), text(&invited, "role")), ("invited", "staff"));
    let link = text(&invited, "link").to_owned();
    let path = link.strip_prefix(&format!("https://localhost:{}", desk.address.port())).unwrap();
    let mut browser = desk.browser();
    let page = browser.get(path).await;
    assert!(page.text().contains("ada@north.example"), "{}", page.text());
    let fields = [("password", "a long enough password"), ("repeated", "a long enough password")];
    assert_eq!(browser.submit(path, &page, &fields).await.status, 303);
    assert_eq!(browser.get(path).await.status, 404);
    let page = browser.get("/account").await;
    let login = [("name", "ada@north.example"), ("password", "a long enough password"), ("next", "account")];
    assert_eq!(browser.submit("/login", &page, &login).await.status, 303);
    assert!(browser.get("/account").await.text().contains("Connected agents"));
    let disabled = run(&["user", "disable", "ADA@north.example", "--json"]);
    assert_eq!(text(&disabled, "state"), "disabled");
    assert!(browser.get("/account").await.text().contains("id=\"login\""), "the session has ended");
    let (_, listed, _) = desk.command(&["user", "list"]);
    assert!(listed.contains("ada@north.example  staff") && listed.contains("disabled"), "{listed}");
    let (code, _, errors) = desk.command(&["user", "reset", "nobody"]);
    assert_eq!((code, errors.contains("there is no user with this name")), (Some(1), true), "{errors}");
    let (code, _, errors) = desk.command(&["user", "invite", "ada@north.example", "--tenant", "dlr_none"]);
    assert_eq!((code, errors.contains("there is no tenant `dlr_none`")), (Some(1), true), "{errors}");
    let (_, audit, _) = desk.command(&["audit", "export"]);
    assert!(audit.contains("user.invite") && audit.contains("user.disable"));
    assert!(!audit.contains("ada@") && !desk.log().contains("ada@"), "a name is personal");
}
