//! Many bookings at once on every store: the last room is sold once, and the last car too.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::automotive;
use frontdesk_contracts::automotive::vehicle::Vehicle;
use frontdesk_contracts::partner::PartnerSource;
use frontdesk_contracts::record::Stored as _;
use frontdesk_contracts::tomo;
use frontdesk_engine::TenantId;
use frontdesk_engine::desk::{Desk, Mount};
use frontdesk_engine::model::plan::{Event, Step};
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::{Registry, Tenant};
use frontdesk_engine::ports::{Commit, Committed, Disclosure, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_store::{Address, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use frontdesk_testkit::databases::PostgresDatabase;
use frontdesk_testkit::{MemoryStore, TestClock, TestFolder, TestRandom};
use serde_json::{Value, json};

use super::support::{DEALER, HOTEL, NOW, booking, call, desk, guest, mount, partner, search, stock_steps};

const CREATES: usize = 500;

/// The hotels of the demo and the cars of the test dealership.
async fn fill(store: &dyn Store, desk: &Desk) {
    let (steps, events) = tomo::listing::demo::rows(NOW, &mut |prefix| desk.new_id(prefix));
    commit(store, desk, HOTEL, steps, events).await;
    commit(store, desk, DEALER, stock_steps(), Vec::new()).await;
}

async fn commit(store: &dyn Store, desk: &Desk, tenant: &str, steps: Vec<Step>, events: Vec<Event>) {
    let answer = Item { id: tenant.to_owned(), version: 0, body: "{}".to_owned(), masked: None, personal: None };
    let commit = Commit {
        client: None,
        tenant: TenantId::parse(tenant).unwrap(),
        at: NOW,
        steps,
        events: events.into_iter().map(|event| (desk.new_id("evt"), event)).collect(),
        claim: None,
        answer,
        audit: "{}".to_owned(),
    };
    let committed = store.commit(commit).await.unwrap();
    assert!(matches!(committed, Committed::Done), "{committed:?}");
}

/// A desk over a store with both businesses, and a mount for each of them.
struct Shop {
    desk: Desk,
    hotels: Mount,
    cars: Mount,
}

impl Shop {
    async fn open(store: Arc<dyn Store>, clock: &Arc<TestClock>) -> Arc<Shop> {
        let desk = desk(Arc::clone(&store), clock);
        fill(store.as_ref(), &desk).await;
        let hotels = mount(&partner("travel.book_hotel", PartnerSource::Own));
        let cars = mount(&partner("marketplace.buy_used_car", PartnerSource::Dealership));
        Arc::new(Shop { desk, hotels, cars })
    }

    async fn answer(&self, tenant: &str, tool: &str, arguments: Value) -> Value {
        let mount = if tenant == HOTEL { &self.hotels } else { &self.cars };
        call(&self.desk, mount, &format!("{tenant}/tomo:live"), tool, arguments).await
    }

    async fn call(&self, tenant: &str, tool: &str, arguments: Value) -> Value {
        payload(&self.answer(tenant, tool, arguments).await)
    }

    async fn at_once(self: &Arc<Shop>, tenant: &'static str, calls: Vec<Value>) -> Vec<Value> {
        let call = |arguments: Value| {
            let shop = Arc::clone(self);
            tokio::spawn(async move { shop.answer(tenant, "create_booking", arguments).await })
        };
        let tasks: Vec<_> = calls.into_iter().map(call).collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.unwrap());
        }
        answers
    }
}

fn payload(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(text).unwrap()
}

/// How many calls booked something, and how many were told that nothing is left.
fn outcomes(answers: &[Value]) -> (usize, usize) {
    let booked = answers.iter().filter(|answer| answer.get("result").is_some()).count();
    let code = |answer: &&Value| answer["error"]["data"]["tomo_error_code"] == "NOT_AVAILABLE";
    (booked, answers.iter().filter(code).count())
}

async fn check(shop: Arc<Shop>) {
    // Eleven of twelve rooms are booked for the second of the two nights, so one is left.
    let mut eleven = search();
    eleven["dates"] = json!({"check_in": "2027-03-11", "check_out": "2027-03-12"});
    eleven["party"] = json!({"adults": 11, "rooms": 11});
    let found = shop.call(HOTEL, "search_availability", eleven).await;
    shop.call(HOTEL, "create_booking", booking(&found, "eleven")).await;
    let found = shop.call(HOTEL, "search_availability", search()).await;
    assert_eq!(found["listings"][0]["room_options"][0]["units_left"], 1);
    let creates = (0..CREATES).map(|turn| booking(&found, &format!("k-{turn}"))).collect();
    let answers = shop.at_once(HOTEL, creates).await;
    assert_eq!(outcomes(&answers), (1, CREATES - 1), "{:?}", answers.last());
    // The first night has eleven rooms left: nothing was taken there by those who were refused.
    let mut first_night = search();
    first_night["dates"] = json!({"check_in": "2027-03-10", "check_out": "2027-03-11"});
    let found = shop.call(HOTEL, "search_availability", first_night).await;
    assert_eq!(found["listings"][0]["room_options"][0]["units_left"], 11);

    // T-102: equal creates are one booking.
    let answers = shop.at_once(HOTEL, vec![booking(&found, "same"); 50]).await;
    let first = payload(&answers[0]);
    assert!(answers.iter().all(|answer| payload(answer) == first));
    let found = shop.call(HOTEL, "search_availability", {
        let mut again = search();
        again["dates"] = json!({"check_in": "2027-03-10", "check_out": "2027-03-11"});
        again
    });
    assert_eq!(found.await["listings"][0]["room_options"][0]["units_left"], 10);

    let found = shop.call(DEALER, "search_availability", json!({"criteria": {"city": "Bengaluru"}})).await;
    let car = &found["listings"][0]["listing_id"];
    let creates = (0..CREATES).map(|turn| {
        json!({"idempotency_key": format!("c-{turn}"), "result_token": found["result_token"], "listing_id": car,
            "buyer": guest()})
    });
    let answers = shop.at_once(DEALER, creates.collect()).await;
    assert_eq!(outcomes(&answers), (1, CREATES - 1), "{:?}", answers.last());
    let tenant = TenantId::parse(DEALER).unwrap();
    let row = shop.desk.store.get(&tenant, Vehicle::table(), car.as_str().unwrap(), Disclosure::Masked).await.unwrap();
    let vehicle: Value = serde_json::from_str(&row.unwrap().body).unwrap();
    assert_eq!((&vehicle["status"], &vehicle["version"]), (&json!("reserved"), &json!(2)));
}

fn tables() -> Vec<&'static frontdesk_engine::model::table::TableSpec> {
    let mut tables = automotive::contract().tables;
    tables.extend(tomo::without_partner().tables);
    tables
}

async fn add_tenants(registry: &dyn Registry) {
    for id in [HOTEL, DEALER] {
        let tenant = Tenant::new(TenantId::parse(id).unwrap(), id);
        registry.add_tenant(tenant, "{}".to_owned()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t_102_the_last_room_and_car_are_sold_once_in_memory() {
    let clock = Arc::new(TestClock::at(NOW.0));
    let store = Arc::new(MemoryStore::with_tenants([HOTEL, DEALER]));
    check(Shop::open(store, &clock).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t_102_the_last_room_and_car_are_sold_once_on_sqlite() {
    let clock = Arc::new(TestClock::at(NOW.0));
    let folder = TestFolder::new();
    let store = open_sqlite(&folder, &clock);
    add_tenants(&store).await;
    check(Shop::open(Arc::new(store), &clock).await).await;
}

fn open_sqlite(folder: &TestFolder, clock: &Arc<TestClock>) -> SqliteStore {
    SqliteStore::open(SqliteOptions {
        path: folder.path().join("desk.db"),
        master: SealKey::from_bytes([7; 32]),
        random: Arc::new(TestRandom::distinct()),
        clock: clock.clone(),
        tables: tables(),
        commit_wait: Duration::from_secs(30),
    })
    .unwrap()
}

#[tokio::test]
async fn t_103_a_key_is_known_after_a_restart() {
    let clock = Arc::new(TestClock::at(NOW.0));
    let folder = TestFolder::new();
    let hotels = mount(&partner("travel.book_hotel", PartnerSource::Own));
    let store = open_sqlite(&folder, &clock);
    add_tenants(&store).await;
    let before = Shop::open(Arc::new(store), &clock).await;
    let found = before.call(HOTEL, "search_availability", search()).await;
    let booked = before.call(HOTEL, "create_booking", booking(&found, "k-1")).await;
    drop(before);

    let desk = desk(Arc::new(open_sqlite(&folder, &clock)), &clock);
    let token = format!("{HOTEL}/tomo:live");
    let again = call(&desk, &hotels, &token, "create_booking", booking(&found, "k-1")).await;
    assert_eq!(payload(&again), booked);
    let found = payload(&call(&desk, &hotels, &token, "search_availability", search()).await);
    assert_eq!(found["listings"][0]["room_options"][0]["units_left"], 11, "one booking");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t_102_the_last_room_and_car_are_sold_once_on_postgresql() {
    let clock = Arc::new(TestClock::at(NOW.0));
    let database = PostgresDatabase::create();
    let store = PostgresStore::open(PostgresOptions {
        address: Address::parse(&database.url()).unwrap(),
        master: SealKey::from_bytes([7; 32]),
        random: Arc::new(TestRandom::distinct()),
        clock: clock.clone(),
        tables: tables(),
        commit_wait: Duration::from_secs(30),
    })
    .await
    .unwrap();
    add_tenants(&store).await;
    check(Shop::open(Arc::new(store), &clock).await).await;
}
