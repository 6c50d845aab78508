//! The same reads by address: templates, contents byte for byte as the tools give them, and a list
//! that goes through everything once (section 3.1).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use frontdesk_testkit::app::{READ_LEADS, READ_STOCK, TestAgent, TestApp};

use super::requests::{GETS, LISTS, SERVICE_LISTS, ids, lead, read, text};

/// Every address that `resources/list` gives, page by page, with the size of each page.
async fn listed(agent: &mut TestAgent) -> (Vec<String>, Vec<usize>) {
    let (mut addresses, mut sizes, mut params) = (Vec::new(), Vec::new(), json!({}));
    loop {
        let page = agent.result("resources/list", params.clone()).await;
        let entries = page["resources"].as_array().unwrap();
        sizes.push(entries.len());
        addresses.extend(entries.iter().map(|entry| entry["uri"].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => return (addresses, sizes),
        }
    }
}

#[tokio::test]
async fn a3_01_resources_read_byte_for_byte_as_the_tools_answer() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for (list, get) in GETS {
        let noun = get.split('.').next().unwrap();
        let page = agent.call(list, json!({"limit": 8})).await;
        for id in ids(page["items"].as_array().unwrap()) {
            let address = format!("amcp://dlr_lakeside/{noun}/{id}");
            let resource = read(&mut agent, &address).await.unwrap();
            assert_eq!(resource, text(&mut agent, get, json!({"id": id})).await);
            assert_eq!(read(&mut agent, &address).await.unwrap(), resource);
            let parsed: Value = serde_json::from_str(&resource).unwrap();
            assert_eq!((&parsed["id"], parsed["type"].is_string()), (&json!(id), true));
        }
    }
    // A whole list has no cursor, so that it is the same bytes too.
    let whole = read(&mut agent, "amcp://dlr_lakeside/leads?limit=100").await.unwrap();
    assert_eq!(whole, text(&mut agent, "leads.list", json!({"limit": 100})).await);
    for (list, noun) in LISTS {
        // Cursors are sealed anew each time, but each goes on where the other would.
        let by_address = parsed(&read(&mut agent, &format!("amcp://dlr_lakeside/{noun}?limit=3")).await.unwrap());
        let by_tool = agent.call(list, json!({"limit": 3})).await;
        assert_eq!(by_address["items"], by_tool["items"]);
        let (one, other) = (by_address["next_cursor"].as_str().unwrap(), by_tool["next_cursor"].as_str().unwrap());
        let crossed =
            parsed(&read(&mut agent, &format!("amcp://dlr_lakeside/{noun}?cursor={other}&limit=3")).await.unwrap());
        assert_eq!(crossed["items"], agent.call(list, json!({"limit": 3, "cursor": one})).await["items"]);
        assert_ne!(crossed["items"], by_tool["items"]);
        // Without a limit the same default holds.
        let page = parsed(&read(&mut agent, &format!("amcp://dlr_lakeside/{noun}")).await.unwrap());
        assert_eq!(page["items"].as_array().unwrap().len(), 10);
    }
    for limit in ["0", "101", "-1", "007", "x", "1e1"] {
        let error = read(&mut agent, &format!("amcp://dlr_lakeside/leads?limit={limit}")).await.unwrap_err();
        assert_eq!(
            (&error["code"], &error["data"]["error"]["code"]),
            (&json!(-32602), &json!("request.invalid")),
            "{limit}"
        );
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn a3_01_the_resource_list_has_everything_exactly_once() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let mut expected: BTreeSet<String> = [
        "amcp://manifest",
        "amcp://dlr_lakeside/inventory",
        "amcp://dlr_lakeside/leads",
        "amcp://dlr_lakeside/customers",
        "amcp://dlr_lakeside/consents",
        "amcp://dlr_lakeside/deals",
        "amcp://dlr_lakeside/fees",
        "amcp://dlr_lakeside/trade_values",
        "amcp://dlr_lakeside/parts",
        "amcp://dlr_lakeside/part_orders",
        "amcp://dlr_lakeside/signals",
    ]
    .map(str::to_owned)
    .into();
    expected.extend(SERVICE_LISTS.map(|(_, noun)| format!("amcp://dlr_lakeside/{noun}")));
    let others = [("consent.list", "consents"), ("deals.list", "deals"), ("deals.list_fees", "fees")];
    let parts = [("parts.list", "parts"), ("parts.list_orders", "part_orders")];
    for (list, noun) in LISTS.into_iter().chain(others).chain(SERVICE_LISTS).chain(parts) {
        let items = agent.all(list, json!({"limit": 100})).await;
        expected.extend(ids(&items).iter().map(|id| format!("amcp://dlr_lakeside/{noun}/{id}")));
    }
    let (addresses, sizes) = listed(&mut agent).await;
    assert_eq!(addresses.len(), expected.len());
    assert_eq!(BTreeSet::from_iter(addresses.iter().cloned()), expected);
    let (last, full) = sizes.split_last().unwrap();
    assert!(full.iter().all(|size| *size == 100) && (1..=100).contains(last), "{sizes:?}");
    // Each can be read.
    for address in addresses.iter().step_by(31) {
        assert!(read(&mut agent, address).await.is_ok(), "{address}");
    }
}

#[tokio::test]
async fn a3_01_a_token_lists_only_the_resources_it_can_read() {
    let desk = TestApp::start();
    for (scope, nouns) in [(READ_STOCK, &["inventory"][..]), (READ_LEADS, &["leads", "customers"])] {
        let mut agent = desk.agent_with(scope).await;
        let templates = agent.result("resources/templates/list", json!({})).await;
        let templates = templates["resourceTemplates"].as_array().unwrap();
        let shown: Vec<&str> = templates.iter().map(|template| template["uriTemplate"].as_str().unwrap()).collect();
        let expected: Vec<String> = nouns
            .iter()
            .flat_map(|noun| {
                [
                    format!("amcp://{{dealership_id}}/{noun}{{?cursor,limit}}"),
                    format!("amcp://{{dealership_id}}/{noun}/{{id}}"),
                ]
            })
            .collect();
        assert_eq!(shown, expected);
        for template in templates {
            assert_eq!(template["mimeType"], json!("application/json"));
            assert!(
                template["name"].is_string() && template["title"].is_string() && template["description"].is_string()
            );
        }
        let (addresses, _) = listed(&mut agent).await;
        let mut kinds: Vec<&str> = addresses.iter().filter_map(|address| address.split('/').nth(3)).collect();
        kinds.dedup();
        let fixed_then_rows: Vec<&str> = if nouns.len() == 1 { nouns.to_vec() } else { [nouns, nouns].concat() };
        assert_eq!(kinds, fixed_then_rows, "{scope}");
        let other = if scope == READ_STOCK { "leads" } else { "inventory" };
        let refused = agent.send("resources/read", json!({"uri": format!("amcp://dlr_lakeside/{other}")})).await;
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("auth.insufficient_scope")));
    }
}

#[tokio::test]
async fn a3_01_a3_20_new_leads_do_not_disturb_a_resource_list() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let (before, _) = listed(&mut agent).await;
    let (mut addresses, mut params) = (Vec::new(), json!({}));
    loop {
        let page = agent.result("resources/list", params.clone()).await;
        addresses.extend(
            page["resources"].as_array().unwrap().iter().map(|entry| entry["uri"].as_str().unwrap().to_owned()),
        );
        agent.call("leads.create", lead("Dana Rivera")).await;
        match page.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => break,
        }
    }
    let seen: BTreeSet<&String> = addresses.iter().collect();
    assert_eq!(seen.len(), addresses.len(), "an address came twice");
    assert!(before.iter().all(|address| seen.contains(address)), "an address was skipped");
}

#[tokio::test]
async fn a3_01_a3_19_last_full_page_of_resources_has_no_cursor() {
    let desk = TestApp::start();
    let mut agent = desk.agent_with("amcp:leads:read amcp:leads:write").await;
    // The manifest and two lists, then leads, then customers: 97 leads fill the first page exactly.
    let people = agent.all("customers.list", json!({"limit": 100})).await.len();
    for (leads, pages) in [(97, vec![100, 100, 3 + 97 + people - 200]), (297 - people, vec![100, 100, 100])] {
        let known = agent.all("leads.list", json!({"limit": 100})).await.len();
        for _ in known..leads {
            agent.call("leads.create", lead("Dana Rivera")).await;
        }
        let (addresses, sizes) = listed(&mut agent).await;
        assert_eq!(sizes, pages, "with {leads} leads");
        assert_eq!(BTreeSet::from_iter(addresses).len(), 3 + leads + people, "with {leads} leads");
    }
}
