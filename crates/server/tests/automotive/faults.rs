//! How calls fail (section 3.5): the same object everywhere, codes from the list, and nothing in the
//! words that does not belong to the caller.

use serde_json::{Value, json};

use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{PATH, TestAgent, TestApp};

use super::requests::{keyed, lead, read};

/// The codes that this version may answer with.
const CODES: &[&str] = &[
    "auth.insufficient_scope",
    "auth.unauthorized",
    "consent.invalid",
    "consent.required",
    "customers.not_found",
    "dealership.forbidden",
    "dealership.required",
    "inventory.not_found",
    "leads.lost_reason_required",
    "leads.not_found",
    "rate_limited",
    "request.header_mismatch",
    "request.idempotency_conflict",
    "request.invalid",
    "request.invalid_cursor",
    "request.malformed",
    "request.not_found",
    "request.not_rpc",
    "request.too_large",
    "request.unknown_method",
    "request.unknown_tool",
    "request.version_conflict",
    "request.wrong_host",
    "request.wrong_media",
    "request.wrong_verb",
    "request.wrong_version",
];

#[tokio::test]
async fn a3_23_tools_fail_with_a_structured_error_inside_their_result() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    assert_eq!(
        agent.call("inventory.get", json!({"id": "veh_0"})).await,
        json!({"error": {
            "code": "inventory.not_found",
            "message": "No vehicle with this id exists here. An id looks like veh_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a vehicle is one. Find it with inventory.search.",
            "details": {"retryable": false},
        }})
    );
    let wrong = json!({"price_max": {"amount": 1.5, "currency": "USD"}, "sort": "colour", "limit": 0, "colour": "red"});
    let answer = agent.call("inventory.search", wrong).await;
    assert_eq!(answer["error"]["code"], json!("request.invalid"));
    let places = answer["error"]["details"]["errors"].as_array().unwrap().iter();
    let places: Vec<(&str, &str)> =
        places.map(|wrong| (wrong["pointer"].as_str().unwrap(), wrong["keyword"].as_str().unwrap())).collect();
    assert_eq!(
        places,
        [("/price_max/amount", "type"), ("/sort", "enum"), ("/limit", "minimum"), ("", "additionalProperties")]
    );

    let made = agent.call("leads.create", keyed("Dana Rivera", "k1")).await;
    assert_eq!(
        agent.call("leads.create", keyed("Lee Chen", "k1")).await,
        json!({"error": {
            "code": "request.idempotency_conflict",
            "message": "This idempotency key was used before with other arguments. Use a new key for a new request.",
            "details": {"retryable": false},
        }})
    );
    let stale = json!({"id": made["id"], "status": "working", "expected_version": 7});
    assert_eq!(
        agent.call("leads.update", stale).await,
        json!({"error": {
            "code": "request.version_conflict",
            "message": "The lead has changed since expected_version. Read it again, then repeat the update with its current version.",
            "details": {"retryable": false},
        }})
    );
    let ask = "the person's consent to be contacted is required. \
        Ask them, and send it like {\"granted\":true,\"channels\":[\"email\"]}";
    let mut without = lead("Dana Rivera");
    without.as_object_mut().unwrap().remove("consent");
    assert_eq!(
        agent.call("leads.create", without).await,
        json!({"error": {
            "code": "consent.required",
            "message": format!("Nothing was recorded: {ask}."),
            "details": {"retryable": false, "errors": [{
                "pointer": "/consent",
                "keyword": "required",
                "expected": ask,
            }]},
        }})
    );
}

#[tokio::test]
async fn a3_23_resources_fail_with_the_same_object_in_the_error_data() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for (address, code, message) in [
        (
            "amcp://dlr_lakeside/inventory/veh_0",
            "inventory.not_found",
            "No vehicle with this id exists here. An id looks like veh_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a vehicle is one. Find it with inventory.search.",
        ),
        (
            "amcp://dlr_lakeside/leads/led_0",
            "leads.not_found",
            "No lead with this id exists here. An id looks like led_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a lead is one. Find it with leads.search.",
        ),
        (
            "amcp://dlr_lakeside/customers/cus_0",
            "customers.not_found",
            "No customer with this id exists here. An id looks like cus_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a customer is one. Find it with customers.search.",
        ),
        (
            "amcp://dlr_lakeside/deals/dea_0",
            "deals.not_found",
            "No deal with this id exists here. An id looks like dea_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a deal is one. Find it with deals.list.",
        ),
        ("amcp://dlr_lakeside/nothing/non_0", "request.not_found", "Nothing with this id exists here."),
    ] {
        assert_eq!(
            read(&mut agent, address).await.unwrap_err(),
            json!({
                "code": -32002,
                "message": message,
                "data": {"error": {
                    "code": code,
                    "message": message,
                    "details": {"retryable": false},
                }},
            }),
            "{address}"
        );
    }
}

#[tokio::test]
async fn a3_23_missing_token_and_scope_have_the_same_error_object() {
    let desk = TestApp::start();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leads.list","arguments":{}}}"#;
    let stranger = desk.stranger().request("POST", PATH, &[("content-type", "application/json")], body).await;
    assert_eq!((stranger.status, &stranger.json()["error"]["code"]), (401, &json!("auth.unauthorized")));
    assert_eq!(stranger.json()["error"]["details"], json!({"retryable": false}));
    let mut agent = desk.weak_agent().await;
    let response = agent.post(body, &[]).await;
    assert_eq!((response.status, &response.json()["error"]["code"]), (403, &json!("auth.insufficient_scope")));
    assert_eq!(response.json()["error"]["details"], json!({"retryable": false}));
}

/// Everything that can go wrong from outside, with canaries wherever a caller can put words.
async fn provoked(desk: &TestApp, agent: &mut TestAgent) -> Vec<HttpResponse> {
    let made = agent.call("leads.create", keyed("Canary Person", "canary-key")).await;
    let canary = "Canary Person canary@example.com +15125550199";
    let mut bad_lead = lead(canary);
    bad_lead["contact"]["email"] = json!(canary);
    bad_lead["contact"]["phone"] = json!(canary);
    bad_lead[canary] = json!(canary);
    let mut unconsented = lead(canary);
    unconsented["consent"]["granted"] = json!(false);
    let mut uncovered = lead(canary);
    uncovered["consent"]["channels"] = json!(["mail"]);
    let mut about_nothing = lead(canary);
    about_nothing["vehicle_id"] = json!("canary_vehicle");
    let mut of_nobody = lead(canary);
    of_nobody["customer_id"] = json!("canary_customer");
    let calls = [
        ("inventory.get", json!({"id": "canary"})),
        ("inventory.get", json!({"id": "' OR 1=1 --"})),
        ("leads.get", json!({"id": "canary"})),
        ("customers.get", json!({"id": "canary"})),
        ("inventory.search", json!({"text": "!!!", "make": canary.repeat(9)})),
        ("inventory.search", json!({"text": (0..17).map(|word| format!("canary{word} ")).collect::<String>()})),
        ("inventory.search", json!({"year_min": 2020, "year_max": 2010})),
        ("inventory.list", json!({"cursor": "canary"})),
        ("inventory.list", json!({"dealership_id": "canary"})),
        ("leads.list", json!({"email": canary, "status": canary, "received_since": canary})),
        ("leads.create", bad_lead),
        ("leads.create", unconsented),
        ("leads.create", uncovered),
        ("leads.create", about_nothing),
        ("leads.create", of_nobody),
        ("leads.create", keyed(canary, "canary-key")),
        ("leads.create", keyed(canary, "canary key with spaces")),
        ("leads.update", json!({"id": made["id"], "status": "lost"})),
        ("leads.update", json!({"id": made["id"], "status": canary})),
        ("leads.update", json!({"id": made["id"], "comments": canary, "expected_version": 99})),
        ("leads.update", json!({"id": made["id"]})),
        (canary, json!({})),
    ];
    let mut seen = Vec::new();
    for (tool, arguments) in calls {
        seen.push(agent.send("tools/call", json!({"name": tool, "arguments": arguments})).await);
    }
    for uri in [
        "amcp://canary",
        "amcp://canary/leads",
        "amcp://dlr_lakeside/leads/canary",
        "amcp://dlr_lakeside/leads?limit=canary",
    ] {
        seen.push(agent.send("resources/read", json!({"uri": uri})).await);
    }
    seen.push(agent.send(canary, json!({"canary": canary})).await);
    for body in [&format!("{{\"{canary}"), &format!("\"{canary}\""), &format!("{{\"jsonrpc\":\"{canary}\"}}")] {
        seen.push(agent.post(body, &[]).await);
    }
    seen.push(agent.post("{}", &[("content-encoding", "canary")]).await);
    seen.push(agent.post("{}", &[("origin", "https://canary.example.com")]).await);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    seen.push(agent.post(ping, &[("host", "canary.example.com")]).await);
    let large = format!("{{\"canary\":\"{}\"}}", "canary".repeat(200_000));
    seen.push(agent.post(&large, &[]).await);
    let bearer = [("authorization", "Bearer canary"), ("content-type", "application/json")];
    seen.push(desk.stranger().request("POST", PATH, &bearer, ping).await);
    let authorization = format!("Bearer {}", agent.token);
    let owned = [("authorization", authorization.as_str())];
    for verb in ["GET", "PUT", "PATCH"] {
        seen.push(desk.stranger().request(verb, PATH, &owned, "").await);
    }
    seen
}

/// The contract's error object, wherever the answer has it.
fn error(answer: &Value) -> &Value {
    let places = ["/result/structuredContent/error", "/error/data/error", "/error"];
    places.iter().find_map(|place| answer.pointer(place)).unwrap_or_else(|| panic!("no error in {answer}"))
}

#[tokio::test]
async fn a3_24_a3_25_a3_26_errors_have_code_and_retryable_no_input() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let answers = provoked(&desk, &mut agent).await;
    let mut codes = std::collections::BTreeSet::new();
    for answer in &answers {
        let body = answer.text();
        assert!(answer.status < 500, "{body}");
        let parsed = answer.json();
        let error = error(&parsed);
        let code = error["code"].as_str().unwrap_or_else(|| panic!("{body}"));
        assert!(CODES.contains(&code), "{code} is not listed: {body}");
        codes.insert(code.to_owned());
        assert_eq!(error["details"]["retryable"], json!(false), "{body}");
        assert!(error["message"].as_str().is_some_and(|words| (10..2000).contains(&words.len())), "{body}");
        for secret in ["canary", "Canary", "5550199", "' OR 1=1"] {
            assert!(!body.contains(secret), "{secret} in {body}");
        }
        for internal in [
            "SELECT",
            "sqlite",
            "rusqlite",
            "panicked",
            "crates/",
            ".rs",
            "src/",
            "127.0.0.1",
            "/tmp",
            "serde",
            "tokio",
        ] {
            assert!(!body.contains(internal), "{internal} in {body}");
        }
    }
    assert!(codes.len() >= 18, "only these were provoked: {codes:?}");
}

#[tokio::test]
async fn a3_25_only_what_waiting_can_heal_is_retryable() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "1"), ("FRONTDESK_LIMITS_BURST", "1")]);
    let mut agent = desk.agent().await;
    assert_eq!(agent.code("inventory.get", json!({"id": "veh_0"})).await, "inventory.not_found");
    let limited = agent.call("inventory.get", json!({"id": "veh_0"})).await;
    let wait = limited["error"]["retry_after"].as_u64().unwrap();
    assert!((1..=60).contains(&wait));
    assert_eq!(
        limited,
        json!({"error": {
            "code": "rate_limited",
            "message": "Too many calls; wait before the next one.",
            "details": {"retryable": true, "retry_after": wait},
            "retry_after": wait,
        }})
    );
}
