//! Cursors that were not issued for this (section 3.4): damaged, made up, or from somewhere else.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use frontdesk_testkit::app::{TestAgent, TestApp};

use super::requests::{LISTS, UNHURRIED, lead};

const REFUSED: &str = "{\"error\":{\"code\":\"request.invalid_cursor\",\"message\":\"This cursor does not belong to this \
    request, or has expired. Start again without a cursor.\",\"details\":{\"retryable\":false}}}";

async fn cursor(agent: &mut TestAgent, list: &str, mut arguments: Value) -> String {
    arguments["limit"] = json!(1);
    agent.call(list, arguments).await["next_cursor"].as_str().unwrap().to_owned()
}

/// The texts that a list answers these cursors with, many to a request.
async fn answers(agent: &mut TestAgent, list: &str, cursors: &[String]) -> Vec<String> {
    let mut answers = Vec::new();
    for part in cursors.chunks(64) {
        let calls = part.iter().enumerate().map(|(id, cursor)| {
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": {"name": list, "arguments": {"cursor": cursor, "limit": 1}}})
        });
        let batch = Value::from(calls.collect::<Vec<Value>>()).to_string();
        let response = agent.post(&batch, &[("mcp-protocol-version", "2025-03-26")]).await;
        assert_eq!(response.status, 200);
        for answer in response.json().as_array().unwrap() {
            answers.push(answer["result"]["content"][0]["text"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(answers.len(), cursors.len());
    answers
}

#[tokio::test]
async fn a3_21_a_cursor_with_any_bit_flipped_is_refused() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let good = cursor(&mut agent, "leads.list", json!({"status": "new"})).await;
    let sealed = URL_SAFE_NO_PAD.decode(&good).unwrap();
    let flipped: Vec<String> = (0..sealed.len() * 8)
        .map(|bit| {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            URL_SAFE_NO_PAD.encode(damaged)
        })
        .collect();
    assert!(flipped.len() > 1000);
    for (bit, answer) in answers(&mut agent, "leads.list", &flipped).await.iter().enumerate() {
        assert_eq!(answer, REFUSED, "bit {bit}");
    }
    // The one that was not damaged still opens.
    assert!(agent.call("leads.list", json!({"cursor": good})).await["items"].is_array());
}

#[tokio::test]
async fn a3_21_a_modified_cursor_is_refused() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let good = cursor(&mut agent, "inventory.list", json!({})).await;
    let sealed = URL_SAFE_NO_PAD.decode(&good).unwrap();
    let mut wrong: Vec<String> = (1..good.len()).map(|length| good[..length].to_owned()).collect();
    wrong.extend([
        good[1..].to_owned(),
        format!("{good}A"),
        format!("{good}AAAA"),
        format!("{good}{good}"),
        format!("{good}="),
        format!("{good} "),
        format!(" {good}"),
        format!("{good}\n"),
        good.to_lowercase(),
        good.chars().rev().collect(),
        STANDARD.encode([&sealed[..], &[0xff, 0xff, 0xfe]].concat()),
        "1".to_owned(),
        "null".to_owned(),
        "eyJvZmZzZXQiOjEwfQ".to_owned(),
        URL_SAFE_NO_PAD.encode(vec![0; sealed.len()]),
        "A".repeat(8192),
        "\u{1f697}".to_owned(),
    ]);
    // Other spellings of the same bytes, where there are any.
    wrong.extend([URL_SAFE.encode(&sealed), STANDARD.encode(&sealed)].into_iter().filter(|text| *text != good));
    for (answer, sent) in answers(&mut agent, "inventory.list", &wrong).await.iter().zip(&wrong) {
        assert_eq!(answer, REFUSED, "{sent}");
    }
    for (sent, pointer) in [(json!(""), "/cursor"), (json!("A".repeat(8193)), "/cursor"), (json!(7), "/cursor")] {
        let answer = agent.call("inventory.list", json!({"cursor": sent})).await;
        assert_eq!(answer["error"]["code"], json!("request.invalid"));
        assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], json!(pointer));
    }
}

#[tokio::test]
async fn a3_21_a_cursor_of_another_tool_is_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let tools = ["inventory.list", "inventory.search", "leads.list", "customers.list"];
    let listed = agent.result("resources/list", json!({})).await["nextCursor"].as_str().unwrap().to_owned();
    for from in tools {
        let cursor = cursor(&mut agent, from, json!({})).await;
        for to in tools {
            let answer = agent.call(to, json!({"cursor": cursor})).await;
            match from == to {
                true => assert!(answer["items"].is_array(), "{from}"),
                false => assert_eq!(answer["error"]["code"], json!("request.invalid_cursor"), "{from} in {to}"),
            }
        }
        let answer = agent.send("resources/list", json!({"cursor": cursor})).await.json();
        assert_eq!(answer["error"]["data"]["error"]["code"], json!("request.invalid_cursor"), "{from}");
        assert_eq!(agent.code(from, json!({"cursor": listed})).await, "request.invalid_cursor", "{from}");
    }
    // Lists of one page issue no cursors, so any is a foreign one.
    for method in ["tools/list", "resources/templates/list"] {
        let answer = agent.send(method, json!({"cursor": listed})).await.json();
        assert_eq!(answer["error"]["code"], json!(-32602), "{method}");
    }
}

#[tokio::test]
async fn a3_21_a_cursor_beside_other_filters_is_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let issued = json!({"make": "Toyota", "price_min": {"amount": 100, "currency": "USD"}});
    let given = cursor(&mut agent, "inventory.search", issued.clone()).await;
    let others = [
        json!({"make": "Honda", "price_min": {"amount": 100, "currency": "USD"}}),
        json!({"make": "Toyota"}),
        json!({"make": "Toyota", "price_min": {"amount": 101, "currency": "USD"}}),
        json!({"make": "Toyota", "price_min": {"amount": 100, "currency": "CAD"}}),
        json!({"make": "Toyota", "price_min": {"amount": 100, "currency": "USD"}, "status": "sold"}),
        json!({"make": "Toyota", "price_min": {"amount": 100, "currency": "USD"}, "sort": "price_desc"}),
        json!({"sort": "newest"}),
    ];
    for mut other in others {
        other["cursor"] = json!(given);
        let answer = agent.call("inventory.search", other.clone()).await;
        assert_eq!(
            answer,
            json!({"error": {
                "code": "request.invalid_cursor",
                "message": "This cursor was issued for other filters. Repeat the same filters, or start again without \
                    a cursor.",
                "details": {"retryable": false},
            }}),
            "{other}"
        );
    }
    // The same filters in another order of keys are the same filters.
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"inventory.search","arguments":
        {{"price_min":{{"currency":"USD","amount":100}},"cursor":"{given}","make":"Toyota"}}}}}}"#
    );
    let answer = agent.post(&body, &[]).await.json();
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    // A list without filters issues cursors that take none afterwards.
    let bare = cursor(&mut agent, "inventory.list", json!({})).await;
    let code = agent.code("inventory.list", json!({"cursor": bare, "status": "available"})).await;
    assert_eq!(code, "request.invalid_cursor");
}

#[tokio::test]
async fn a3_21_cursors_keep_their_scope_over_a_restart() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    let whole = agent.all("leads.list", json!({"limit": 100})).await;
    let given = cursor(&mut agent, "leads.list", json!({})).await;
    desk = desk.restart();
    let mut agent = desk.agent().await;
    let rest = agent.call("leads.list", json!({"cursor": given, "limit": 100})).await;
    assert_eq!(rest["items"].as_array().unwrap()[..], whole[1..]);
    let mut summit = desk.other_tenant().await;
    assert_eq!(summit.code("leads.list", json!({"cursor": given})).await, "request.invalid_cursor");
}

#[tokio::test]
async fn a3_22_a_cursor_shows_nothing_of_whom_it_is_about() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let email = "canary.person@example.com";
    let mut canary = lead("Canary Person");
    canary["contact"] = json!({"name": "Canary Person", "email": email, "phone": "+15125550199"});
    canary["consent"]["channels"] = json!(["email", "sms"]);
    let mut created = Vec::new();
    for _ in 0..2 {
        created.push(agent.call("leads.create", canary.clone()).await["id"].as_str().unwrap().to_owned());
    }
    let mut cursors = Vec::new();
    for (tool, filter) in [
        ("leads.list", json!({"email": email})),
        ("leads.list", json!({"phone": "+15125550199"})),
        ("leads.list", json!({})),
        ("inventory.search", json!({"text": "toyota"})),
    ] {
        cursors.push(cursor(&mut agent, tool, filter).await);
    }
    for (list, _) in LISTS {
        cursors.push(cursor(&mut agent, list, json!({})).await);
    }
    for cursor in &cursors {
        let sealed = URL_SAFE_NO_PAD.decode(cursor).unwrap();
        let forms = [cursor.clone().into_bytes(), sealed.clone(), sealed.iter().rev().copied().collect()];
        for secret in
            ["canary", "Canary", "Person", "example.com", "5550199", "toyota", "email", "lakeside", &created[0]]
        {
            for form in &forms {
                assert!(!form.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret} in {cursor}");
            }
        }
        // Its length comes in steps, so that it does not tell the length of what is inside.
        assert_eq!((sealed.len() - cursor_overhead(&cursors)) % 64, 0);
    }
    // Asked twice, the same place is sealed differently: cursors cannot be compared either.
    let again = cursor(&mut agent, "leads.list", json!({"email": email})).await;
    assert_ne!(again, cursors[0]);
}

/// What the seal adds: the same for all, found from the shortest.
fn cursor_overhead(cursors: &[String]) -> usize {
    let shortest = cursors.iter().map(|cursor| URL_SAFE_NO_PAD.decode(cursor).unwrap().len()).min().unwrap();
    shortest % 64
}
