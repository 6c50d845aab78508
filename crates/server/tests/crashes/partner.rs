//! The partner of the demo: what it searches for, and the bookings it asks for under keys.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_testkit::TestRandom;
use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::http_client::HttpClient;

const HOTEL: &str = "travel.book_hotel";
const SERVICE: &str = "auto.book_general_service";
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// How many of each kind a round asks for: more than there are rooms and places.
const ROOM_ORDERS: usize = 40;
const SLOT_ORDERS: usize = 25;

/// A booking that is asked for. Its key is also its `request_id`, which is stored with the booking.
#[derive(Clone)]
pub(crate) struct BookingOrder {
    pub(crate) key: String,
    intent: &'static str,
    bearer: String,
    tool: &'static str,
    arguments: Value,
}

pub(crate) enum BookingAnswer {
    /// The booking_ref.
    Booked(String),
    /// The code. Nothing was booked.
    Refused(String),
    /// The same call again is invited.
    Later(String),
    /// The connection ended without an answer.
    Cut,
}

pub(crate) struct PartnerLine(HttpClient);

impl PartnerLine {
    pub(crate) fn new(desk: &TestApp) -> PartnerLine {
        PartnerLine(desk.stranger())
    }

    pub(crate) async fn order(&mut self, order: &BookingOrder) -> BookingAnswer {
        let Some(whole) = self.call(order.intent, &order.bearer, order.tool, &order.arguments).await else {
            return BookingAnswer::Cut;
        };
        if let Some(text) = whole["result"]["content"][0]["text"].as_str() {
            let booking: Value = serde_json::from_str(text).unwrap();
            assert_eq!(booking["status"], "confirmed", "{}: {text}", order.key);
            return BookingAnswer::Booked(booking["booking_ref"].as_str().unwrap().to_owned());
        }
        match whole["error"]["data"]["tomo_error_code"].as_str() {
            // A token that has expired says only that the machine is slow.
            Some(code @ ("NOT_AVAILABLE" | "RESULT_EXPIRED")) => BookingAnswer::Refused(code.to_owned()),
            Some("RATE_LIMITED" | "PARTNER_MAINTENANCE") => BookingAnswer::Later(whole.to_string()),
            _ => panic!("{}: {whole}", order.key),
        }
    }

    async fn found(&mut self, intent: &str, bearer: &str, tool: &str, arguments: Value) -> Value {
        let whole = self.call(intent, bearer, tool, &arguments).await.unwrap();
        let text = whole["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {whole}"));
        serde_json::from_str(text).unwrap()
    }

    async fn call(&mut self, intent: &str, bearer: &str, tool: &str, arguments: &Value) -> Option<Value> {
        let call = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
        let bearer = format!("Bearer {bearer}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let path = format!("/mcp/tomo/{intent}");
        let response = self.0.try_request("POST", &path, &headers, body).await.ok()?;
        Some(serde_json::from_str(response.text()).unwrap())
    }
}

/// The orders of a round, in an order left to chance; one in five is there twice, so that its key is used by two
/// callers at once. They are about a hotel and days that few other rounds have.
pub(crate) async fn orders(desk: &TestApp, round: u64, random: &TestRandom) -> Vec<BookingOrder> {
    let mut line = PartnerLine::new(desk);
    let file = |name: &str| std::fs::read_to_string(desk.data().join(name)).unwrap().trim().to_owned();
    let (live, sandbox) = (file("demo-partner-live.token"), file("demo-partner-sandbox.token"));
    let mut orders = slots(&mut line, &live, ("live", round), random).await;
    orders.extend(slots(&mut line, &sandbox, ("sandbox", round), random).await);
    orders.extend(rooms(&mut line, &live, round, random).await);
    let twice: Vec<BookingOrder> = orders.iter().filter(|_| random.percent(20)).cloned().collect();
    orders.extend(twice);
    for place in (1..orders.len()).rev() {
        orders.swap(place, random.below(place + 1));
    }
    orders
}

async fn slots(
    line: &mut PartnerLine,
    bearer: &str,
    (mode, round): (&str, u64),
    random: &TestRandom,
) -> Vec<BookingOrder> {
    let found = line.found(SERVICE, bearer, "search_providers", work()).await;
    let provider = &found["providers"][0]["provider_id"];
    let first = 10 + i64::try_from(round % 45).unwrap() * 7;
    let days = json!({"provider_id": provider, "service": work()["service"], "date_from": day(&found, first),
        "date_to": day(&found, first + 6)});
    let free = line.found(SERVICE, bearer, "get_available_slots", days).await;
    let free: Vec<&Value> = free["slots"].as_array().unwrap().iter().take(10).collect();
    let order = |number: usize| {
        let key = format!("round-{round}-{mode}-slot-{number}");
        let arguments = json!({"idempotency_key": key, "request_id": key, "user_session_id": key,
            "result_token": found["result_token"], "provider_id": provider,
            "slot_id": random.pick(&free)["slot_id"], "vehicle": work()["vehicle"],
            "customer": {"name": "Asha Menon", "phone": "+919845012345", "email": "asha.menon@example.com"}});
        BookingOrder { key, intent: SERVICE, bearer: bearer.to_owned(), tool: "book_slot", arguments }
    };
    // After very many rounds a week is full.
    if free.is_empty() { Vec::new() } else { (0..SLOT_ORDERS).map(order).collect() }
}

async fn rooms(line: &mut PartnerLine, bearer: &str, round: u64, random: &TestRandom) -> Vec<BookingOrder> {
    let today = line.found(SERVICE, bearer, "search_providers", work()).await;
    // Stays of neighbouring rounds share a night.
    let first = 10 + i64::try_from(round / 4 % 900).unwrap();
    let search = json!({"destination": {"kind": "city", "city": "Bengaluru", "country_code": "IN"},
        "dates": {"check_in": day(&today, first), "check_out": day(&today, first + 2)},
        "party": {"adults": 2, "children": 0, "rooms": 1}, "preferences": {"sort_by": "price"}});
    let found = line.found(HOTEL, bearer, "search_availability", search).await;
    let listings = found["listings"].as_array().unwrap();
    let Some(listing) = listings.get(usize::try_from(round % 4).unwrap()) else { return Vec::new() };
    let rooms = listing["room_options"].as_array().unwrap();
    let order = |number: usize| {
        let key = format!("round-{round}-room-{number}");
        let arguments = json!({"idempotency_key": key, "request_id": key, "user_session_id": key,
            "result_token": found["result_token"], "listing_id": listing["listing_id"],
            "room_id": random.pick(rooms)["room_id"],
            "guest": {"name": "Asha Demo", "phone": "+919800000000", "email": "asha@example.com"}});
        BookingOrder { key, intent: HOTEL, bearer: bearer.to_owned(), tool: "create_booking", arguments }
    };
    (0..ROOM_ORDERS).map(order).collect()
}

/// What is searched for at a workshop.
fn work() -> Value {
    json!({"location": {"city": "Bengaluru", "country_code": "IN"}, "service": {"codes": ["GENERAL_SERVICE"]},
        "vehicle": {"make": "Maruti Suzuki", "model": "Swift"}})
}

/// The day so many days after an answer with `expires_at`.
fn day(answer: &Value, days: i64) -> String {
    let now = Millis::parse(answer["expires_at"].as_str().unwrap()).unwrap();
    date(now.plus_seconds(days * DAY_SECONDS))
}

pub(crate) fn date(at: Millis) -> String {
    at.to_rfc3339()[..10].to_owned()
}

/// Who was answered what, by key.
#[derive(Default)]
pub(crate) struct BookingLog {
    pub(crate) sent: BTreeMap<String, BookingOrder>,
    pub(crate) booked: BTreeMap<String, String>,
    pub(crate) refused: BTreeMap<String, String>,
}

impl BookingLog {
    /// A key is answered the same every time.
    pub(crate) fn book(&mut self, key: &str, booking_ref: String) {
        assert_eq!(self.refused.get(key), None, "{key} was refused before");
        let before = self.booked.insert(key.to_owned(), booking_ref.clone());
        assert!(before.as_ref().is_none_or(|before| *before == booking_ref), "{key}: {before:?}, then {booking_ref}");
    }

    pub(crate) fn refuse(&mut self, key: &str, code: String) {
        assert_eq!(self.booked.get(key), None, "{key} was booked, and is then answered {code}");
        self.refused.insert(key.to_owned(), code);
    }

    pub(crate) fn unanswered(&self) -> Vec<BookingOrder> {
        let is_open = |key: &String| !self.booked.contains_key(key) && !self.refused.contains_key(key);
        self.sent.iter().filter(|(key, _)| is_open(key)).map(|(_, order)| order.clone()).collect()
    }

    pub(crate) fn answers(&self) -> usize {
        self.booked.len() + self.refused.len()
    }

    pub(crate) fn add(&mut self, other: BookingLog) {
        self.sent.extend(other.sent);
        self.booked.extend(other.booked);
        self.refused.extend(other.refused);
    }
}
