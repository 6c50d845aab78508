//! The REST mirror: the same tools by address (A5-06), with what HTTP adds to them.

use frontdesk_contracts::automotive::contract;
use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::schema::{Presence, Schema, TextFormat};
use frontdesk_engine::model::tool::{Effect, ToolSpec};
use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{DemoTenant, TestAgent, TestApp};
use serde_json::{Value, json};

use super::requests::UNHURRIED;

/// Sends a request with the agent's token.
async fn send(agent: &mut TestAgent, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let bearer = format!("Bearer {}", agent.token);
    let mut all = vec![("authorization", bearer.as_str())];
    if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
        all.push(("content-type", "application/json"));
    }
    all.extend_from_slice(headers);
    agent.http.request(verb, path, &all, body).await
}

async fn get(agent: &mut TestAgent, path: &str) -> HttpResponse {
    send(agent, "GET", path, &[], "").await
}

/// The route of a tool with these arguments: verb, path and query, body.
fn request(spec: &ToolSpec, arguments: &Value) -> (&'static str, String, String) {
    let route = spec.route.unwrap();
    let mut arguments = arguments.as_object().unwrap().clone();
    let mut path = format!("/v1{}", route.path);
    if path.contains("{id}") {
        let id = arguments.remove("id").unwrap_or_else(|| json!("missing"));
        path = path.replace("{id}", id.as_str().unwrap());
    }
    if route.verb == Verb::Get {
        let pairs: Vec<String> = arguments.iter().flat_map(|(name, value)| parameters(name, value)).collect();
        return ("GET", format!("{path}?{}", pairs.join("&")), String::new());
    }
    (route.verb.as_str(), path, Value::Object(arguments).to_string())
}

fn parameters(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => {
            members.iter().flat_map(|(member, value)| parameters(&format!("{name}[{member}]"), value)).collect()
        }
        Value::Array(items) => items.iter().flat_map(|item| parameters(name, item)).collect(),
        Value::String(text) => vec![format!("{name}={}", text.replace(' ', "+").replace('@', "%40"))],
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![format!("{name}={value}")],
    }
}

/// Arguments with which a tool succeeds.
async fn valid(agent: &mut TestAgent, spec: &ToolSpec) -> Vec<Value> {
    let list = match spec.name.split_once('.').unwrap() {
        ("service", tool) => ["repair_order", "service_code", "advisor", "workshop"]
            .into_iter()
            .find(|noun| tool.contains(noun))
            .map_or_else(|| "service.list_appointments".to_owned(), |noun| format!("service.list_{noun}s")),
        ("parts", tool) if tool.contains("order") => "parts.list_orders".to_owned(),
        ("fni", tool) => ["credit_application", "lender_decision"]
            .into_iter()
            .find(|noun| tool.contains(noun))
            .map_or_else(|| "fni.list_products".to_owned(), |noun| format!("fni.list_{noun}s")),
        (domain, _) => domain.to_owned() + ".list",
    };
    let first = agent.call(&list, json!({"limit": 1})).await["items"][0].clone();
    match spec.name {
        "inventory.search" => vec![
            json!({"limit": 3}),
            json!({"make": "honda", "price_max": {"amount": 3_000_000, "currency": "USD"}, "sort": "price_desc", "limit": 2}),
            json!({"text": "heated seats", "year_min": 2020}),
        ],
        "inventory.create" => vec![json!({
            "vin": "5YJ3E1EAXKF100004", "stock_number": "T-1", "condition": "used", "year": 2019, "make": "Tesla",
            "model": "Model 3", "trim": "Long Range", "mileage": {"value": 1, "unit": "km"},
            "price": {"amount": 2_499_900, "currency": "USD"}, "x_acme_lot": "B4",
        })],
        "inventory.update" => vec![json!({"id": first["id"], "status": "pending", "msrp": null})],
        "leads.create" => vec![json!({
            "contact": {"name": "Dana Rivera", "email": "dana@example.com"}, "interest": "buy",
            "consent": {"granted": true, "channels": ["email"]},
        })],
        "leads.update" => vec![json!({"id": first["id"], "comments": "Called."})],
        "leads.search" => vec![json!({"status": "new", "received_since": "2020-01-01T00:00:00Z", "limit": 2})],
        "customers.search" => vec![json!({"email": "nobody@example.com"}), json!({"limit": 2})],
        "customers.create" => vec![json!({
            "primary_contact": {"name": "Dana Rivera", "email": "dana@example.com"},
            "consent": {"granted": true, "channels": ["email"]},
        })],
        "customers.update" => vec![json!({"id": first["id"], "language": "fr", "preferred_contact": null})],
        "consent.create" => vec![json!({
            "status": "denied", "channels": ["sms"], "contact": {"phone": "+15125550123"},
        })],
        "consent.update" => vec![json!({"id": first["id"], "status": "withdrawn"})],
        "consent.check" => vec![json!({"email": "dana@example.com", "channel": "email", "purpose": "marketing"})],
        "deals.create" => vec![json!({
            "deal_type": "cash", "customer_id": first["customer_id"], "vehicle_id": for_sale(agent).await,
        })],
        "deals.update" => vec![json!({"id": first["id"], "financing_status": "funded"})],
        "deals.cancel_deal" => {
            let open = agent.call("deals.list", json!({"status": "quote", "limit": 1})).await;
            vec![json!({"id": open["items"][0]["id"], "reason": "price"})]
        }
        "deals.request_quote" => vec![json!({"deal_type": "cash", "vehicle_id": for_sale(agent).await})],
        "deals.get_fee" => {
            let fees = agent.call("deals.list_fees", json!({"limit": 1})).await;
            vec![json!({"id": fees["items"][0]["id"]})]
        }
        "deals.request_trade_value" => vec![trade_in(agent).await],
        "deals.get_trade_value" => {
            let trade = trade_in(agent).await;
            vec![json!({"id": agent.call("deals.request_trade_value", trade).await["id"]})]
        }
        "service.check_availability" => vec![json!({"service_codes": ["OIL", "ALI"], "max_slots": 3})],
        "service.book_appointment" => {
            let free =
                agent.call("service.check_availability", json!({"service_codes": ["OIL"], "max_slots": 200})).await;
            let start = free["slots"].as_array().unwrap().last().unwrap()["start"].clone();
            vec![json!({"vin": "1HGCM82633A004352", "start": start, "service_codes": ["OIL"], "notes": "Rings twice."})]
        }
        "service.update_appointment" => vec![json!({"id": first["id"], "transport": "shuttle"})],
        "service.cancel_appointment" => vec![json!({"id": first["id"], "cancel_reason": "Sold."})],
        "service.create_repair_order" => vec![json!({"ro_number": "T-1", "vin": "1HGCM82633A004352"})],
        "service.update_repair_order" => vec![json!({"id": first["id"], "tag_number": "9"})],
        "parts.search" => vec![json!({"text": "oil filter", "limit": 2}), json!({"part_number": "15400 plm a02"})],
        "parts.check_availability" => vec![json!({"part_numbers": ["PF48", "BXT-65-750"]})],
        "parts.create_order" => vec![json!({
            "lines": [{"part_number": "94109-14000", "quantity": 2}], "order_number": "T-1", "notes": "Rings twice.",
        })],
        "parts.update_order" => vec![json!({"id": first["id"], "notes": "Rings twice."})],
        "parts.get_order" => vec![json!({"id": first["id"]})],
        "parts.cancel_order" => {
            let open = agent.call("parts.list_orders", json!({"status": "requested", "limit": 1})).await;
            vec![json!({"id": open["items"][0]["id"], "cancel_reason": "Sold."})]
        }
        "fni.create_credit_application" => vec![json!({
            "customer_id": first["customer_id"], "applicant": {"name": "Dana Rivera"}, "ssn": "900-70-1234",
            "birth_date": "1980-02-03",
        })],
        "fni.update_credit_application" => vec![json!({"id": first["id"], "lead_id": null})],
        name if name.starts_with("service.get_") || name.starts_with("fni.get_") => vec![json!({"id": first["id"]})],
        name if name.contains(".list_") => vec![json!({}), json!({"limit": 2})],
        name if name.ends_with(".get") => vec![json!({"id": first["id"]})],
        name if name.ends_with(".list") => vec![json!({}), json!({"limit": 2})],
        other => panic!("say with which arguments {other} succeeds"),
    }
}

async fn for_sale(agent: &mut TestAgent) -> Value {
    agent.call("inventory.list", json!({"status": "available", "limit": 1})).await["items"][0]["id"].clone()
}

/// A car that is like enough others of the demo to have a value.
async fn trade_in(agent: &mut TestAgent) -> Value {
    let stock = agent.call("inventory.search", json!({"condition": "used", "limit": 100})).await;
    for car in stock["items"].as_array().unwrap() {
        let arguments = json!({
            "year": car["year"], "make": car["make"], "model": car["model"], "mileage": car["mileage"],
            "condition": "good",
        });
        let asked = json!({"name": "deals.request_trade_value", "arguments": arguments});
        if agent.result("tools/call", asked).await["isError"] == json!(false) {
            return arguments;
        }
    }
    panic!("no car of the demo has a value")
}

/// Arguments with which it fails, made from its schema: something missing, something of the wrong type, unknown words.
fn invalid(spec: &ToolSpec, valid: &Value) -> Vec<Value> {
    let mut cases = vec![with(valid, "colour", json!("red"))];
    for field in spec.input.fields().iter().filter(|field| field.name != "id") {
        if field.presence == Presence::Required {
            let mut missing = valid.clone();
            missing.as_object_mut().unwrap().remove(field.name);
            cases.push(missing);
        }
        let is_word = matches!(
            &field.schema,
            Schema::Text(TextFormat::OneOf(_) | TextFormat::Timestamp | TextFormat::Email | TextFormat::Phone)
        );
        if matches!(&field.schema, Schema::Integer { .. }) || is_word {
            cases.push(with(valid, field.name, json!("nonsense")));
        }
    }
    if spec.route.unwrap().path.contains("{id}") {
        cases.push(with(valid, "id", json!("none_1")));
    }
    if spec.input.fields().iter().any(|field| field.name == "cursor") {
        cases.push(with(valid, "cursor", json!("AAAA")));
    }
    cases
}

fn with(arguments: &Value, name: &str, value: Value) -> Value {
    let mut arguments = arguments.clone();
    arguments[name] = value;
    arguments
}

/// Times, versions, cursors and the ids of new records differ between two calls.
fn comparable(mut answer: Value, is_new: bool) -> Value {
    if let Some(answer) = answer.as_object_mut() {
        for name in [
            "created_at",
            "updated_at",
            "received_at",
            "in_stock_at",
            "opened_at",
            "ordered_at",
            "version",
            "next_cursor",
            "granted_at",
            "decided_at",
            "revisions",
        ] {
            answer.remove(name);
        }
        for name in
            ["deal_number", "application_number", "price_history", "valued_at", "expires_at"].iter().filter(|_| is_new)
        {
            answer.remove(*name);
        }
        if let Some(consent) = answer.get_mut("consent").and_then(Value::as_object_mut) {
            consent.remove("granted_at");
        }
        if is_new {
            answer.remove("id");
            answer.remove("appointment_id");
            // The second lead of a person names the first.
            answer.remove("duplicate_of");
            answer.remove("consent_id");
        }
    }
    answer
}

#[tokio::test]
async fn a5_06_every_tool_and_its_route_answer_the_same() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.credit_agent(DemoTenant::Lakeside).await;
    let contract = contract();
    let (mut answered, mut failed) = (0, 0);
    // Imports answer at once and work later; they have tests of their own.
    for tool in contract.tools.iter().filter(|tool| !tool.spec.name.starts_with("x_frontdesk.")) {
        let spec = &tool.spec;
        let is_new = spec.effect == Effect::Adds;
        for arguments in valid(&mut agent, spec).await {
            let by_tool = agent.call(spec.name, arguments.clone()).await;
            // What is unique must be said differently the second time.
            let again = match spec.name {
                "inventory.create" => {
                    with(&with(&arguments, "vin", json!("MA3ERLF1S00183366")), "stock_number", json!("T-2"))
                }
                // A deal is cancelled once, so the route cancels another one.
                "deals.cancel_deal" => valid(&mut agent, spec).await.remove(0),
                "service.create_repair_order" => with(&arguments, "ro_number", json!("T-2")),
                "parts.create_order" => with(&arguments, "order_number", json!("T-2")),
                _ => arguments.clone(),
            };
            let (verb, path, body) = request(spec, &again);
            let by_route = send(&mut agent, verb, &path, &[], &body).await;
            assert_eq!(by_route.status, if is_new { 201 } else { 200 }, "{path}: {}", by_route.text());
            let mut expected = comparable(by_tool, is_new);
            if spec.name == "inventory.create" {
                expected["vin"] = again["vin"].clone();
                expected["vin_check"] = json!("not_verified");
                expected["stock_number"] = again["stock_number"].clone();
            }
            if spec.name == "service.create_repair_order" {
                expected["ro_number"] = again["ro_number"].clone();
            }
            if spec.name == "parts.create_order" {
                expected["order_number"] = again["order_number"].clone();
            }
            if spec.name == "deals.cancel_deal" {
                assert_eq!(
                    (&expected["status"], &by_route.json()["status"]),
                    (&json!("abandoned"), &json!("abandoned"))
                );
            } else {
                assert_eq!(comparable(by_route.json(), is_new), expected, "{verb} {path}");
            }
            answered += 1;
            for wrong in invalid(spec, &arguments) {
                let by_tool = agent.call(spec.name, wrong.clone()).await;
                let (verb, path, body) = request(spec, &wrong);
                let by_route = send(&mut agent, verb, &path, &[], &body).await;
                assert!((400..500).contains(&by_route.status), "{verb} {path} {body}: {}", by_route.status);
                assert_eq!(by_route.json(), by_tool, "{verb} {path} {body}");
                failed += 1;
            }
        }
    }
    assert!(answered >= 15 && failed >= 60, "{answered} answers, {failed} faults");
}

#[tokio::test]
async fn a_key_is_the_same_key_for_tool_and_route() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let lead = json!({
        "contact": {"name": "Dana Rivera", "email": "dana@example.com"},
        "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]},
    });
    let made = send(&mut agent, "POST", "/v1/leads", &[("idempotency-key", "k-1")], &lead.to_string()).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (made.status, made.header("etag"), made.header("location")),
        (201, Some("\"1\""), Some(format!("/v1/leads/{id}").as_str()))
    );
    let again = send(&mut agent, "POST", "/v1/leads", &[("idempotency-key", "k-1")], &lead.to_string()).await;
    assert_eq!((again.status, again.text()), (201, made.text()));
    let by_tool = agent.call("leads.create", with(&lead, "idempotency_key", json!("k-1"))).await;
    assert_eq!(by_tool, made.json());
    let other = with(&lead, "interest", json!("lease"));
    let reused = send(&mut agent, "POST", "/v1/leads", &[("idempotency-key", "k-1")], &other.to_string()).await;
    assert_eq!((reused.status, &reused.json()["error"]["code"]), (409, &json!("request.idempotency_conflict")));
}

#[tokio::test]
async fn an_update_can_demand_the_version_it_has_seen() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let id = agent.call("inventory.list", json!({"limit": 1})).await["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/vehicles/{id}");
    let seen = get(&mut agent, &path).await;
    assert_eq!((seen.status, seen.header("etag")), (200, Some("\"1\"")));
    let put = async |agent: &mut TestAgent, tag: &str, body: Value| {
        let answer = send(agent, "PUT", &path, &[("if-match", tag)], &body.to_string()).await;
        (answer.status, answer.header("etag").map(str::to_owned), answer.json()["error"]["code"].clone())
    };
    let change = json!({"trim": "One"});
    assert_eq!(put(&mut agent, "\"1\"", change.clone()).await, (200, Some("\"2\"".to_owned()), Value::Null));
    assert_eq!(put(&mut agent, "\"1\"", change.clone()).await, (412, None, json!("request.version_conflict")));
    assert_eq!(put(&mut agent, "*", change.clone()).await, (200, Some("\"3\"".to_owned()), Value::Null));
    // What is no version of ours must not be passed over.
    for tag in ["3", "W/\"3\"", "\"03\"", "\"3\", \"4\"", "\"x\"", "\"0\"", "\"-1\"", "\"\""] {
        assert_eq!(put(&mut agent, tag, change.clone()).await, (400, None, json!("request.invalid")), "{tag}");
    }
    let both = json!({"trim": "Two", "expected_version": 2});
    assert_eq!(put(&mut agent, "\"3\"", both).await, (400, None, json!("request.invalid")));
    let create = send(&mut agent, "POST", "/v1/leads", &[("if-match", "\"1\"")], "{}").await;
    assert_eq!(create.status, 400, "{}", create.text());
    let known = send(&mut agent, "GET", &path, &[("if-none-match", "\"2\", \"3\"")], "").await;
    assert_eq!((known.status, known.text(), known.header("etag")), (304, "", Some("\"3\"")));
    let changed = send(&mut agent, "GET", &path, &[("if-none-match", "\"2\"")], "").await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn a3_19_links_lead_through_a_list_to_its_end() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let all = agent.all("inventory.list", json!({"status": "reserved", "limit": 100})).await;
    let mut path = "/v1/vehicles?status=reserved&limit=3".to_owned();
    let mut found = Vec::new();
    loop {
        let page = get(&mut agent, &path).await;
        found.extend(page.json()["items"].as_array().unwrap().clone());
        let Some(link) = page.header("link") else {
            assert!(page.json().get("next_cursor").is_none());
            break;
        };
        let next = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\"")).unwrap();
        assert_eq!(next, format!("/v1/vehicles?cursor={}", page.json()["next_cursor"].as_str().unwrap()));
        path = next.to_owned();
    }
    assert!(all.len() > 6);
    assert_eq!(found, all);
}

#[tokio::test]
async fn a_link_names_the_tenant_of_a_token_for_several() {
    let desk = TestApp::start();
    let client = desk.add_client(&["dlr_lakeside", "dlr_summit"], "amcp:inventory:read");
    let mut agent = desk.agent_of_client(&client, "amcp:inventory:read").await;
    let first = get(&mut agent, "/v1/vehicles?limit=1&dealership_id=dlr_summit").await;
    let next = first.header("link").unwrap().strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
    assert!(next.ends_with("&dealership_id=dlr_summit"), "{next}");
    let second = get(&mut agent, &next).await;
    assert_eq!((second.status, &second.json()["items"][0]["dealership_id"]), (200, &json!("dlr_summit")));
}

#[tokio::test]
async fn requests_are_refused_with_the_status_of_http() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let mut weak = desk.agent_with("amcp:inventory:read").await;
    let answer =
        |response: &HttpResponse| (response.status, response.json()["error"]["code"].as_str().unwrap().to_owned());
    let code = |status: u16, code: &str| (status, code.to_owned());

    let nobody = desk.stranger().get("/v1/vehicles").await;
    assert_eq!(answer(&nobody), code(401, "auth.unauthorized"));
    // The routes belong to the mount's resource, and name its metadata.
    let challenge = nobody.header("www-authenticate").unwrap();
    assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp/automotive\""), "{challenge}");

    let forbidden = get(&mut weak, "/v1/leads").await;
    assert_eq!(answer(&forbidden), code(403, "auth.insufficient_scope"));
    assert!(forbidden.header("www-authenticate").unwrap().contains("amcp:leads:read"));

    for path in ["/v1/cars", "/v1/vehicles/a/b", "/v1//vehicles", "/v1/Vehicles", "/v1/vehicles/search/x"] {
        assert_eq!(answer(&get(&mut agent, path).await), code(404, "request.not_found"), "{path}");
    }
    assert_eq!(get(&mut agent, "/v1/vehicles/?limit=1").await.status, 200);
    assert_eq!(get(&mut agent, "/v1/").await.status, 404);
    assert_eq!(answer(&get(&mut agent, "/v1/vehicles/veh_none").await), code(404, "inventory.not_found"));

    for (verb, path, allow) in [
        ("DELETE", "/v1/vehicles/veh_1", "GET, HEAD, PUT"),
        ("PUT", "/v1/leads", "GET, HEAD, POST"),
        ("POST", "/v1/vehicles/search", "GET, HEAD"),
        ("PATCH", "/v1/customers", "GET, HEAD, POST"),
    ] {
        let refused = send(&mut agent, verb, path, &[("content-type", "application/json")], "{}").await;
        assert_eq!(
            (answer(&refused), refused.header("allow")),
            (code(405, "request.wrong_verb"), Some(allow)),
            "{verb} {path}"
        );
    }

    for (verb, path) in [("POST", "/v1/leads"), ("PUT", "/v1/leads/led_1")] {
        let plain = send(&mut agent, verb, path, &[("content-type", "text/plain")], "{}").await;
        assert_eq!(answer(&plain), code(415, "request.wrong_media"));
        let broken = send(&mut agent, verb, path, &[], "{\"a\":1,\"a\":2}").await;
        assert_eq!(answer(&broken), code(400, "request.malformed"));
        let list = send(&mut agent, verb, path, &[], "[]").await;
        assert_eq!(list.status, 400, "{}", list.text());
        let large = format!("{{\"comments\":\"{}\"}}", "x".repeat(2 * 1024 * 1024));
        assert_eq!(answer(&send(&mut agent, verb, path, &[], &large).await), code(413, "request.too_large"));
    }

    let other_id = send(&mut agent, "PUT", "/v1/leads/led_1", &[], r#"{"id":"led_2","status":"working"}"#).await;
    assert_eq!(answer(&other_id), code(400, "request.invalid"));
    for query in ["limit=1&limit=2", "price_max[amount]=1&price_max[amount]=2", "price_max=3&price_max[amount]=1"] {
        let twice = get(&mut agent, &format!("/v1/vehicles/search?{query}")).await;
        assert_eq!(answer(&twice), code(400, "request.invalid"), "{query}");
    }
    let many: Vec<String> = (0..101).map(|number| format!("a{number}=1")).collect();
    assert_eq!(get(&mut agent, &format!("/v1/vehicles?{}", many.join("&"))).await.status, 400);
    // A token in a URL ends up in logs.
    let path = format!("/v1/vehicles?access_token={}", agent.token);
    assert_eq!(desk.stranger().get(&path).await.status, 401);
}

#[tokio::test]
async fn a6_21_a_client_beyond_its_rate_is_told_to_wait() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "60"), ("FRONTDESK_LIMITS_BURST", "5")]);
    let mut agent = desk.agent().await;
    for _ in 0..5 {
        assert_eq!(get(&mut agent, "/v1/vehicles?limit=1").await.status, 200);
    }
    let refused = get(&mut agent, "/v1/vehicles?limit=1").await;
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!("rate_limited")));
    assert_eq!(refused.json()["error"]["retry_after"], json!(seconds));
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let id = agent.call("leads.list", json!({"limit": 1})).await["items"][0]["id"].as_str().unwrap().to_owned();
    for (path, status) in [(format!("/v1/leads/{id}"), 200), ("/v1/leads/led_none".to_owned(), 404)] {
        let head = send(&mut agent, "HEAD", &path, &[], "").await;
        assert_eq!((head.status, head.text()), (status, ""), "{path}");
    }
}

#[tokio::test]
async fn a3_09_routes_answer_foreign_and_unknown_ids_alike() {
    let desk = TestApp::start();
    let (mut agent, mut other) = (desk.agent().await, desk.other_tenant().await);
    for (collection, list) in [("vehicles", "inventory.list"), ("leads", "leads.list"), ("customers", "customers.list")]
    {
        let theirs = other.call(list, json!({"limit": 2})).await;
        let id = theirs["items"][0]["id"].as_str().unwrap();
        let foreign = format!("/v1/{collection}/{id}");
        let unknown = format!("/v1/{collection}/{}", id.replace(|letter: char| letter.is_ascii_digit(), "0"));
        let tag = send(&mut other, "GET", &foreign, &[], "").await.header("etag").unwrap().to_owned();
        let put = if collection == "customers" { "HEAD" } else { "PUT" };
        for (verb, headers, body) in [
            ("GET", &[][..], ""),
            ("HEAD", &[], ""),
            ("GET", &[("if-none-match", tag.as_str())], ""),
            (put, &[("if-match", tag.as_str())], r#"{"x_acme_a":1}"#),
        ] {
            let body = if verb == "HEAD" { "" } else { body };
            let headers = if verb == "HEAD" { &[] } else { headers };
            let (theirs, nobodys) = (
                send(&mut agent, verb, &foreign, headers, body).await,
                send(&mut agent, verb, &unknown, headers, body).await,
            );
            assert_eq!((theirs.status, theirs.text()), (404, nobodys.text()), "{verb} {foreign}");
            assert_eq!((theirs.header("etag"), nobodys.status), (None, 404), "{verb} {foreign}");
        }
        // Neither their cursor nor their name opens anything.
        let cursor = theirs["next_cursor"].as_str().unwrap();
        assert_eq!(get(&mut agent, &format!("/v1/{collection}?cursor={cursor}")).await.status, 400);
        let named = get(&mut agent, &format!("/v1/{collection}?dealership_id={}", other.dealership)).await;
        let nobody = get(&mut agent, &format!("/v1/{collection}?dealership_id=dlr_nobody")).await;
        assert_eq!((named.status, named.text()), (403, nobody.text()));
    }
}

#[tokio::test]
async fn a_second_mount_has_a_prefix_of_its_own() {
    let desk = TestApp::start_with(&[("FRONTDESK_MOUNT", "automotive=/mcp/automotive,automotive=/mcp/second")]);
    let mut agent = desk.agent().await;
    assert_eq!(get(&mut agent, "/v1/vehicles?limit=1").await.status, 200);
    // A token is good for the mount that it was issued for, by whatever way.
    let refused = get(&mut agent, "/mcp/second/v1/vehicles?limit=1").await;
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp/second\""), "{challenge}");
    let document = get(&mut agent, "/mcp/second/v1/openapi.json").await.json();
    assert_eq!(document["servers"], json!([{"url": "/mcp/second/v1"}]));
}

#[tokio::test]
async fn the_routes_are_described_for_programs_and_people() {
    let desk = TestApp::start();
    let mut nobody = desk.stranger();
    let document = nobody.get("/v1/openapi.json").await;
    assert_eq!((document.status, document.header("content-type")), (200, Some("application/json")));
    let document = document.json();
    assert_eq!(document["openapi"], "3.1.0");
    let contract = contract();
    for spec in contract.tools.iter().map(|tool| &tool.spec) {
        let route = spec.route.unwrap();
        let operation = &document["paths"][route.path][route.verb.as_str().to_lowercase()];
        assert_eq!(operation["operationId"], spec.name);
        let alternatives: Vec<Value> = spec.scope.all().map(|scope| json!({"oauth2": [scope.as_str()]})).collect();
        assert_eq!(operation["security"], json!(alternatives));
    }
    let page = nobody.get("/v1/docs").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    for spec in contract.tools.iter().map(|tool| &tool.spec) {
        assert!(page.text().contains(&format!("id=\"{}\"", spec.name)), "{}", spec.name);
    }
    for foreign in ["<script", "http://", "https://", "src="] {
        assert!(!page.text().contains(foreign), "{foreign}");
    }
    assert_eq!(nobody.request("POST", "/v1/openapi.json", &[], "").await.status, 405);
}
