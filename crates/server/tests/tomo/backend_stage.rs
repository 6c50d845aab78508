//! A server whose rides are booked in the business's own system: a thread that speaks HTTPS, keeps its orders by their
//! keys, and can be made slow, dead or lying.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::process::CommandProcess;
use frontdesk_testkit::app::receiver::{HttpsReceiver, ReceivedRequest, ReceiverAnswer};
use serde_json::{Value, json};

use crate::completion_stage::signature;
use crate::stage::{LIVE, secrets};

const BACKEND_KEY: &str = "backend-key-0123456789abcdef0123456789";
pub(crate) const BACKEND_PATH: &str = "/frontdesk";

/// Changes an answer of the system before it is sent.
pub(crate) type Lie = fn(&mut Value);

/// What the system of the ride business knows.
#[derive(Default)]
pub(crate) struct RideSystem {
    /// Its orders: the reference, by the key that it was sent.
    orders: Mutex<BTreeMap<String, String>>,
    /// The keys that came for each request of a caller.
    keys: Mutex<BTreeMap<String, Vec<String>>>,
    lies: Mutex<VecDeque<Lie>>,
    /// Each answer of six takes so much longer than the one before.
    pub(crate) pause_millis: AtomicU64,
}

impl RideSystem {
    fn receive(&self, request: &ReceivedRequest) -> ReceiverAnswer {
        let header = |name: &str| request.header(name).unwrap_or_default();
        let expected = signature(BACKEND_KEY, header("x-frontdesk-timestamp"), &request.body);
        if header("x-frontdesk-signature") != expected || request.path != BACKEND_PATH || request.method != "POST" {
            return ReceiverAnswer::Status(401);
        }
        let asked: Value = serde_json::from_str(&request.body).unwrap();
        let mut answer = self.answer(&asked);
        if let Some(lie) = self.lies.lock().unwrap().pop_front() {
            lie(&mut answer);
        }
        let pause = Duration::from_millis(self.pause_millis.load(Ordering::SeqCst) * (self.order_count() as u64 % 6));
        ReceiverAnswer::Late(pause, 200, answer.to_string())
    }

    fn answer(&self, asked: &Value) -> Value {
        let later = Millis(now() + 600_000).to_rfc3339();
        let key = asked["idempotency_key"].as_str().unwrap_or_default().to_owned();
        if !key.is_empty() {
            let request = asked["request_id"].as_str().unwrap_or_default().to_owned();
            self.keys.lock().unwrap().entry(request).or_default().push(key.clone());
        }
        match asked["tool"].as_str().unwrap() {
            "get_ride_estimates" => {
                let option = json!({"option_id": "sedan-1", "vehicle_class": "sedan", "seats": 4, "drivers_available": 3,
                    "eta_minutes": 4, "distance_km": 6.1, "duration_minutes": 19, "fare_inr": 240,
                    "surge_multiplier": 1.0});
                json!({"result": {"options": [option], "result_token": "estimate-1", "expires_at": later}})
            }
            "book_ride" => {
                let mut orders = self.orders.lock().unwrap();
                let number = orders.len() + 1;
                let reference = orders.entry(key).or_insert_with(|| format!("RIDE-{number:04}")).clone();
                let driver =
                    json!({"first_name": "Ravi", "rating": 4.7, "vehicle": "Maruti Dzire", "plate": "KA01AB1234"});
                json!({"result": {"booking_ref": reference, "status": "confirmed", "stage": "driver_assigned",
                        "mode": asked["mode"], "vehicle_class": "sedan", "driver": driver, "eta_minutes": 4,
                        "fare_inr": 240, "surge_multiplier": 1.0,
                        "cancellation": {"free_until": later, "fee_inr": 50, "no_show_fee_inr": 100}},
                    "booking": {"total_inr": 240, "stage": "driver_assigned"}})
            }
            "cancel_ride" => {
                json!({"result": {"booking_ref": asked["arguments"]["booking_ref"], "status": "cancelled",
                        "stage": "cancelled", "cancelled_at": Millis(now()).to_rfc3339(), "cancellation_fee_inr": 0,
                        "refund_inr": 240},
                    "booking": {"status": "cancelled", "net_inr": 0}})
            }
            tool => panic!("{tool} is not expected"),
        }
    }

    pub(crate) fn order_count(&self) -> usize {
        self.orders.lock().unwrap().len()
    }

    /// The keys that came for each request of a caller.
    pub(crate) fn keys(&self) -> BTreeMap<String, Vec<String>> {
        self.keys.lock().unwrap().clone()
    }
}

pub(crate) struct BackendServer {
    pub(crate) folder: TestFolder,
    pub(crate) desk: CommandProcess,
    pub(crate) address: SocketAddr,
    pub(crate) receiver: HttpsReceiver,
    pub(crate) system: Arc<RideSystem>,
}

impl BackendServer {
    pub(crate) fn start() -> BackendServer {
        let folder = TestFolder::new();
        secrets(&folder);
        crate::stage::secret(&folder, "backend-keys", BACKEND_KEY);
        let system = Arc::new(RideSystem::default());
        let serving = Arc::clone(&system);
        let receiver = HttpsReceiver::start_with(&folder.join("backend.pem"), move |request| serving.receive(request));
        configure(&folder, receiver.address.port());
        let (desk, address) = serve(&folder);
        BackendServer { folder, desk, address, receiver, system }
    }

    /// Killed, and started again on what it left.
    pub(crate) fn kill(self) -> BackendServer {
        let BackendServer { folder, desk, receiver, system, .. } = self;
        desk.signal("KILL");
        desk.end();
        let (desk, address) = serve(&folder);
        BackendServer { folder, desk, address, receiver, system }
    }

    /// The next answers of the system are changed so.
    pub(crate) fn lie(&self, lie: Lie) {
        self.system.lies.lock().unwrap().push_back(lie);
    }

    pub(crate) fn caller(&self) -> BackendCaller {
        BackendCaller(HttpClient::new(self.address, &self.folder.join("data/tls/ca.pem")))
    }

    /// Returns when this many requests have come to the system.
    pub(crate) async fn wait_for_keyed(&self, count: usize) {
        for _ in 0..6000 {
            if self.system.keys().values().map(Vec::len).sum::<usize>() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("not all of {count} requests came: {:?}", self.system.keys());
    }
}

/// With a backend at this port of this machine.
pub(crate) fn configure(folder: &TestFolder, port: u16) {
    let text = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:0\"\n[operator]\nlisten = \"127.0.0.1:0\"\n\
         [outbound]\nallow = [\"127.0.0.0/8\"]\nca = \"backend.pem\"\n\
         [[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n\
         [[mount]]\ncontract = \"tomo\"\npath = \"/mcp/rides\"\ntenant = \"rides\"\n\
         intents = [\"mobility.book_intracity_ride\"]\n\
         backend = \"https://localhost:{port}{BACKEND_PATH}\"\nbackend_keys = \"backend-keys\"\n\
         backend_timeout_ms = {{ search = 700, get = 700, create = 1000, cancel = 1000, track = 600 }}\n\
         [mount.partner]\nid = \"acme\"\ncompany = \"Acme\"\n\
         signals = {{ time = 0.6, taste = 0.8, budget = 0.5, safety = 0.7 }}\nservice_area = [\"Bengaluru\"]\n\
         pricing_band = \"good\"\ncallback = \"https://tomo.example/api/v1/cpc/mcp_provider/acme\"\n\
         [mount.auth]\nlive_tokens = \"live\"\nsandbox_tokens = \"sandbox\"\n"
    );
    fs::write(folder.join("desk.toml"), text).unwrap();
}

fn serve(folder: &TestFolder) -> (CommandProcess, SocketAddr) {
    let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
    let address = desk.address();
    (desk, address)
}

/// What came back from a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Called {
    Payload(Value),
    /// The code of the error.
    Error(String),
    /// The server is gone.
    Cut,
}

pub(crate) struct BackendCaller(HttpClient);

impl BackendCaller {
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Called {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let bearer = format!("Bearer {LIVE}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let Ok(response) = self.0.try_request("POST", "/mcp/rides", &headers, body).await else { return Called::Cut };
        // Nothing of what the system says beside its answer comes through, however it is answered.
        for word in ["ad_bid", "adBid", "margin_inr", "stack trace", "elsewhere"] {
            assert!(!response.text().contains(word), "{}", response.text());
        }
        let whole: Value = serde_json::from_str(response.text()).unwrap();
        match whole["result"]["content"][0]["text"].as_str() {
            Some(text) => Called::Payload(serde_json::from_str(text).unwrap()),
            None => Called::Error(whole["error"]["data"]["tomo_error_code"].as_str().unwrap().to_owned()),
        }
    }

    pub(crate) async fn search(&mut self) -> Called {
        let place = |address: &str, lat: f64| json!({"lat": lat, "lng": 77.6068, "address": address});
        let search = json!({"city": "Bengaluru", "pickup": place("MG Road", 12.9756), "drop": place("HSR", 12.9116)});
        self.call("get_ride_estimates", search).await
    }

    pub(crate) async fn book(&mut self, key: &str) -> Called {
        self.call("book_ride", booking(key)).await
    }
}

/// The arguments that book a ride under this key, which is also the id of the request.
pub(crate) fn booking(key: &str) -> Value {
    json!({"idempotency_key": key, "request_id": key, "user_session_id": key, "result_token": "estimate-1",
        "option_id": "sedan-1", "rider": {"name": "Asha Rao", "phone": "+919812345678"}})
}

#[expect(clippy::disallowed_methods, reason = "the system of a business has a clock of its own")]
fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}
