//! Figures on both databases: each is what the records say that the lists answer.

use frontdesk_testkit::app::{TestAgent, TestApp};
use frontdesk_testkit::databases::PostgresDatabase;
use frontdesk_testkit::signal_figures::Records;
use serde_json::{Value, json};

#[tokio::test]
async fn signals_are_what_the_records_say_on_sqlite() {
    compare(TestApp::start_with(&settings())).await;
}

#[tokio::test]
async fn signals_are_what_the_records_say_on_postgres() {
    let database = PostgresDatabase::create();
    let url = database.url();
    let mut settings = settings().to_vec();
    settings.push(("FRONTDESK_DATABASE", &url));
    compare(TestApp::start_with(&settings)).await;
}

/// As few records as there are in the demo are enough for every figure.
fn settings() -> [(&'static str, &'static str); 3] {
    [
        ("FRONTDESK_SIGNALS_MIN_GROUP", "2"),
        ("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "100000"),
        ("FRONTDESK_LIMITS_BURST", "10000"),
    ]
}

async fn compare(app: TestApp) {
    let mut agent = app.agent().await;
    let records = Records {
        leads: all(&mut agent, "leads.list", json!({"limit": 100})).await,
        vehicles: all(&mut agent, "inventory.list", json!({"limit": 100})).await,
        visits: all(&mut agent, "service.list_appointments", json!({"limit": 100})).await,
    };
    let mut compared = std::collections::BTreeMap::<String, usize>::new();
    for dimension in [None, Some("source"), Some("condition"), Some("body_style")] {
        let mut call = json!({"period": "month", "limit": 100});
        if let Some(dimension) = dimension {
            call["dimension"] = json!(dimension);
        }
        for item in all(&mut agent, "signals.list", call).await {
            let metric = item["metric"].as_str().unwrap();
            // Figures of the stock follow the clock while the period lasts.
            let follows_clock = ["inventory_turn", "days_supply"].contains(&metric);
            if item["suppressed"] == json!(true) || (follows_clock && item["period"]["complete"] == json!(false)) {
                continue;
            }
            let at = |name: &str| {
                let time = item["period"][name].as_str().unwrap();
                frontdesk_engine::model::timestamp::Millis::parse(time).unwrap().0
            };
            let (size, value) = records.figure(&item, at("start"), at("end"), i64::MAX);
            let answered = (item["sample_size"].as_u64(), item.get("value").and_then(Value::as_i64));
            assert_eq!(answered, (Some(size), value), "{item}");
            *compared.entry(metric.to_owned()).or_default() += 1;
            assert_eq!(agent.call("signals.get", json!({"id": item["id"]})).await, item);
        }
    }
    assert!(
        compared.len() == 6 || (compared.len() == 5 && !compared.contains_key("appointment_show_rate")),
        "{compared:?}"
    );
}

async fn all(agent: &mut TestAgent, list: &str, mut call: Value) -> Vec<Value> {
    let mut found = Vec::new();
    loop {
        let page = agent.call(list, call.clone()).await;
        found.extend(page["items"].as_array().unwrap_or_else(|| panic!("{page}")).iter().cloned());
        match page.get("next_cursor") {
            Some(cursor) => call["cursor"] = cursor.clone(),
            None => return found,
        }
    }
}
