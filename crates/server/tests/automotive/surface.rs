//! What the desk says it can do, and whether it can (sections 2 and 4, and the names of section 5).

use serde_json::{Value, json};

use frontdesk_testkit::app::{DemoTenant, TestAgent, TestApp};
use frontdesk_testkit::automotive_names::{EXTENSIONS, SCOPES, TOOLS, ordinary_tools};

use super::requests::{self, read};

async fn tools(agent: &mut TestAgent) -> Vec<Value> {
    let listed = agent.result("tools/list", json!({})).await;
    assert!(listed.get("nextCursor").is_none());
    listed["tools"].as_array().unwrap().clone()
}

async fn names(agent: &mut TestAgent) -> Vec<String> {
    tools(agent).await.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a2_01_a2_04_the_manifest_says_the_same_in_its_three_places() {
    let desk = TestApp::start();
    let manifest = json!({
        "spec_version": "0.1",
        "server": {"name": "Frontdesk", "vendor": "Frontdesk"},
        "domains": {
            "inventory": {"level": 2},
            "leads": {"level": 2},
            "consent": {"level": 2},
            "deals": {"level": 2},
            "service": {"level": 2},
            "parts": {"level": 2},
            "fni": {"level": 2},
            "signals": {"level": 2},
        },
        "auth": {"type": "oauth2.1", "scopes": SCOPES},
    });

    let public = desk.stranger().get("/.well-known/automotive-mcp.json").await;
    assert_eq!((public.status, public.json()), (200, json!({"automotive_mcp": manifest})));

    // A token for nothing but stock reads it too.
    let mut agent = desk.agent_with("amcp:inventory:read").await;
    assert_eq!(read(&mut agent, "amcp://manifest").await.unwrap(), public.text());

    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let hello = agent.result("initialize", hello).await;
    assert_eq!(hello["capabilities"]["experimental"]["automotive_mcp"], manifest);
}

#[tokio::test]
async fn a2_02_a2_03_each_domain_does_what_its_level_promises() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let manifest: Value = serde_json::from_str(&read(&mut agent, "amcp://manifest").await.unwrap()).unwrap();
    let levels = json!({
        "inventory": {"level": 2},
        "leads": {"level": 2},
        "consent": {"level": 2},
        "deals": {"level": 2},
        "service": {"level": 2},
            "parts": {"level": 2},
        "fni": {"level": 2},
        "signals": {"level": 2},
    });
    assert_eq!(manifest["automotive_mcp"]["domains"], levels);

    // Level 1: every list is read, and every id of it can be read again.
    for (list, get) in requests::GETS {
        let page = agent.call(list, json!({"limit": 3})).await;
        assert_eq!(page["items"].as_array().unwrap().len(), 3, "{list}");
        for item in page["items"].as_array().unwrap() {
            assert_eq!(agent.call(get, json!({"id": item["id"]})).await["id"], item["id"], "{get}");
        }
    }

    // Level 2 of leads: what is created can be changed, and both can be read back.
    let made = agent.call("leads.create", requests::lead("Dana Rivera")).await;
    let changed = agent.call("leads.update", json!({"id": made["id"], "status": "working"})).await;
    assert_eq!((&changed["status"], &changed["version"]), (&json!("working"), &json!(2)));
    assert_eq!(agent.call("leads.get", json!({"id": made["id"]})).await, changed);

    // Level 2 of inventory, likewise.
    let stock = agent.call("inventory.list", json!({"limit": 1})).await["items"][0].clone();
    let change = json!({"id": stock["id"], "trim": "Another"});
    let changed = agent.call("inventory.update", change).await;
    assert_eq!((&changed["trim"], &changed["version"]), (&json!("Another"), &json!(2)));
    assert_eq!(agent.call("inventory.get", json!({"id": stock["id"]})).await, changed);

    // Level 2 of service, likewise.
    let free = agent.call("service.check_availability", json!({"service_codes": ["OIL"], "max_slots": 1})).await;
    let booking = json!({"vin": "1HGCM82633A004352", "start": free["slots"][0]["start"], "service_codes": ["OIL"]});
    let made = agent.call("service.book_appointment", booking).await;
    let changed = agent.call("service.update_appointment", json!({"id": made["id"], "status": "confirmed"})).await;
    assert_eq!((&changed["status"], &changed["version"]), (&json!("confirmed"), &json!(2)));
    assert_eq!(agent.call("service.get_appointment", json!({"id": made["id"]})).await, changed);

    // Level 2 of parts, likewise.
    let order = json!({"lines": [{"part_number": "15400-PLM-A02", "quantity": 1}]});
    let made = agent.call("parts.create_order", order).await;
    let changed = agent.call("parts.update_order", json!({"id": made["id"], "status": "confirmed"})).await;
    assert_eq!((&changed["status"], &changed["version"]), (&json!("confirmed"), &json!(2)));
    assert_eq!(agent.call("parts.get_order", json!({"id": made["id"]})).await, changed);
    // Level 2 of finance and insurance, likewise, for somebody who has logged in.
    let mut financier = desk.credit_agent(DemoTenant::Lakeside).await;
    let customer = financier.call("customers.list", json!({"limit": 1})).await["items"][0]["id"].clone();
    let draft = json!({"customer_id": customer, "applicant": {"name": "Dana Rivera"}});
    let made = financier.call("fni.create_credit_application", draft).await;
    let changed =
        financier.call("fni.update_credit_application", json!({"id": made["id"], "status": "withdrawn"})).await;
    assert_eq!((&changed["status"], &changed["version"]), (&json!("withdrawn"), &json!(2)));
    assert_eq!(financier.call("fni.get_credit_application", json!({"id": made["id"]})).await, changed);

    // Nothing subscribes, so nobody is at level 3.
    let writing =
        tools(&mut agent).await.into_iter().filter(|tool| tool["annotations"]["readOnlyHint"] == json!(false));
    let writing: Vec<Value> = writing.map(|tool| tool["name"].clone()).collect();
    let expected = [
        "inventory.create",
        "inventory.update",
        "leads.create",
        "leads.update",
        "customers.create",
        "customers.update",
        "consent.create",
        "consent.update",
        "deals.create",
        "deals.update",
        "deals.cancel_deal",
        "deals.request_trade_value",
        "service.book_appointment",
        "service.update_appointment",
        "service.cancel_appointment",
        "service.create_repair_order",
        "service.update_repair_order",
        "parts.create_order",
        "parts.update_order",
        "parts.cancel_order",
        "x_frontdesk.import_items",
        "x_frontdesk.import_adf",
    ];
    assert_eq!(writing, expected.map(Value::from));
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let hello = agent.result("initialize", hello).await;
    assert_eq!(hello["capabilities"]["resources"], json!({"subscribe": false, "listChanged": false}));
    let answer = agent.send("resources/subscribe", json!({"uri": "amcp://dlr_lakeside/leads"})).await.json();
    assert_eq!(answer["error"]["code"], json!(-32601));
}

#[tokio::test]
async fn a4_01_a4_02_a4_03_a4_08_a5_04_a5_05_exactly_these_tools() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    // The names of version 0.1: taking one away or renaming it is a new major version (A5-04).
    assert_eq!(names(&mut agent).await, [&ordinary_tools()[..], &EXTENSIONS].concat());
    let mut financier = desk.credit_agent(DemoTenant::Lakeside).await;
    assert_eq!(names(&mut financier).await, [&TOOLS[..], &EXTENSIONS].concat());
    // list and get for each resource, create and update for those that can be written (A4-03).
    for (resource, verbs) in [
        ("inventory", &["list", "get", "create", "update"][..]),
        ("leads", &["list", "get", "create", "update"]),
        ("customers", &["list", "get", "create", "update"]),
        ("consent", &["list", "get", "create", "update"]),
        ("deals", &["list", "get", "create", "update"]),
        ("service", &["list_appointments", "get_appointment", "book_appointment", "update_appointment"]),
        ("fni", &["list_products", "get_product", "list_lender_decisions", "get_lender_decision"]),
        (
            "fni",
            &[
                "list_credit_applications",
                "get_credit_application",
                "create_credit_application",
                "update_credit_application",
            ],
        ),
        ("service", &["list_repair_orders", "get_repair_order", "create_repair_order", "update_repair_order"]),
        ("parts", &["list", "get", "search", "check_availability"]),
        ("parts", &["list_orders", "get_order", "create_order", "update_order", "cancel_order"]),
    ] {
        for verb in verbs {
            assert!(TOOLS.contains(&format!("{resource}.{verb}").as_str()), "{resource}.{verb}");
        }
    }
    // Prefixes are domains of the text; customers belong to leads there.
    for name in TOOLS {
        let domain = name.split('.').next().unwrap();
        let domains = ["inventory", "leads", "customers", "consent", "deals", "service", "parts", "fni", "signals"];
        assert!(domains.contains(&domain), "{name}");
    }
}

#[tokio::test]
async fn a5_15_only_extensions_have_a_vendors_prefix() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for name in names(&mut agent).await {
        assert!(!name.starts_with("x_") || EXTENSIONS.contains(&name.as_str()), "{name}");
    }
    // A field or tool of a vendor that this desk does not know is refused, not passed over.
    let code = agent.code("inventory.search", json!({"x_acme_colour_code": "GR4"})).await;
    assert_eq!(code, "request.invalid");
    let answer = agent.send("tools/call", json!({"name": "x_acme.inventory_list", "arguments": {}})).await.json();
    assert_eq!(answer["error"]["data"]["error"]["code"], json!("request.unknown_tool"));
}

#[tokio::test]
async fn a3_02_a3_03_a3_17_tools_publish_what_they_take_give_and_do() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for tool in tools(&mut agent).await {
        let name = tool["name"].as_str().unwrap();
        if EXTENSIONS.contains(&name) {
            continue;
        }
        for text in ["title", "description"] {
            assert!(tool[text].as_str().is_some_and(|text| text.len() > 5), "{name} has no {text}");
        }
        assert_eq!((&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]), (&json!("object"), &json!("object")));
        let [answer, error] = [0, 1].map(|which| &tool["outputSchema"]["oneOf"][which]);
        assert_eq!(error["required"], json!(["error"]), "{name}");
        // Answers are open, because a later version may add fields; arguments are not.
        assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false), "{name}");
        for schema in [&tool["inputSchema"], answer, error] {
            assert!(!schema["properties"].as_object().unwrap().is_empty(), "{name}");
        }
        let (reads, destroys) = match name {
            "inventory.create" | "leads.create" | "customers.create" | "consent.create" => (false, false),
            "inventory.update" | "leads.update" | "customers.update" | "consent.update" => (false, true),
            "deals.create" | "deals.request_trade_value" => (false, false),
            "deals.update" | "deals.cancel_deal" => (false, true),
            "service.book_appointment" | "service.create_repair_order" => (false, false),
            "service.update_appointment" | "service.cancel_appointment" | "service.update_repair_order" => {
                (false, true)
            }
            "parts.create_order" => (false, false),
            "parts.update_order" | "parts.cancel_order" => (false, true),
            _ => (true, false),
        };
        assert_eq!(
            tool["annotations"],
            json!({"title": tool["title"], "readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": reads,
                "openWorldHint": false}),
            "{name}"
        );
        let lists = name.contains(".list") || name.ends_with(".search");
        let takes = |field: &str| tool["inputSchema"]["properties"].get(field).is_some();
        assert_eq!(
            (takes("cursor"), takes("limit"), takes("offset") || takes("page")),
            (lists, lists, false),
            "{name}"
        );
        // Each prospect of a message brings its own key.
        let takes_key = !reads && name != "x_frontdesk.import_adf";
        assert_eq!(takes("idempotency_key"), takes_key, "{name}");
        assert!(takes("dealership_id"), "{name}");
    }
    // A page number is refused like anything else that is not published.
    for field in ["offset", "page"] {
        assert_eq!(agent.code("inventory.list", json!({field: 2})).await, "request.invalid");
    }
}
