//! The one thread that writes, and the ones that read: what happens when nobody waits, when the file is
//! locked, and when the store is closed with work in hand.

use std::time::{Duration, Instant};

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::ports::registry::{Changed, Registry, Tenant};
use frontdesk_engine::ports::{Commit, Disclosure, Durability, Store};
use frontdesk_engine::{FaultKind, TenantId};

use crate::house::{House, Shown, shown};
use frontdesk_store::Backend as _;
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{BOAT, boat, claim, done, ended, event, ids, insert, plain, plan, query};
use frontdesk_testkit::store_suite::north;

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn closing_writes_what_was_queued() {
    let house = House::new().await;
    for number in 0..500 {
        house.store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Grouped).await.unwrap();
    }
    house.store.append_audit_detached(r#"{"read":500}"#.to_owned());
    let report = house.reopened().store.verify_audit().unwrap();
    assert!(report.is_intact());
    assert_eq!(report.chains.iter().map(|chain| chain.records).sum::<u64>(), 501);
}

#[tokio::test]
async fn a_grouped_record_is_on_disk_soon() {
    let house = House::new().await;
    house.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Grouped).await.unwrap();
    eventually("the record is written", async || records(&house) == 1).await;
}

#[tokio::test]
async fn an_awaited_record_is_on_disk_when_it_is_answered() {
    let house = House::new().await;
    house.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Awaited).await.unwrap();
    assert_eq!(records(&house), 1);
    let impatient = House::waiting(SHORT).await;
    let lock = impatient.locked();
    let fault = impatient.store.append_audit(r#"{"read":1}"#.to_owned(), Durability::Awaited).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unavailable);
    drop(lock);
}

#[tokio::test]
async fn asking_whether_it_can_write_reaches_the_disk_and_changes_nothing() {
    let house = House::waiting(SHORT).await;
    let raw = house.raw();
    let seen = || -> i64 { raw.pragma_query_value(None, "data_version", |row| row.get(0)).unwrap() };
    let schema = || -> i64 { raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap() };
    let before = (seen(), schema());
    // A disk that others use may need longer than this house waits.
    eventually("it can write", async || house.store.writable().await.is_ok()).await;
    // The first number changes when another connection has committed something.
    assert_ne!(seen(), before.0);
    assert_eq!(schema(), before.1);
    let lock = house.locked();
    assert_eq!(house.store.writable().await.unwrap_err().kind, FaultKind::Unavailable);
    drop(lock);
    eventually("it can write again", async || house.store.writable().await.is_ok()).await;
}

#[tokio::test]
async fn a_commit_nobody_waits_for_any_more_still_commits() {
    shown(async || {
        let house = House::new().await;
        let lock = house.locked();
        let commit = house.store.commit(create("b1"));
        let given_up = tokio::time::timeout(SHORT, commit).await.is_err();
        let is_there = present(&house, "b1").await;
        if !lock.ends_in_time() {
            return Shown::TooSlow;
        }
        assert_eq!((given_up, is_there), (true, false));
        eventually("the plan is committed", async || present(&house, "b1").await).await;
        assert_eq!(house.outbox("north"), ["1 e-b1 boat b1 created"]);
        Shown::Yes
    })
    .await;
}

#[tokio::test]
async fn a_commit_that_takes_too_long_is_unknown_and_may_be_there_later() {
    shown(async || {
        let house = House::waiting(SHORT).await;
        let lock = house.locked();
        let outcome = house.store.commit(create("b1")).await;
        // Long before the writer itself gives up.
        if !lock.ends_in_time() {
            return Shown::TooSlow;
        }
        assert_eq!(ended(&outcome), "unknown");
        eventually("the plan is committed", async || present(&house, "b1").await).await;
        // This house does not wait for long, whatever the disk has to do.
        eventually("it is known", async || ended(&house.store.commit(create("b1")).await) == "claimed").await;
        Shown::Yes
    })
    .await;
}

#[tokio::test]
async fn a_file_locked_for_too_long_is_a_retryable_fault_and_nothing_is_half_written() {
    let house = House::new().await;
    let lock = house.locked();
    let outcome = house.store.commit(create("b1")).await;
    let fault = outcome.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unavailable);
    assert!(fault.kind.retryable());
    assert!(fault.cause.unwrap().contains("locked"));
    drop(lock);
    assert!(!present(&house, "b1").await);
    assert_eq!(house.outbox("north"), [""; 0]);
    assert_eq!(house.audit("north"), [""; 0]);
    assert_eq!(house.store.find_claim(&north(), &claim("b1", 1)).await.unwrap(), None);
    done(&*house.store, create("b1")).await;
    assert_eq!(house.outbox("north"), ["1 e-b1 boat b1 created"]);
    assert!(house.store.verify_audit().unwrap().is_intact());
}

#[tokio::test]
async fn what_was_answered_under_a_key_is_answered_again_while_nothing_can_be_written() {
    let house = House::new().await;
    done(&*house.store, create("b1")).await;
    let lock = house.locked();
    assert_eq!(ended(&house.store.commit(create("b1")).await), "claimed");
    assert_eq!(house.store.commit(create("b2")).await.unwrap_err().kind, FaultKind::Unavailable);
    drop(lock);
    done(&*house.store, create("b2")).await;
}

#[tokio::test]
async fn a_plan_that_fails_after_its_events_were_numbered_leaves_no_gap() {
    let house = House::new().await;
    let trap = "CREATE TRIGGER trap BEFORE INSERT ON fd_audit WHEN NEW.records LIKE '%bad%' \
                BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    house.raw().execute_batch(trap).unwrap();
    done(&*house.store, create("b1")).await;
    assert_eq!(ended(&house.store.commit(create("bad")).await), "internal");
    done(&*house.store, create("b2")).await;
    assert_eq!(house.outbox("north"), ["1 e-b1 boat b1 created", "2 e-b2 boat b2 created"]);
    assert_eq!(house.audit("north"), [r#"{"plan":"b1"}"#, r#"{"plan":"b2"}"#]);
    assert!(!present(&house, "bad").await);
    assert_eq!(house.store.find_claim(&north(), &claim("bad", 1)).await.unwrap(), None);
    assert!(house.store.verify_audit().unwrap().is_intact());
}

/// The answer came too late for the one who asked, but the tenant is there: its key must be as well.
#[tokio::test]
async fn a_tenant_added_after_its_asker_gave_up_can_be_used() {
    shown(async || {
        let house = House::waiting(SHORT).await;
        let west = TenantId::parse("west").unwrap();
        let tenant = || Tenant { id: west.clone(), name: "West Harbour".to_owned() };
        let add = async || house.store.add_tenant(tenant(), r#"{"add":"west"}"#.to_owned()).await;
        let lock = house.locked();
        let outcome = add().await;
        if !lock.ends_in_time() {
            return Shown::TooSlow;
        }
        let fault = outcome.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unavailable);
        assert_eq!(fault.message, "It is not known yet whether this was done. Look before you repeat it.");
        eventually("the tenant is added", async || house.store.tenants().await.unwrap().len() == 3).await;
        // This house does not wait for long, whatever the disk has to do.
        eventually("it is known", async || add().await.is_ok_and(|changed| changed == Changed::Nothing)).await;
        let launch = || Commit { claim: Some(claim("b1", 1)), ..plan("b1", &west, vec![insert(boat("b1", 7))]) };
        eventually("a boat is there", async || {
            ["done", "claimed"].contains(&ended(&house.store.commit(launch()).await))
        })
        .await;
        let found = house.store.get(&west, &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
        assert_eq!(found.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));
        Shown::Yes
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_page_waits_for_no_reader_and_a_long_one_that_nobody_waits_for_is_interrupted() {
    let house = House::new().await;
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
                INSERT INTO boat (tenant, id, version, created_at, updated_at, body, length) \
                SELECT 'north', 'b' || i, 1, i, i, '{}', i FROM n; \
                INSERT INTO boat_word (tenant, word, id) SELECT 'north', 'sail', id FROM boat";
    house.raw().execute_batch(fill).unwrap();
    // Asks of every boat four hundred times whether it sails, and then for what none has.
    let mut words = vec![plain("sail"); 400];
    words.push(plain("anchor"));
    let tenant = north();
    let heavy = || house.store.page(&tenant, query(vec![Filter::SearchTerms(words.clone())]));
    // Asks every boat twice: too long to be read where it is asked for, and soon read elsewhere.
    let long = || house.store.page(&tenant, query(vec![Filter::SearchTerms(vec![plain("sail"), plain("anchor")])]));

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
        short = tokio::time::timeout(Duration::from_millis(50), ids_of_one(&house)).await.ok();
        if short.is_some() {
            break;
        }
    }
    assert_eq!(short.expect("a short page waited for the readers"), ["b1"]);
    // ... until nobody waits for them.
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

async fn present(house: &House, id: &str) -> bool {
    house.store.get(&north(), &BOAT, id, Disclosure::Masked).await.unwrap().is_some()
}

async fn ids_of_one(house: &House) -> Vec<String> {
    ids(&*house.store, &north(), vec![Filter::AtMost("length", 1)]).await
}

/// How many records this node's chain has.
fn records(house: &House) -> u64 {
    let report = house.store.verify_audit().unwrap();
    report.chains.iter().filter(|chain| chain.chain == "node:embedded").map(|chain| chain.records).sum()
}
