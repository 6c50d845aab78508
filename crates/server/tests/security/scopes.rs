//! Scopes: which token may use what, cell by cell.

use serde_json::{Value, json};

use crate::requests::{a_lead, code, first_id};
use frontdesk_testkit::app::http_client::HttpResponse;
use frontdesk_testkit::app::{READ_LEADS, READ_STOCK, TestAgent, TestApp, WRITE_LEADS};

const SCOPES: [&str; 3] = [READ_STOCK, READ_LEADS, WRITE_LEADS];

/// Every tool with the one scope that opens it.
const TOOLS: [(&str, &str); 9] = [
    ("inventory.list", READ_STOCK),
    ("inventory.search", READ_STOCK),
    ("inventory.get", READ_STOCK),
    ("leads.list", READ_LEADS),
    ("leads.get", READ_LEADS),
    ("leads.create", WRITE_LEADS),
    ("leads.update", WRITE_LEADS),
    ("customers.list", READ_LEADS),
    ("customers.get", READ_LEADS),
];

async fn arguments(agent: &mut TestAgent, tool: &str) -> Value {
    match tool {
        "inventory.get" => json!({"id": first_id(agent, "inventory.list").await}),
        "leads.get" => json!({"id": first_id(agent, "leads.list").await}),
        "customers.get" => json!({"id": first_id(agent, "customers.list").await}),
        "leads.create" => a_lead(),
        "leads.update" => json!({"id": first_id(agent, "leads.list").await, "comments": "changed"}),
        _ => json!({"limit": 1}),
    }
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
    let desk = TestApp::start();
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
