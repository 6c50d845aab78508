//! The same order twice happens once: what counts as the same, for whom, and how it is answered.

use serde_json::{Value, json};

use frontdesk_testkit::app::{EVERYTHING, TestAgent, TestApp, WRITE_LEADS};

use super::requests::{count, keyed, lead, structured, text};

async fn raw(agent: &mut TestAgent, arguments: &str, headers: &[(&str, &str)]) -> String {
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"leads.create\",\"arguments\":{arguments}}}}}"
    );
    let response = agent.post(&body, headers).await;
    assert_eq!(response.status, 200, "{}", response.text());
    structured(response.text())
}

fn code(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer["error"]["code"].as_str().unwrap_or_else(|| panic!("no error: {answer}")).to_owned()
}

#[tokio::test]
async fn one_key_and_one_meaning_answer_with_the_same_bytes() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let leads = count(&mut agent, "leads.list").await;
    let first = raw(
        &mut agent,
        r#"{"contact":{"name":"Dana Rivera","email":"dana@example.com"},"interest":"buy",
            "consent":{"granted":true,"channels":["email"]},"comments":"caf\u00e9","idempotency_key":"k-1"}"#,
        &[],
    )
    .await;
    assert!(first.contains("\"id\":\"led_"), "{first}");
    // Another order of keys, other white space, other escapes, the dealership named: the same meaning.
    let others = [
        r#"{"idempotency_key":"k-1","comments":"café","consent":{"channels":["email"],"granted":true},"interest":"buy","contact":{"email":"dana@example.com","name":"Dana Rivera"}}"#,
        "{ \"contact\" : {\"name\":\"Dana Rivera\",\r\n\t\"email\":\"dana@example.com\"} , \"interest\":\"buy\", \"dealership_id\":\"dlr_lakeside\",
            \"consent\":{\"granted\":true,\"channels\":[ \"email\" ]},\"comments\":\"caf\\u00E9\",\"idempotency_key\":\"k\\u002d1\"}",
    ];
    for other in others {
        assert_eq!(raw(&mut agent, other, &[]).await, first);
    }
    // The header carries the same key.
    let bare = r#"{"contact":{"name":"Dana Rivera","email":"dana@example.com"},"interest":"buy",
        "consent":{"granted":true,"channels":["email"]},"comments":"café"}"#;
    assert_eq!(raw(&mut agent, bare, &[("idempotency-key", "k-1")]).await, first);
    assert_eq!(raw(&mut agent, others[0], &[("Idempotency-Key", "k-1")]).await, first);
    assert_eq!(count(&mut agent, "leads.list").await, leads + 1);
    // Without a key every call is a new one.
    assert_ne!(raw(&mut agent, bare, &[]).await, raw(&mut agent, bare, &[]).await);
    assert_eq!(count(&mut agent, "leads.list").await, leads + 3);
}

#[tokio::test]
async fn a3_23_a_key_with_another_body_is_a_conflict() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let mut first = keyed("Dana Rivera", "k-1");
    first["consent"]["channels"] = json!(["email", "sms"]);
    first["comments"] = json!("call me");
    let answer = text(&mut agent, "leads.create", first.clone()).await;
    let leads = count(&mut agent, "leads.list").await;
    let changed = |pointer: &str, value: Value| {
        let mut body = first.clone();
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    let mut shorter = first.clone();
    shorter.as_object_mut().unwrap().remove("comments");
    let mut longer = first.clone();
    longer["timeframe"] = json!("within_week");
    let others = [
        changed("/contact/name", json!("dana rivera")),
        changed("/contact/email", json!("dana.rivera@example.org")),
        changed("/interest", json!("lease")),
        changed("/consent/channels", json!(["sms", "email"])),
        changed("/comments", json!("call me ")),
        shorter,
        longer,
    ];
    for other in others {
        assert_eq!(agent.code("leads.create", other.clone()).await, "request.idempotency_conflict", "{other}");
    }
    assert_eq!(count(&mut agent, "leads.list").await, leads);
    assert_eq!(text(&mut agent, "leads.create", first).await, answer);
}

#[tokio::test]
async fn two_different_keys_or_an_invalid_key_are_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let leads = count(&mut agent, "leads.list").await;
    let mut body = lead("Dana Rivera");
    assert_eq!(
        code(&raw(&mut agent, &keyed("D", "k-1").to_string(), &[("idempotency-key", "k-2")]).await),
        "request.invalid"
    );
    let bare = body.to_string();
    let long = "k".repeat(256);
    for header in ["", "two words", &long, "clé"] {
        let answer = raw(&mut agent, &bare, &[("idempotency-key", header)]).await;
        assert_eq!(code(&answer), "request.invalid", "{header:.20}");
    }
    // A header sent twice names two keys, or leaves open which one is meant.
    let answer = raw(&mut agent, &bare, &[("idempotency-key", "k-3"), ("idempotency-key", "k-4")]).await;
    assert_eq!(code(&answer), "request.invalid");
    for key in [
        json!(""),
        json!("two words"),
        json!(long),
        json!("clé"),
        json!(7),
        json!(null),
        json!("a\nb"),
        json!("a\u{0}"),
    ] {
        body["idempotency_key"] = key.clone();
        assert_eq!(agent.code("leads.create", body.clone()).await, "request.invalid", "{key:.20}");
    }
    assert_eq!(count(&mut agent, "leads.list").await, leads);
    body["idempotency_key"] = json!("k".repeat(255));
    assert!(agent.call("leads.create", body).await["id"].is_string());
}

#[tokio::test]
async fn a_call_that_failed_has_not_used_its_key() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let good = keyed("Dana Rivera", "k-1");
    let mut unconsented = good.clone();
    unconsented["consent"]["granted"] = json!(false);
    let mut nowhere = good.clone();
    nowhere["vehicle_id"] = json!("veh_0");
    let mut wrong = good.clone();
    wrong["interest"] = json!("steal");
    for (body, expected) in
        [(unconsented, "consent.required"), (nowhere, "inventory.not_found"), (wrong, "request.invalid")]
    {
        assert_eq!(agent.code("leads.create", body).await, expected);
    }
    let made = text(&mut agent, "leads.create", good.clone()).await;
    assert_eq!(text(&mut agent, "leads.create", good).await, made);
}

#[tokio::test]
async fn a_key_belongs_to_its_client_and_its_tool() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let other = desk.add_client(&["dlr_lakeside"], EVERYTHING);
    let mut other = desk.agent_of_client(&other, EVERYTHING).await;
    let mine = agent.call("leads.create", keyed("Dana Rivera", "k-1")).await;
    let yours = other.call("leads.create", keyed("Dana Rivera", "k-1")).await;
    assert_ne!(mine["id"], yours["id"]);
    let another = other.call("leads.create", keyed("Dana Rivera", "k-1")).await;
    assert_eq!(another, yours);
    // Under another tool the key is new.
    let update = json!({"id": mine["id"], "status": "working", "idempotency_key": "k-1"});
    assert_eq!(agent.call("leads.update", update).await["version"], json!(2));
    // A new token of the same client is the same client.
    let mut again = desk.agent().await;
    assert_eq!(again.call("leads.create", keyed("Dana Rivera", "k-1")).await, mine);
}

#[tokio::test]
async fn a_repeated_change_answers_as_the_first_time() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let id = agent.call("leads.create", lead("Dana Rivera")).await["id"].clone();
    let change = json!({"id": id, "status": "working", "expected_version": 1, "idempotency_key": "u-1"});
    let first = text(&mut agent, "leads.update", change.clone()).await;
    agent.call("leads.update", json!({"id": id, "status": "sold"})).await;
    // Its own version is long gone, and still the retry is no conflict.
    assert_eq!(text(&mut agent, "leads.update", change.clone()).await, first);
    let now = agent.call("leads.get", json!({"id": id})).await;
    assert_eq!((&now["status"], &now["version"]), (&json!("sold"), &json!(3)));
    let mut fresh = change;
    fresh["idempotency_key"] = json!("u-2");
    assert_eq!(agent.code("leads.update", fresh).await, "request.version_conflict");
}

#[tokio::test]
async fn a_repeated_answer_shows_no_more_than_the_token_may_see() {
    let desk = TestApp::start();
    let mut reader = desk.agent().await;
    let mut writer = desk.agent_with(WRITE_LEADS).await;
    let full = reader.call("leads.create", keyed("Dana Rivera", "k-1")).await;
    assert_eq!((&full["contact"]["name"], &full["redacted"]), (&json!("Dana Rivera"), &json!([])));
    let receipt = writer.call("leads.create", keyed("Dana Rivera", "k-1")).await;
    assert_eq!(receipt["id"], full["id"]);
    assert_eq!((receipt.get("contact"), receipt.get("interest")), (None, None));
    // And the other way round: what was first answered with a receipt can be repeated in full.
    let receipt = writer.call("leads.create", keyed("Lee Chen", "k-2")).await;
    assert_eq!((receipt.get("contact"), receipt.get("interest")), (None, None));
    let full = reader.call("leads.create", keyed("Lee Chen", "k-2")).await;
    assert_eq!((&full["id"], &full["contact"]["name"]), (&receipt["id"], &json!("Lee Chen")));
}
