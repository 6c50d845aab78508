//! Rides and orders of food that a partner asks for, how each of them shall end, and the calls for both. Every call can be
//! made again: it has a key or an id, or says the same again.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use frontdesk_testkit::TestRandom;
use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::ending_stage::{EndingStage, FOOD, LIVE, NOTIFICATION_KEY, RIDES, SANDBOX};

/// How many of each kind a round asks for: more than there are drivers, and soon more than there are portions.
const RIDE_ORDERS: usize = 18;
const FOOD_ORDERS: usize = 18;

/// Something to be booked. Its key is also its `request_id`.
#[derive(Debug, Clone)]
pub(crate) struct WantedOrder {
    pub(crate) key: String,
    pub(crate) intent: &'static str,
    token: &'static str,
    arguments: Value,
    pub(crate) ending: Ending,
}

impl WantedOrder {
    pub(crate) fn is_live(&self) -> bool {
        self.token == LIVE
    }
}

/// How an order shall end: by each of these rows of calls, all at the same time. No row: it stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) rows: &'static [&'static [EndCall]],
    /// The status it may end with.
    pub(crate) statuses: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndCall {
    /// By the caller.
    Cancel,
    /// By a notification of the business's own system.
    Stage(&'static str),
}

use EndCall::{Cancel, Stage};

const OPEN: Ending = Ending { rows: &[], statuses: &["confirmed"] };

const RIDE_ENDINGS: [Ending; 7] = [
    Ending { rows: &[&[Cancel]], statuses: &["cancelled"] },
    Ending {
        rows: &[&[Stage("driver_arriving"), Stage("driver_arrived"), Stage("in_progress"), Stage("completed")]],
        statuses: &["completed"],
    },
    Ending { rows: &[&[Stage("driver_arrived"), Stage("no_show")]], statuses: &["cancelled"] },
    Ending { rows: &[&[Stage("failed")]], statuses: &["failed"] },
    // Whoever is first decides.
    Ending { rows: &[&[Cancel], &[Stage("completed")]], statuses: &["cancelled", "completed"] },
    Ending { rows: &[&[Stage("completed")], &[Stage("failed")]], statuses: &["completed", "failed"] },
    OPEN,
];

/// Only those that come to `preparing` keep their portions when they are given up.
const FOOD_ENDINGS: [Ending; 7] = [
    Ending { rows: &[&[Cancel]], statuses: &["cancelled"] },
    Ending {
        rows: &[&[Stage("accepted"), Stage("preparing"), Stage("picked_up"), Stage("delivered")]],
        statuses: &["completed"],
    },
    Ending { rows: &[&[Stage("rejected")]], statuses: &["failed"] },
    Ending { rows: &[&[Stage("preparing"), Stage("failed")]], statuses: &["failed"] },
    Ending { rows: &[&[Cancel], &[Stage("delivered")]], statuses: &["cancelled", "completed"] },
    Ending { rows: &[&[Cancel], &[Stage("rejected")]], statuses: &["cancelled", "failed"] },
    OPEN,
];

impl Ending {
    /// Whether an order that was given up has been cooked before.
    pub(crate) fn is_cooked(&self) -> bool {
        self.rows.iter().any(|calls| calls.contains(&Stage("preparing")))
    }

    /// What ends an order that was left open.
    pub(crate) fn of_open(intent: &str, random: &TestRandom) -> Ending {
        *random.pick(if intent == RIDES.1 { &RIDE_ENDINGS[..6] } else { &FOOD_ENDINGS[..6] })
    }
}

/// One thing to be done; it is done when all its calls were answered.
#[derive(Debug, Clone)]
pub(crate) enum Task {
    Book(WantedOrder),
    End { order: WantedOrder, booking_ref: String, row: usize },
}

pub(crate) enum TaskAnswer {
    /// The booking_ref.
    Booked(String),
    /// The code. Nothing was booked.
    Refused(String),
    Ended,
    /// The connection ended without an answer.
    Cut,
}

/// What became of one call.
enum CallAnswer {
    Done(Value),
    Refused(String),
    /// The same call again is invited.
    Later,
    Cut,
}

pub(crate) struct OrderLine(HttpClient);

impl OrderLine {
    pub(crate) fn new(stage: &EndingStage) -> OrderLine {
        OrderLine(stage.http())
    }

    pub(crate) async fn run(&mut self, task: &Task) -> TaskAnswer {
        match task {
            Task::Book(order) => {
                let tool = if order.intent == RIDES.1 { "book_ride" } else { "place_order" };
                match self.insist(order, tool, &order.arguments).await {
                    CallAnswer::Done(answer) => TaskAnswer::Booked(answer["booking_ref"].as_str().unwrap().to_owned()),
                    CallAnswer::Refused(code) => {
                        // A token that has expired says only that the machine is slow.
                        let is_known = matches!(code.as_str(), "NOT_AVAILABLE" | "RESULT_EXPIRED");
                        assert!(is_known, "{}: {code}", order.key);
                        TaskAnswer::Refused(code)
                    }
                    CallAnswer::Cut | CallAnswer::Later => TaskAnswer::Cut,
                }
            }
            Task::End { order, booking_ref, row } => self.end(order, booking_ref, *row).await,
        }
    }

    async fn end(&mut self, order: &WantedOrder, booking_ref: &str, row: usize) -> TaskAnswer {
        for (number, call) in order.ending.rows[row].iter().enumerate() {
            let answer = match call {
                Cancel => {
                    let tool = if order.intent == RIDES.1 { "cancel_ride" } else { "cancel_order" };
                    self.insist(order, tool, &json!({"booking_ref": booking_ref})).await
                }
                Stage(stage) => {
                    let id = format!("{}-{row}-{number}", order.key);
                    let body = json!({"id": id, "booking_ref": booking_ref, "stage": stage}).to_string();
                    self.notify(order.intent, &body).await
                }
            };
            match answer {
                CallAnswer::Done(answer) => assert_eq!(answer["booking_ref"], booking_ref, "{}: {call:?}", order.key),
                // Somebody else was first.
                CallAnswer::Refused(code) => {
                    let is_race = order.ending.rows.len() > 1 && matches!(code.as_str(), "BOOKING_CLOSED" | "closed");
                    assert!(is_race, "{} {call:?}: {code}", order.key);
                }
                CallAnswer::Cut | CallAnswer::Later => return TaskAnswer::Cut,
            }
        }
        TaskAnswer::Ended
    }

    /// Calls until it is answered for good.
    async fn insist(&mut self, order: &WantedOrder, tool: &str, arguments: &Value) -> CallAnswer {
        loop {
            match self.call(order.intent, order.token, tool, arguments).await {
                CallAnswer::Later => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
                answer @ (CallAnswer::Done(_) | CallAnswer::Refused(_) | CallAnswer::Cut) => return answer,
            }
        }
    }

    async fn call(&mut self, intent: &str, token: &str, tool: &str, arguments: &Value) -> CallAnswer {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let Ok(response) = self.0.try_request("POST", &format!("/mcp/{intent}"), &headers, body).await else {
            return CallAnswer::Cut;
        };
        let whole = json_of(&response);
        if let Some(text) = whole["result"]["content"][0]["text"].as_str() {
            return CallAnswer::Done(serde_json::from_str(text).unwrap());
        }
        match whole["error"]["data"]["tomo_error_code"].as_str() {
            Some("RATE_LIMITED" | "PARTNER_MAINTENANCE") => CallAnswer::Later,
            Some(code @ ("NOT_AVAILABLE" | "RESULT_EXPIRED" | "BOOKING_CLOSED")) => {
                CallAnswer::Refused(code.to_owned())
            }
            _ => panic!("{tool}: {whole}"),
        }
    }

    async fn notify(&mut self, intent: &str, body: &str) -> CallAnswer {
        let path = format!("/mcp/{intent}/notifications");
        loop {
            let timestamp = now_millis().to_string();
            let signature = signature(&timestamp, body);
            let headers = [
                ("content-type", "application/json"),
                ("x-frontdesk-timestamp", timestamp.as_str()),
                ("x-frontdesk-signature", signature.as_str()),
            ];
            let Ok(response) = self.0.try_request("POST", &path, &headers, body).await else { return CallAnswer::Cut };
            match response.status {
                200 => return CallAnswer::Done(json_of(&response)),
                409 => return CallAnswer::Refused(json_of(&response)["error"]["code"].as_str().unwrap().to_owned()),
                429 | 503 => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
                _ => panic!("{body}: {} {}", response.status, response.text()),
            }
        }
    }

    async fn found(&mut self, intent: &str, token: &str, tool: &str, arguments: Value) -> Option<Value> {
        match self.call(intent, token, tool, &arguments).await {
            CallAnswer::Done(answer) => Some(answer),
            CallAnswer::Refused(_) => None,
            CallAnswer::Later | CallAnswer::Cut => panic!("{tool} is not answered"),
        }
    }
}

/// The orders of a round; one in five is there twice, so that its key is used by two callers at once.
pub(crate) async fn orders(stage: &EndingStage, round: u64, random: &TestRandom) -> Vec<Task> {
    let mut line = OrderLine::new(stage);
    let mut orders = rides(&mut line, round, random).await;
    orders.extend(food(&mut line, round, random).await);
    let twice: Vec<WantedOrder> = orders.iter().filter(|_| random.percent(20)).cloned().collect();
    orders.extend(twice);
    orders.into_iter().map(Task::Book).collect()
}

/// Puts tasks in an order left to chance.
pub(crate) fn shuffle(tasks: &mut [Task], random: &TestRandom) {
    for place in (1..tasks.len()).rev() {
        tasks.swap(place, random.below(place + 1));
    }
}

async fn rides(line: &mut OrderLine, round: u64, random: &TestRandom) -> Vec<WantedOrder> {
    let mut orders = Vec::new();
    for (token, mode, count) in [(LIVE, "live", RIDE_ORDERS), (SANDBOX, "sandbox", 3)] {
        let search = json!({"city": "Bengaluru", "user_session_id": format!("s-{round}"),
            "pickup": {"lat": 12.9756, "lng": 77.6068, "address": "MG Road metro station"},
            "drop": {"lat": 12.9352, "lng": 77.6245, "address": "Koramangala 5th Block"}});
        let found = line.found(RIDES.1, token, "get_ride_estimates", search).await.unwrap();
        let options = found["options"].as_array().unwrap();
        for number in 0..count {
            let key = format!("round-{round}-{mode}-ride-{number}");
            let arguments = json!({"idempotency_key": key, "request_id": key, "user_session_id": key,
                "result_token": found["result_token"], "option_id": random.pick(options)["option_id"],
                "rider": {"name": "Asha Menon", "phone": "+919845012345"}});
            let ending = *random.pick(&RIDE_ENDINGS);
            orders.push(WantedOrder { key, intent: RIDES.1, token, arguments, ending });
        }
    }
    orders
}

async fn food(line: &mut OrderLine, round: u64, random: &TestRandom) -> Vec<WantedOrder> {
    let place = json!({"city": "Bengaluru", "pincode": "560001", "lat": 12.9752, "lng": 77.6057, "country_code": "IN"});
    let mut orders = Vec::new();
    for (token, mode, count) in [(LIVE, "live", FOOD_ORDERS), (SANDBOX, "sandbox", 3)] {
        let mut carts = BTreeMap::new();
        // The scarce one may be sold out.
        for (dish, quantity) in [("Mysore Pak", 2), ("Masala Dosa", 1)] {
            let session = format!("s-{round}-{dish}");
            let search = json!({"location": place, "query": dish, "user_session_id": session});
            let found = line.found(FOOD.1, token, "search_restaurants_and_dishes", search).await.unwrap();
            let Some(result) =
                found["results"].as_array().unwrap().iter().find(|one| one["name"] == "Anytime Tiffin Room")
            else {
                continue;
            };
            let cart = json!({"restaurant_id": result["restaurant_id"], "location": place, "user_session_id": session,
                "items": [{"dish_id": result["dishes"][0]["dish_id"], "quantity": quantity}],
                "result_token": found["result_token"]});
            if let Some(cart) = line.found(FOOD.1, token, "compute_cart_total", cart).await {
                carts.insert(dish, cart["result_token"].clone());
            }
        }
        // By name, so that the first is the one that is never sold out.
        let carts: Vec<Value> = carts.into_values().collect();
        for number in 0..count {
            let key = format!("round-{round}-{mode}-food-{number}");
            let arguments = json!({"idempotency_key": key, "request_id": key, "user_session_id": key,
                "result_token": if number == 0 { &carts[0] } else { random.pick(&carts) }, "customer": {"name": "Asha Menon", "phone": "+919845012345"},
                "delivery_address": {"line1": "14 Sample Street", "city": "Bengaluru", "pincode": "560001",
                    "lat": 12.9752, "lng": 77.6057, "country_code": "IN"}});
            // The first one is always there, and stays open.
            let ending = if number == 0 { OPEN } else { *random.pick(&FOOD_ENDINGS) };
            orders.push(WantedOrder { key, intent: FOOD.1, token, arguments, ending });
        }
    }
    orders
}

fn signature(timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(NOTIFICATION_KEY.as_bytes()).unwrap();
    mac.update(format!("{timestamp}.{body}").as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[expect(clippy::disallowed_methods, reason = "the sender of a notification has a clock of its own")]
fn now_millis() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

fn json_of(response: &HttpResponse) -> Value {
    serde_json::from_str(response.text()).unwrap_or_else(|_| panic!("{}: {}", response.status, response.text()))
}
