//! Figures: literal answers over known records, every figure recomputed from raw records, and what is suppressed.

use std::collections::BTreeMap;

use frontdesk_contracts::SignalSettings;
use frontdesk_contracts::automotive::{contract_with, resources};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_testkit::signal_figures::Records;
use serde_json::{Value, json};

use crate::support::{ALL_SCOPES, NOW, TestDesk};

const READ: &str = "amcp:signals:read";
/// At Lakeside, the whole of the demo's time.
const OFFSET_MILLIS: i64 = -5 * HOUR;
const HOUR: i64 = 60 * 60 * 1000;
const DAY: i64 = 24 * HOUR;

#[test]
fn lead_volume_is_counted_per_local_month() {
    let desk = TestDesk::open();
    let list = desk.call_ok(READ, "signals.list", json!({"metric": "lead_volume", "limit": 1}));
    let volume = leads(&desk).iter().filter(|lead| month(&lead["created_at"]) == "2026-01").count();
    assert_eq!(
        list["items"],
        json!([{
            "id": "sig_lead_volume-month-20260101-all",
            "type": "signal",
            "dealership_id": "dlr_lakeside",
            "metric": "lead_volume",
            "period": {
                "kind": "month",
                "start": "2026-01-01T00:00:00-05:00",
                "end": "2026-02-01T00:00:00-05:00",
                "complete": false,
            },
            "unit": "count",
            "value": volume,
            "sample_size": volume,
            "suppressed": false,
        }])
    );
    assert!(volume > 10, "{volume}");
    let one = desk.call_ok(READ, "signals.get", json!({"id": "sig_lead_volume-month-20260101-all"}));
    assert_eq!(one, list["items"][0]);
}

/// Ten leads of one day, by phone and at the counter, answered after 1 to 10 hours.
#[test]
fn response_time_is_the_median_of_answered_leads() {
    let desk = TestDesk::open();
    desk.clock.set(NOW.0 + 3 * DAY);
    let channel = |hours: i64| if hours <= 5 { "phone" } else { "walk_in" };
    let made: Vec<Value> =
        (1..=10).map(|hours| desk.call_ok(ALL_SCOPES, "leads.create", lead(channel(hours)))).collect();
    for (hours, lead) in (1..).zip(&made) {
        desk.clock.set(NOW.0 + 3 * DAY + hours * HOUR);
        let contacted = json!({"id": lead["id"], "status": "contacted"});
        assert_eq!(desk.call_ok(ALL_SCOPES, "leads.update", contacted)["response_minutes"], json!(hours * 60));
    }
    // Only the first answer counts.
    let later = json!({"id": made[0]["id"], "status": "working", "last_contact_at": "2026-02-03T19:00:00Z"});
    assert_eq!(desk.call_ok(ALL_SCOPES, "leads.update", later)["response_minutes"], json!(60));
    let day = json!({"metric": "lead_response_time", "period": "day", "since": "2026-02-03T06:00:00Z"});
    let all = desk.call_ok(READ, "signals.list", day.clone());
    assert_eq!(figures(&all), [("sig_lead_response_time-day-20260203-all".to_owned(), json!(300), json!(10))]);
    let mut by_source = day;
    by_source["dimension"] = json!("source");
    let groups = desk.call_ok(READ, "signals.list", by_source);
    assert_eq!(
        figures(&groups),
        [
            ("sig_lead_response_time-day-20260203-source-phone".to_owned(), json!(180), json!(5)),
            ("sig_lead_response_time-day-20260203-source-walk_in".to_owned(), json!(480), json!(5)),
        ]
    );
}

/// Seven by phone, three at the counter, six by chat: the three, and with them the smallest other group.
#[test]
fn a_small_group_is_suppressed_and_does_not_follow_from_others() {
    let desk = TestDesk::open();
    desk.clock.set(NOW.0 + 40 * DAY);
    for (channel, count) in [("phone", 9), ("walk_in", 3), ("chat", 7)] {
        for _ in 0..count {
            desk.call_ok(ALL_SCOPES, "leads.create", lead(channel));
        }
    }
    let call = json!({"metric": "lead_volume", "dimension": "source", "since": "2026-03-02T00:00:00Z"});
    let answer = desk.call_ok(READ, "signals.list", call.clone());
    let shown: Vec<(&str, bool, bool)> = items(&answer)
        .iter()
        .map(|item| (text(&item["dimension_value"]), item["suppressed"] == json!(true), item.get("value").is_some()))
        .collect();
    assert_eq!(shown, [("phone", false, true), ("walk_in", true, false), ("chat", true, false)]);
    for item in items(&answer).iter().filter(|item| item["suppressed"] == json!(true)) {
        assert!(item.get("sample_size").is_none() && item.get("value").is_none(), "{item}");
        assert_eq!(&desk.call_ok(READ, "signals.get", json!({"id": item["id"]})), item);
    }
    // No total stands beside groups.
    assert!(items(&answer).iter().all(|item| item["dimension"] == json!("source")));
    // As configured: three are enough for some.
    let settings = SignalSettings { min_group: 3 };
    let desk = desk.remounted(contract_with(resources(), settings));
    assert!(items(&desk.call_ok(READ, "signals.list", call)).iter().all(|item| item["suppressed"] == json!(false)));
}

#[test]
fn every_figure_is_what_raw_records_say() {
    let desk = TestDesk::open();
    crowd(&desk);
    let records = Records {
        leads: leads(&desk),
        vehicles: all(&desk, "inventory.list"),
        visits: all(&desk, "service.list_appointments"),
    };
    let now = desk.desk.now().0;
    let mut compared = BTreeMap::<String, usize>::new();
    for period in ["day", "week", "month"] {
        for dimension in [Value::Null, json!("source"), json!("condition"), json!("body_style")] {
            let mut call = json!({"period": period, "limit": 100});
            if !dimension.is_null() {
                call["dimension"] = dimension;
            }
            for item in paged(&desk, READ, "signals.list", call) {
                let (start, end) = (millis(&item["period"]["start"]), millis(&item["period"]["end"]));
                let (size, value) = records.figure(&item, start, end, now);
                if item["suppressed"] == json!(false) {
                    assert_eq!(
                        (item["sample_size"].as_u64(), item.get("value").and_then(Value::as_i64)),
                        (Some(size), value),
                        "{item}"
                    );
                    *compared.entry(text(&item["metric"]).to_owned()).or_default() += 1;
                }
                // Some of them are read alone, too; each costs as much as its whole group.
                if compared.values().sum::<usize>() % 9 == 0 {
                    assert_eq!(desk.call_ok(READ, "signals.get", json!({"id": item["id"]})), item);
                }
            }
        }
    }
    assert_eq!(compared.len(), 6, "{compared:?}");
    assert!(compared.values().all(|count| *count > 3), "{compared:?}");
}

#[test]
fn pages_of_signals_join_to_the_whole_list() {
    let desk = TestDesk::open();
    crowd(&desk);
    let whole = paged(&desk, READ, "signals.list", json!({"dimension": "source", "limit": 100}));
    let by_three = paged(&desk, READ, "signals.list", json!({"dimension": "source", "limit": 3}));
    assert!(whole.len() > 10);
    assert_eq!(whole, by_three);
}

#[test]
fn wrong_signal_arguments_and_ids_are_refused() {
    let desk = TestDesk::open();
    let wrong = json!({"metric": "lead_volume", "dimension": "condition"});
    let (failed, answer) = desk.call(READ, "signals.list", wrong);
    assert!(failed);
    assert_eq!(answer["error"]["details"]["errors"][0]["expected"], json!("lead_volume has these: source"));
    let far = json!({"period": "day", "since": "2020-01-01T00:00:00Z"});
    assert_eq!(desk.error_code(READ, "signals.list", far), "request.invalid");
    for id in [
        "sig_lead_volume-month-20260102-all",
        "sig_lead_volume-month-20270101-all",
        "sig_lead_volume-month-20260101-condition-new",
        "sig_price_position-month-20251201-condition-used",
        "sig_price_position-month-20260101-all",
        "led_01",
    ] {
        assert_eq!(desk.error_code(READ, "signals.get", json!({"id": id})), "signals.not_found", "{id}");
    }
}

/// What a sale and its reversal do to the figures' source.
#[test]
fn a_sold_vehicle_says_when() {
    let desk = TestDesk::open();
    let vehicles = all(&desk, "inventory.list");
    let free = vehicles.iter().find(|one| one["status"] == json!("available")).unwrap();
    let change =
        |status: &str| desk.call_ok(ALL_SCOPES, "inventory.update", json!({"id": free["id"], "status": status}));
    assert_eq!(change("sold")["sold_at"], json!("2026-01-31T09:30:00Z"));
    assert!(change("on_hold").get("sold_at").is_none());
}

/// Leads of two months, of which some are answered, by ways and times that look random.
fn crowd(desk: &TestDesk) {
    let channels = ["website", "phone", "chat", "walk_in", "referral"];
    visits(desk);
    let mut random: u64 = 20_260_131;
    let mut next = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    // Times are random, but pass in order.
    let mut steps: Vec<(i64, usize, bool)> = Vec::new();
    for number in 0..120 {
        let recorded = NOW.0 + 21 * DAY + (next(37 * 24 * 60) as i64) * 60_000;
        steps.push((recorded, number, true));
        if next(3) > 0 {
            steps.push((recorded + 60_000 + (next(3 * 24 * 60) as i64) * 60_000, number, false));
        }
    }
    steps.sort_unstable();
    let mut made: BTreeMap<usize, Value> = BTreeMap::new();
    for (at, number, is_new) in steps {
        desk.clock.set(at);
        if is_new {
            let channel = channels[next(channels.len() as u64) as usize];
            made.insert(number, desk.call_ok(ALL_SCOPES, "leads.create", lead(channel))["id"].clone());
        } else {
            desk.call_ok(ALL_SCOPES, "leads.update", json!({"id": made[&number], "status": "contacted"}));
        }
    }
    desk.clock.set(NOW.0 + 62 * DAY + 7 * HOUR);
}

/// Two appointments on each of twelve days, of which every fourth customer did not come.
fn visits(desk: &TestDesk) {
    let mut booked = Vec::new();
    for day in 1..=12 {
        desk.clock.set(NOW.0 + day * DAY);
        let free = json!({"service_codes": ["OIL"], "max_slots": 2});
        let slots = desk.call_ok(ALL_SCOPES, "service.check_availability", free)["slots"].clone();
        for slot in slots.as_array().unwrap() {
            let booking = json!({"vehicle": {"make": "Honda", "model": "Civic"}, "start": slot["start"], "service_codes": ["OIL"]});
            booked.push(desk.call_ok(ALL_SCOPES, "service.book_appointment", booking)["id"].clone());
        }
    }
    desk.clock.set(NOW.0 + 20 * DAY);
    for (place, id) in booked.into_iter().enumerate() {
        let status = if place % 4 == 0 { "no_show" } else { "checked_in" };
        desk.call_ok(ALL_SCOPES, "service.update_appointment", json!({"id": id, "status": status}));
    }
}

fn lead(channel: &str) -> Value {
    json!({
        "interest": "buy",
        "source": {"channel": channel},
        "contact": {"name": "Dana Rivera", "email": "dana@example.com"},
        "consent": {"granted": true, "channels": ["email"]},
    })
}

fn leads(desk: &TestDesk) -> Vec<Value> {
    all(desk, "leads.list")
}

fn all(desk: &TestDesk, list: &str) -> Vec<Value> {
    paged(desk, ALL_SCOPES, list, json!({"limit": 100}))
}

fn paged(desk: &TestDesk, scopes: &str, list: &str, mut call: Value) -> Vec<Value> {
    let mut found = Vec::new();
    loop {
        let page = desk.call_ok(scopes, list, call.clone());
        found.extend(items(&page).iter().cloned());
        match page.get("next_cursor") {
            Some(cursor) => call["cursor"] = cursor.clone(),
            None => return found,
        }
    }
}

fn items(answer: &Value) -> &Vec<Value> {
    answer["items"].as_array().unwrap()
}

fn figures(answer: &Value) -> Vec<(String, Value, Value)> {
    let figure = |item: &Value| (text(&item["id"]).to_owned(), item["value"].clone(), item["sample_size"].clone());
    items(answer).iter().map(figure).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn millis(time: &Value) -> i64 {
    Millis::parse(text(time)).unwrap().0
}

/// The month at Lakeside.
fn month(time: &Value) -> String {
    Millis(millis(time) + OFFSET_MILLIS).to_rfc3339()[..7].to_owned()
}
