//! The writer thread and the reader threads: callers that stop waiting, a locked file, and closing the store with
//! queued work.

use std::time::{Duration, Instant};

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::ports::registry::{Changed, Registry, Tenant};
use frontdesk_engine::ports::{Commit, Disclosure, Durability, Store};
use frontdesk_engine::{FaultKind, TenantId};

use crate::test_store::{Shown, TestStore, shown};
use frontdesk_store::Backend as _;
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{BOAT, boat, claim, done, ended, event, ids, insert, plain, plan, query};
use frontdesk_testkit::store_suite::north;

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn closing_writes_what_was_queued() {
    let test = TestStore::new().await;
    for number in 0..500 {
        test.store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Grouped).await.unwrap();
    }
    test.store.append_audit_detached(r#"{"read":500}"#.to_owned());
    let report = test.reopened().store.verify_audit().unwrap();
    assert!(report.is_intact());
    assert_eq!(report.chains.iter().map(|chain| chain.records).sum::<u64>(), 501);
}

#[tokio::test]
async fn a_grouped_record_is_on_disk_soon() {
    let test = TestStore::new().await;
    test.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Grouped).await.unwrap();
    eventually("the record is written", async || records(&test) == 1).await;
}

#[tokio::test]
async fn an_awaited_record_is_on_disk_when_it_is_answered() {
    let test = TestStore::new().await;
    test.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Awaited).await.unwrap();
    assert_eq!(records(&test), 1);
    let impatient = TestStore::waiting(SHORT).await;
    let lock = impatient.locked();
    let fault = impatient.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Awaited).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unavailable);
    drop(lock);
}

#[tokio::test]
async fn the_write_probe_reaches_the_disk_and_changes_nothing() {
    let test = TestStore::waiting(SHORT).await;
    let raw = test.raw();
    let seen = || -> i64 { raw.pragma_query_value(None, "data_version", |row| row.get(0)).unwrap() };
    let schema = || -> i64 { raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap() };
    let before = (seen(), schema());
    // A disk that others use may need longer than this test waits.
    eventually("it can write", async || test.store.writable().await.is_ok()).await;
    // The first number changes when another connection has committed something.
    assert_ne!(seen(), before.0);
    assert_eq!(schema(), before.1);
    let lock = test.locked();
    assert_eq!(test.store.writable().await.unwrap_err().kind, FaultKind::Unavailable);
    drop(lock);
    eventually("it can write again", async || test.store.writable().await.is_ok()).await;
}

#[tokio::test]
async fn a_commit_nobody_waits_for_any_more_still_commits() {
    shown(async || {
        let test = TestStore::new().await;
        let lock = test.locked();
        let commit = test.store.commit(create("b1"));
        let given_up = tokio::time::timeout(SHORT, commit).await.is_err();
        let is_there = present(&test, "b1").await;
        if !lock.ends_in_time() {
            return Shown::TooSlow;
        }
        assert_eq!((given_up, is_there), (true, false));
        eventually("the plan is committed", async || present(&test, "b1").await).await;
        assert_eq!(test.outbox("north"), ["1 e-b1 boat b1 created"]);
        Shown::Yes
    })
    .await;
}

#[tokio::test]
async fn a_commit_that_times_out_is_unknown_and_may_succeed() {
    shown(async || {
        let test = TestStore::waiting(SHORT).await;
        let lock = test.locked();
        let outcome = test.store.commit(create("b1")).await;
        // Long before the writer itself gives up.
        if !lock.ends_in_time() {
            return Shown::TooSlow;
        }
        assert_eq!(ended(&outcome), "unknown");
        eventually("the plan is committed", async || present(&test, "b1").await).await;
        // This test does not wait for long, whatever the disk has to do.
        eventually("it is known", async || ended(&test.store.commit(create("b1")).await) == "claimed").await;
        Shown::Yes
    })
    .await;
}

#[tokio::test]
async fn a_locked_file_is_a_retryable_fault() {
    let test = TestStore::new().await;
    let lock = test.locked();
    let outcome = test.store.commit(create("b1")).await;
    let fault = outcome.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unavailable);
    assert!(fault.kind.retryable());
    assert!(fault.cause.unwrap().contains("locked"));
    drop(lock);
    assert!(!present(&test, "b1").await);
    assert_eq!(test.outbox("north"), [""; 0]);
    assert_eq!(test.audit("north"), [""; 0]);
    assert_eq!(test.store.find_claim(&north(), &claim("b1", 1)).await.unwrap(), None);
    done(&*test.store, create("b1")).await;
    assert_eq!(test.outbox("north"), ["1 e-b1 boat b1 created"]);
    assert!(test.store.verify_audit().unwrap().is_intact());
}

#[tokio::test]
async fn a_stored_answer_is_replayed_while_writes_fail() {
    let test = TestStore::new().await;
    done(&*test.store, create("b1")).await;
    let lock = test.locked();
    assert_eq!(ended(&test.store.commit(create("b1")).await), "claimed");
    assert_eq!(test.store.commit(create("b2")).await.unwrap_err().kind, FaultKind::Unavailable);
    drop(lock);
    done(&*test.store, create("b2")).await;
}

#[tokio::test]
async fn a_plan_that_fails_after_its_events_leaves_no_gap() {
    let test = TestStore::new().await;
    let trap = "CREATE TRIGGER trap BEFORE INSERT ON fd_audit WHEN NEW.records LIKE '%bad%' \
                BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    test.raw().execute_batch(trap).unwrap();
    done(&*test.store, create("b1")).await;
    assert_eq!(ended(&test.store.commit(create("bad")).await), "internal");
    done(&*test.store, create("b2")).await;
    assert_eq!(test.outbox("north"), ["1 e-b1 boat b1 created", "2 e-b2 boat b2 created"]);
    assert_eq!(test.audit("north"), [r#"{"plan":"b1"}"#, r#"{"plan":"b2"}"#]);
    assert!(!present(&test, "bad").await);
    assert_eq!(test.store.find_claim(&north(), &claim("bad", 1)).await.unwrap(), None);
    assert!(test.store.verify_audit().unwrap().is_intact());
}

/// The answer came too late for the one who asked, but the tenant is there: its key must be as well.
#[tokio::test]
async fn a_tenant_added_after_its_asker_gave_up_can_be_used() {
    shown(async || {
        let test = TestStore::waiting(SHORT).await;
        let west = TenantId::parse("west").unwrap();
        let tenant = || Tenant::new(west.clone(), "West Harbour");
        let add = async || test.store.add_tenant(tenant(), r#"{"add":"west"}"#.to_owned()).await;
        let lock = test.locked();
        let outcome = add().await;
        if !lock.ends_in_time() {
            return Shown::TooSlow;
        }
        let fault = outcome.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unavailable);
        assert_eq!(fault.message, "It is not known yet whether this was done. Look before you repeat it.");
        eventually("the tenant is added", async || test.store.tenants().await.unwrap().len() == 3).await;
        // This test does not wait for long, whatever the disk has to do.
        eventually("it is known", async || add().await.is_ok_and(|changed| changed == Changed::Nothing)).await;
        let launch = || Commit { claim: Some(claim("b1", 1)), ..plan("b1", &west, vec![insert(boat("b1", 7))]) };
        eventually("a boat is there", async || {
            ["done", "claimed"].contains(&ended(&test.store.commit(launch()).await))
        })
        .await;
        let found = test.store.get(&west, &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
        assert_eq!(found.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));
        Shown::Yes
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn short_pages_run_inline_and_abandoned_long_ones_stop() {
    let test = TestStore::new().await;
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
                INSERT INTO boat (tenant, id, version, created_at, updated_at, body, length) \
                SELECT 'north', 'b' || i, 1, i, i, '{}', i FROM n; \
                INSERT INTO boat_word (tenant, word, id) SELECT 'north', 'sail', id FROM boat";
    test.raw().execute_batch(fill).unwrap();
    // Asks of every boat four hundred times whether it sails, and then for what none has.
    let mut words = vec![plain("sail"); 400];
    words.push(plain("anchor"));
    let tenant = north();
    let heavy = || test.store.page(&tenant, query(vec![Filter::SearchTerms(words.clone())]));
    // Asks every boat twice: too long to be read where it is asked for, and soon read elsewhere.
    let long = || test.store.page(&tenant, query(vec![Filter::SearchTerms(vec![plain("sail"), plain("anchor")])]));

    // Two such pages occupy the readers ...
    let mut first = Box::pin(heavy());
    let mut second = Box::pin(heavy());
    let busy = async {
        tokio::select! {
            biased;
            _ = &mut first => panic!("the page is not heavy enough for this test"),
            _ = &mut second => panic!("the page is not heavy enough for this test"),
            answer = tokio::time::timeout(Duration::from_millis(500), long()) => answer.is_err(),
        }
    };
    assert!(busy.await, "the readers are not busy, so this test shows nothing");
    // A short page needs none of them. On a loaded machine one may look long, but not every time.
    let mut short = None;
    for _ in 0..40 {
        short = tokio::time::timeout(Duration::from_millis(50), ids_of_one(&test)).await.ok();
        if short.is_some() {
            break;
        }
    }
    assert_eq!(short.expect("a short page waited for the readers"), ["b1"]);
    // ... until their callers stop waiting.
    drop((first, second));
    let began = Instant::now();
    assert!(long().await.unwrap().rows.is_empty());
    // Not interrupted, they would go on for as long as a statement may, which is ten seconds.
    assert!(began.elapsed() < Duration::from_secs(5), "the readers were busy for {:?}", began.elapsed());
}

fn create(id: &str) -> Commit {
    let commit = plan(id, &north(), vec![insert(boat(id, 7))]);
    let events = vec![event(&format!("e-{id}"), id, Change::Created)];
    Commit { claim: Some(claim(id, 1)), events, ..commit }
}

async fn present(test: &TestStore, id: &str) -> bool {
    test.store.get(&north(), &BOAT, id, Disclosure::Masked).await.unwrap().is_some()
}

async fn ids_of_one(test: &TestStore) -> Vec<String> {
    ids(&*test.store, &north(), vec![Filter::AtMost("length", 1)]).await
}

/// How many records this node's chain has.
fn records(test: &TestStore) -> u64 {
    let report = test.store.verify_audit().unwrap();
    report.chains.iter().filter(|chain| chain.chain == "node:embedded").map(|chain| chain.records).sum()
}
