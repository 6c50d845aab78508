//! What the tables and the receiver say of rides and orders of food, compared with what was asked for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::ending_calls::WantedOrder;
use super::ending_stage::{EndingStage, FOOD, RIDES};

/// What was answered, by key.
#[derive(Default)]
pub(crate) struct EndingLog {
    pub(crate) booked: BTreeMap<String, (WantedOrder, String)>,
    pub(crate) refused: BTreeMap<String, String>,
}

impl EndingLog {
    /// Whether this is the first booking under the key, which has no other. One that was refused may be booked later, when
    /// a driver is free again.
    pub(crate) fn book(&mut self, order: &WantedOrder, booking_ref: &str) -> bool {
        let before = self.booked.insert(order.key.clone(), (order.clone(), booking_ref.to_owned()));
        assert!(before.as_ref().is_none_or(|(_, known)| known == booking_ref), "{}: two bookings", order.key);
        before.is_none()
    }

    pub(crate) fn refuse(&mut self, key: &str, code: String) {
        assert!(!self.booked.contains_key(key), "{key} was booked, and is then answered {code}");
        self.refused.insert(key.to_owned(), code);
    }
}

/// The bookings of both businesses as they are stored.
pub(crate) fn bookings(stage: &EndingStage) -> Vec<Value> {
    [RIDES.0, FOOD.0].map(|tenant| stage.bodies("tomo_booking", tenant)).concat()
}

/// Every booking is one that was answered and has come to the end that it should; nobody drives two riders, and no portion
/// is sold twice or lost.
pub(crate) fn check_tables(stage: &EndingStage, log: &EndingLog) {
    let bookings = bookings(stage);
    let stored: BTreeMap<&str, &str> = bookings.iter().map(|row| (text(row, "request_id"), text(row, "id"))).collect();
    let answered: BTreeMap<&str, &str> =
        log.booked.iter().map(|(key, (_, booking_ref))| (key.as_str(), booking_ref.as_str())).collect();
    assert_eq!(stored, answered, "keys and the bookings that they were answered with");
    assert_eq!(bookings.len(), answered.len(), "one booking for each key");
    for booking in &bookings {
        let (order, _) = &log.booked[text(booking, "request_id")];
        let status = text(booking, "status");
        assert!(order.ending.statuses.contains(&status), "{}: {status} is none of {:?}", order.key, order.ending);
        assert_eq!(text(booking, "mode") == "live", order.is_live());
    }
    check_drivers(stage, &bookings);
    check_portions(stage, &bookings, log);
    assert!(stage.database.has_no_gaps_in(&stage.data()));
}

/// A driver has the one open ride that has this driver, or is free.
fn check_drivers(stage: &EndingStage, bookings: &[Value]) {
    let mut riding: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for booking in bookings.iter().filter(|booking| booking["status"] == "confirmed") {
        if let Some(driver) = booking["ride"]["driver_id"].as_str() {
            riding.entry(driver).or_default().push(text(booking, "id"));
        }
    }
    for driver in stage.bodies("tomo_driver", RIDES.0) {
        let rides = riding.remove(text(&driver, "id")).unwrap_or_default();
        let has: Vec<&str> = driver["booking_id"].as_str().into_iter().collect();
        let stored = bookings.iter().find(|booking| booking["id"] == driver["booking_id"]);
        assert_eq!(has, rides, "the ride of {driver}: {stored:?}");
        assert_eq!(text(&driver, "status"), if rides.is_empty() { "available" } else { "busy" });
    }
    assert_eq!(riding.len(), 0, "rides of drivers that do not exist");
}

/// What is counted is what was sold and not given back, and never more than there is.
fn check_portions(stage: &EndingStage, bookings: &[Value], log: &EndingLog) {
    let mut sold: BTreeMap<(String, String), i64> = BTreeMap::new();
    for booking in bookings.iter().filter(|booking| booking["mode"] == "live" && booking["order"].is_object()) {
        let (order, _) = &log.booked[text(booking, "request_id")];
        let is_given_up = matches!(text(booking, "status"), "cancelled" | "failed");
        if is_given_up && !order.ending.is_cooked() {
            continue;
        }
        for line in booking["order"]["lines"].as_array().unwrap().iter().filter(|line| line["takes_stock"] == true) {
            let day = text(&booking["order"], "day").to_owned();
            *sold.entry((text(line, "dish_id").to_owned(), day)).or_default() += line["quantity"].as_i64().unwrap();
        }
    }
    let stocks: BTreeMap<String, i64> = stage
        .bodies("tomo_dish", FOOD.0)
        .iter()
        .filter_map(|dish| Some((text(dish, "id").to_owned(), dish["daily_stock"].as_i64()?)))
        .collect();
    let counted: BTreeMap<(String, String), i64> = stage
        .bodies("tomo_dish_day", FOOD.0)
        .iter()
        .map(|row| ((text(row, "dish_id").to_owned(), text(row, "day").to_owned()), row["portions"].as_i64().unwrap()))
        .filter(|(_, portions)| *portions > 0)
        .collect();
    assert_eq!(counted, sold, "portions that are sold by dish and day");
    for ((dish, day), portions) in &counted {
        assert!(*portions <= stocks[dish], "{portions} portions of {dish} are sold on {day}");
    }
}

/// Nothing was reported that has not ended, and nothing in two ways.
pub(crate) fn check_received_so_far(stage: &EndingStage, bookings: &[Value]) -> BTreeMap<String, String> {
    let mut bodies: BTreeMap<String, String> = BTreeMap::new();
    for completion in stage.received() {
        let known = bodies.entry(completion.external_id.clone()).or_insert_with(|| completion.body.clone());
        assert_eq!(*known, completion.body, "two completions of one order");
    }
    let ended: BTreeSet<&str> = ended(bookings).map(|booking| text(booking, "id")).collect();
    let early: Vec<&String> = bodies.keys().filter(|id| !ended.contains(id.as_str())).collect();
    assert!(early.is_empty(), "completions of orders that have not ended: {early:?}");
    bodies
}

/// One completion for each order that has ended, which says what became of it, and none for any other.
pub(crate) fn check_received(stage: &EndingStage, bookings: &[Value]) {
    let bodies = check_received_so_far(stage, bookings);
    let received: BTreeMap<&str, Value> =
        bodies.iter().map(|(id, body)| (id.as_str(), serde_json::from_str(body).unwrap())).collect();
    let expected: BTreeMap<&str, Value> =
        ended(bookings).map(|booking| (text(booking, "id"), completion_of(booking))).collect();
    assert_eq!(received, expected);
    let accepted: BTreeSet<String> = stage
        .received()
        .into_iter()
        .filter(|completion| completion.status == 201)
        .map(|completion| completion.external_id)
        .collect();
    assert_eq!(accepted.len(), expected.len(), "each was accepted at least once");
    let deliveries: BTreeMap<String, String> =
        expected.keys().map(|id| ((*id).to_owned(), "delivered".to_owned())).collect();
    assert_eq!(stage.deliveries(), deliveries);
}

fn ended(bookings: &[Value]) -> impl Iterator<Item = &Value> {
    bookings.iter().filter(|booking| booking["mode"] == "live" && booking["status"] != "confirmed")
}

/// T-147: what TOMO must be told of a booking.
fn completion_of(booking: &Value) -> Value {
    let status = match (text(booking, "intent") == RIDES.1, text(booking, "status")) {
        (true, "completed") => "ride_completed",
        (true, "cancelled") => "ride_cancelled",
        (true, _) => "ride_failed",
        (false, "completed") => "order_delivered",
        (false, "cancelled") => "order_cancelled",
        (false, _) => "order_failed",
    };
    json!({
        "intent": booking["intent"], "intent_version": booking["intent_version"], "external_id": booking["id"],
        "amount_inr": booking["net_inr"], "closed_at": booking["ended_at"], "request_id": booking["request_id"],
        "status": status, "currency": "INR", "notes": "",
    })
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_else(|| panic!("no {name} in {row}"))
}
