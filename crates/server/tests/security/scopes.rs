//! Scopes: which token may use what, cell by cell.

use serde_json::{Value, json};

use crate::requests::{a_lead, code, first_id};
use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{READ_LEADS, READ_STOCK, TestAgent, TestApp, WRITE_LEADS};

/// Room for every tool with every scope.
const UNHURRIED: [(&str, &str); 2] =
    [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"), ("FRONTDESK_LIMITS_BURST", "1000000")];

const READ_CONSENT: &str = "amcp:consent:read";
const WRITE_CONSENT: &str = "amcp:consent:write";
const READ_DEALS: &str = "amcp:deals:read";
const WRITE_DEALS: &str = "amcp:deals:write";
const READ_SERVICE: &str = "amcp:service:read";
const WRITE_SERVICE: &str = "amcp:service:write";
const READ_PARTS: &str = "amcp:parts:read";
const WRITE_PARTS: &str = "amcp:parts:write";
const READ_SIGNALS: &str = "amcp:signals:read";

const SCOPES: [&str; 12] = [
    READ_STOCK,
    READ_LEADS,
    WRITE_LEADS,
    READ_CONSENT,
    WRITE_CONSENT,
    READ_DEALS,
    WRITE_DEALS,
    READ_SERVICE,
    WRITE_SERVICE,
    READ_PARTS,
    WRITE_PARTS,
    READ_SIGNALS,
];

/// Every tool with the one scope that opens it.
const TOOLS: [(&str, &str); 56] = [
    ("inventory.list", READ_STOCK),
    ("inventory.search", READ_STOCK),
    ("inventory.get", READ_STOCK),
    ("leads.list", READ_LEADS),
    ("leads.search", READ_LEADS),
    ("leads.get", READ_LEADS),
    ("leads.create", WRITE_LEADS),
    ("leads.update", WRITE_LEADS),
    ("customers.list", READ_LEADS),
    ("customers.search", READ_LEADS),
    ("customers.get", READ_LEADS),
    ("customers.create", WRITE_LEADS),
    ("customers.update", WRITE_LEADS),
    ("consent.list", READ_CONSENT),
    ("consent.get", READ_CONSENT),
    ("consent.create", WRITE_CONSENT),
    ("consent.update", WRITE_CONSENT),
    ("consent.check", READ_CONSENT),
    ("deals.list", READ_DEALS),
    ("deals.get", READ_DEALS),
    ("deals.create", WRITE_DEALS),
    ("deals.update", WRITE_DEALS),
    ("deals.cancel_deal", WRITE_DEALS),
    ("deals.request_quote", READ_DEALS),
    ("deals.list_fees", READ_DEALS),
    ("deals.get_fee", READ_DEALS),
    ("deals.list_trade_values", READ_DEALS),
    ("deals.get_trade_value", READ_DEALS),
    ("deals.request_trade_value", WRITE_DEALS),
    ("service.list_appointments", READ_SERVICE),
    ("service.get_appointment", READ_SERVICE),
    ("service.check_availability", READ_SERVICE),
    ("service.book_appointment", WRITE_SERVICE),
    ("service.update_appointment", WRITE_SERVICE),
    ("service.cancel_appointment", WRITE_SERVICE),
    ("service.list_repair_orders", READ_SERVICE),
    ("service.get_repair_order", READ_SERVICE),
    ("service.create_repair_order", WRITE_SERVICE),
    ("service.update_repair_order", WRITE_SERVICE),
    ("service.list_service_codes", READ_SERVICE),
    ("service.get_service_code", READ_SERVICE),
    ("service.list_advisors", READ_SERVICE),
    ("service.get_advisor", READ_SERVICE),
    ("service.list_workshops", READ_SERVICE),
    ("service.get_workshop", READ_SERVICE),
    ("parts.list", READ_PARTS),
    ("parts.search", READ_PARTS),
    ("parts.get", READ_PARTS),
    ("parts.check_availability", READ_PARTS),
    ("parts.list_orders", READ_PARTS),
    ("parts.get_order", READ_PARTS),
    ("parts.create_order", WRITE_PARTS),
    ("parts.update_order", WRITE_PARTS),
    ("parts.cancel_order", WRITE_PARTS),
    ("signals.list", READ_SIGNALS),
    ("signals.get", READ_SIGNALS),
];

async fn arguments(agent: &mut TestAgent, tool: &str) -> Value {
    match tool {
        "inventory.get" => json!({"id": first_id(agent, "inventory.list").await}),
        "leads.get" => json!({"id": first_id(agent, "leads.list").await}),
        "customers.get" => json!({"id": first_id(agent, "customers.list").await}),
        "leads.create" => a_lead(),
        "leads.update" => json!({"id": first_id(agent, "leads.list").await, "comments": "changed"}),
        "customers.create" => json!({
            "primary_contact": {"name": "Dana Rivera", "email": "dana@example.com"},
            "consent": {"granted": true, "channels": ["email"]},
        }),
        "customers.update" => json!({"id": first_id(agent, "customers.list").await, "language": "fr"}),
        "consent.get" => json!({"id": first_id(agent, "consent.list").await}),
        "consent.create" => {
            json!({"status": "denied", "channels": ["sms"], "contact": {"phone": "+15125550177"}})
        }
        "consent.update" => {
            let own = json!({
                "status": "granted", "channels": ["sms"], "purpose": "marketing", "source": "web_form",
                // Not the person who is recorded as refusing it: within one millisecond the refusal would count.
                "contact": {"phone": "+15125550178"}, "evidence": {"text": "Yes to news."},
            });
            let made = agent.call("consent.create", own).await;
            assert!(made["id"].is_string(), "{made}");
            json!({"id": made["id"], "status": "withdrawn"})
        }
        "consent.check" => json!({"email": "dana@example.com", "channel": "email", "purpose": "marketing"}),
        "deals.create" => json!({
            "deal_type": "cash", "customer_id": first_id(agent, "customers.list").await, "vehicle_id": for_sale(agent).await,
        }),
        "deals.get" => json!({"id": first_id(agent, "deals.list").await}),
        "deals.update" => json!({"id": first_id(agent, "deals.list").await, "financing_status": "approved"}),
        "deals.cancel_deal" => {
            let open = agent.call("deals.list", json!({"status": "quote", "limit": 1})).await;
            json!({"id": open["items"][0]["id"], "reason": "price"})
        }
        "deals.request_quote" => json!({"deal_type": "cash", "vehicle_id": for_sale(agent).await}),
        "deals.get_fee" => json!({"id": first_id(agent, "deals.list_fees").await}),
        "deals.request_trade_value" => trade_in(agent).await,
        "deals.get_trade_value" => {
            let trade = trade_in(agent).await;
            json!({"id": agent.call("deals.request_trade_value", trade).await["id"]})
        }
        "service.check_availability" => json!({"service_codes": ["OIL"]}),
        "service.book_appointment" => {
            let free = agent.call("service.check_availability", json!({"service_codes": ["OIL"]})).await;
            json!({"vin": "1HGCM82633A004352", "start": free["slots"][0]["start"], "service_codes": ["OIL"]})
        }
        "service.update_appointment" => json!({"id": first_id(agent, "service.list_appointments").await, "notes": "x"}),
        "service.get_appointment" | "service.cancel_appointment" => {
            json!({"id": first_id(agent, "service.list_appointments").await})
        }
        "service.create_repair_order" => json!({"ro_number": "T-1", "vin": "1HGCM82633A004352"}),
        "service.update_repair_order" => {
            json!({"id": first_id(agent, "service.list_repair_orders").await, "tag_number": "1"})
        }
        "service.get_repair_order" => json!({"id": first_id(agent, "service.list_repair_orders").await}),
        "service.get_service_code" => json!({"id": first_id(agent, "service.list_service_codes").await}),
        "service.get_advisor" => json!({"id": first_id(agent, "service.list_advisors").await}),
        "parts.get" => json!({"id": first_id(agent, "parts.list").await}),
        "parts.check_availability" => json!({"part_numbers": ["PF48"]}),
        "parts.get_order" | "parts.cancel_order" => {
            let open = agent.call("parts.list_orders", json!({"status": "requested", "limit": 1})).await;
            json!({"id": open["items"][0]["id"]})
        }
        "parts.create_order" => json!({"lines": [{"part_number": "94109-14000", "quantity": 1}]}),
        "parts.update_order" => json!({"id": first_id(agent, "parts.list_orders").await, "notes": "x"}),
        "signals.get" => json!({"id": first_id(agent, "signals.list").await}),
        "service.get_workshop" => json!({"id": first_id(agent, "service.list_workshops").await}),
        _ => json!({"limit": 1}),
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
        if agent.call("deals.request_trade_value", arguments.clone()).await.get("error").is_none() {
            return arguments;
        }
    }
    panic!("no car of the demo has a value")
}

fn is_forbidden(desk: &TestApp, case: &str, response: &HttpResponse, granted: &str, needed: &str) {
    let message = format!("This needs the scope {needed}. Request a token with it at the token endpoint.");
    let body =
        json!({"error": {"code": "auth.insufficient_scope", "message": message, "details": {"retryable": false}}});
    assert_eq!((response.status, response.json()), (403, body), "{case}");
    let mut scopes = [granted, needed];
    scopes.sort_unstable();
    let metadata =
        format!("https://localhost:{}/.well-known/oauth-protected-resource/mcp/automotive", desk.address.port());
    let challenge = format!(
        "Bearer error=\"insufficient_scope\", scope=\"{}\", resource_metadata=\"{metadata}\"",
        scopes.join(" ")
    );
    assert_eq!(response.header("www-authenticate"), Some(challenge.as_str()), "{case}");
}

#[tokio::test]
async fn a6_09_a6_10_a6_11_each_tool_needs_its_own_scope() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut master = desk.agent().await;
    let mut before = master.all("leads.list", json!({"limit": 100})).await;
    for scope in SCOPES {
        let mut agent = desk.agent_with(scope).await;
        for (tool, needed) in TOOLS.into_iter().filter(|(_, needed)| *needed != scope) {
            for arguments in [arguments(&mut master, tool).await, json!({}), json!({"nonsense": 1})] {
                let response = agent.send("tools/call", json!({"name": tool, "arguments": arguments})).await;
                is_forbidden(&desk, &format!("{tool} with {scope}"), &response, scope, needed);
            }
        }
    }
    // Refused means that nothing happened, here and over there.
    assert_eq!(master.all("leads.list", json!({"limit": 100})).await, before);
    for scope in SCOPES {
        let mut agent = desk.agent_with(scope).await;
        for (tool, _) in TOOLS.into_iter().filter(|(_, needed)| *needed == scope) {
            let arguments = arguments(&mut master, tool).await;
            let answer = agent.call(tool, arguments).await;
            assert_eq!(answer.get("error"), None, "{tool} with {scope}: {answer}");
        }
    }
    let after = master.all("leads.list", json!({"limit": 100})).await;
    assert_eq!(after.len(), before.len() + 1);
    before[0] = after[1].clone();
    assert_eq!(after[2..], before[1..]);
}

#[tokio::test]
async fn a6_11_resources_need_the_scopes_of_their_tools() {
    let desk = TestApp::start();
    let mut master = desk.agent().await;
    let mut resources = Vec::new();
    for (kind, scope) in [("inventory", READ_STOCK), ("leads", READ_LEADS), ("customers", READ_LEADS)] {
        let id = first_id(&mut master, &format!("{kind}.list")).await;
        resources.push((format!("amcp://{}/{kind}", master.dealership), scope));
        resources.push((format!("amcp://{}/{kind}?limit=1", master.dealership), scope));
        resources.push((format!("amcp://{}/{kind}/{id}", master.dealership), scope));
        resources.push((format!("amcp://{}/{kind}/unknown", master.dealership), scope));
    }
    for scope in SCOPES {
        let mut agent = desk.agent_with(scope).await;
        for (uri, needed) in &resources {
            let response = agent.send("resources/read", json!({"uri": uri})).await;
            match *needed == scope {
                true if uri.ends_with("unknown") => assert_eq!(response.json()["error"]["code"], json!(-32002)),
                true => assert!(response.json()["result"]["contents"][0]["text"].is_string(), "{uri}"),
                false => is_forbidden(&desk, &format!("{uri} with {scope}"), &response, scope, needed),
            }
        }
        let manifest = agent.result("resources/read", json!({"uri": "amcp://manifest"})).await;
        assert_eq!(manifest["contents"][0]["uri"], json!("amcp://manifest"));
    }
}

#[tokio::test]
async fn a6_11_exactly_the_listed_tools_can_be_called() {
    let desk = TestApp::start();
    for scope in SCOPES {
        let mut agent = desk.agent_with(scope).await;
        let tools = agent.result("tools/list", json!({})).await;
        let listed: Vec<&str> =
            tools["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
        // What imports data takes the scope of any domain that can be written.
        let listed: Vec<&str> = listed.into_iter().filter(|name| !name.starts_with("x_frontdesk.")).collect();
        let callable: Vec<&str> = TOOLS.iter().filter(|(_, needed)| *needed == scope).map(|(tool, _)| *tool).collect();
        assert_eq!(listed, callable);

        let templates = agent.result("resources/templates/list", json!({})).await.to_string();
        let resources = agent.result("resources/list", json!({})).await.to_string();
        for (kind, needed) in [("/inventory", READ_STOCK), ("/leads", READ_LEADS), ("/customers", READ_LEADS)] {
            assert_eq!(templates.contains(kind), needed == scope, "{kind} with {scope}");
            let shown = resources.contains(kind);
            assert_eq!(shown, needed == scope, "{kind} with {scope}");
        }
    }
}

#[tokio::test]
async fn a6_11_a_weaker_token_on_an_open_connection_can_do_less() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    agent
        .result(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
        )
        .await;
    assert_eq!(agent.call("leads.list", json!({"limit": 1})).await.get("error"), None);
    let large = std::mem::replace(&mut agent.token, desk.weak_agent().await.token);
    let refused = agent.send("tools/call", json!({"name": "leads.list", "arguments": {"limit": 1}})).await;
    is_forbidden(&desk, "the smaller token", &refused, READ_STOCK, READ_LEADS);
    agent.token = large;
    assert_eq!(agent.call("leads.list", json!({"limit": 1})).await.get("error"), None);
    assert_eq!(agent.http.opened, 1);
}

#[tokio::test]
async fn a6_09_no_field_header_or_other_name_lifts_a_scope() {
    let desk = TestApp::start();
    let mut agent = desk.agent_with(READ_LEADS).await;
    let before = agent.all("leads.list", json!({"limit": 100})).await.len();
    let meta = json!({"scope": WRITE_LEADS, "io.modelcontextprotocol/scope": WRITE_LEADS, "client_id": "admin"});
    let call = json!({"name": "leads.create", "arguments": a_lead(), "_meta": meta, "scope": WRITE_LEADS});
    is_forbidden(&desk, "_meta", &agent.send("tools/call", call.clone()).await, READ_LEADS, WRITE_LEADS);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
    let headers = [
        ("x-http-method-override", "GET"),
        ("x-scope", WRITE_LEADS),
        ("x-oauth-scopes", WRITE_LEADS),
        ("x-forwarded-user", "admin"),
        ("mcp-name", "leads.list"),
        ("mcp-method", "tools/list"),
    ];
    for header in headers {
        is_forbidden(&desk, header.0, &agent.post(&body, &[header]).await, READ_LEADS, WRITE_LEADS);
    }
    for name in
        ["x_vendor.leads.create", "LEADS.CREATE", "leads.create ", "leads.create\u{0}", "leads/create", "leads_create"]
    {
        let answer = agent.send("tools/call", json!({"name": name, "arguments": a_lead()})).await.json();
        assert_eq!((answer["error"]["code"].clone(), code(&answer)), (json!(-32602), Some("request.unknown_tool")));
    }
    for method in ["leads.create", "tools/call ", "Tools/Call", "tools//call"] {
        let answer = agent.send(method, json!({"name": "leads.create", "arguments": a_lead()})).await.json();
        assert_eq!(answer["error"]["code"], json!(-32601), "{method}");
    }
    // A batch judges each of its calls, and a notification calls nothing.
    let notification =
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "leads.create", "arguments": a_lead()}});
    assert_eq!(agent.post(&notification.to_string(), &[]).await.status, 202);
    let batch = agent.post(&format!("[{body},{notification}]"), &[]).await;
    assert_eq!((batch.status, batch.json()[0]["error"]["code"].clone()), (200, json!(403)));
    assert_eq!(agent.all("leads.list", json!({"limit": 100})).await.len(), before);
}
