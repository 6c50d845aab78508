//! Tokens: one live one, sent in one way, for this very address. Anything else is nobody.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::requests::{PING, bare, pings};
use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{DemoTenant, EVERYTHING, PATH, READ_STOCK, TestApp};

const INVALID: &str =
    "The access token is invalid for this resource or has expired. Request a new one from the token endpoint.";
const UNUSABLE: &str = "The access token must be sent once, as `Authorization: Bearer`, and nowhere else.";

fn is_refused(desk: &TestApp, case: &str, response: &HttpResponse, message: &str) {
    let body = json!({"error": {"code": "auth.unauthorized", "message": message, "details": {"retryable": false}}});
    assert_eq!((response.status, response.json()), (401, body), "{case}");
    let metadata =
        format!("https://localhost:{}/.well-known/oauth-protected-resource/mcp/automotive", desk.address.port());
    let challenge = format!("Bearer error=\"invalid_token\", resource_metadata=\"{metadata}\", scope=\"{EVERYTHING}\"");
    assert_eq!(response.header("www-authenticate"), Some(challenge.as_str()), "{case}");
    assert_eq!(response.header("cache-control"), Some("no-store"), "{case}");
}

#[tokio::test]
async fn a6_05_challenge_without_token_leads_to_token_endpoint() {
    let desk = TestApp::start();
    let origin = format!("https://localhost:{}", desk.address.port());
    let response = bare(&desk, &[]).await;
    assert_eq!(
        (response.status, response.text()),
        (
            401,
            r#"{"error":{"code":"auth.unauthorized","message":"An access token is required: send it as `Authorization: Bearer`.","details":{"retryable":false}}}"#
        )
    );
    let metadata = "/.well-known/oauth-protected-resource/mcp/automotive";
    assert_eq!(
        response.header("www-authenticate"),
        Some(format!("Bearer resource_metadata=\"{origin}{metadata}\", scope=\"{EVERYTHING}\"").as_str())
    );
    let resource = desk.stranger().get(metadata).await.json();
    assert_eq!(resource["resource"], json!(format!("{origin}{PATH}")));
    assert_eq!(resource["authorization_servers"], json!([origin]));
    assert_eq!(resource["bearer_methods_supported"], json!(["header"]));
    let server = desk.stranger().get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(server["issuer"], json!(origin));
    assert_eq!(server["token_endpoint"], json!(format!("{origin}/token")));
    for verb in ["GET", "DELETE", "PUT", "OPTIONS", "PATCH", "TRACE", "BREW"] {
        assert_eq!(desk.stranger().request(verb, PATH, &[], "").await.status, 401, "{verb}");
    }
}

#[tokio::test]
async fn a6_05_only_one_authorization_header_carries_a_token() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    assert_eq!(pings(&mut agent).await, 200);
    let token = agent.token.clone();
    let bearer = format!("Bearer {token}");
    let twice = [("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
    is_refused(&desk, "twice", &bare(&desk, &twice).await, UNUSABLE);
    let stale = [("authorization", "Bearer stale"), ("authorization", bearer.as_str())];
    is_refused(&desk, "the good one last", &bare(&desk, &stale).await, UNUSABLE);

    let mut stranger = desk.stranger();
    let json = [("content-type", "application/json")];
    let both = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    let target = format!("{PATH}?access_token={token}");
    is_refused(&desk, "in the query", &stranger.request("POST", &target, &json, PING).await, UNUSABLE);
    is_refused(&desk, "in both", &stranger.request("POST", &target, &both, PING).await, UNUSABLE);
    let escaped = format!("{PATH}?access%5Ftoken={token}");
    assert_eq!(stranger.request("POST", &escaped, &json, PING).await.status, 401);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(stranger.request("POST", PATH, &form, format!("access_token={token}")).await.status, 401);
    for name in ["x-access-token", "cookie", "proxy-authorization", "x-authorization", "mcp-session-id"] {
        assert_eq!(bare(&desk, &[(name, &bearer)]).await.status, 401, "{name}");
        assert_eq!(bare(&desk, &[(name, &format!("access_token={token}"))]).await.status, 401, "{name}");
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"authorization": bearer}}});
    assert_eq!(stranger.request("POST", PATH, &json, body.to_string()).await.status, 401);
}

#[tokio::test]
async fn a6_06_every_invalid_token_gets_the_same_answer() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let token = agent.token.clone();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let unusable = [
        String::from("Bearer"),
        format!("Bearer\t{token}"),
        format!("Bearer  {token}"),
        format!("Bearer {token} {token}"),
        format!("Bearer {token},"),
        format!("Bearer \"{token}\""),
        format!("Bearer {token}\u{e9}"),
        format!("Bearer {token};x=1"),
        format!("Bearer:{token}"),
        format!("Token {token}"),
        format!("DPoP {token}"),
        format!("Basic {}", STANDARD.encode(format!("{id}:{secret}"))),
        token.clone(),
    ];
    for value in &unusable {
        is_refused(&desk, value, &bare(&desk, &[("authorization", value)]).await, UNUSABLE);
    }
    let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.eyJzdWIiOiJhZG1pbiIsInNjb3BlIjoiYW1jcDpsZWFkczpyZWFkIn0.";
    let mut invalid = vec![
        unsigned.to_owned(),
        token.to_uppercase(),
        token.to_lowercase(),
        format!("{token}="),
        format!("token={token}"),
        format!("={token}"),
        format!("{token}A"),
        token[..token.len() - 1].to_owned(),
        token[1..].to_owned(),
        token.repeat(2),
        "A".repeat(10_000),
        secret,
        id,
        "null".to_owned(),
        "..".to_owned(),
    ];
    // Every letter of it counts.
    invalid.extend((0..token.len()).map(|at| {
        let other = if token.as_bytes()[at] == b'A' { "B" } else { "A" };
        format!("{}{other}{}", &token[..at], &token[at + 1..])
    }));
    for value in &invalid {
        let bearer = format!("Bearer {value}");
        is_refused(&desk, value, &bare(&desk, &[("authorization", &bearer)]).await, INVALID);
    }
    assert_eq!(pings(&mut agent).await, 200);
    assert_eq!(bare(&desk, &[("authorization", &format!("bEARER {token}"))]).await.status, 200);
}

#[tokio::test]
async fn a6_01_a6_06_a_token_lives_as_long_as_it_says_and_no_longer() {
    let (desk, lifetime) = (TestApp::start_with(&[("FRONTDESK_TOKEN_LIFETIME_SECONDS", "3")]), Duration::from_secs(3));
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let asked = Instant::now();
    let granted = desk.request_token(&id, &secret, READ_STOCK).await.json();
    let given = Instant::now();
    assert_eq!(granted["expires_in"], json!(3));
    let bearer = format!("Bearer {}", granted["access_token"].as_str().unwrap());
    let header = [("authorization", bearer.as_str())];
    // Looked up again and again, and each time believed for a second: the end comes all the same, and not before.
    let refused = loop {
        let began = Instant::now();
        let response = bare(&desk, &header).await;
        if response.status != 200 {
            break response;
        }
        assert!(began - given < lifetime, "let in {:?} after it was given", began - given);
        sleep(Duration::from_millis(50)).await;
    };
    is_refused(&desk, "expired", &refused, INVALID);
    // The desk counts in whole milliseconds.
    assert!(asked.elapsed() + Duration::from_millis(1) >= lifetime, "refused after {:?}", asked.elapsed());
}

#[tokio::test]
async fn a6_01_a_token_lives_five_minutes_by_default() {
    let desk = TestApp::start();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let response = desk.request_token(&id, &secret, READ_STOCK).await;
    let granted = response.json();
    assert_eq!(granted["expires_in"], json!(300));
    assert_eq!(granted["token_type"], json!("Bearer"));
    assert_eq!(granted.get("refresh_token"), None);
    assert_eq!(response.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn a6_06_revocation_by_the_owner_takes_effect_in_a_second() {
    let desk = TestApp::start();
    let mut agent = desk.weak_agent().await;
    let mut second = desk.weak_agent().await;
    let mut other = desk.agent_of(DemoTenant::Summit, READ_STOCK).await;
    let revoke = async |house: DemoTenant, token: &str| {
        let (id, secret, _) = desk.credentials(house);
        let form = format!("client_id={id}&client_secret={secret}&token={token}");
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let response = desk.stranger().request("POST", "/revoke", &headers, form).await;
        (response.status, response.text().to_owned())
    };
    assert_eq!((pings(&mut agent).await, pings(&mut second).await, pings(&mut other).await), (200, 200, 200));
    // Somebody else's token, or none at all, is answered just the same and lives on.
    assert_eq!(revoke(DemoTenant::Summit, &agent.token).await, (200, String::new()));
    assert_eq!(revoke(DemoTenant::Summit, "nonsense").await, (200, String::new()));
    sleep(Duration::from_millis(1050)).await;
    assert_eq!(pings(&mut agent).await, 200);
    assert_eq!(revoke(DemoTenant::Lakeside, &agent.token).await, (200, String::new()));
    sleep(Duration::from_secs(1)).await;
    assert_eq!((pings(&mut agent).await, pings(&mut second).await, pings(&mut other).await), (401, 200, 200));

    let (id, _, _) = desk.credentials(DemoTenant::Lakeside);
    let (code, _, errors) = desk.command(&["client", "revoke", &id]);
    assert_eq!(code, Some(0), "{errors}");
    sleep(Duration::from_secs(1)).await;
    assert_eq!((pings(&mut second).await, pings(&mut other).await), (401, 200));
}

#[tokio::test]
async fn a6_06_a_rotated_secret_ends_the_tokens_that_the_old_one_got() {
    let desk = TestApp::start();
    let mut agent = desk.weak_agent().await;
    assert_eq!(pings(&mut agent).await, 200);
    let (id, old, _) = desk.credentials(DemoTenant::Lakeside);
    let (code, _, errors) = desk.command(&["client", "rotate", &id]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(desk.request_token(&id, &old, READ_STOCK).await.status, 401);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(pings(&mut agent).await, 401);
}

#[tokio::test]
async fn a6_05_a_token_is_valid_only_for_its_resource() {
    let desk = TestApp::start_with(&[("FRONTDESK_MOUNT", "automotive=/mcp/automotive,automotive=/mcp/second")]);
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let origin = format!("https://localhost:{}", desk.address.port());
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let ask = async |resource: &str| {
        let body = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}&resource={resource}");
        desk.stranger().request("POST", "/token", &form, body).await
    };
    let visit = async |path: &str, token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
        desk.stranger().request("POST", path, &headers, PING).await.status
    };
    for (own, foreign) in [("/mcp/automotive", "/mcp/second"), ("/mcp/second", "/mcp/automotive")] {
        let granted = ask(&format!("{origin}{own}")).await.json();
        let token = granted["access_token"].as_str().unwrap();
        assert_eq!((visit(own, token).await, visit(foreign, token).await), (200, 401));
    }
    let near =
        ["/", "/mcp", "/mcp/", "/mcp/automotive/", "/mcp/automotive?x", "/mcp/automotive%23x", "/MCP/automotive"];
    let elsewhere = ["https://evil.example/mcp/automotive", "http://localhost/mcp/automotive", "x"];
    for resource in near.map(|path| format!("{origin}{path}")).iter().map(String::as_str).chain(elsewhere) {
        let response = ask(resource).await;
        assert_eq!((response.status, response.json()["error"].clone()), (400, json!("invalid_target")), "{resource}");
    }
}
