//! Canaries: personal data and secrets put into every input there is, then looked for wherever they must not be.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::corpus::declared_input;
use crate::requests::{a_lead, log_of};
use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{DemoTenant, PATH, TestAgent, TestApp};

const NAME: &str = "Zanzibara Quetzalwing";
const EMAIL: &str = "quetzalwing@example.org";
const PHONE: &str = "+15125550187";
const NUMBER: &str = "078-05-1120";
const VIN: &str = "1HGCM82633A004352";
const WORDS: &str = "call me after my divorce";
const KEY: &str = "quetzal-key-8f1d";
const PASSWORD: &str = "hunter2-quetzal";

const CANARIES: [&str; 8] = [NAME, EMAIL, PHONE, NUMBER, VIN, WORDS, KEY, PASSWORD];

/// The texts of a caller's own that stand open: ids, which can hold no name, address, number or sentence.
const OPEN: [&str; 2] = ["/owner/id", "/order_number"];
const LIKE_AN_ID: [&str; 4] = [NUMBER, VIN, KEY, PASSWORD];

const UNLIMITED: [(&str, &str); 2] =
    [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"), ("FRONTDESK_LIMITS_BURST", "1000000")];

/// The canary in this text, also where it was split into words, changed in case or escaped.
fn canary_in(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let mut parts = CANARIES.into_iter().chain(["Zanzibara", "Quetzalwing", "quetzal", "5550187", "15125550187"]);
    parts.find(|canary| text.contains(&canary.to_lowercase()))
}

fn silent(case: &str, response: &HttpResponse) {
    let headers: String = response.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    assert_eq!(canary_in(&headers), None, "{case}: {headers}");
    assert_eq!(canary_in(response.text()), None, "{case}: {}", response.text());
}

fn silent_if_refused(case: &str, response: &HttpResponse) {
    let refused = response.status != 200 || response.text().contains("\"error\"");
    if refused {
        silent(case, response);
    }
}

#[tokio::test]
async fn a6_14_a6_15_input_is_in_no_error_log_audit_or_file() {
    let desk = TestApp::start_with(&UNLIMITED);
    let mut agent = desk.agent().await;
    let id = keep_somebody(&mut agent).await;
    every_argument(&mut agent, &id).await;
    every_other_place(&desk, &mut agent).await;
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let token = agent.token.clone();
    drop(agent);
    let (status, export, errors) = desk.command(&["audit", "export"]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(export.lines().count() > 1000, "{}", export.lines().count());
    assert_eq!(canary_in(&export), None);
    let log = desk.log();
    assert!(log.lines().count() > 1000);
    assert_eq!(canary_in(&log), None);
    for text in [&export, &log] {
        assert!(!text.contains(&secret) && !text.contains(&token));
        assert!(text.contains(&id));
    }
    every_file(&desk.data(), &[&secret, &token]);
    // Also after the database has put its files in order.
    let desk = desk.restart();
    every_file(&desk.data(), &[&secret, &token]);
}

/// A lead with a canary in each of its personal fields, created, repeated, changed, found and read.
async fn keep_somebody(agent: &mut TestAgent) -> String {
    let lead = json!({
        "contact": {"name": NAME, "email": EMAIL, "phone": PHONE},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email", "sms"], "text": format!("{WORDS} {PASSWORD}")},
        "source": {"channel": "third_party", "provider": format!("{NAME} {PHONE}"), "external_id": EMAIL},
        "vehicle_of_interest": {"make": NAME, "model": NUMBER},
        "comments": format!("{WORDS} {NUMBER} {VIN}"),
        "idempotency_key": KEY
    });
    let kept = agent.call("leads.create", lead.clone()).await;
    assert_eq!(agent.call("leads.create", lead.clone()).await, kept);
    let mut other = lead;
    other["comments"] = json!(NUMBER);
    silent("conflict", &agent.send("tools/call", json!({"name": "leads.create", "arguments": other})).await);
    let id = kept["id"].as_str().unwrap().to_owned();
    let owner = json!({"id": "emp_03", "name": NAME});
    let change = json!({"id": id, "owner": owner, "comments": format!("{WORDS} {VIN}"), "idempotency_key": KEY});
    agent.call("leads.update", change).await;
    let kept = agent.call("leads.get", json!({"id": id})).await;
    assert_eq!((&kept["contact"]["name"], &kept["owner"]), (&json!(NAME), &owner));
    assert_eq!((&kept["source"]["external_id"], &kept["vehicle_of_interest"]["make"]), (&json!(EMAIL), &json!(NAME)));
    for filter in [json!({"email": EMAIL}), json!({"phone": PHONE})] {
        let response = agent.send("tools/call", json!({"name": "leads.list", "arguments": filter})).await;
        silent("found", &response);
        assert_eq!(response.json()["result"]["structuredContent"]["items"][0]["id"], json!(id));
    }
    id
}

/// Every text in every tool's schema, and every place for another, holds each canary once.
async fn every_argument(agent: &mut TestAgent, lead: &str) {
    let tools = agent.result("tools/list", json!({})).await;
    let order = agent.call("parts.create_order", a_part_order()).await["id"].clone();
    let mut calls = 0;
    for tool in tools["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let mut places = Vec::new();
        leaves(&declared_input(name), "", &mut places);
        for place in &places {
            for canary in
                CANARIES.into_iter().filter(|canary| !OPEN.contains(&place.as_str()) || !LIKE_AN_ID.contains(canary))
            {
                for value in [json!(canary), json!([canary]), json!({canary: canary})] {
                    let mut arguments = match name {
                        "leads.create" => a_lead(),
                        "leads.update" => json!({"id": lead, "status": "working"}),
                        "parts.create_order" => a_part_order(),
                        "parts.update_order" | "parts.cancel_order" => json!({"id": order}),
                        _ => json!({}),
                    };
                    put(&mut arguments, place, value);
                    let case = format!("{name} {arguments}");
                    let response = agent.send("tools/call", json!({"name": name, "arguments": arguments})).await;
                    silent_if_refused(&case, &response);
                    calls += 1;
                }
            }
        }
        for canary in CANARIES {
            let response =
                agent.send("tools/call", json!({"name": name, "arguments": {canary: {canary: canary}}})).await;
            silent(name, &response);
        }
    }
    assert!(calls > 1000, "{calls}");
}

fn a_part_order() -> Value {
    json!({"lines": [{"part_number": "94109-14000", "quantity": 1}], "allow_backorder": true})
}

fn leaves(schema: &Value, place: &str, found: &mut Vec<String>) {
    match schema["properties"].as_object() {
        Some(properties) => {
            properties.iter().for_each(|(name, shape)| leaves(shape, &format!("{place}/{name}"), found))
        }
        None => found.push(place.to_owned()),
    }
}

fn put(arguments: &mut Value, place: &str, value: Value) {
    let mut at = arguments;
    for name in place.split('/').skip(1) {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[name];
    }
    *at = value;
}

/// Everywhere but in arguments: names, addresses, headers, credentials, broken messages.
async fn every_other_place(desk: &TestApp, agent: &mut TestAgent) {
    let mut stranger = desk.stranger();
    let house = agent.dealership.clone();
    for canary in CANARIES {
        let requests = [
            ("tools/call", json!({"name": canary, "arguments": {"a": canary}})),
            ("tools/call", json!({"name": [canary]})),
            ("tools/call", json!({"name": "leads.get", "arguments": canary})),
            ("resources/read", json!({"uri": canary})),
            ("resources/read", json!({"uri": format!("amcp://{house}/leads/{canary}")})),
            ("resources/read", json!({"uri": format!("amcp://{canary}/leads")})),
            ("resources/list", json!({"cursor": canary})),
            ("tools/list", json!({"cursor": canary})),
            ("prompts/get", json!({"name": canary})),
            ("logging/setLevel", json!({"level": canary})),
            ("initialize", json!({"protocolVersion": [canary]})),
            ("initialize", json!({"protocolVersion": canary, "clientInfo": {"name": canary, "version": canary}})),
            (
                "tools/call",
                json!({"name": "inventory.list", "arguments": {"limit": 1}, "_meta": {"progressToken": canary, canary: canary}}),
            ),
            (canary, json!({canary: canary})),
        ];
        for (method, params) in requests {
            silent(&format!("{method} {params}"), &agent.send(method, params.clone()).await);
        }
        let notification =
            json!({"jsonrpc": "2.0", "method": canary, "params": {"reason": canary, "requestId": canary}});
        silent("notification", &agent.post(&notification.to_string(), &[]).await);
        for broken in [
            format!("{{\"{canary}"),
            format!("\"{canary}\""),
            format!("{{\"{canary}\":1,\"{canary}\":2}}"),
            canary.to_owned(),
        ] {
            silent("broken", &agent.post(&broken, &[]).await);
        }
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for name in [
            "user-agent",
            "x-request-id",
            "traceparent",
            "mcp-session-id",
            "mcp-name",
            "mcp-method",
            "idempotency-key",
            "accept",
            "host",
            "origin",
            "cookie",
            "referer",
            "x-forwarded-for",
            "x-forwarded-proto",
            "content-encoding",
        ] {
            silent(name, &agent.post(ping, &[(name, canary)]).await);
        }
        let escaped = canary.replace(' ', "%20").replace('@', "%40").replace('+', "%2B");
        for path in [
            format!("/{escaped}"),
            format!("/?q={escaped}"),
            format!("{PATH}?access_token={escaped}"),
            format!("/authorize?state={escaped}&redirect_uri={escaped}"),
        ] {
            silent(&path, &stranger.get(&path).await);
        }
        let bearer = format!("Bearer {canary}");
        silent("bearer", &stranger.request("POST", PATH, &[("authorization", bearer.as_str())], ping).await);
        silent("secret", &desk.request_token(&escaped, &escaped, &escaped).await);
        let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
        silent("scope", &desk.request_token(&id, &secret, &escaped).await);
        let revoke = format!("client_id={id}&client_secret={secret}&token={escaped}&{escaped}={escaped}");
        let form = [("content-type", "application/x-www-form-urlencoded")];
        silent("revoke", &stranger.request("POST", "/revoke", &form, revoke).await);
    }
    // The protocol wants an unknown version repeated; the log does not.
    agent.post(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, &[("mcp-protocol-version", NAME)]).await;
}

fn every_file(folder: &Path, secrets: &[&str]) {
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            every_file(&path, secrets);
        } else if path.is_file() {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert_eq!(canary_in(&text), None, "{}", path.display());
            assert!(!secrets.iter().any(|secret| text.contains(secret)), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 0);
}

#[tokio::test]
async fn a6_16_a_cursor_holds_no_filter_and_no_name_in_any_form() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for _ in 0..2 {
        let mut lead = a_lead();
        lead["contact"] = json!({"name": NAME, "email": EMAIL, "phone": PHONE});
        agent.call("leads.create", lead).await;
    }
    let mut lengths = Vec::new();
    for (tool, filter) in [
        ("leads.list", json!({"limit": 1, "email": EMAIL})),
        ("leads.list", json!({"limit": 1, "phone": PHONE})),
        ("leads.list", json!({"limit": 1, "email": EMAIL, "phone": PHONE, "status": "new"})),
        ("customers.list", json!({"limit": 1})),
    ] {
        let first = agent.call(tool, filter.clone()).await;
        let cursor = first["next_cursor"].as_str().unwrap();
        let sealed = URL_SAFE_NO_PAD.decode(cursor).unwrap();
        let inside = String::from_utf8_lossy(&sealed).into_owned();
        for text in [cursor, inside.as_str()] {
            assert_eq!(canary_in(text), None);
            let id = first["items"][0]["id"].as_str().unwrap();
            assert!(!text.contains("email") && !text.contains("leads") && !text.contains(id));
        }
        // The same place is sealed differently each time.
        assert_ne!(agent.call(tool, filter).await["next_cursor"], json!(cursor));
        lengths.push(sealed.len() % 64);
    }
    // Lengths come in steps, so that they tell nothing either.
    assert!(lengths.iter().all(|length| *length == lengths[0]), "{lengths:?}");
}

#[tokio::test]
async fn a6_15_nobody_can_write_lines_of_their_own_into_the_log() {
    let hostile = "x\n{\"outcome\":\"ok\",\"forged\":true}\r\n\u{1b}[2J\u{9b}31m\u{85}\u{2028}";
    for format in ["json", "pretty"] {
        let desk = TestApp::start_with(&[("FRONTDESK_LOG_FORMAT", format)]);
        let mut agent = desk.agent().await;
        // The one of the start, and the one for the token.
        let mut lines = 2;
        for (method, params) in [
            (hostile, json!({})),
            ("tools/call", json!({"name": hostile})),
            ("tools/call", json!({"name": "leads.get", "arguments": {"id": hostile}})),
            ("tools/call", json!({"name": "leads.list", "arguments": {"dealership_id": hostile, "cursor": hostile}})),
            ("resources/read", json!({"uri": hostile})),
        ] {
            agent.send(method, params).await;
            lines += 1;
        }
        desk.request_token("x%0A%7B%22forged%22%3Atrue%7D", "%1B%5B2J", "a%0Ab").await;
        lines += 1;
        let log = log_of(&desk, lines).await;
        assert!(!log.contains("forged"));
        assert!(!log.chars().any(|letter| letter.is_control() && letter != '\n'), "{log:?}");
        assert_eq!(log.lines().count(), lines, "{log}");
        if format == "json" {
            for line in log.lines() {
                assert!(serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object()), "{line}");
            }
        }
    }
}
