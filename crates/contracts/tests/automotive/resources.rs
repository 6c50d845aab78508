//! Resources: the same JSON and the same errors as the tools.

use serde_json::{Value, json};

use super::support::{ALL_SCOPES, TestDesk};

fn read(desk: &TestDesk, scopes: &str, address: &str) -> (u16, Value) {
    let reply = desk.send(&format!("dlr_lakeside/{scopes}"), "resources/read", json!({"uri": address}));
    (reply.status, serde_json::from_slice(&reply.body).unwrap())
}

/// The JSON in the text of a resource.
fn content(desk: &TestDesk, address: &str) -> Value {
    let (status, answer) = read(desk, ALL_SCOPES, address);
    assert_eq!(status, 200, "{answer}");
    let contents = answer["result"]["contents"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(contents.len(), 1);
    assert_eq!((&contents[0]["uri"], &contents[0]["mimeType"]), (&json!(address), &json!("application/json")));
    serde_json::from_str(contents[0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn a3_01_what_a_tool_reads_can_be_read_by_address() {
    let desk = TestDesk::open();
    for (domain, kind) in [("inventory", "vehicle"), ("leads", "lead"), ("customers", "customer")] {
        let mut listed = desk.call_ok(ALL_SCOPES, &format!("{domain}.list"), json!({"limit": 3}));
        let mut page = content(&desk, &format!("amcp://dlr_lakeside/{domain}?limit=3"));
        // A cursor is encrypted with a new nonce each time.
        for list in [&mut listed, &mut page] {
            assert!(list.as_object_mut().unwrap().remove("next_cursor").is_some());
        }
        assert_eq!(page, listed);

        let id = page["items"][0]["id"].as_str().unwrap();
        let one = content(&desk, &format!("amcp://dlr_lakeside/{domain}/{id}"));
        assert_eq!(one, desk.call_ok(ALL_SCOPES, &format!("{domain}.get"), json!({"id": id})));
        assert_eq!((&one["id"], &one["type"]), (&json!(id), &json!(kind)));
    }
}

#[test]
fn a_list_by_address_goes_on_with_its_cursor() {
    let desk = TestDesk::open();
    let first = content(&desk, "amcp://dlr_lakeside/inventory?limit=2");
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = content(&desk, &format!("amcp://dlr_lakeside/inventory?cursor={cursor}&limit=2"));
    let four = content(&desk, "amcp://dlr_lakeside/inventory?limit=4");
    let both: Vec<&Value> = [&first, &second].into_iter().flat_map(|page| page["items"].as_array().unwrap()).collect();
    assert_eq!(both, four["items"].as_array().unwrap().iter().collect::<Vec<_>>());
}

#[test]
fn a3_16_no_address_holds_a_trade_number() {
    let desk = TestDesk::open();
    for item in content(&desk, "amcp://dlr_lakeside/inventory?limit=100")["items"].as_array().unwrap() {
        let id = item["id"].as_str().unwrap().to_lowercase();
        for number in ["vin", "stock_number"] {
            assert!(!id.contains(&item[number].as_str().unwrap().to_lowercase()), "{id}");
        }
    }
}

#[test]
fn a_foreign_id_is_not_found_and_a_foreign_dealership_forbidden() {
    let desk = TestDesk::open();
    let (_, theirs) = desk.call_as("dlr_summit/amcp:inventory:read", "inventory.list", json!({"limit": 1}));
    let id = theirs["items"][0]["id"].as_str().unwrap();
    let foreign = read(&desk, ALL_SCOPES, &format!("amcp://dlr_lakeside/inventory/{id}"));
    assert_eq!(foreign, read(&desk, ALL_SCOPES, "amcp://dlr_lakeside/inventory/veh_none"));
    assert_eq!(
        foreign.1,
        json!({"jsonrpc": "2.0", "id": 1, "error": {
            "code": -32002,
            "message": "No vehicle with this id exists here. An id looks like veh_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a vehicle is one. Find it with inventory.search.",
            "data": {"error": {
                "code": "inventory.not_found",
                "message": "No vehicle with this id exists here. An id looks like veh_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a vehicle is one. Find it with inventory.search.",
                "details": {"retryable": false},
            }},
        }})
    );
    let (_, refused) = read(&desk, ALL_SCOPES, &format!("amcp://dlr_summit/inventory/{id}"));
    assert_eq!(refused["error"]["data"]["error"]["code"], "dealership.forbidden");
    assert_eq!(refused, read(&desk, ALL_SCOPES, "amcp://dlr_summit/inventory/veh_none").1);
}

#[test]
fn a6_11_a_resource_needs_the_scope_of_its_tool() {
    let desk = TestDesk::open();
    for address in ["amcp://dlr_lakeside/leads", "amcp://dlr_lakeside/customers/cus_1"] {
        let (status, answer) = read(&desk, "amcp:inventory:read amcp:leads:write", address);
        assert_eq!((status, &answer["error"]["code"]), (403, &json!("auth.insufficient_scope")));
    }
    assert_eq!(read(&desk, "amcp:inventory:read", "amcp://manifest").0, 200);
}

#[test]
fn a3_07_a3_08_a3_10_a_shared_token_must_name_its_dealership() {
    let desk = TestDesk::open();
    let both = "dlr_lakeside,dlr_summit/amcp:inventory:read";
    let code = |arguments| desk.call_as(both, "inventory.list", arguments).1["error"]["code"].clone();
    assert_eq!(code(json!({})), "dealership.required");
    assert_eq!(code(json!({"dealership_id": "dlr_other"})), "dealership.forbidden");
    assert_eq!(code(json!({"dealership_id": "dlr_lakeside,dlr_summit"})), "dealership.forbidden");
    assert_eq!(code(json!({"dealership_id": ["dlr_lakeside", "dlr_summit"]})), "request.invalid");
    let (_, page) = desk.call_as(both, "inventory.list", json!({"dealership_id": "dlr_summit", "limit": 1}));
    assert_eq!(page["items"][0]["dealership_id"], "dlr_summit");
}
