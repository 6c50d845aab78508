//! What resources look like: ids, the trade's own numbers, times, money, measures and words, over
//! everything the demo holds (sections 3.3, 3.7, 4 and 5).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use frontdesk_contracts::automotive;
use frontdesk_testkit::app::{TestAgent, TestApp};

use super::requests::{GETS, UNHURRIED, everything, ids, lead, text, walk};
use super::schema::{is_instant, misfits};

#[tokio::test]
async fn a3_02_a5_08_a5_11_every_answer_fits_its_schema() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let tools = agent.result("tools/list", json!({})).await;
    let schemas: BTreeMap<String, Value> = tools["tools"].as_array().unwrap().iter().map(published).collect();
    let declared: BTreeMap<String, Value> = automotive::contract()
        .tools
        .iter()
        .map(|tool| (tool.spec.name.to_owned(), tool.spec.output.to_json()))
        .collect();
    let mut judged = 0;
    let mut judge = |tool: &str, answer: &Value| {
        judged += 1;
        assert_eq!(misfits(&schemas[tool], answer), [""; 0], "{tool} answered {answer}");
        // The published schema leaves objects open; the declared one names every field and its limits.
        if answer.get("error").is_none() {
            assert_eq!(misfits(&declared[tool], answer), [""; 0], "{tool} answered {answer}");
        }
    };
    for (list, get) in GETS {
        let mut arguments = json!({"limit": 40});
        loop {
            let page = agent.call(list, arguments.clone()).await;
            judge(list, &page);
            for id in ids(page["items"].as_array().unwrap()) {
                judge(get, &agent.call(get, json!({"id": id})).await);
            }
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
    }
    judge("inventory.search", &agent.call("inventory.search", json!({"make": "toyota", "limit": 100})).await);
    let made = agent.call("leads.create", lead("Dana Rivera")).await;
    judge("leads.create", &made);
    let lost =
        json!({"id": made["id"], "status": "lost", "lost_reason": "price", "owner": {"id": "emp_01", "name": "Kim"}});
    judge("leads.update", &agent.call("leads.update", lost).await);
    // A write-only token gets a receipt, which is published beside the whole.
    let mut writer = desk.agent_with("amcp:leads:write").await;
    let receipt = writer.call("leads.create", lead("Lee Chen")).await;
    judge("leads.create", &receipt);
    judge("leads.update", &writer.call("leads.update", json!({"id": receipt["id"], "status": "working"})).await);
    // What went wrong is published as well.
    for (tool, arguments) in [
        ("inventory.get", json!({"id": "veh_0"})),
        ("inventory.search", json!({"limit": 0, "sort": "colour"})),
        ("leads.create", json!({"contact": {"name": "Dana Rivera"}, "interest": "buy"})),
        ("leads.list", json!({"cursor": "made-up"})),
    ] {
        let answer = agent.call(tool, arguments).await;
        assert!(answer["error"]["code"].is_string(), "{tool}");
        judge(tool, &answer);
    }
    assert!(judged > 450, "only {judged} answers were judged");
}

fn published(tool: &Value) -> (String, Value) {
    (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone())
}

#[tokio::test]
async fn a3_06_a3_13_a3_14_a4_04_ids_are_unique_and_stable() {
    let mut desk = TestApp::start();
    let mut agent = desk.agent().await;
    let before = everything(&mut agent).await;
    assert!(before.len() >= 450);
    let mut seen = BTreeSet::new();
    for item in &before {
        assert!(seen.insert((item["type"].as_str().unwrap(), item["id"].as_str().unwrap())), "{item}");
        assert_eq!(item["dealership_id"], json!("dlr_lakeside"));
    }
    let changed = before.iter().find(|item| item["type"] == json!("lead")).unwrap();
    let answer = agent.call("leads.update", json!({"id": changed["id"], "status": "contacted"})).await;
    assert_eq!(answer["id"], changed["id"]);

    desk = desk.restart();
    let mut agent = desk.agent().await;
    let after = everything(&mut agent).await;
    assert_eq!(ids(&after), ids(&before));
    assert!(after.iter().all(|item| item["dealership_id"] == json!("dlr_lakeside")));
    let again = after.iter().find(|item| item["id"] == changed["id"]).unwrap();
    assert_eq!((&again["status"], &again["version"]), (&json!("contacted"), &json!(2)));
}

#[tokio::test]
async fn a3_15_a3_16_a5_09_trade_numbers_are_not_part_of_the_id() {
    let desk = TestApp::start();
    let mut agent = desk.other_tenant().await;
    let stock = agent.all("inventory.list", json!({"limit": 100})).await;
    assert!(stock.len() >= 250);
    for vehicle in &stock {
        let [id, vin, number] = ["id", "vin", "stock_number"].map(|field| vehicle[field].as_str().unwrap());
        assert!(id.starts_with("veh_") && id.len() == 30, "{id}");
        assert_eq!(vin.len(), 17);
        for number in [vin, number, &vin[9..]] {
            assert!(!id.to_lowercase().contains(&number.to_lowercase()), "{id} contains {number}");
        }
        // And the number is no other way in.
        if vehicle == &stock[0] {
            assert_eq!(agent.code("inventory.get", json!({"id": vin})).await, "inventory.not_found");
            assert_eq!(agent.code("inventory.get", json!({"id": number})).await, "inventory.not_found");
            let found = agent.call("inventory.search", json!({"text": vin})).await;
            assert_eq!(found, json!({"items": [vehicle]}));
        }
    }
}

#[tokio::test]
async fn a3_32_a3_33_a3_34_times_money_and_measures_are_typed() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let (mut times, mut sums, mut distances, mut currencies) = (0, 0, 0, BTreeSet::new());
    for (list, get) in GETS {
        for id in ids(&agent.all(list, json!({"limit": 100})).await) {
            let answer = text(&mut agent, get, json!({"id": id})).await;
            assert!(!has_fraction(&answer, "amount") && !has_fraction(&answer, "value"), "{answer}");
            walk("", &serde_json::from_str(&answer).unwrap(), &mut |name, value| {
                if name.ends_with("_at") {
                    times += 1;
                    assert!(is_instant(value.as_str().unwrap()), "{name}: {value}");
                }
                if let Some(currency) = value.get("currency") {
                    sums += 1;
                    assert!(value["amount"].is_i64() && value.as_object().unwrap().len() == 2, "{name}: {value}");
                    currencies.insert(currency.as_str().unwrap().to_owned());
                }
                if matches!(name, "price" | "msrp" | "lifetime_value") {
                    assert!(value.get("currency").is_some(), "{name}: {value}");
                }
                if name == "mileage" {
                    distances += 1;
                    assert!(
                        value["value"].is_i64() && ["mi", "km"].contains(&value["unit"].as_str().unwrap()),
                        "{value}"
                    );
                }
            });
        }
    }
    assert!(times > 1500 && sums > 350 && distances >= 250, "{times} {sums} {distances}");
    assert_eq!(Vec::from_iter(currencies), ["CAD", "USD"]);
}

/// Whether any number under this name is written with a point or an exponent.
fn has_fraction(answer: &str, name: &str) -> bool {
    answer.split(&format!("\"{name}\":")).skip(1).any(|rest| {
        let number = rest.split([',', '}']).next().unwrap();
        !number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[tokio::test]
async fn a3_32_a3_33_a3_34_naive_times_and_bare_numbers_are_refused() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let mut refused = async |tool: &str, arguments: Value, pointer: &str| {
        let answer = agent.call(tool, arguments.clone()).await;
        assert_eq!(answer["error"]["code"], json!("request.invalid"), "{arguments}: {answer}");
        assert_eq!(answer["error"]["details"]["errors"][0]["pointer"], json!(pointer), "{arguments}: {answer}");
    };
    for time in
        ["2026-01-31T09:30:00", "2026-01-31", "2026-01-31 09:30", "1769852000", "2026-02-30T09:30:00Z", "", "yesterday"]
    {
        refused("leads.list", json!({"received_since": time}), "/received_since").await;
    }
    for amount in [json!(28999.0), json!(2.9e6), json!("2899900"), json!(-1), json!(9007199254740992_i64), json!(null)]
    {
        let price = json!({"amount": amount, "currency": "USD"});
        refused("inventory.search", json!({"price_max": price}), "/price_max/amount").await;
    }
    refused("inventory.search", json!({"price_max": 32000}), "/price_max").await;
    refused("inventory.search", json!({"price_max": {"amount": 3200000}}), "/price_max/currency").await;
    refused("inventory.search", json!({"price_max": {"amount": 1, "currency": "usd"}}), "/price_max/currency").await;
    refused("inventory.search", json!({"mileage_max": 38120}), "/mileage_max").await;
    refused("inventory.search", json!({"mileage_max": {"value": 38120}}), "/mileage_max/unit").await;
    refused("inventory.search", json!({"mileage_max": {"value": 1, "unit": "furlong"}}), "/mileage_max/unit").await;
}

#[tokio::test]
async fn a3_32_a3_33_a3_34_offsets_currencies_and_units_are_kept() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    // The same moment under three offsets finds the same leads.
    let newest = agent.call("leads.list", json!({"limit": 30})).await;
    let moment = newest["items"][29]["received_at"].as_str().unwrap().trim_end_matches('Z').to_owned();
    let since =
        async |agent: &mut TestAgent, at: String| agent.all("leads.list", json!({"received_since": at})).await.len();
    let found = since(&mut agent, format!("{moment}Z")).await;
    assert!((30..80).contains(&found), "{found}");
    assert_eq!(since(&mut agent, format!("{moment}+00:00")).await, found);
    assert!(since(&mut agent, format!("{moment}-23:00")).await < found);

    // A price counts only in its own currency, however many decimals that has.
    let all = agent.all("inventory.search", json!({"limit": 100})).await;
    let priced = |currency: &str| all.iter().filter(|car| car["price"]["currency"] == json!(currency)).count();
    for (currency, count) in [("USD", priced("USD")), ("CAD", 1), ("JPY", 0), ("KWD", 0)] {
        let most = json!({"price_max": {"amount": 9007199254740991_i64, "currency": currency}, "limit": 100});
        assert_eq!(agent.all("inventory.search", most).await.len(), count, "{currency}");
    }

    // 100 miles are 160.9 km, so 161 km reach further and 160 km less far.
    let within = async |agent: &mut TestAgent, value: i64, unit: &str| {
        let most = json!({"mileage_max": {"value": value, "unit": unit}, "limit": 100});
        ids(&agent.all("inventory.search", most).await).len()
    };
    let miles: Vec<i64> = all.iter().map(|car| car["mileage"]["value"].as_i64().unwrap()).collect();
    let some = *miles.iter().filter(|miles| **miles > 1000).min().unwrap();
    let kilometres = some * 1_609_344 / 1_000_000;
    let with = within(&mut agent, some, "mi").await;
    assert_eq!(within(&mut agent, kilometres + 1, "km").await, with);
    assert!(within(&mut agent, kilometres, "km").await < with);
}

#[tokio::test]
async fn a4_05_a4_06_a4_07_resources_have_the_fields_the_text_names() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let mut first = async |list: &str, get: &str, whole: fn(&Value) -> bool| {
        let items = agent.all(list, json!({"limit": 100})).await;
        let item = items.iter().find(|item| whole(item)).unwrap_or_else(|| panic!("{list} has no whole item"));
        agent.call(get, json!({"id": item["id"]})).await
    };
    let has = |resource: &Value, pointers: &[&str]| {
        for pointer in pointers {
            assert!(resource.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer}: {resource}");
        }
    };

    let vehicle = first("inventory.list", "inventory.get", |car| {
        !car["media"].as_array().unwrap().is_empty() && !car["options"].as_array().unwrap().is_empty()
    });
    let vehicle = vehicle.await;
    assert_eq!(vehicle["type"], json!("vehicle"));
    has(&vehicle, &["/vin", "/condition", "/year", "/make", "/model", "/trim", "/options/0/name", "/media/0/url"]);
    has(&vehicle, &["/status", "/price/amount", "/price/currency"]);

    let bought = |customer: &Value| customer.get("latest_sale").is_some() && customer.get("latest_lead").is_some();
    let customer = first("customers.list", "customers.get", bought).await;
    assert_eq!(customer["type"], json!("customer"));
    has(&customer, &["/dealership_id", "/primary_contact/name", "/primary_contact/email", "/primary_contact/phone"]);
    has(&customer, &["/location/city", "/location/region", "/location/country", "/lifetime_value/amount"]);
    has(&customer, &["/latest_lead/id", "/latest_lead/status", "/latest_sale/id", "/latest_sale/closed_at"]);
    has(&customer, &["/vehicle_of_interest/make", "/vehicle_of_interest/model"]);
    assert!(customer["primary_contact"]["email"].as_str().unwrap().contains("@example."));

    let about_a_car = |lead: &Value| lead.get("vehicle_id").is_some() && lead.get("owner").is_some();
    let lead = first("leads.list", "leads.get", about_a_car).await;
    assert_eq!(lead["type"], json!("lead"));
    has(&lead, &["/source/channel", "/status", "/owner/id", "/owner/name", "/vehicle_id", "/contact/name"]);
    // The vehicle in play is one of this dealership's.
    let vehicle = agent.call("inventory.get", json!({"id": lead["vehicle_id"]})).await;
    assert_eq!((&vehicle["id"], &vehicle["dealership_id"]), (&lead["vehicle_id"], &json!("dlr_lakeside")));
}
