//! A system of a hotel behind the contract: another desk with the hotels of the demo, reached through a client that a test
//! can make slow, dead or lying.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use frontdesk_contracts::partner::{BackendSettings, BackendTimeouts, PartnerKeys, PartnerSettings, PartnerSource};
use frontdesk_contracts::record::Stored as _;
use frontdesk_contracts::tomo;
use frontdesk_contracts::tomo::booking::Booking;
use frontdesk_contracts::tomo::signature::verify;
use frontdesk_engine::desk::{Desk, Mount};
use frontdesk_engine::dispatch::DeskSource;
use frontdesk_engine::import::ImportHost;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Store;
use frontdesk_engine::ports::http_client::{DocumentRequest, HttpClient, HttpError, HttpRequest, HttpResponse};
use frontdesk_engine::relay::{RELAY, repeat_due};
use frontdesk_engine::seal::signing_key::SigningKey;
use frontdesk_engine::{Fault, TenantId};
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock};
use serde_json::{Value, json};

use crate::support::{HOTEL, NOW, booking, call, desk, mount, partner, search};

pub(super) const URL: &str = "https://orders.hotel.example/frontdesk";

pub(super) fn key() -> SigningKey {
    SigningKey::new(b"a key of the backend, for tests only".to_vec())
}

/// The business behind the contract, and what it sells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TestBusiness {
    pub(super) tenant: &'static str,
    intent: &'static str,
}

pub(super) const HOTELS: TestBusiness = TestBusiness { tenant: HOTEL, intent: "travel.book_hotel" };
pub(super) const RIDES: TestBusiness = TestBusiness { tenant: "rid_monsoon", intent: "mobility.book_intracity_ride" };

pub(super) fn settings(business: TestBusiness) -> PartnerSettings {
    PartnerSettings {
        backend: Some(BackendSettings { url: URL.to_owned(), timeouts: BackendTimeouts::default() }),
        keys: PartnerKeys { backend: vec![key()], ..PartnerKeys::default() },
        ..partner(business.intent, PartnerSource::Own)
    }
}

/// What happens to a request instead of an answer of the hotel.
#[derive(Debug, Clone)]
pub(super) enum Mishap {
    Answer(Value),
    Bytes(u16, Vec<u8>),
    Error(HttpError),
    /// The hotel does it, and this is what comes back.
    DoneBut(HttpError),
    /// The hotel does it after this time; the client waits as long as it may.
    Slow(Duration),
    /// The hotel does it, and its answer is changed so.
    Changed(fn(&mut Value)),
}

pub(super) struct HotelSystem {
    business: TestBusiness,
    desk: Desk,
    mount: Mount,
    clock: Arc<TestClock>,
    pub(super) mishaps: Mutex<VecDeque<Mishap>>,
    pub(super) requests: Mutex<Vec<Value>>,
    under_way: Mutex<BTreeMap<String, usize>>,
    /// The most requests with one key at the same time.
    pub(super) crowd: AtomicUsize,
}

impl HotelSystem {
    pub(super) fn new(clock: &Arc<TestClock>) -> Arc<HotelSystem> {
        HotelSystem::of(HOTELS, clock)
    }

    /// The same for another business.
    pub(super) fn of(business: TestBusiness, clock: &Arc<TestClock>) -> Arc<HotelSystem> {
        let store = Arc::new(MemoryStore::default());
        let desk = desk(store.clone(), clock);
        let new_id = &mut |prefix: &str| desk.new_id(prefix);
        let (steps, _) = if business == RIDES {
            tomo::mobility::demo::rows(NOW, new_id)
        } else {
            tomo::listing::demo::rows(NOW, new_id)
        };
        store.seed(business.tenant, steps);
        Arc::new(HotelSystem {
            business,
            desk,
            mount: mount(&partner(business.intent, PartnerSource::Own)),
            clock: Arc::clone(clock),
            mishaps: Mutex::default(),
            requests: Mutex::default(),
            under_way: Mutex::default(),
            crowd: AtomicUsize::new(0),
        })
    }

    pub(super) fn then(&self, mishap: Mishap) {
        self.mishaps.lock().unwrap().push_back(mishap);
    }

    pub(super) fn count(&self, tool: &str) -> usize {
        self.requests.lock().unwrap().iter().filter(|request| request["tool"] == tool).count()
    }

    pub(super) fn last(&self) -> Value {
        self.requests.lock().unwrap().last().unwrap().clone()
    }

    /// Every key of a request of this tool, without repetitions.
    pub(super) fn keys(&self, tool: &str) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let of_tool = requests.iter().filter(|request| request["tool"] == tool);
        let mut keys: Vec<String> = of_tool.map(|request| request["idempotency_key"].to_string()).collect();
        keys.sort();
        keys.dedup();
        keys
    }

    async fn receive(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let header = |name: &str| &request.headers.iter().find(|(known, _)| *known == name).unwrap().1;
        let (timestamp, signature) = (header("X-Frontdesk-Timestamp"), header("X-Frontdesk-Signature"));
        let now = Millis(self.clock_now());
        assert!(verify(&[key()], timestamp, signature, &request.body, now), "the signature is right");
        assert_eq!((request.url.as_str(), header("Content-Type").as_str()), (URL, "application/json"));
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        self.requests.lock().unwrap().push(body.clone());
        let mishap = self.mishaps.lock().unwrap().pop_front();
        match mishap {
            Some(Mishap::Error(error)) => Err(error),
            Some(Mishap::Answer(answer)) => response(200, answer.to_string().into_bytes(), request),
            Some(Mishap::Bytes(status, bytes)) => response(status, bytes, request),
            Some(Mishap::DoneBut(error)) => {
                self.answer(&body).await;
                Err(error)
            }
            Some(Mishap::Slow(time)) => {
                let done = tokio::time::timeout(request.timeout, tokio::time::sleep(time)).await;
                let answer = self.answer(&body).await;
                done.map_err(|_| HttpError::TimedOut)?;
                response(200, answer.to_string().into_bytes(), request)
            }
            Some(Mishap::Changed(change)) => {
                let mut answer = self.answer(&body).await;
                change(&mut answer);
                response(200, answer.to_string().into_bytes(), request)
            }
            None => response(200, self.answer(&body).await.to_string().into_bytes(), request),
        }
    }

    fn clock_now(&self) -> i64 {
        use frontdesk_engine::ports::Clock as _;
        self.clock.now().0
    }

    /// As the hotel answers by itself.
    async fn answer(&self, request: &Value) -> Value {
        let mut arguments = request["arguments"].clone();
        // Changes of rides have no argument for a key; they say the same again.
        let takes_key = request["role"] == "create" || self.business == HOTELS;
        if let Some(key) = request.get("idempotency_key").filter(|_| takes_key) {
            arguments["idempotency_key"] = key.clone();
        }
        let token = format!("{}/tomo:{}", self.business.tenant, request["mode"].as_str().unwrap());
        let answer = call(&self.desk, &self.mount, &token, request["tool"].as_str().unwrap(), arguments).await;
        match answer["result"]["content"][0]["text"].as_str() {
            Some(text) => {
                let result: Value = serde_json::from_str(text).unwrap();
                // Rides call their total a fare, so the system says it beside the result.
                match result.get("fare_inr") {
                    Some(fare) => json!({"booking": {"total_inr": fare, "stage": result["stage"]}, "result": result}),
                    None => json!({"result": result}),
                }
            }
            None => json!({"error": {"code": answer["error"]["data"]["tomo_error_code"], "message": "<b>no</b>"}}),
        }
    }
}

fn response(status: u16, body: Vec<u8>, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
    if body.len() > request.max_response {
        return Err(HttpError::TooLarge);
    }
    Ok(HttpResponse { status, body: Bytes::from(body), ..HttpResponse::default() })
}

impl HttpClient for HotelSystem {
    fn post<'a>(&'a self, request: HttpRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        Box::pin(async move {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let key = body["idempotency_key"].to_string();
            let now = {
                let mut under_way = self.under_way.lock().unwrap();
                let count = under_way.entry(key.clone()).or_default();
                *count += 1;
                *count
            };
            if body.get("idempotency_key").is_some() {
                self.crowd.fetch_max(now, Ordering::SeqCst);
            }
            let answer = self.receive(&request).await;
            *self.under_way.lock().unwrap().entry(key).or_default() -= 1;
            answer
        })
    }

    fn get<'a>(&'a self, _: DocumentRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        Box::pin(std::future::ready(Err(HttpError::Refused)))
    }
}

/// A desk whose mount forwards to the system of a hotel.
pub(super) struct Front {
    business: TestBusiness,
    pub(super) desk: Desk,
    pub(super) mount: Mount,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<TestClock>,
    pub(super) hotel: Arc<HotelSystem>,
    pub(super) observed: Arc<ObservedCalls>,
}

impl Front {
    pub(super) fn new() -> Front {
        Front::over(Arc::new(MemoryStore::with_tenants([HOTEL])))
    }

    pub(super) fn over(store: Arc<dyn Store>) -> Front {
        let clock = Arc::new(TestClock::at(NOW.0));
        let hotel = HotelSystem::new(&clock);
        Front::node(store, &clock, hotel)
    }

    /// Another node of the same server.
    pub(super) fn node(store: Arc<dyn Store>, clock: &Arc<TestClock>, hotel: Arc<HotelSystem>) -> Front {
        let observed = Arc::new(ObservedCalls::default());
        let desk = Desk {
            http_client: hotel.clone(),
            observer: observed.clone(),
            random: Arc::new(frontdesk_testkit::TestRandom::distinct()),
            ..desk(Arc::clone(&store), clock)
        };
        let business = hotel.business;
        Front { business, desk, mount: mount(&settings(business)), store, clock: Arc::clone(clock), hotel, observed }
    }

    /// Over the system of a business with rides.
    pub(super) fn of_rides() -> Front {
        let clock = Arc::new(TestClock::at(NOW.0));
        let system = HotelSystem::of(RIDES, &clock);
        Front::node(Arc::new(MemoryStore::with_tenants([RIDES.tenant])), &clock, system)
    }

    pub(super) async fn answer(&self, tool: &str, arguments: Value) -> Value {
        call(&self.desk, &self.mount, &format!("{}/tomo:live", self.business.tenant), tool, arguments).await
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Value {
        payload(&self.answer(tool, arguments).await)
    }

    pub(super) async fn code(&self, tool: &str, arguments: Value) -> String {
        code(&self.answer(tool, arguments).await)
    }

    /// The arguments that book the first room of the first hotel.
    pub(super) async fn booking(&self, key: &str) -> Value {
        booking(&self.call("search_availability", search()).await, key)
    }

    /// One round of the worker.
    pub(super) async fn repeat_due(&self) {
        repeat_due(self).await;
    }

    /// How many calls wait for their outcome.
    pub(super) async fn relays(&self) -> usize {
        self.rows(&RELAY).await
    }

    pub(super) async fn bookings(&self) -> usize {
        self.rows(Booking::table()).await
    }

    async fn rows(&self, table: &'static frontdesk_engine::model::table::TableSpec) -> usize {
        use frontdesk_engine::model::page::CountQuery;
        let query = CountQuery { table, filters: Vec::new(), max: 1_000 };
        self.store.count(&TenantId::parse(self.business.tenant).unwrap(), query).await.unwrap()
    }
}

impl DeskSource for Front {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn mounts(&self) -> Vec<&Mount> {
        vec![&self.mount]
    }
}

impl ImportHost for Front {
    fn tenants(&self) -> Future<'_, Result<Vec<TenantId>, Fault>> {
        Box::pin(std::future::ready(Ok(vec![TenantId::parse(self.business.tenant).unwrap()])))
    }

    fn is_alone(&self) -> bool {
        false
    }
}

pub(super) fn payload(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no payload: {answer}"));
    serde_json::from_str(text).unwrap()
}

pub(super) fn code(answer: &Value) -> String {
    answer["error"]["data"]["tomo_error_code"].as_str().unwrap_or_else(|| panic!("no code: {answer}")).to_owned()
}
