//! The rules that hold for every resource, over every list of every domain: whose records they are, their ids, pages, and
//! what other dealerships' ids answer.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use frontdesk_testkit::app::{DemoTenant, TestApp};

use super::requests::{UNHURRIED, ids, read, text};

/// A list, the tool that reads one, the noun of the addresses, the number that the trade knows, and a change.
type DomainResource =
    (&'static str, &'static str, &'static str, Option<&'static str>, Option<(&'static str, &'static str)>);

const RESOURCES: [DomainResource; 17] = [
    ("inventory.list", "inventory.get", "inventory", Some("vin"), Some(("inventory.update", r#"{"doors":4}"#))),
    ("leads.list", "leads.get", "leads", None, Some(("leads.update", r#"{"timeframe":"later"}"#))),
    (
        "customers.list",
        "customers.get",
        "customers",
        Some("dms_customer_number"),
        Some(("customers.update", r#"{"language":"en"}"#)),
    ),
    ("consent.list", "consent.get", "consents", None, Some(("consent.update", r#"{"status":"withdrawn"}"#))),
    ("deals.list", "deals.get", "deals", Some("deal_number"), Some(("deals.cancel_deal", r#"{"reason":"price"}"#))),
    ("deals.list_fees", "deals.get_fee", "fees", Some("code"), None),
    ("deals.list_trade_values", "deals.get_trade_value", "trade_values", None, None),
    (
        "service.list_appointments",
        "service.get_appointment",
        "appointments",
        None,
        Some(("service.cancel_appointment", "{}")),
    ),
    (
        "service.list_repair_orders",
        "service.get_repair_order",
        "repair_orders",
        Some("ro_number"),
        Some(("service.update_repair_order", r#"{"tag_number":"9"}"#)),
    ),
    ("service.list_service_codes", "service.get_service_code", "service_codes", Some("code"), None),
    ("service.list_advisors", "service.get_advisor", "advisors", Some("employee_number"), None),
    ("service.list_workshops", "service.get_workshop", "workshops", Some("code"), None),
    ("parts.list", "parts.get", "parts", Some("part_number"), None),
    (
        "parts.list_orders",
        "parts.get_order",
        "part_orders",
        Some("order_number"),
        Some(("parts.update_order", r#"{"notes":"Rings."}"#)),
    ),
    ("fni.list_products", "fni.get_product", "fni_products", Some("code"), None),
    (
        "fni.list_credit_applications",
        "fni.get_credit_application",
        "credit_applications",
        Some("application_number"),
        Some(("fni.update_credit_application", r#"{"status":"withdrawn"}"#)),
    ),
    ("fni.list_lender_decisions", "fni.get_lender_decision", "lender_decisions", Some("decision_number"), None),
];

/// Both dealerships have some of each; of trade values the demo has none.
async fn desk() -> TestApp {
    let desk = TestApp::start_with(&UNHURRIED);
    for mut agent in [desk.agent().await, desk.other_tenant().await] {
        for number in 0..3 {
            let car = json!({"vin": format!("XTA2109906300000{number}"), "stock_number": format!("ALL-{number}"),
                "condition": "used", "year": 2021, "make": "Lada", "model": "Samara",
                "mileage": {"value": 30_000, "unit": "km"}, "price": {"amount": 900_000, "currency": "KWD"}});
            assert!(agent.call("inventory.create", car).await.get("error").is_none());
        }
        for _ in 0..3 {
            let car = json!({"make": "Lada", "model": "Samara", "year": 2021, "mileage": {"value": 30_000, "unit": "km"},
                "condition": "good"});
            assert!(agent.call("deals.request_trade_value", car).await.get("error").is_none());
        }
    }
    desk
}

#[tokio::test]
async fn a3_05_a3_06_a3_13_a3_14_records_have_own_ids_and_dealerships() {
    let desk = desk().await;
    let mut agent = desk.credit_agent(DemoTenant::Lakeside).await;
    for (list, get, _, number, _) in RESOURCES {
        let items = agent.all(list, json!({"limit": 100})).await;
        assert!(!items.is_empty(), "{list}");
        let distinct: BTreeSet<String> = ids(&items).into_iter().collect();
        assert_eq!(distinct.len(), items.len(), "{list}");
        for item in &items {
            assert_eq!(item["dealership_id"], "dlr_lakeside", "{item}");
            // A3-15 and A3-16: the trade's number stands beside the id and is no part of it.
            let number = number.and_then(|name| item.get(name)).and_then(Value::as_str);
            let id = item["id"].as_str().unwrap().to_lowercase();
            assert!(number.is_none_or(|number| number.len() < 6 || !id.contains(&number.to_lowercase())), "{item}");
        }
        assert!(number.is_none_or(|name| items.iter().any(|item| item.get(name).is_some())), "{list}");
        let one = &items[items.len() - 1];
        let whole = agent.call(get, json!({"id": one["id"]})).await;
        assert_eq!((&whole["id"], &whole["type"]), (&one["id"], &one["type"]), "{get}");
    }
}

#[tokio::test]
async fn a3_09_foreign_ids_answer_as_unknown_ones_in_every_domain() {
    let desk = desk().await;
    let mut lakeside = desk.credit_agent(DemoTenant::Lakeside).await;
    let mut summit = desk.credit_agent(DemoTenant::Summit).await;
    for (list, get, noun, _, change) in RESOURCES {
        let theirs = summit.all(list, json!({"limit": 100})).await;
        let id = theirs[0]["id"].as_str().unwrap();
        let (prefix, _) = id.split_once('_').unwrap();
        let unknown = format!("{prefix}_01jc3v8q6g2m4n7p9r5s0t1w8x");
        assert_eq!(
            text(&mut lakeside, get, json!({"id": id})).await,
            text(&mut lakeside, get, json!({"id": unknown})).await
        );
        let mut addressed = Vec::new();
        for id in [id, &unknown] {
            addressed.push(read(&mut lakeside, &format!("amcp://dlr_lakeside/{noun}/{id}")).await.unwrap_err());
        }
        assert_eq!(addressed[0], addressed[1], "{noun}");
        if let Some((tool, arguments)) = change {
            let mut answers = Vec::new();
            for id in [id, &unknown] {
                let mut arguments: Value = serde_json::from_str(arguments).unwrap();
                arguments["id"] = json!(id);
                answers.push(text(&mut lakeside, tool, arguments).await);
            }
            assert_eq!(answers[0], answers[1], "{tool}");
            assert!(answers[0].contains(".not_found"), "{}", answers[0]);
        }
        assert_eq!(summit.all(list, json!({"limit": 100})).await, theirs, "{list}");
    }
}

#[tokio::test]
async fn a3_11_a3_18_a3_19_a3_20_lists_are_walked_by_own_cursors() {
    let desk = desk().await;
    let mut agent = desk.credit_agent(DemoTenant::Lakeside).await;
    let mut summit = desk.credit_agent(DemoTenant::Summit).await;
    for (list, ..) in RESOURCES {
        let whole = agent.call(list, json!({"limit": 100})).await;
        let count = whole["items"].as_array().unwrap().len();
        let mut walked = Vec::new();
        let mut arguments = json!({"limit": count.div_ceil(2).max(1)});
        loop {
            let page = agent.call(list, arguments.clone()).await;
            walked.extend(page["items"].as_array().unwrap().clone());
            let Some(cursor) = page.get("next_cursor").filter(|_| walked.len() < count) else { break };
            assert_eq!(summit.code(list, json!({"cursor": cursor})).await, "request.invalid_cursor", "{list}");
            arguments["cursor"] = cursor.clone();
        }
        assert_eq!(json!(walked), whole["items"], "{list}");
        let last = agent.all(list, json!({"limit": 100})).await.len();
        let exact = agent.call(list, json!({"limit": last.min(100)})).await;
        assert_eq!(exact.get("next_cursor").is_some(), last > 100, "{list}");
    }
}

/// Every time carries its offset, money is whole minor units with a currency, distances have a unit.
fn check_values(value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let is_time = name.ends_with("_at") || ["start", "end", "local_start", "at"].contains(&name.as_str());
                if let (true, Some(time)) = (is_time, value.as_str()) {
                    let offset = &time[time.len() - 6..];
                    assert!(time.ends_with('Z') || offset.starts_with(['+', '-']), "{name}: {time}");
                }
                if name == "amount" && value.is_number() {
                    assert!(
                        value.is_i64() && members["currency"].as_str().is_some_and(|code| code.len() == 3),
                        "{members:?}"
                    );
                }
                if name.starts_with("mileage") && !name.ends_with("percent") {
                    assert!(
                        value["value"].is_i64() && ["km", "mi"].contains(&value["unit"].as_str().unwrap()),
                        "{value}"
                    );
                }
                check_values(value);
            }
        }
        Value::Array(values) => values.iter().for_each(check_values),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn a3_32_a3_33_a3_34_times_money_and_measures_of_every_domain() {
    let desk = desk().await;
    let mut agent = desk.credit_agent(DemoTenant::Lakeside).await;
    for (list, get, ..) in RESOURCES {
        for item in agent.call(list, json!({"limit": 20})).await["items"].as_array().unwrap() {
            check_values(item);
            check_values(&agent.call(get, json!({"id": item["id"]})).await);
        }
    }
}
