//! Outages of the server: answered writes are durable, others can be retried, and errors are reported in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use frontdesk_engine::FaultKind;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::Registry as _;
use frontdesk_engine::ports::{Commit, Committed, Disclosure, Durability, Store as _};
use frontdesk_store::audit::AuditClass;
use frontdesk_store::{Address, Backend as _, check_connection};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::test_store::TestStore;
use crate::tls::Authority;
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{BOAT, add, boat, claim, event, ids, insert, plan, query};
use frontdesk_testkit::store_suite::{StoreInspector as _, north};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_is_unavailable_and_the_store_recovers() {
    let test = TestStore::on_own_server().await;
    add(&*test.store, &north(), [boat("b1", 7)]).await;
    test.store.append_audit(r#"{"before":1}"#.to_owned(), Durability::Awaited).await.unwrap();
    test.database.server().crash();
    let asked = Instant::now();
    let store = &test.store;
    let get = store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.err().unwrap();
    let list = store.page(&north(), query(Vec::new())).await.unwrap_err();
    let tenants = store.tenants().await.unwrap_err();
    let write = store.commit(plan("b2", &north(), vec![insert(boat("b2", 7))])).await.unwrap_err();
    let observe = store.append_audit(r#"{"lost":1}"#.to_owned(), Durability::Awaited).await.unwrap_err();
    let pulse = store.writable().await.unwrap_err();
    for fault in [get, list, tenants, write, observe, pulse] {
        assert_eq!(fault.kind, FaultKind::Unavailable, "{fault:?}");
        assert!(!format!("{fault:?}").contains("hunter2"));
    }
    assert!(asked.elapsed() < Duration::from_secs(25), "it took {:?} to be told", asked.elapsed());
    // Buffered records are kept and written later.
    store.append_audit(r#"{"meanwhile":1}"#.to_owned(), Durability::Grouped).await.unwrap();
    test.database.server().resume();
    eventually("reads work again", async || store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.is_ok()).await;
    eventually("writes work again", async || {
        matches!(store.commit(create("b2", "k")).await, Ok(Committed::Done | Committed::AlreadyClaimed(_)))
    })
    .await;
    eventually("what was noted meanwhile is there", async || {
        test.peek().node().iter().any(|record| record.contains("meanwhile"))
    })
    .await;
    assert_eq!(ids(&**store, &north(), Vec::new()).await, ["b1", "b2"]);
    assert!(test.verified().await.is_intact());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_loses_no_answered_write_and_repeats_none() {
    let test = TestStore::on_own_server().await;
    let mut all = JoinSet::new();
    let crashed = Arc::new(Semaphore::new(0));
    let (answered, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for number in 0..300 {
        let (store, crashed) = (Arc::clone(&test.store), Arc::clone(&crashed));
        let (answered, failed) = (Arc::clone(&answered), Arc::clone(&failed));
        all.spawn(async move {
            tokio::time::sleep(Duration::from_millis(number)).await;
            // Some come only once it is gone, however slowly the others were written.
            if number >= 250 {
                let _ = crashed.acquire().await;
            }
            let (id, mut tries) = (format!("b{number:03}"), 0);
            // As a client does: the same key until there is an answer.
            loop {
                match store.commit(create(&id, &id)).await {
                    Ok(Committed::Done) => break,
                    Ok(Committed::AlreadyClaimed(claimed)) => {
                        assert_eq!(claimed.answer.id, id);
                        break;
                    }
                    Ok(Committed::Unknown) | Err(_) => tries += 1,
                    Ok(other @ (Committed::Refused(_) | Committed::VersionConflict)) => panic!("{other:?}"),
                }
                failed.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            answered.fetch_add(1, Ordering::SeqCst);
            tries
        });
    }
    eventually("some are answered", async || answered.load(Ordering::SeqCst) >= 60).await;
    test.database.server().crash();
    crashed.add_permits(300);
    eventually("the crash is noticed", async || failed.load(Ordering::SeqCst) > 0).await;
    test.database.server().resume();
    let tries = all.join_all().await;
    assert!(tries.iter().any(|tries| *tries > 0), "the crash was noticed");
    let mut rows = ids(&*test.store, &north(), Vec::new()).await;
    rows.sort();
    assert_eq!(rows, (0..300).map(|number| format!("b{number:03}")).collect::<Vec<_>>());
    let outbox = test.peek().outbox("north");
    assert_eq!(outbox.len(), 300);
    for (position, line) in outbox.iter().enumerate() {
        assert!(line.starts_with(&format!("{} ", position + 1)), "{line} stands at {position}");
    }
    assert_eq!(test.peek().audit("north").len(), 300);
    assert!(test.verified().await.is_intact());
}

/// It listens, and that is all.
#[tokio::test]
async fn a_server_that_never_answers_is_unreachable_in_time() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let authority = Authority::new();
    let plain = Address::parse(&format!("postgres://desk:hunter2@127.0.0.1:{port}/desk")).unwrap();
    let encrypted = authority.address(port, "");
    let told = async { tokio::join!(check_connection(&plain), check_connection(&encrypted)) };
    let (plain, encrypted) = tokio::time::timeout(Duration::from_secs(60), told).await.unwrap();
    let said =
        "cannot connect to PostgreSQL: it does not answer. Check `database` and that the server runs.".to_owned();
    assert_eq!([plain, encrypted].map(|reached| reached.unwrap_err().to_string()), [said.clone(), said]);
}

/// The server's own word for it, given for every new boat; a disk that is really full would end other tests too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_of_the_server_is_unavailable() {
    const FULL: &str = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION \
                        'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$; \
                        CREATE TRIGGER full_disk BEFORE INSERT ON boat FOR EACH ROW EXECUTE FUNCTION full_disk()";
    let test = TestStore::new().await;
    test.database.sql(FULL);
    let mut all = JoinSet::new();
    for number in 0..40 {
        let store = Arc::clone(&test.store);
        let id = format!("b{number:02}");
        all.spawn(async move { store.commit(create(&id, &id)).await });
    }
    for outcome in all.join_all().await {
        let fault = outcome.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unavailable, "{fault:?}");
        assert!(fault.message.contains("nothing was changed"), "{fault:?}");
    }
    assert_eq!((test.peek().outbox("north"), test.peek().audit("north")), (Vec::new(), Vec::new()));
    test.database.sql("DROP TRIGGER full_disk ON boat");
    for number in 0..40 {
        let id = format!("b{number:02}");
        assert!(matches!(test.store.commit(create(&id, &id)).await, Ok(Committed::Done)), "{id}");
    }
    assert_eq!(test.peek().outbox("north").len(), 40);
    assert!(test.verified().await.is_intact());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_the_store_writes_buffered_records() {
    let test = TestStore::new().await;
    let node = test.neighbour().await;
    node.append_audit(r#"{"last":1}"#.to_owned(), Durability::Grouped).await.unwrap();
    drop(node);
    assert_eq!(test.peek().node(), [r#"{"last":1}"#]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retention_leaves_chains_intact() {
    let test = TestStore::new().await;
    for number in 0..5 {
        test.clock.set(1_000 * number);
        let mut commit = create(&format!("b{number}"), &format!("k{number}"));
        commit.at = Millis(1_000 * number);
        test.store.commit(commit).await.unwrap();
        test.store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Awaited).await.unwrap();
    }
    let other = test.neighbour().await;
    other.delete_expired_claims(Millis(2_000)).await.unwrap();
    // Each class for a time of its own.
    other.delete_expired_audit(AuditClass::Administration, Millis(i64::MAX)).await.unwrap();
    assert_eq!((test.peek().audit("north").len(), test.peek().node().len()), (5, 5));
    other.delete_expired_audit(AuditClass::Reads, Millis(2_000)).await.unwrap();
    assert_eq!((test.peek().audit("north").len(), test.peek().node().len()), (5, 3));
    other.delete_expired_audit(AuditClass::Writes, Millis(2_000)).await.unwrap();
    let held = |key: &'static str| {
        let store = Arc::clone(&test.store);
        async move { store.find_claim(&north(), &claim(key, 1)).await.unwrap().is_some() }
    };
    assert_eq!((held("k1").await, held("k2").await), (false, true));
    assert_eq!(test.peek().audit("north").len(), 3);
    assert_eq!(test.peek().node(), [2, 3, 4].map(|number| format!(r#"{{"read":{number}}}"#)));
    // The node whose chain was trimmed by another writes on.
    test.store.append_audit(r#"{"read":5}"#.to_owned(), Durability::Awaited).await.unwrap();
    let report = test.verified().await;
    assert!(report.is_intact(), "{report:?}");
}

fn create(id: &str, key: &str) -> Commit {
    Commit {
        events: vec![event(&format!("e-{id}"), id, Change::Created)],
        claim: Some(claim(key, 1)),
        ..plan(id, &north(), vec![insert(boat(id, 7))])
    }
}
