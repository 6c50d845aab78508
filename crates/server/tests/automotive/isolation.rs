//! Two dealerships through one process: answers that could be kept by somebody else, connections and
//! cursors that change hands, and addresses that try to get around the wall.

use serde_json::{Value, json};

use frontdesk_testkit::app::{EVERYTHING, PATH, TestApp};

use super::requests::{LISTS, everything, lead, read};

#[tokio::test]
async fn a3_11_a_cursor_is_worthless_in_another_dealership() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let group = desk.add_client(&["dlr_lakeside", "dlr_summit"], EVERYTHING);
    let mut group = desk.agent_of_client(&group, EVERYTHING).await;
    for (list, noun) in LISTS {
        let page = summit.call(list, json!({"limit": 2})).await;
        let cursor = page["next_cursor"].as_str().unwrap();
        let code = lakeside.code(list, json!({"cursor": cursor})).await;
        assert_eq!(code, "request.invalid_cursor", "{list}");
        // Neither does its owner's name open it, nor an address.
        let named = json!({"cursor": cursor, "dealership_id": "dlr_summit"});
        assert_eq!(lakeside.code(list, named).await, "dealership.forbidden", "{list}");
        let error = read(&mut lakeside, &format!("amcp://dlr_lakeside/{noun}?cursor={cursor}")).await.unwrap_err();
        assert_eq!(error["data"]["error"]["code"], json!("request.invalid_cursor"), "{list}");
        // A token good for both cannot carry it from one to the other either.
        let moved = json!({"cursor": cursor, "dealership_id": "dlr_lakeside"});
        assert_eq!(group.code(list, moved).await, "request.invalid_cursor", "{list}");
        assert_eq!(group.code(list, json!({"cursor": cursor})).await, "dealership.required", "{list}");
        let stays = json!({"cursor": cursor, "dealership_id": "dlr_summit", "limit": 1});
        let next = group.call(list, stays).await;
        assert_eq!(next["items"][0]["dealership_id"], json!("dlr_summit"), "{list}");
    }
    let listed = summit.result("resources/list", json!({})).await;
    let answer = lakeside.send("resources/list", json!({"cursor": listed["nextCursor"]})).await.json();
    assert_eq!(
        answer["error"],
        json!({
            "code": -32602,
            "message": "This cursor does not belong to this request, or has expired. Start again without a cursor.",
            "data": {"error": {
                "code": "request.invalid_cursor",
                "message": "This cursor does not belong to this request, or has expired. Start again without a cursor.",
                "details": {"retryable": false},
            }},
        })
    );
}

#[tokio::test]
async fn a3_09_no_spelling_of_an_address_reaches_another_dealership() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let page = summit.call("leads.list", json!({"limit": 1})).await;
    let id = page["items"][0]["id"].as_str().unwrap();
    assert!(read(&mut summit, &format!("amcp://dlr_summit/leads/{id}")).await.is_ok());

    // By its right name: refused alike, whether the lead or the dealership exists or not.
    let refused = read(&mut lakeside, &format!("amcp://dlr_summit/leads/{id}")).await.unwrap_err();
    assert_eq!((&refused["code"], &refused["data"]["error"]["code"]), (&json!(4030), &json!("dealership.forbidden")));
    for address in ["amcp://dlr_summit/leads/led_0", "amcp://dlr_nowhere/leads/led_0", "amcp://dlr_summit/leads"] {
        assert_eq!(read(&mut lakeside, address).await.unwrap_err(), refused, "{address}");
    }

    // By any other: there is nothing, and the answer holds nothing of what was sent.
    let hostile = [
        format!("amcp://dlr%5Fsummit/leads/{id}"),
        format!("amcp://%64lr_summit/leads/{id}"),
        format!("amcp://dlr_lakeside%2f..%2fdlr_summit/leads/{id}"),
        format!("amcp://dlr_lakeside/../dlr_summit/leads/{id}"),
        format!("amcp://dlr_lakeside/leads/../../dlr_summit/leads/{id}"),
        format!("amcp://dlr_lakeside/leads/..%2f..%2fdlr_summit%2fleads%2f{id}"),
        format!("amcp://dlr_lakeside//leads/{id}"),
        format!("amcp:///dlr_summit/leads/{id}"),
        format!("amcp://dlr_summit//leads/{id}"),
        format!("amcp://dlr_summit/leads/{id}/"),
        format!("amcp://dlr_summit/leads/{id}#"),
        format!("amcp://dlr_summit/leads/{id}\u{0}"),
        format!("amcp://dlr_summit/leads/{id}?"),
        format!("amcp://dlr_summit/leads/{id}?dealership_id=dlr_summit"),
        format!("amcp://dlr_lakeside/leads/{id}?dealership_id=dlr_summit"),
        "amcp://dlr_lakeside/leads?dealership_id=dlr_summit".to_owned(),
        "amcp://dlr_lakeside/leads?limit=5&limit=6".to_owned(),
        "amcp://dlr_lakeside/leads?id=1".to_owned(),
        format!("amcp://dlr_lakeside@dlr_summit/leads/{id}"),
        format!("amcp://dlr_summit:443/leads/{id}"),
        format!("amcp://dlr_summit\\leads\\{id}"),
        format!("AMCP://dlr_summit/leads/{id}"),
        format!("amcp://dlr_ſummit/leads/{id}"),
        format!("amcp://dlr_summit/Leads/{id}"),
        format!("amcp://dlr_summit/leads/{}", id.replace("led_", "led_\u{200b}")),
        format!("file:///dlr_summit/leads/{id}"),
        format!("http://169.254.169.254/{id}"),
        "amcp://manifest/..".to_owned(),
        "amcp://{dealership_id}/leads".to_owned(),
        "amcp://".to_owned(),
        String::new(),
        "x".repeat(100_000),
    ];
    for address in hostile {
        let error = read(&mut lakeside, &address).await.unwrap_err();
        let text = error.to_string();
        assert_eq!(error["code"], json!(-32002), "{address:.200}: {text}");
        assert!(text.len() < 400 && !text.contains("summit") && !text.contains(id), "{address:.200}: {text}");
    }
    // An address in capitals is another dealership's name, and that one does not exist.
    let error = read(&mut lakeside, &format!("amcp://DLR_SUMMIT/leads/{id}")).await.unwrap_err();
    assert_eq!(error, refused);
    for uri in [json!(null), json!(1), json!(["amcp://dlr_lakeside/leads"]), json!({"uri": 1})] {
        let answer = lakeside.send("resources/read", json!({"uri": uri})).await.json();
        assert_eq!(answer["error"]["code"], json!(-32602), "{uri}");
    }
}

#[tokio::test]
async fn a3_05_two_dealerships_on_one_connection_stay_apart() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let summit = desk.other_tenant().await;
    let tokens = [(lakeside.token.clone(), "dlr_lakeside"), (summit.token.clone(), "dlr_summit")];
    for turn in 0..200 {
        let (token, dealership) = &tokens[turn % 2];
        lakeside.token = token.clone();
        let (list, _) = LISTS[turn % 3];
        let page = lakeside.call(list, json!({"limit": 1})).await;
        assert_eq!(page["items"][0]["dealership_id"], json!(dealership), "turn {turn}");
    }
    assert_eq!(lakeside.http.opened, 1);
}

#[tokio::test]
async fn a3_05_no_answer_may_be_kept_by_a_cache_between() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let id = agent.call("leads.list", json!({"limit": 1})).await["items"][0]["id"].clone();
    let requests = [
        ("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}})),
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "amcp://manifest"})),
        ("resources/read", json!({"uri": "amcp://dlr_lakeside/leads"})),
        ("resources/read", json!({"uri": "amcp://dlr_lakeside/leads/led_0"})),
        ("tools/call", json!({"name": "leads.get", "arguments": {"id": id}})),
        ("tools/call", json!({"name": "leads.get", "arguments": {}})),
        ("tools/call", json!({"name": "no.such", "arguments": {}})),
        ("no/such", json!({})),
    ];
    for (method, params) in requests {
        let response = agent.send(method, params).await;
        assert_eq!(response.header("cache-control"), Some("no-store"), "{method}: {}", response.text());
    }
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let refused = agent.http.request("POST", PATH, &[("content-type", "application/json")], "{}").await;
    let response = agent.post(batch, &[]).await;
    for response in [response, refused, agent.post("{", &[]).await] {
        assert_eq!(response.header("cache-control"), Some("no-store"), "{}", response.text());
    }
}

#[tokio::test]
async fn a3_09_a_session_id_that_is_sent_means_nothing() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let before = everything(&mut summit).await;
    let session = [("mcp-session-id", "summit-session"), ("mcp-protocol-version", "2025-11-25")];
    let body =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leads.list","arguments":{"limit":1}}}"#;
    for agent in [&mut summit, &mut lakeside] {
        let response = agent.post(body, &session).await;
        assert_eq!(response.header("mcp-session-id"), None);
        assert_eq!(
            response.json()["result"]["structuredContent"]["items"][0]["dealership_id"],
            json!(agent.dealership.as_str())
        );
    }
    let bearer = format!("Bearer {}", lakeside.token);
    let headers = [("authorization", bearer.as_str()), ("mcp-session-id", "summit-session")];
    let ended = lakeside.http.request("DELETE", PATH, &headers, "").await;
    assert_eq!(ended.status, 204);
    assert_eq!(everything(&mut summit).await, before);
}

#[tokio::test]
async fn a3_09_writes_of_one_dealership_leave_the_other_as_it_was() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let before = everything(&mut summit).await;
    let known = lakeside.call("customers.list", json!({"limit": 1})).await["items"][0]["id"].clone();
    let mut about = lead("Dana Rivera");
    about["customer_id"] = known.clone();
    let made = lakeside.call("leads.create", about).await;
    lakeside.call("leads.update", json!({"id": made["id"], "status": "working"})).await;
    let customer: Value = lakeside.call("customers.get", json!({"id": known})).await;
    assert_eq!(customer["latest_lead"], json!({"id": made["id"], "status": "working"}));
    assert_eq!(everything(&mut summit).await, before);
}
