//! One call, one dealership (section 3.2): what a call may name, and what it learns of the other one.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use frontdesk_testkit::app::{EVERYTHING, TestApp};

use super::requests::{GETS, UNHURRIED, count, everything, ids, keyed, lead, read, text};

/// Arguments that each tool would take, about something that does not exist.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("inventory.list", json!({})),
        ("inventory.search", json!({"make": "Toyota"})),
        ("inventory.get", json!({"id": "veh_0"})),
        ("leads.list", json!({})),
        ("leads.get", json!({"id": "led_0"})),
        ("leads.create", lead("Dana Rivera")),
        ("leads.update", json!({"id": "led_0", "status": "working"})),
        ("customers.list", json!({})),
        ("customers.get", json!({"id": "cus_0"})),
    ]
}

#[tokio::test]
async fn a3_05_lists_hold_one_dealership_even_for_the_same_car() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let (ours, theirs) = (everything(&mut lakeside).await, everything(&mut summit).await);
    assert!(ours.iter().all(|item| item["dealership_id"] == json!("dlr_lakeside")));
    assert!(theirs.iter().all(|item| item["dealership_id"] == json!("dlr_summit")));
    let shared = |field: &str| {
        let of = |items: &[Value]| -> BTreeSet<String> {
            items.iter().filter_map(|item| item[field].as_str()).map(str::to_owned).collect()
        };
        of(&ours).intersection(&of(&theirs)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(shared("id"), [""; 0]);
    let [vin] = shared("vin").try_into().unwrap();
    for (agent, dealership) in [(&mut lakeside, "dlr_lakeside"), (&mut summit, "dlr_summit")] {
        let found = agent.call("inventory.search", json!({"text": vin})).await;
        let found = found["items"].as_array().unwrap();
        assert_eq!((found.len(), &found[0]["dealership_id"]), (1, &json!(dealership)));
    }
}

#[tokio::test]
async fn a3_07_a3_10_a_token_of_two_dealerships_names_one_a_call() {
    let desk = TestApp::start();
    let group = desk.add_client(&["dlr_lakeside", "dlr_summit"], EVERYTHING);
    let mut group = desk.agent_of_client(&group, EVERYTHING).await;
    for (tool, arguments) in calls() {
        assert_eq!(
            group.call(tool, arguments).await,
            json!({"error": {
                "code": "dealership.required",
                "message": "This token is valid for several dealerships. Send the one you mean as dealership_id: one of these is expected: dlr_lakeside, dlr_summit.",
                "details": {"retryable": false, "errors": [{
                    "pointer": "/dealership_id",
                    "keyword": "required",
                    "expected": "one of these is expected: dlr_lakeside, dlr_summit",
                }]},
            }}),
            "{tool}"
        );
    }
    for dealership in ["dlr_lakeside", "dlr_summit"] {
        let page = group.call("leads.list", json!({"dealership_id": dealership, "limit": 5})).await;
        assert!(page["items"].as_array().unwrap().iter().all(|item| item["dealership_id"] == json!(dealership)));
        assert_eq!(page["items"].as_array().unwrap().len(), 5);
        let page = read(&mut group, &format!("amcp://{dealership}/leads?limit=5")).await.unwrap();
        assert_eq!(page.matches(&format!("\"dealership_id\":\"{dealership}\"")).count(), 5);
        let made = group.call(
            "leads.create",
            json!({"dealership_id": dealership, "contact": {"name": "Dana Rivera",
            "email": "d@example.com"}, "interest": "buy", "consent": {"granted": true, "channels": ["email"]}}),
        );
        assert_eq!(made.await["dealership_id"], json!(dealership));
    }
    for several in [json!(["dlr_lakeside", "dlr_summit"]), json!({"any": true}), json!(null), json!(""), json!(1)] {
        assert_eq!(group.code("leads.list", json!({"dealership_id": several})).await, "request.invalid", "{several}");
    }
    for several in ["*", "dlr_lakeside,dlr_summit", "dlr_lakeside dlr_summit", "dlr_*", "DLR_LAKESIDE", "dlr_lakeside "]
    {
        let code = group.code("leads.list", json!({"dealership_id": several})).await;
        assert_eq!(code, "dealership.forbidden", "{several}");
    }
    // A list of resources has no place to name a dealership, so it holds what belongs to none.
    let listed = group.result("resources/list", json!({})).await;
    assert_eq!(
        listed,
        json!({"resources": [
            {"uri": "amcp://manifest", "name": "manifest", "title": "Manifest", "mimeType": "application/json"},
        ]})
    );
}

#[tokio::test]
async fn a3_08_foreign_and_unknown_dealerships_fail_alike() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let before = everything(&mut summit).await;
    let refusal = "{\"error\":{\"code\":\"dealership.forbidden\",\"message\":\"This token is not valid for this dealership. Send the dealership_id of one of the client's own.\",\"details\":{\"retryable\":false}}}";
    let real = |kind: &str| before.iter().find(|item| item["type"] == json!(kind)).unwrap()["id"].clone();
    for (tool, arguments) in calls() {
        for dealership in ["dlr_summit", "dlr_nowhere"] {
            let mut arguments = arguments.clone();
            arguments["dealership_id"] = json!(dealership);
            assert_eq!(text(&mut lakeside, tool, arguments.clone()).await, refusal, "{tool} {dealership}");
            if arguments.get("id").is_some() {
                for kind in ["vehicle", "lead", "customer"] {
                    arguments["id"] = real(kind);
                    assert_eq!(text(&mut lakeside, tool, arguments.clone()).await, refusal, "{tool} {dealership}");
                }
            }
        }
        // Naming one's own changes nothing.
        let (mut named, unnamed) = (arguments.clone(), arguments);
        named["dealership_id"] = json!("dlr_lakeside");
        if unnamed.get("id").is_some() {
            assert_eq!(text(&mut lakeside, tool, named).await, text(&mut lakeside, tool, unnamed).await, "{tool}");
        }
    }
    assert_eq!(everything(&mut summit).await, before);
}

#[tokio::test]
async fn a3_09_foreign_and_unknown_ids_answer_alike() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let before = everything(&mut summit).await;
    let ours = everything(&mut lakeside).await;
    for (list, get) in GETS {
        let never = text(&mut lakeside, get, json!({"id": "led_0never0was"})).await;
        let domain = get.split('.').next().unwrap();
        let (noun, prefix, find) = match domain {
            "inventory" => ("vehicle", "veh", "inventory.search"),
            "leads" => ("lead", "led", "leads.search"),
            _ => ("customer", "cus", "customers.search"),
        };
        assert_eq!(
            never,
            format!(
                "{{\"error\":{{\"code\":\"{domain}.not_found\",\"message\":\"No {noun} with this id exists here. An id looks like \
                 {prefix}_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a {noun} is one. Find it with {find}.\",\
                 \"details\":{{\"retryable\":false}}}}}}"
            )
        );
        for id in ids(&summit.all(list, json!({"limit": 100})).await) {
            assert_eq!(text(&mut lakeside, get, json!({"id": id})).await, never, "{get} {id}");
            let ours = read(&mut lakeside, &format!("amcp://dlr_lakeside/{domain}/{id}")).await.unwrap_err();
            assert_eq!((&ours["code"], ours["data"].to_string()), (&json!(-32002), sorted(&never)), "{id}");
        }
    }
    let of =
        |kind: &str| before.iter().filter(|item| item["type"] == json!(kind)).map(|item| item["id"].clone()).collect();
    let (leads, cars, people): (Vec<Value>, Vec<Value>, Vec<Value>) = (of("lead"), of("vehicle"), of("customer"));

    // Changing: with any arguments, also with the version the row really has.
    let never = text(&mut lakeside, "leads.update", json!({"id": "led_0", "status": "sold"})).await;
    for id in &leads {
        for arguments in
            [json!({"id": id, "status": "sold"}), json!({"id": id, "status": "sold", "expected_version": 1})]
        {
            assert_eq!(text(&mut lakeside, "leads.update", arguments).await, never);
        }
    }
    // Referring to it in a new lead.
    for (field, known) in [("vehicle_id", &cars), ("customer_id", &people)] {
        let about = |id: Value| {
            let mut lead = lead("Dana Rivera");
            lead[field] = id;
            lead
        };
        let never = text(&mut lakeside, "leads.create", about(json!("veh_0"))).await;
        assert!(never.contains(".not_found\""), "{never}");
        for id in known.iter().take(40) {
            assert_eq!(text(&mut lakeside, "leads.create", about(id.clone())).await, never, "{field}");
        }
        // Filtering by it.
        for id in known.iter().take(40) {
            assert_eq!(text(&mut lakeside, "leads.list", json!({field: id})).await, "{\"items\":[]}", "{field}");
        }
    }
    assert_eq!(everything(&mut summit).await, before);
    assert_eq!(everything(&mut lakeside).await, ours);
}

/// The same JSON with its keys in the order in which the tests' own values print them.
fn sorted(text: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap().to_string()
}

#[tokio::test]
async fn a3_09_searches_find_nothing_of_another_dealership() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let mut lead = lead("Quintessa Zyxwvut");
    lead["contact"] = json!({"name": "Quintessa Zyxwvut", "email": "only.summit@example.net", "phone": "+15125550987"});
    lead["consent"]["channels"] = json!(["email", "sms"]);
    summit.call("leads.create", lead).await;
    for (filter, hits) in [
        (json!({"email": "only.summit@example.net"}), 1),
        (json!({"email": "ONLY.Summit@Example.net"}), 1),
        (json!({"phone": "+15125550987"}), 1),
    ] {
        assert_eq!(summit.all("leads.list", filter.clone()).await.len(), hits, "{filter}");
        assert_eq!(text(&mut lakeside, "leads.list", filter).await, "{\"items\":[]}");
    }
    // Stock by the other's numbers, and people by the other's names.
    let car = summit.call("inventory.list", json!({"limit": 1})).await["items"][0].clone();
    let own = summit.all("inventory.search", json!({"text": car["stock_number"]})).await;
    assert_eq!(own, std::slice::from_ref(&car));
    for field in ["stock_number", "vin"] {
        let found = text(&mut lakeside, "inventory.search", json!({"text": car[field]})).await;
        assert_eq!(found, "{\"items\":[]}", "{field}");
    }
    let person = summit.call("customers.list", json!({"limit": 1})).await["items"][0]["id"].clone();
    let person = summit.call("customers.get", json!({"id": person})).await;
    let email = json!({"email": person["primary_contact"]["email"]});
    assert_eq!(summit.all("customers.list", email.clone()).await.len(), 1);
    assert_eq!(text(&mut lakeside, "customers.list", email).await, "{\"items\":[]}");
}

#[tokio::test]
async fn a3_09_idempotency_keys_of_another_dealership_are_unknown() {
    let desk = TestApp::start();
    let mut lakeside = desk.agent().await;
    let mut summit = desk.other_tenant().await;
    let (leads, key) = (count(&mut lakeside, "leads.list").await, "the-same-key");
    let theirs = summit.call("leads.create", keyed("Dana Rivera", key)).await;
    // The same body makes a lead of our own; another body is no conflict, so the key tells nothing.
    let ours = lakeside.call("leads.create", keyed("Dana Rivera", key)).await;
    assert_eq!((&theirs["dealership_id"], &ours["dealership_id"]), (&json!("dlr_summit"), &json!("dlr_lakeside")));
    assert_ne!(theirs["id"], ours["id"]);
    assert_eq!(summit.code("leads.create", keyed("Lee Chen", key)).await, "request.idempotency_conflict");
    let other = "a-key-only-summit-used";
    summit.call("leads.create", keyed("Lee Chen", other)).await;
    assert_eq!(lakeside.call("leads.create", keyed("Kim Park", other)).await["dealership_id"], json!("dlr_lakeside"));
    assert_eq!(count(&mut lakeside, "leads.list").await, leads + 2);

    // A client of both has one key space per dealership.
    let group = desk.add_client(&["dlr_lakeside", "dlr_summit"], EVERYTHING);
    let mut group = desk.agent_of_client(&group, EVERYTHING).await;
    for dealership in ["dlr_lakeside", "dlr_summit", "dlr_lakeside"] {
        let mut lead = keyed("Dana Rivera", key);
        lead["dealership_id"] = json!(dealership);
        assert_eq!(group.call("leads.create", lead).await["dealership_id"], json!(dealership));
    }
    assert_eq!(count(&mut lakeside, "leads.list").await, leads + 3);
}
