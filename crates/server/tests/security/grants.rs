//! The token endpoint: who gets a token, how, and with which scopes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{DemoTenant, EVERYTHING, READ_LEADS, READ_STOCK, TestApp, WRITE_LEADS};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

async fn post(desk: &TestApp, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    desk.stranger().request("POST", "/token", headers, body).await
}

/// Status and `error` of a refusal; the answer must not be keepable and must hold no token.
fn refusal(response: &HttpResponse) -> (u16, String) {
    let body = response.json();
    assert_eq!(body.get("access_token"), None);
    assert_eq!(response.header("location"), None);
    (response.status, body["error"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a6_02_only_client_credentials_and_no_redirects() {
    let desk = TestApp::start();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let client = format!("client_id={id}&client_secret={secret}");
    let grants = [
        "implicit",
        "token",
        "password",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "CLIENT_CREDENTIALS",
        "client_credentials ",
    ];
    for grant in grants {
        let body = format!("grant_type={grant}&{client}&username=a&password=b&code=c&refresh_token=d");
        let response = post(&desk, &[FORM], &body).await;
        assert_eq!(refusal(&response), (400, "unsupported_grant_type".to_owned()), "{grant}");
    }
    // Those of people are not for a client that acts for itself.
    for grant in ["authorization_code", "refresh_token"] {
        let body = format!("grant_type={grant}&{client}&code=c&refresh_token=d");
        assert_eq!(refusal(&post(&desk, &[FORM], &body).await), (400, "unauthorized_client".to_owned()), "{grant}");
    }
    assert_eq!(refusal(&post(&desk, &[FORM], &client).await), (400, "invalid_request".to_owned()));

    let mut stranger = desk.stranger();
    for kind in ["token", "code", "code%20token", "id_token", ""] {
        let there = "redirect_uri=https%3A%2F%2Fevil.example&state=s&response_mode=fragment";
        let target = format!("/authorize?response_type={kind}&client_id={id}&{there}");
        let response = stranger.get(&target).await;
        assert_eq!((response.status, response.header("location")), (400, None), "{kind}");
        assert!(!response.text().contains("evil.example"));
    }
    let server = stranger.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(server["response_types_supported"], json!(["code"]));
    assert_eq!(server["grant_types_supported"], json!(["authorization_code", "refresh_token", "client_credentials"]));
}

#[tokio::test]
async fn a6_04_a_client_authenticates_and_gets_registered_scopes() {
    let desk = TestApp::start();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let grant = "grant_type=client_credentials";
    let basic = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
    let response = post(&desk, &[FORM, ("authorization", &basic)], &format!("{grant}&scope={WRITE_LEADS}")).await;
    assert_eq!((response.status, response.json()["scope"].clone()), (200, json!(WRITE_LEADS)));

    // O12, O24: twice, by two ways, or in the address is not at all.
    let invalid = (400, "invalid_request".to_owned());
    let good = format!("{grant}&client_id={id}&client_secret={secret}");
    for extra in [grant, &format!("client_secret={secret}"), &format!("client_id={id}"), "scope=a&scope=b", "x=1&x=1"] {
        assert_eq!(refusal(&post(&desk, &[FORM], &format!("{good}&{extra}")).await), invalid, "{extra}");
    }
    let twice = format!("{good}&resource=a&resource=b");
    assert_eq!(refusal(&post(&desk, &[FORM], &twice).await), (400, "invalid_target".to_owned()));
    let header = ("authorization", basic.as_str());
    assert_eq!(refusal(&post(&desk, &[FORM, header], &good).await), invalid);
    assert_eq!(refusal(&post(&desk, &[FORM, header, header], grant).await), invalid);
    assert_eq!(refusal(&post(&desk, &[FORM, header], &format!("{grant}&client_id=other")).await), invalid);
    let mut stranger = desk.stranger();
    for target in [format!("/token?{good}"), format!("/token?client_secret={secret}"), "/token?x".to_owned()] {
        assert_eq!(refusal(&stranger.request("POST", &target, &[FORM], &good).await), invalid, "{target}");
    }
    for broken in ["grant_type", "%zz=1", "a=%ff", "&&", "grant_type=client_credentials%00"] {
        assert_eq!(post(&desk, &[FORM], &format!("{broken}&client_id={id}&client_secret={secret}")).await.status, 400);
    }
    let json = json!({"grant_type": "client_credentials", "client_id": id, "client_secret": secret}).to_string();
    assert_eq!(post(&desk, &[("content-type", "application/json")], &json).await.status, 415);
    assert_eq!(stranger.get(&format!("/token?{good}")).await.status, 405);
    assert_eq!(post(&desk, &[FORM], &"a".repeat(20_000)).await.status, 413);
}

#[tokio::test]
async fn a6_08_a_token_has_the_requested_or_the_default_scope() {
    let desk = TestApp::start();
    let (id, secret, dealership) = desk.credentials(DemoTenant::Lakeside);
    let scope = async |asked: &str| desk.request_token(&id, &secret, asked).await.json()["scope"].clone();
    assert_eq!(scope("").await, json!("amcp:inventory:read"));
    assert_eq!(scope(READ_LEADS).await, json!("amcp:leads:read"));
    assert_eq!(scope("amcp:leads:write amcp:inventory:read").await, json!("amcp:inventory:read amcp:leads:write"));
    assert_eq!(scope("amcp:leads:read amcp:leads:read").await, json!("amcp:leads:read"));
    assert_eq!(scope(EVERYTHING).await, json!(EVERYTHING));

    // S6, S7: nearly a scope is none, and none is added.
    let tricks = [
        "amcp:leads:writeX",
        "AMCP:LEADS:WRITE",
        "amcp:leads:*",
        "amcp:*:read",
        "amcp:leads",
        "amcp:fni:read",
        "admin",
        "openid",
        "offline_access",
        "amcp:leads:read  amcp:leads:write",
        " amcp:leads:read",
        "amcp:leads:read ",
        "amcp:leads:read%09amcp:leads:write",
        "amcp:leads:read%0Aamcp:leads:write",
        "amcp:leads:read,amcp:leads:write",
        "amcp:leads:read%00",
        "amcp:l%D0%B5ads:read",
        "amcp:fni:read openid",
    ];
    for asked in tricks {
        let response = desk.request_token(&id, &secret, asked).await;
        assert_eq!(refusal(&response), (400, "invalid_scope".to_owned()), "{asked}");
    }

    // S7: what the client may not have is left out, and the answer says so.
    assert_eq!(scope("amcp:inventory:read amcp:fni:read").await, json!("amcp:inventory:read"));
    let narrow = desk.add_client(&[&dealership], WRITE_LEADS);
    let narrowed = desk.request_token(&narrow.0, &narrow.1, EVERYTHING).await.json();
    assert_eq!(narrowed["scope"], json!(WRITE_LEADS));
    let mut agent = desk.agent_of_client(&narrow, EVERYTHING).await;
    assert_eq!(agent.send("tools/call", json!({"name": "leads.list", "arguments": {}})).await.status, 403);
    for asked in [READ_LEADS, READ_STOCK, ""] {
        let response = desk.request_token(&narrow.0, &narrow.1, asked).await;
        assert_eq!(refusal(&response), (400, "invalid_scope".to_owned()), "{asked}");
    }
    assert_eq!(desk.request_token(&narrow.0, &narrow.1, WRITE_LEADS).await.json()["scope"], json!(WRITE_LEADS));
}

#[tokio::test]
async fn all_failed_client_authentications_answer_alike() {
    let desk = TestApp::start();
    let (id, secret, dealership) = desk.credentials(DemoTenant::Lakeside);
    let (_, others, _) = desk.credentials(DemoTenant::Summit);
    let gone = desk.add_client(&[&dealership], READ_STOCK);
    assert_eq!(desk.command(&["client", "revoke", &gone.0]).0, Some(0));
    let cases = [
        (id.as_str(), "wrong"),
        (&id, &others),
        (&id, &secret.to_uppercase()),
        (&id, &secret[..secret.len() - 1]),
        (&id.to_uppercase(), &secret),
        ("cli_unknown", &secret),
        ("'%20OR%201%3D1--", &secret),
        (&gone.0, &gone.1),
        ("", &secret),
        (&id, ""),
    ];
    let mut answers: Vec<(u16, String, Value)> = Vec::new();
    for (id, secret) in cases {
        let response = desk.request_token(id, secret, READ_STOCK).await;
        let told = |(name, _): &(String, String)| name != "date" && name != "x-trace-id";
        let headers = response.headers.iter().filter(|header| told(header));
        let headers = headers.map(|(name, value)| format!("{name}: {value}\n")).collect();
        answers.push((response.status, headers, response.json()));
    }
    assert_eq!((answers[0].0, answers[0].2["error"].clone()), (401, json!("invalid_client")));
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
    }
}
