//! Overload and slow statements: requests that cannot be served fail at once or in time, and others continue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frontdesk_engine::model::page::{Filter, Page};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::{Committed, Disclosure, Store as _};
use frontdesk_engine::{Fault, FaultKind};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::test_store::TestStore;
use crate::tls::Authority;
use frontdesk_store::Backend as _;
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{BOAT, add, boat, claim, done, plain, plan, query};
use frontdesk_testkit::store_suite::north;

/// Longer than anything takes that is not held up, shorter than a statement may take.
const AT_ONCE: Duration = Duration::from_secs(8);

/// Blocks searches by terms, but not look-ups.
const NO_WORDS: &str = "LOCK TABLE boat_word IN ACCESS EXCLUSIVE MODE";
/// Blocks writes for this tenant.
const NO_WRITING: &str = "SELECT 1 FROM fd_tenant WHERE tenant = 'north' FOR UPDATE";
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'desk' AND wait_event_type = 'Lock'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_takes_long_holds_up_no_look_up_and_no_write() {
    let test = test().await;
    let held = test.database.hold(NO_WORDS);
    let mut searches = search(&test, 8);
    waiting(&test, 2).await;
    let looked_up = async {
        for _ in 0..20 {
            let found = test.store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
            assert_eq!(found.body, r#"{"id":"b1","length":7}"#);
            assert!(test.store.find_claim(&north(), &claim("k", 1)).await.unwrap().is_none());
        }
        done(&*test.store, plan("meanwhile", &north(), Vec::new())).await;
    };
    timeout(AT_ONCE, looked_up).await.unwrap();
    assert!(searches.try_join_next().is_none(), "every search still waits");
    drop(held);
    for page in searches.join_all().await {
        assert_eq!(page.unwrap().rows.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_times_out_can_be_retried() {
    let test = test().await;
    let locks = [test.database.hold(NO_WORDS), test.database.hold(NO_WRITING)];
    let asked = Instant::now();
    let mut searches = search(&test, 1);
    let refused = test.store.commit(plan("late", &north(), Vec::new())).await.unwrap_err();
    assert_eq!(refused.kind, FaultKind::Unavailable, "{refused:?}");
    assert!(refused.message.contains("nothing was changed"), "{refused:?}");
    assert!(refused.cause.unwrap().contains("statement timeout"));
    let refused = searches.join_next().await.unwrap().unwrap().unwrap_err();
    assert_eq!(refused.kind, FaultKind::Unavailable, "{refused:?}");
    assert!(refused.cause.unwrap().contains("statement timeout"));
    assert!(asked.elapsed() < Duration::from_secs(30), "it took {:?} to be told", asked.elapsed());
    drop(locks);
    done(&*test.store, plan("again", &north(), Vec::new())).await;
    assert_eq!(search(&test, 1).join_all().await.pop().unwrap().unwrap().rows.len(), 1);
    assert!(test.verified().await.is_intact());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retention_without_expired_rows_waits_for_no_lock() {
    let test = test().await;
    let _held = test.database.hold(NO_WRITING);
    timeout(AT_ONCE, test.store.delete_expired_rows(&BOAT, "length", Millis(1))).await.unwrap().unwrap();
    timeout(AT_ONCE, test.store.delete_expired_claims(Millis(1))).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_beyond_the_queue_is_refused_at_once() {
    let test = test().await;
    let held = test.database.hold(NO_WORDS);
    let mut searches = search(&test, 1024);
    waiting(&test, 2).await;
    for _ in 0..50 {
        searches.spawn(a_search(&test));
    }
    let told = async {
        for _ in 0..50 {
            let refused = searches.join_next().await.unwrap().unwrap().unwrap_err();
            assert_eq!(refused.kind, FaultKind::Unavailable, "{refused:?}");
            assert_eq!(refused.cause.as_deref(), Some("the queue is full"));
        }
    };
    timeout(AT_ONCE, told).await.unwrap();
    assert!(searches.try_join_next().is_none(), "all others still wait");
    drop(held);
    for page in searches.join_all().await {
        assert_eq!(page.unwrap().rows.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_beyond_the_queue_is_refused_at_once() {
    /// What the writer has in its hands, and what waits for it.
    const TAKEN: usize = 256;
    const QUEUE: usize = 8192;
    const SURPLUS: usize = 50;
    let test = test().await;
    let held = test.database.hold(NO_WRITING);
    let mut writes = JoinSet::new();
    for number in 0..TAKEN + QUEUE + SURPLUS {
        let store = Arc::clone(&test.store);
        writes.spawn(async move { store.commit(plan(&format!("p{number}"), &north(), Vec::new())).await });
    }
    let told = async {
        for _ in 0..SURPLUS {
            let refused = writes.join_next().await.unwrap().unwrap().unwrap_err();
            assert_eq!(refused.kind, FaultKind::Unavailable, "{refused:?}");
        }
    };
    timeout(AT_ONCE, told).await.unwrap();
    drop(held);
    let (mut committed, mut refused) = (0, SURPLUS);
    for outcome in writes.join_all().await {
        match outcome {
            Ok(Committed::Done) => committed += 1,
            Err(fault) if fault.kind == FaultKind::Unavailable => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(committed + refused, TAKEN + QUEUE + SURPLUS);
    assert!(committed >= QUEUE, "{committed} of those that were taken on");
    let links = test.database.sql("SELECT count(*) FROM fd_audit WHERE chain = 'tenant:north'");
    assert_eq!(links, [(committed + 1).to_string()], "theirs, and that of the boat");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abandoned_search_is_cancelled_and_others_continue() {
    callers_go(&test().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abandoned_search_is_cancelled_over_tls_too() {
    let authority = Authority::new();
    let server = authority.server("db.example", 2099);
    let address = authority.address(server.port(), "");
    let test = TestStore::at(server, address).await;
    add(&*test.store, &north(), [boat("b1", 7)]).await;
    callers_go(&test).await;
}

async fn callers_go(test: &TestStore) {
    let held = test.database.hold(NO_WORDS);
    let mut gone = search(test, 6);
    waiting(test, 2).await;
    // Behind them on the same connections, and in need of no words.
    let mut behind = JoinSet::new();
    for _ in 0..6 {
        let store = Arc::clone(&test.store);
        behind.spawn(async move { store.page(&north(), query(Vec::new())).await });
    }
    // Long enough to count as slow.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(behind.try_join_next().is_none(), "they wait behind the searches");
    gone.abort_all();
    while gone.join_next().await.is_some() {}
    let served = async {
        while let Some(page) = behind.join_next().await {
            assert_eq!(page.unwrap().unwrap().rows.len(), 1);
        }
    };
    timeout(AT_ONCE, served).await.unwrap();
    // Sooner than the time limit of a statement, which would end them too.
    timeout(AT_ONCE, waiting(test, 0)).await.unwrap();
    drop(held);
}

async fn test() -> TestStore {
    let test = TestStore::new().await;
    add(&*test.store, &north(), [boat("b1", 7)]).await;
    test
}

/// Searches for the one boat by a word.
fn search(test: &TestStore, count: usize) -> JoinSet<Result<Page, Fault>> {
    (0..count).map(|_| a_search(test)).collect()
}

fn a_search(test: &TestStore) -> impl Future<Output = Result<Page, Fault>> + Send + 'static {
    let store = Arc::clone(&test.store);
    async move { store.page(&north(), query(vec![Filter::SearchTerms(vec![plain("sail")])])).await }
}

/// Until so many of the desk's connections wait for a lock.
async fn waiting(test: &TestStore, count: usize) {
    eventually("the searches wait", async || test.database.sql(WAITING) == [count.to_string()]).await;
}
