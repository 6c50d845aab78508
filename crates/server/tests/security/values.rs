//! Arguments at their edges: texts that look like SQL, names nobody knows, numbers and dates that are none.

use serde_json::{Value, json};

use crate::requests::{a_lead, code, first_id};
use frontdesk_testkit::app::{TestAgent, TestApp};

const SQL: [&str; 8] = [
    "' OR '1'='1",
    "'; DROP TABLE lead; --",
    "\" OR \"\"=\"",
    "x' UNION SELECT sealed FROM customer --",
    "1) OR (1=1",
    "%",
    "_%' LIKE '\\",
    "$1 ?1 :a @b",
];

async fn errors(agent: &mut TestAgent, tool: &str, arguments: Value) -> Value {
    let answer = agent.call(tool, arguments.clone()).await;
    assert_eq!(answer["error"]["code"], json!("request.invalid"), "{tool} {arguments}: {answer}");
    answer["error"]["details"]["errors"].clone()
}

#[tokio::test]
async fn text_that_looks_like_sql_finds_nothing_and_is_kept_as_it_is() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let all = agent.all("leads.list", json!({"limit": 100})).await.len();
    for text in SQL {
        for argument in ["make", "model"] {
            let found = agent.call("inventory.search", json!({argument: text})).await;
            assert_eq!(found, json!({"items": []}), "{argument} {text}");
        }
        for argument in ["owner_id", "customer_id", "vehicle_id"] {
            assert_eq!(agent.call("leads.list", json!({argument: text})).await, json!({"items": []}), "{text}");
        }
        for tool in ["inventory.get", "leads.get", "customers.get"] {
            let domain = tool.split('.').next().unwrap();
            assert_eq!(agent.code(tool, json!({"id": text})).await, format!("{domain}.not_found"));
        }
        assert_eq!(agent.code("inventory.list", json!({"cursor": text})).await, "request.invalid_cursor");
        assert_eq!(agent.code("inventory.list", json!({"dealership_id": text})).await, "dealership.forbidden");
        let found = agent.call("inventory.search", json!({"text": format!("toyota {text}")})).await;
        assert!(found.get("items").is_some() && found["items"].as_array().unwrap().len() < 26, "{found}");
        // Names of columns, orders and words of a vocabulary come from a list of ours.
        for (tool, argument) in [
            ("inventory.search", "sort"),
            ("inventory.search", "status"),
            ("inventory.search", "body_style"),
            ("leads.list", "status"),
            ("leads.list", "channel"),
        ] {
            let errors = errors(&mut agent, tool, json!({argument: text})).await;
            assert_eq!(errors[0]["keyword"], json!("enum"));
        }
        let errors = errors(&mut agent, "inventory.search", json!({text: "x"})).await;
        assert_eq!(errors[0]["keyword"], json!("additionalProperties"));
        let mut lead = a_lead();
        lead["contact"]["name"] = json!(format!("a {text}"));
        lead["comments"] = json!(text);
        lead["source"] = json!({"channel": "website", "provider": text, "external_id": text});
        let id = agent.call("leads.create", lead).await["id"].clone();
        let kept = agent.call("leads.get", json!({"id": id})).await;
        assert_eq!((&kept["comments"], &kept["source"]["provider"]), (&json!(text), &json!(text)));
    }
    assert_eq!(agent.all("leads.list", json!({"limit": 100})).await.len(), all + SQL.len());
}

#[tokio::test]
async fn an_id_has_one_spelling() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let id = first_id(&mut agent, "leads.list").await;
    assert_eq!(agent.call("leads.get", json!({"id": id})).await["id"], json!(id));
    for twin in [
        id.to_uppercase(),
        format!("{id} "),
        format!(" {id}"),
        format!("{id}\u{301}"),
        format!("{id}\u{200b}"),
        format!("\u{202e}{id}"),
        id.replace('e', "\u{435}"),
        format!("{id}%00"),
        id[..id.len() - 1].to_owned(),
    ] {
        assert_eq!(agent.code("leads.get", json!({"id": twin})).await, "leads.not_found", "{twin}");
        let uri = format!("amcp://{}/leads/{twin}", agent.dealership);
        let answer = agent.send("resources/read", json!({"uri": uri})).await.json();
        assert_eq!(
            (answer["error"]["code"].clone(), code(&answer)),
            (json!(-32002), Some("leads.not_found")),
            "{twin}"
        );
    }
    let errors = errors(&mut agent, "leads.get", json!({"id": format!("{id}\u{0}")})).await;
    assert_eq!(errors, json!([{"pointer": "/id", "keyword": "pattern", "expected": "a NUL character is not allowed"}]));
}

#[tokio::test]
async fn numbers_that_are_not_whole_or_too_large_are_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let exact = 9_007_199_254_740_991_i64;
    for (amount, keyword) in [
        (json!(1.0), "type"),
        (json!(1e3), "type"),
        (json!(-0.0), "type"),
        (json!("1"), "type"),
        (json!(true), "type"),
        (json!(-1), "minimum"),
        (json!(exact + 2), "maximum"),
        (json!(i64::MAX), "maximum"),
        (json!(u64::MAX), "maximum"),
        (json!(1e300), "type"),
    ] {
        let errors =
            errors(&mut agent, "inventory.search", json!({"price_min": {"amount": amount, "currency": "USD"}})).await;
        assert_eq!(
            (&errors[0]["pointer"], &errors[0]["keyword"]),
            (&json!("/price_min/amount"), &json!(keyword)),
            "{amount}"
        );
    }
    let most =
        json!({"price_min": {"amount": exact, "currency": "USD"}, "mileage_min": {"value": 9_999_999, "unit": "mi"}});
    assert_eq!(agent.call("inventory.search", most).await, json!({"items": []}));
    for limit in [
        json!(0),
        json!(-1),
        json!(101),
        json!(1_000_000_000),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1.5),
        json!("5"),
        json!(null),
    ] {
        let errors = errors(&mut agent, "inventory.list", json!({"limit": limit})).await;
        assert_eq!(errors[0]["pointer"], json!("/limit"), "{limit}");
        let uri =
            format!("amcp://{}/inventory?limit={}", agent.dealership, limit.as_str().unwrap_or(&limit.to_string()));
        let answer = agent.send("resources/read", json!({"uri": uri})).await.json();
        assert_eq!(answer.get("error").is_some(), limit != json!("5"), "{uri}");
    }
    let id = first_id(&mut agent, "leads.list").await;
    for version in [json!(0), json!(-1), json!(i64::MAX), json!(u64::MAX), json!(1.5)] {
        let errors =
            errors(&mut agent, "leads.update", json!({"id": id, "comments": "x", "expected_version": version})).await;
        assert_eq!(errors[0]["pointer"], json!("/expected_version"));
    }
    let never = json!({"id": id, "comments": "x", "expected_version": exact});
    assert_eq!(agent.code("leads.update", never).await, "request.version_conflict");
}

/// Two ways to write one letter would make two ids that look the same (NFC and NFD, look-alikes, hidden marks).
#[tokio::test]
async fn chosen_ids_have_only_unambiguous_letters() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let id = agent.call("leads.create", a_lead()).await["id"].clone();
    for owner in [
        "emp_ren\u{e9}",
        "emp_rene\u{301}",
        "emp_\u{440}aul",
        "emp_\u{ff41}",
        "emp_a\u{200d}",
        "emp_\u{202e}a",
        "emp a",
    ] {
        let change = json!({"id": id, "owner": {"id": owner, "name": "Ren\u{e9}"}});
        let errors = errors(&mut agent, "leads.update", change).await;
        assert_eq!(errors[0]["pointer"], json!("/owner/id"), "{owner}");
        assert_eq!(agent.call("leads.list", json!({"owner_id": owner})).await, json!({"items": []}), "{owner}");
    }
    // A name is text and stays as it was written, in either way.
    for name in ["Ren\u{e9}", "Rene\u{301}"] {
        let change = json!({"id": id, "owner": {"id": "emp_rene", "name": name}});
        assert_eq!(agent.call("leads.update", change).await["owner"]["name"], json!(name));
    }
}

#[tokio::test]
async fn dates_that_cannot_be_written_back_are_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    for date in [
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "10000-01-01T00:00:00Z",
        "+10000-01-01T00:00:00Z",
        "-0001-01-01T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01",
        "2026-01-01T00:00:00+99:00",
        "now",
        "",
        "1767225600",
    ] {
        let errors = errors(&mut agent, "leads.list", json!({"received_since": date})).await;
        assert_eq!(
            (&errors[0]["pointer"], &errors[0]["keyword"]),
            (&json!("/received_since"), &json!("format")),
            "{date}"
        );
        let mut lead = a_lead();
        lead["consent"]["granted_at"] = json!(date);
        assert_eq!(agent.code("leads.create", lead).await, "request.invalid", "{date}");
    }
    let mut lead = a_lead();
    lead["consent"]["granted_at"] = json!("0001-01-01T00:00:00Z");
    lead["consent"]["expires_at"] = json!("9999-12-31T23:59:59.999Z");
    let kept = agent.call("leads.create", lead).await["consent"].clone();
    assert_eq!(
        (&kept["granted_at"], &kept["expires_at"]),
        (&json!("0001-01-01T00:00:00Z"), &json!("9999-12-31T23:59:59.999Z"))
    );
}

#[tokio::test]
async fn an_unreadable_idempotency_key_is_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "leads.create", "arguments": a_lead()}});
    let call = call.to_string();
    let before = agent.all("leads.list", json!({"limit": 100})).await.len();
    let long = "k".repeat(256);
    for headers in [
        vec![("idempotency-key", "clé")],
        vec![("idempotency-key", "")],
        vec![("idempotency-key", "two words")],
        vec![("idempotency-key", &long)],
        vec![("idempotency-key", "a"), ("idempotency-key", "b")],
    ] {
        let answer = agent.post(&call, &headers).await.json();
        let error = &answer["result"]["structuredContent"]["error"];
        assert_eq!(
            (&error["code"], &error["details"]["errors"][0]["pointer"]),
            (&json!("request.invalid"), &json!("/idempotency_key")),
            "{headers:?}"
        );
    }
    assert_eq!(agent.all("leads.list", json!({"limit": 100})).await.len(), before);
}
