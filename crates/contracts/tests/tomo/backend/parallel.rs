//! Many equal creates at once, on one node and on several, on every store: one order, one request at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use frontdesk_contracts::tomo;
use frontdesk_engine::TenantId;
use frontdesk_engine::ports::Store;
use frontdesk_engine::ports::http_client::HttpError;
use frontdesk_engine::ports::registry::{Registry, Tenant};
use frontdesk_engine::seal::SealKey;
use frontdesk_store::{Address, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use frontdesk_testkit::databases::PostgresDatabase;
use frontdesk_testkit::{MemoryStore, TestClock, TestFolder, TestRandom};
use serde_json::Value;

use super::support::{Front, HotelSystem, Mishap};
use crate::support::{HOTEL, NOW};

const DUPLICATES: usize = 50;

async fn at_once(nodes: &[Arc<Front>], asked: &Value, times: usize) -> Vec<Value> {
    let tasks: Vec<_> = (0..times)
        .map(|turn| {
            let (node, asked) = (Arc::clone(&nodes[turn % nodes.len()]), asked.clone());
            tokio::spawn(async move { node.answer("create_booking", asked).await })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

/// Equal creates on two nodes: first with answers that come in time, then with answers that are lost.
async fn check(store: Arc<dyn Store>) {
    let clock = Arc::new(TestClock::at(NOW.0));
    let hotel = HotelSystem::new(&clock);
    let nodes: Vec<Arc<Front>> =
        (0..2).map(|_| Arc::new(Front::node(Arc::clone(&store), &clock, Arc::clone(&hotel)))).collect();
    let front = &nodes[0];
    let asked = front.booking("same").await;
    hotel.then(Mishap::Slow(Duration::from_millis(200)));
    let answers = at_once(&nodes, &asked, DUPLICATES).await;
    let booked: Vec<Value> =
        answers.iter().filter(|answer| answer.get("result").is_some()).map(super::support::payload).collect();
    let waiting = answers.iter().filter(|answer| answer.get("error").is_some()).map(super::support::code);
    assert!(waiting.into_iter().all(|code| code == "RATE_LIMITED"));
    assert!(!booked.is_empty() && booked.iter().all(|payload| *payload == booked[0]), "{answers:?}");
    assert_eq!((hotel.count("create_booking"), hotel.crowd.load(Ordering::SeqCst)), (1, 1));
    assert_eq!((front.bookings().await, front.relays().await), (1, 0));

    // A lost answer, a lying one and a refusal to connect: whoever comes next sends the same key.
    let asked = front.booking("lost").await;
    for mishap in [
        Mishap::DoneBut(HttpError::Broken),
        Mishap::Changed(|answer| answer["result"]["rooms"] = "one".into()),
        Mishap::Error(HttpError::Unreachable),
    ] {
        hotel.then(mishap);
    }
    let answers = at_once(&nodes, &asked, DUPLICATES).await;
    assert!(answers.iter().any(|answer| answer.get("result").is_some()), "{answers:?}");
    assert_eq!((hotel.keys("create_booking").len(), hotel.crowd.load(Ordering::SeqCst)), (2, 1));
    assert_eq!((front.bookings().await, front.relays().await), (2, 0));
    assert_eq!(hotel.count("create_booking"), 5);

    // One whose node has gone: both nodes look for it at the same time.
    let asked = front.booking("gone").await;
    hotel.then(Mishap::Slow(Duration::from_secs(3_600)));
    let call = front.answer("create_booking", asked.clone());
    assert!(tokio::time::timeout(Duration::from_millis(200), call).await.is_err());
    clock.advance(15_000);
    let rounds: Vec<_> =
        nodes.iter().cloned().map(|node| tokio::spawn(async move { node.repeat_due().await })).collect();
    for round in rounds {
        round.await.unwrap();
    }
    assert_eq!((front.bookings().await, front.relays().await), (3, 0));
    assert_eq!((hotel.count("create_booking"), hotel.keys("create_booking").len()), (7, 3));
    assert_eq!(super::support::payload(&nodes[1].answer("create_booking", asked).await)["status"], "confirmed");
}

async fn add_tenant(registry: &dyn Registry) {
    let tenant = Tenant::new(TenantId::parse(HOTEL).unwrap(), HOTEL);
    registry.add_tenant(tenant, "{}".to_owned()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t_102_equal_creates_are_one_order_of_the_backend_in_memory() {
    check(Arc::new(MemoryStore::with_tenants([HOTEL]))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t_102_equal_creates_are_one_order_of_the_backend_on_sqlite() {
    let folder = TestFolder::new();
    let store = SqliteStore::open(SqliteOptions {
        path: folder.path().join("desk.db"),
        master: SealKey::from_bytes([7; 32]),
        random: Arc::new(TestRandom::distinct()),
        clock: Arc::new(TestClock::at(NOW.0)),
        tables: tomo::without_partner().tables,
        commit_wait: Duration::from_secs(30),
    })
    .unwrap();
    add_tenant(&store).await;
    check(Arc::new(store)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t_102_equal_creates_are_one_order_of_the_backend_on_postgresql() {
    let database = PostgresDatabase::create();
    let store = PostgresStore::open(PostgresOptions {
        address: Address::parse(&database.url()).unwrap(),
        master: SealKey::from_bytes([7; 32]),
        random: Arc::new(TestRandom::distinct()),
        clock: Arc::new(TestClock::at(NOW.0)),
        tables: tomo::without_partner().tables,
        commit_wait: Duration::from_secs(30),
    })
    .await
    .unwrap();
    add_tenant(&store).await;
    check(Arc::new(store)).await;
}
