//! The demo's partner: what `demo --json` says of it, and that it is so.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::http_client::HttpClient;
use serde_json::{Value, json};

use crate::stage::{LIST, json_of};

#[tokio::test]
async fn the_demo_lists_each_intent_with_its_bearers() {
    let desk = TestApp::start();
    let base = format!("https://localhost:{}", desk.address.port());
    let file = |name: &str| fs::read_to_string(desk.data().join(name)).unwrap().trim().to_owned();
    let (live, sandbox) = (file("demo-partner-live.token"), file("demo-partner-sandbox.token"));
    for name in ["demo-partner-live.token", "demo-partner-sandbox.token"] {
        assert_eq!(fs::metadata(desk.data().join(name)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let mounts = desk.banner["mounts"].as_array().unwrap();
    let partner: Vec<&Value> = mounts.iter().filter(|mount| mount["contract"] == "tomo").collect();
    let intents = [
        "travel.book_hotel",
        "marketplace.buy_used_car",
        "auto.book_general_service",
        "mobility.book_intracity_ride",
        "food.order_delivery",
    ];
    assert_eq!(partner.len(), intents.len());
    let mut http = HttpClient::new(desk.address, &desk.data().join("tls/ca.pem"));
    for (mount, intent) in partner.into_iter().zip(intents) {
        let path = format!("/mcp/tomo/{intent}");
        assert_eq!(
            mount,
            &json!({
                "contract": "tomo",
                "endpoint": format!("{base}{path}"),
                "rest": null,
                "scopes": ["tomo:live", "tomo:sandbox", "tomo:manage"],
                "intent": intent,
                "partner_id": "demo_partner",
                "sandbox_bearer": sandbox,
                "live_bearer": live,
            })
        );
        for token in [&sandbox, &live] {
            let bearer = format!("Bearer {token}");
            let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
            let listed = http.request("POST", &path, &headers, LIST).await;
            let tools = json_of(&listed)["result"]["tools"].clone();
            assert_eq!(tools[0]["_meta"]["tomo"]["intent"], intent);
            assert_eq!(
                tools[0]["_meta"]["tomo"]["completion_callback"],
                "https://tomo.example/api/v1/cpc/mcp_provider/demo_partner"
            );
        }
    }
    let again = desk.restart();
    let same = again.banner["mounts"].as_array().unwrap().iter().find(|mount| mount["contract"] == "tomo").unwrap();
    assert_eq!((&same["live_bearer"], &again.banner["reused"]), (&json!(live), &json!(true)));
}

/// The first example of the first tool of each intent, as a caller would send it.
#[tokio::test]
async fn the_demo_has_something_to_sell_for_each_intent() {
    let desk = TestApp::start();
    let sandbox = fs::read_to_string(desk.data().join("demo-partner-sandbox.token")).unwrap();
    let bearer = format!("Bearer {}", sandbox.trim());
    let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    let mut http = HttpClient::new(desk.address, &desk.data().join("tls/ca.pem"));
    for (intent, found) in [
        ("travel.book_hotel", "listings"),
        ("marketplace.buy_used_car", "listings"),
        ("auto.book_general_service", "providers"),
        ("mobility.book_intracity_ride", "options"),
    ] {
        let path = format!("/mcp/tomo/{intent}");
        let listed = json_of(&http.request("POST", &path, &headers, LIST).await);
        let tool = &listed["result"]["tools"][0];
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool["name"], "arguments": tool["inputSchema"]["examples"][0]}});
        let answer = json_of(&http.request("POST", &path, &headers, call.to_string()).await);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{intent}: {answer}"));
        let payload: Value = serde_json::from_str(text).unwrap();
        assert!(!payload[found].as_array().unwrap().is_empty(), "{intent}: {payload}");
    }
}
