//! The record: every look at personal data can be found again, and itself tells nothing personal.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::requests::{a_lead, first_id};
use frontdesk_testkit::app::{DemoTenant, READ_LEADS, TestApp, WRITE_LEADS};

fn records(desk: &TestApp) -> Vec<Value> {
    let (code, out, errors) = desk.command(&["audit", "export"]);
    assert_eq!(code, Some(0), "{errors}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The records that concern personal data in full.
fn personal(desk: &TestApp) -> Vec<Value> {
    records(desk).into_iter().filter(|record| record["personal"] == json!(true)).collect()
}

#[tokio::test]
async fn a6_19_reading_personal_data_is_recorded_before_the_answer() {
    let desk = TestApp::start();
    let mut agent = desk.agent_with(READ_LEADS).await;
    let (client, ..) = desk.credentials(DemoTenant::Lakeside);
    let leads = agent.all("leads.list", json!({"limit": 100})).await;
    let customers = agent.all("customers.list", json!({"limit": 100})).await;
    assert_eq!(personal(&desk), Vec::<Value>::new());
    let mut expected = Vec::new();
    let mut values = Vec::new();
    for (tool, contact, items) in
        [("leads.get", "contact", &leads[..20]), ("customers.get", "primary_contact", &customers[..20])]
    {
        for item in items {
            let whole = agent.call(tool, json!({"id": item["id"]})).await;
            expected.push((tool, item["id"].clone()));
            values.extend(
                ["name", "email", "phone"].map(|field| whole[contact][field].as_str().unwrap_or("\u{0}").to_owned()),
            );
        }
    }
    let uri = format!("amcp://{}/leads/{}", agent.dealership, leads[0]["id"].as_str().unwrap());
    agent.result("resources/read", json!({"uri": uri})).await;
    expected.push(("leads.get", leads[0]["id"].clone()));

    // Read right after the last answer, while the desk runs: nothing has to be flushed first.
    let found = personal(&desk);
    assert_eq!(found.len(), 41);
    for (record, (tool, id)) in found.iter().zip(&expected) {
        assert_eq!(record["tool"], json!(tool));
        assert_eq!(record["ids"], json!([id]));
        assert_eq!(record["client"], json!(client));
        assert_eq!(record["tenant"], json!(agent.dealership));
        assert_eq!(record["outcome"], json!("ok"));
        assert!(record["at"].as_str().unwrap().ends_with('Z') && record["trace"].as_str().unwrap().len() == 32);
    }
    let text = json!(records(&desk)).to_string();
    for value in values {
        assert!(!text.contains(&value), "{value}");
    }
    let (code, out, _) = desk.command(&["audit", "verify"]);
    assert_eq!((code, out.lines().last()), (Some(0), Some("The audit log is complete and unchanged.")));
}

#[tokio::test]
async fn a6_19_writes_and_refusals_are_recorded_with_outcome() {
    let desk = TestApp::start();
    let mut writer = desk.agent_with(WRITE_LEADS).await;
    let mut both = desk.agent().await;
    let mut weak = desk.weak_agent().await;
    let masked = writer.call("leads.create", a_lead()).await["id"].clone();
    let shown = both.call("leads.create", a_lead()).await["id"].clone();
    both.call("leads.update", json!({"id": masked, "status": "working"})).await;
    both.code("leads.get", json!({"id": "led_nobody"})).await;
    both.code("leads.create", json!({"interest": "buy"})).await;
    weak.send("tools/call", json!({"name": "leads.get", "arguments": {"id": masked}})).await;
    first_id(&mut both, "leads.list").await;
    let began = Instant::now();
    let said: Vec<Value> = loop {
        let said: Vec<Value> = records(&desk).into_iter().filter(|record| record.get("tool").is_some()).collect();
        // What is not personal is written in groups, a moment later.
        if said.len() >= 7 {
            break said;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{said:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let of = |record: &Value| json!([record["tool"], record["outcome"], record["ids"], record["personal"]]);
    let mut told: Vec<String> = said.iter().map(|record| of(record).to_string()).collect();
    told.sort();
    let mut expected: Vec<String> = [
        json!(["leads.create", "ok", [masked], null]),
        json!(["leads.create", "ok", [shown], true]),
        json!(["leads.update", "ok", [masked], true]),
        json!(["leads.get", "not_found", null, null]),
        json!(["leads.create", "invalid_argument", null, null]),
        json!(["leads.get", "forbidden", null, null]),
        json!(["leads.list", "ok", [shown], null]),
    ]
    .iter()
    .map(Value::to_string)
    .collect();
    expected.sort();
    assert_eq!(told, expected);
    assert!(said.iter().all(|record| record["client"] == said[0]["client"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a6_19_the_audit_verifies_under_load_and_after_a_crash() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let id = first_id(&mut agent, "leads.list").await;
    let calls = async {
        for number in 0..60 {
            agent.call("leads.get", json!({"id": id})).await;
            agent.call("leads.update", json!({"id": id, "comments": format!("{number}")})).await;
        }
    };
    let judge = async {
        for _ in 0..4 {
            let (code, out, errors) = tokio::task::block_in_place(|| desk.command(&["audit", "verify"]));
            assert_eq!(code, Some(0), "{out}{errors}");
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(calls, judge);
    let before = personal(&desk).len();
    assert_eq!(before, 120);
    let desk = desk.crash_and_restart();
    assert_eq!(personal(&desk).len(), 120);
    let (code, out, _) = desk.command(&["audit", "verify"]);
    assert_eq!((code, out.lines().last()), (Some(0), Some("The audit log is complete and unchanged.")));
}
