//! Failures of the disk and of the writer thread, which cannot be caused through the public interface: replies are
//! true, nothing is half written, and event numbers and chains continue without a gap.

use std::sync::mpsc;

use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::table::Row;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{ErasureProgress, ErasureRecords, Registry, Tenant};
use frontdesk_engine::ports::{Commit, Committed, Disclosure, Durability, Store};
use frontdesk_testkit::store_suite::boats::{BOAT, boat, claim, event, insert};
use frontdesk_testkit::store_suite::{boats, north};
use frontdesk_testkit::{TestClock, TestFolder, TestRandom};
use tokio::sync::oneshot;

use super::encode::EncodedCommit;
use super::write_tx::WriteTx;
use super::writer::WriteJob;
use super::*;
use crate::audit::AuditClass;
use crate::backend::Backend as _;

#[tokio::test]
async fn a_full_disk_fails_the_batch_and_leaves_no_trace() {
    let test = TestStore::new().await;
    test.on_writer(|tx| {
        let pages: i64 = tx.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        Ok(tx.connection.pragma_update(None, "max_page_count", pages + 8)?)
    });
    // The second plan needs more pages than there are. SQLite then rolls back, and the third plan must not be
    // committed alone, neither with a savepoint nor without.
    let batch = || vec![plan("b1", 10), plan("b2", 1_000_000), plan("b3", 10)];
    for outcomes in [test.commit_with_task(batch(), |_| Ok(())).await, test.commit_all(batch()).await] {
        for (id, outcome) in ["b1", "b2", "b3"].iter().zip(outcomes) {
            let fault = Fault::from(outcome.unwrap_err());
            assert_eq!(fault.kind, FaultKind::Unavailable, "{id}");
            assert!(fault.cause.unwrap().contains("full"), "{id}");
        }
    }
    for id in ["b1", "b2", "b3"] {
        assert!(!test.exists(id).await, "{id}");
    }
    test.on_writer(|tx| Ok(tx.connection.pragma_update(None, "max_page_count", 1_000_000)?));
    test.continues().await;
}

/// The first attempt of a batch has no savepoints. No part of the failed plan may stay, and no other plan be lost.
#[tokio::test]
async fn a_plan_that_fails_half_way_does_not_affect_its_batch() {
    let test = TestStore::new().await;
    let mut half = plan("half", 10);
    half.steps.extend(plan("b1", 10).steps);
    let outcomes = test.commit_all(vec![plan("b1", 10), half, plan("b3", 10)]).await;
    assert!(
        matches!(outcomes.as_slice(), [Ok(Committed::Done), Ok(Committed::Refused(_)), Ok(Committed::Done)]),
        "{outcomes:?}"
    );
    assert!(!test.exists("half").await);
    assert_eq!(test.events(), ["1 b1", "2 b3"]);
    let report = test.store.verify_audit().unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.chains.iter().map(|chain| chain.links).collect::<Vec<_>>(), [2]);
}

/// A plan without steps and events writes only its claim; that is a change which must not stay alone.
#[tokio::test]
async fn a_claim_whose_audit_record_fails_is_not_stored() {
    let test = TestStore::new().await;
    let trap = "CREATE TRIGGER trap BEFORE INSERT ON fd_audit WHEN NEW.records LIKE '%bad%' \
                BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    test.raw().execute_batch(trap).unwrap();
    let claim = claim("k", 7);
    let bad = Commit { steps: Vec::new(), events: Vec::new(), claim: Some(claim.clone()), ..plan("bad", 10) };
    let outcomes = test.commit_all(vec![plan("b1", 10), bad, plan("b3", 10)]).await;
    assert!(matches!(outcomes.as_slice(), [Ok(Committed::Done), Err(_), Ok(Committed::Done)]), "{outcomes:?}");
    assert_eq!(test.store.find_claim(&north(), &claim).await.unwrap(), None);
    assert_eq!(test.events(), ["1 b1", "2 b3"]);
    assert!(test.store.verify_audit().unwrap().is_intact());
}

/// Counters are written before a task; if that fails, all plans of the batch fail.
#[tokio::test]
async fn counters_that_cannot_be_written_fail_the_batch() {
    let test = TestStore::new().await;
    let trap = "CREATE TRIGGER trap BEFORE INSERT ON fd_counter BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    test.raw().execute_batch(trap).unwrap();
    for outcome in test.commit_with_task(vec![plan("b1", 10), plan("b2", 10)], |_| Ok(())).await {
        assert!(outcome.is_err(), "{outcome:?}");
    }
    test.raw().execute_batch("DROP TRIGGER trap").unwrap();
    assert!(!test.exists("b1").await);
    test.continues().await;
}

#[tokio::test]
async fn a_failed_commit_takes_back_its_event_numbers() {
    let test = TestStore::new().await;
    assert!(matches!(test.store.commit(plan("b0", 10)).await, Ok(Committed::Done)));
    // A violated foreign key that is checked only by COMMIT.
    let text =
        "CREATE TABLE knot (id INTEGER PRIMARY KEY, other INTEGER REFERENCES knot (id) DEFERRABLE INITIALLY DEFERRED)";
    test.raw().execute_batch(text).unwrap();
    let poison = |tx: &mut WriteTx<'_>| Ok(tx.connection.execute_batch("INSERT INTO knot VALUES (1, 2)")?);
    for outcome in test.commit_with_task(vec![plan("b1", 10), plan("b2", 10)], poison).await {
        let fault = Fault::from(outcome.unwrap_err());
        assert_eq!(fault.kind, FaultKind::Unavailable);
        assert!(fault.cause.unwrap().contains("FOREIGN KEY"));
    }
    assert!(!test.exists("b1").await);
    assert!(matches!(test.store.commit(plan("b3", 10)).await, Ok(Committed::Done)));
    assert_eq!(test.events(), ["1 b0", "2 b3"]);
    assert!(test.store.verify_audit().unwrap().is_intact());
}

#[tokio::test]
async fn records_are_retried_and_dropped_ones_are_counted() {
    let test = TestStore::new().await;
    test.on_writer(|tx| Ok(tx.connection.busy_timeout(Duration::ZERO)?));
    let lock = test.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = test.store.append_audit("{}".to_owned(), Durability::Awaited).await.unwrap_err();
    assert_eq!(refused.kind, FaultKind::Unavailable);
    for number in 0..1_500 {
        test.store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Grouped).await.unwrap();
    }
    // An awaited record is written at once, together with the buffered ones.
    assert!(test.store.append_audit("{}".to_owned(), Durability::Awaited).await.is_err());
    drop(lock);
    test.store.append_audit(r#"{"read":"last"}"#.to_owned(), Durability::Awaited).await.unwrap();

    let mut records = Vec::new();
    test.store
        .export_audit(&crate::AuditSelection::default(), |_, _, record| {
            records.push(record.to_owned());
            Ok(())
        })
        .unwrap();
    let expected = (0..1_024).map(|number| format!(r#"{{"read":{number}}}"#)).chain([
        r#"{"at":"1970-01-01T00:00:05Z","outcome":"lost","count":476}"#.to_owned(),
        r#"{"read":"last"}"#.to_owned(),
    ]);
    assert_eq!(records, expected.collect::<Vec<_>>());
    assert!(test.store.verify_audit().unwrap().is_intact());
}

#[tokio::test]
async fn a_dead_writer_leaves_the_outcome_of_its_batch_unknown() {
    let test = TestStore::new().await;
    let (release, held) = mpsc::channel::<()>();
    test.block_writer(held);
    let commit = test.store.commit(plan("b1", 10));
    let dies = async {
        test.send(|_| std::panic::resume_unwind(Box::new("the writer dies")));
        drop(release);
    };
    // The plan is in the same batch as the task that ends the thread.
    let (outcome, ()) = tokio::join!(commit, dies);
    assert!(matches!(outcome, Ok(Committed::Unknown)), "{outcome:?}");
    let later = test.store.commit(plan("b2", 10)).await;
    assert!(matches!(later, Ok(Committed::Unknown) | Err(_)), "{later:?}");
}

/// The buffer must not accept records that no thread will write.
#[tokio::test]
async fn a_dead_writer_accepts_no_records() {
    let test = TestStore::new().await;
    let (release, held) = mpsc::channel::<()>();
    let (begun, heard) = mpsc::channel();
    drop(test.send(move |_| {
        let _ = begun.send(());
        let _ = held.recv();
        std::panic::resume_unwind(Box::new("the writer dies"))
    }));
    heard.recv().unwrap();
    for number in 0..10 {
        test.store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Grouped).await.unwrap();
    }
    drop(release);
    let mut outcome = Ok(());
    for _ in 0..500 {
        outcome = test.store.append_audit("{}".to_owned(), Durability::Grouped).await;
        if outcome.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let fault = outcome.unwrap_err();
    assert_eq!((fault.kind, fault.cause.as_deref()), (FaultKind::Unavailable, Some("the database is closed")));
}

#[tokio::test]
async fn a_store_with_a_dead_writer_is_not_writable() {
    let test = TestStore::new().await;
    test.store.writable().await.unwrap();
    drop(test.send(|_| std::panic::resume_unwind(Box::new("the writer dies"))));
    assert_eq!(test.store.writable().await.unwrap_err().kind, FaultKind::Unavailable);
}

/// A change and its record are committed together, and the chain continues behind one that was rolled back.
#[tokio::test]
async fn a_failed_change_takes_back_its_record() {
    let test = TestStore::new().await;
    let (release, held) = mpsc::channel::<()>();
    test.block_writer(held);
    let first = test.send(|tx| tx.append_node_link(AuditClass::Reads, r#"{"change":1}"#));
    let failed = test.send(|tx| {
        tx.append_node_link(AuditClass::Reads, r#"{"change":2}"#)?;
        Err(StoreError::Busy)
    });
    let last = test.send(|tx| tx.append_node_link(AuditClass::Reads, r#"{"change":3}"#));
    drop(release);
    assert!(matches!(first.await, Ok(Ok(()))));
    assert!(matches!(failed.await, Ok(Err(StoreError::Busy))));
    assert!(matches!(last.await, Ok(Ok(()))));
    let report = test.store.verify_audit().unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.chains.iter().map(|chain| chain.records).collect::<Vec<_>>(), [2]);
}

/// It was sealed with the key that the tenant had then, and may wait in the queue meanwhile.
#[tokio::test]
async fn a_plan_of_before_an_erasure_is_refused_after_it() {
    let test = TestStore::new().await;
    let encoded = || test.store.driver.encode(plan("late", 10)).unwrap();
    let (during, after) = (encoded(), encoded());
    let records = ErasureRecords { begin: "{}".to_owned(), end: "{}".to_owned() };
    let tenant = north();
    let erase = || test.store.erase_tenant(&tenant, Millis(50), records.clone());
    assert!(matches!(erase().await, Ok(ErasureProgress::More(_))));
    assert!(matches!(test.commit_encoded(during).await, Err(StoreError::TenantErased)));
    assert!(matches!(erase().await, Ok(ErasureProgress::Done(_))));
    test.store.add_tenant(Tenant::new(north(), "New North"), "{}".to_owned()).await.unwrap();
    assert!(matches!(test.commit_encoded(after).await, Err(StoreError::TenantErased)));
    assert!(!test.exists("late").await);
    assert!(matches!(test.store.commit(plan("late", 10)).await, Ok(Committed::Done)));
}

struct TestStore {
    store: SqliteStore,
    // Dropped last: the database is closed before its folder is removed.
    folder: TestFolder,
}

impl TestStore {
    async fn new() -> TestStore {
        let folder = TestFolder::new();
        let store = SqliteStore::open(SqliteOptions {
            path: folder.join("desk.db"),
            master: SealKey::from_bytes([7; 32]),
            random: Arc::new(TestRandom::distinct()),
            clock: Arc::new(TestClock::at(5_000)),
            tables: vec![&BOAT],
            commit_wait: Duration::from_secs(30),
        })
        .unwrap();
        let tenant = Tenant::new(north(), "North Harbour");
        store.add_tenant(tenant, r#"{"add":"north"}"#.to_owned()).await.unwrap();
        let test = TestStore { store, folder };
        // Without the record of the tenant's registration, because the tests count records.
        test.on_writer(|tx| {
            tx.heads.clear();
            Ok(tx.connection.execute_batch("DELETE FROM fd_audit; DELETE FROM fd_audit_head")?)
        });
        test
    }

    async fn commit_encoded(&self, plan: EncodedCommit) -> Result<Committed, StoreError> {
        let (sender, reply) = oneshot::channel();
        self.store.driver.writer.send(WriteJob::Commit(Box::new(plan), sender)).unwrap();
        reply.await.unwrap()
    }

    /// Queues a task for the writer without waiting for it.
    fn send(
        &self,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> oneshot::Receiver<Result<(), StoreError>> {
        let (sender, reply) = oneshot::channel();
        self.store.driver.writer.send(WriteJob::Task(Box::new(work), sender)).unwrap();
        reply
    }

    /// Runs a task on the writer's connection and waits for it, but not for its commit.
    fn on_writer(&self, work: impl FnOnce(&mut WriteTx<'_>) -> Result<(), StoreError> + Send + 'static) {
        let (done, heard) = mpsc::channel();
        drop(self.send(move |tx| {
            let outcome = work(tx);
            let _ = done.send(outcome.is_ok());
            outcome
        }));
        assert_eq!(heard.recv(), Ok(true));
    }

    /// Blocks the writer until the other end is dropped, and waits until it is blocked.
    fn block_writer(&self, held: mpsc::Receiver<()>) {
        let (begun, heard) = mpsc::channel();
        drop(self.send(move |_| {
            let _ = begun.send(());
            let _ = held.recv();
            Ok(())
        }));
        heard.recv().unwrap();
    }

    /// Commits the plans in one batch together with a task.
    async fn commit_with_task(
        &self,
        plans: Vec<Commit>,
        task: impl FnOnce(&mut WriteTx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> Vec<Result<Committed, StoreError>> {
        self.commit_batch(plans, |test| drop(test.send(task))).await
    }

    /// Commits the plans in one batch.
    async fn commit_all(&self, plans: Vec<Commit>) -> Vec<Result<Committed, StoreError>> {
        self.commit_batch(plans, |_| {}).await
    }

    async fn commit_batch(
        &self,
        plans: Vec<Commit>,
        then: impl FnOnce(&TestStore),
    ) -> Vec<Result<Committed, StoreError>> {
        let (release, held) = mpsc::channel::<()>();
        self.block_writer(held);
        let mut replies = Vec::new();
        for plan in plans {
            let (sender, reply) = oneshot::channel();
            let plan = self.store.driver.encode(plan).unwrap();
            self.store.driver.writer.send(WriteJob::Commit(Box::new(plan), sender)).unwrap();
            replies.push(reply);
        }
        then(self);
        drop(release);
        let mut outcomes = Vec::new();
        for reply in replies {
            outcomes.push(reply.await.unwrap());
        }
        outcomes
    }

    async fn exists(&self, id: &str) -> bool {
        self.store.get(&north(), &BOAT, id, Disclosure::Masked).await.unwrap().is_some()
    }

    /// The next plans get the first event numbers, and every chain is intact.
    async fn continues(&self) {
        for id in ["b1", "b3"] {
            assert!(matches!(self.store.commit(plan(id, 10)).await, Ok(Committed::Done)), "{id}");
        }
        assert_eq!(self.events(), ["1 b1", "2 b3"]);
        let report = self.store.verify_audit().unwrap();
        assert!(report.is_intact(), "{report:?}");
        let links: Vec<_> = report.chains.iter().map(|chain| (chain.chain.as_str(), chain.links)).collect();
        assert_eq!(links, [("tenant:north", 2)]);
    }

    fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.join("desk.db")).unwrap()
    }

    fn events(&self) -> Vec<String> {
        let connection = self.raw();
        let mut statement = connection.prepare("SELECT seq || ' ' || event FROM fd_outbox ORDER BY seq").unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }
}

/// Inserts a boat with a body of about this many letters, with one event.
fn plan(id: &str, letters: usize) -> Commit {
    let row = Row { body: format!(r#"{{"log":"{}"}}"#, "x".repeat(letters)), ..boat(id, 7) };
    Commit { events: vec![event(id, id, Change::Created)], ..boats::plan(id, &north(), vec![insert(row)]) }
}
