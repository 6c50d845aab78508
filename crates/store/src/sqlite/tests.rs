//! A disk that fails under the writer, which no caller can bring about from outside: what was answered
//! is true, nothing is half written, and numbers and chains go on without a gap.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::plan::{Change, Event, Step};
use frontdesk_engine::model::table::Row;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::{Registry, Tenant};
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, Store};
use frontdesk_engine::{ClientId, TenantId};
use tokio::sync::oneshot;

use super::write_tx::WriteTx;
use super::writer::WriteJob;
use super::*;
use crate::backend::Backend as _;

#[tokio::test]
async fn a_full_disk_fails_the_whole_group_and_leaves_no_trace() {
    let house = House::new().await;
    house.on_the_writer(|tx| {
        let pages: i64 = tx.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        Ok(tx.connection.pragma_update(None, "max_page_count", pages + 8)?)
    });
    // The second needs more pages than there are. The database then ends the transaction, and the
    // third must not slip in by itself, neither behind a savepoint nor without.
    let group = || vec![plan("b1", 10), plan("b2", 1_000_000), plan("b3", 10)];
    for outcomes in [house.together(group(), |_| Ok(())).await, house.alone(group()).await] {
        for (id, outcome) in ["b1", "b2", "b3"].iter().zip(outcomes) {
            let fault = Fault::from(outcome.unwrap_err());
            assert_eq!(fault.kind, FaultKind::Unavailable, "{id}");
            assert!(fault.cause.unwrap().contains("full"), "{id}");
        }
    }
    for id in ["b1", "b2", "b3"] {
        assert!(!house.present(id).await, "{id}");
    }
    house.on_the_writer(|tx| Ok(tx.connection.pragma_update(None, "max_page_count", 1_000_000)?));
    house.goes_on().await;
}

/// The first try of a group has no savepoints. Half a plan must not be left behind, nor a whole one be lost.
#[tokio::test]
async fn a_plan_that_fails_in_its_middle_is_taken_out_of_its_group() {
    let house = House::new().await;
    let mut half = plan("half", 10);
    half.steps.extend(plan("b1", 10).steps);
    let outcomes = house.alone(vec![plan("b1", 10), half, plan("b3", 10)]).await;
    assert!(
        matches!(outcomes.as_slice(), [Ok(Committed::Done), Ok(Committed::Refused(_)), Ok(Committed::Done)]),
        "{outcomes:?}"
    );
    assert!(!house.present("half").await);
    assert_eq!(house.events(), ["1 b1", "2 b3"]);
    let report = house.store.verify_audit().unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.chains.iter().map(|chain| chain.links).collect::<Vec<_>>(), [2]);
}

/// Without steps and events the key is all that a plan writes; it is still a change that must not stay behind alone.
#[tokio::test]
async fn a_key_whose_record_cannot_be_written_is_not_claimed() {
    let house = House::new().await;
    let trap = "CREATE TRIGGER trap BEFORE INSERT ON fd_audit WHEN NEW.records LIKE '%bad%' \
                BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    house.raw().execute_batch(trap).unwrap();
    let claim = Claim { client: ClientId::new("c"), tool: "order", key: "k".to_owned(), request_hash: [7; 32] };
    let bad = Commit { steps: Vec::new(), events: Vec::new(), claim: Some(claim.clone()), ..plan("bad", 10) };
    let outcomes = house.alone(vec![plan("b1", 10), bad, plan("b3", 10)]).await;
    assert!(matches!(outcomes.as_slice(), [Ok(Committed::Done), Err(_), Ok(Committed::Done)]), "{outcomes:?}");
    assert_eq!(house.store.find_claim(&north(), &claim).await.unwrap(), None);
    assert_eq!(house.events(), ["1 b1", "2 b3"]);
    assert!(house.store.verify_audit().unwrap().is_intact());
}

/// A counter that cannot be written before a task takes the whole group with it, not only its own row.
#[tokio::test]
async fn numbers_that_cannot_be_written_before_a_task_fail_the_group() {
    let house = House::new().await;
    let trap = "CREATE TRIGGER trap BEFORE INSERT ON fd_counter BEGIN SELECT RAISE(ABORT, 'trapped'); END";
    house.raw().execute_batch(trap).unwrap();
    for outcome in house.together(vec![plan("b1", 10), plan("b2", 10)], |_| Ok(())).await {
        assert!(outcome.is_err(), "{outcome:?}");
    }
    house.raw().execute_batch("DROP TRIGGER trap").unwrap();
    assert!(!house.present("b1").await);
    house.goes_on().await;
}

#[tokio::test]
async fn a_commit_that_fails_takes_its_numbers_back() {
    let house = House::new().await;
    assert!(matches!(house.store.commit(plan("b0", 10)).await, Ok(Committed::Done)));
    // A broken reference that is looked at only when the transaction ends.
    let text =
        "CREATE TABLE knot (id INTEGER PRIMARY KEY, other INTEGER REFERENCES knot (id) DEFERRABLE INITIALLY DEFERRED)";
    house.raw().execute_batch(text).unwrap();
    let poison = |tx: &mut WriteTx<'_>| Ok(tx.connection.execute_batch("INSERT INTO knot VALUES (1, 2)")?);
    for outcome in house.together(vec![plan("b1", 10), plan("b2", 10)], poison).await {
        let fault = Fault::from(outcome.unwrap_err());
        assert_eq!(fault.kind, FaultKind::Unavailable);
        assert!(fault.cause.unwrap().contains("FOREIGN KEY"));
    }
    assert!(!house.present("b1").await);
    assert!(matches!(house.store.commit(plan("b3", 10)).await, Ok(Committed::Done)));
    assert_eq!(house.events(), ["1 b0", "2 b3"]);
    assert!(house.store.verify_audit().unwrap().is_intact());
}

#[tokio::test]
async fn records_wait_for_the_disk_and_what_is_too_much_is_counted() {
    let house = House::new().await;
    house.on_the_writer(|tx| Ok(tx.connection.busy_timeout(Duration::ZERO)?));
    let lock = house.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = house.store.append_audit("{}".to_owned(), Durability::Awaited).await.unwrap_err();
    assert_eq!(refused.kind, FaultKind::Unavailable);
    for number in 0..1_500 {
        house.store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Grouped).await.unwrap();
    }
    // An awaited record is flushed at once, and the waiting ones with it.
    assert!(house.store.append_audit("{}".to_owned(), Durability::Awaited).await.is_err());
    drop(lock);
    house.store.append_audit(r#"{"read":"last"}"#.to_owned(), Durability::Awaited).await.unwrap();

    let mut records = Vec::new();
    let all = crate::AuditSelection::default();
    house
        .store
        .export_audit(&all, |_, _, record| {
            records.push(record.to_owned());
            Ok(())
        })
        .unwrap();
    let expected = (0..1_024).map(|number| format!(r#"{{"read":{number}}}"#)).chain([
        r#"{"at":"1970-01-01T00:00:05Z","outcome":"lost","count":476}"#.to_owned(),
        r#"{"read":"last"}"#.to_owned(),
    ]);
    assert_eq!(records, expected.collect::<Vec<_>>());
    assert!(house.store.verify_audit().unwrap().is_intact());
}

#[tokio::test]
async fn a_writer_that_is_gone_leaves_it_open_whether_a_plan_was_committed() {
    let house = House::new().await;
    let (release, held) = mpsc::channel::<()>();
    house.hold(held);
    let commit = house.store.commit(plan("b1", 10));
    let dies = async {
        house.send(|_| std::panic::resume_unwind(Box::new("the writer dies")));
        drop(release);
    };
    // The plan is in the same group as what ends the thread.
    let (outcome, ()) = tokio::join!(commit, dies);
    assert!(matches!(outcome, Ok(Committed::Unknown)), "{outcome:?}");
    let later = house.store.commit(plan("b2", 10)).await;
    assert!(matches!(later, Ok(Committed::Unknown) | Err(_)), "{later:?}");
}

/// Records that were accepted while the writer still lived must not make room for more that nobody will write.
#[tokio::test]
async fn a_writer_that_is_gone_takes_no_records() {
    let house = House::new().await;
    let (release, held) = mpsc::channel::<()>();
    let (begun, heard) = mpsc::channel();
    drop(house.send(move |_| {
        let _ = begun.send(());
        let _ = held.recv();
        std::panic::resume_unwind(Box::new("the writer dies"))
    }));
    heard.recv().unwrap();
    for number in 0..10 {
        house.store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Grouped).await.unwrap();
    }
    drop(release);
    let mut outcome = Ok(());
    for _ in 0..500 {
        outcome = house.store.append_audit("{}".to_owned(), Durability::Grouped).await;
        if outcome.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let fault = outcome.unwrap_err();
    assert_eq!((fault.kind, fault.cause.as_deref()), (FaultKind::Unavailable, Some("the database is closed")));
}

#[tokio::test]
async fn a_store_whose_writer_is_gone_is_not_writable() {
    let house = House::new().await;
    house.store.writable().await.unwrap();
    drop(house.send(|_| std::panic::resume_unwind(Box::new("the writer dies"))));
    assert_eq!(house.store.writable().await.unwrap_err().kind, FaultKind::Unavailable);
}

/// A record and its change stand or fall together, and a chain goes on behind one that fell.
#[tokio::test]
async fn a_change_that_fails_takes_its_record_back() {
    let house = House::new().await;
    let (release, held) = mpsc::channel::<()>();
    house.hold(held);
    let note = |tx: &mut WriteTx<'_>, line: &str| tx.append_node_link(line);
    let first = house.send(move |tx| note(tx, r#"{"change":1}"#));
    let fallen = house.send(move |tx| {
        note(tx, r#"{"change":2}"#)?;
        Err(StoreError::Busy)
    });
    let last = house.send(move |tx| note(tx, r#"{"change":3}"#));
    drop(release);
    assert!(matches!(first.await, Ok(Ok(()))));
    assert!(matches!(fallen.await, Ok(Err(StoreError::Busy))));
    assert!(matches!(last.await, Ok(Ok(()))));
    let report = house.store.verify_audit().unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.chains.iter().map(|chain| chain.records).collect::<Vec<_>>(), [2]);
}

static BOAT: TableSpec = TableSpec { name: "boat", columns: &[], unique: &[], sorted: &[], filtered: &[] };

struct House {
    store: SqliteStore,
    path: PathBuf,
}

impl House {
    async fn new() -> House {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("frontdesk-writer-{}-{}.db", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let store = SqliteStore::open(SqliteOptions {
            path: path.clone(),
            master: SealKey::from_bytes([7; 32]),
            random: Arc::new(Counting(AtomicU64::new(0))),
            clock: Arc::new(Standing),
            kinds: vec![&BOAT],
            commit_wait: Duration::from_secs(30),
        });
        let store = store.unwrap();
        store
            .add_tenant(Tenant { id: north(), name: "North Harbour".to_owned() }, r#"{"add":"north"}"#.to_owned())
            .await
            .unwrap();
        assert!(store.driver.keys("north").unwrap().is_some());
        let house = House { store, path };
        // Tests count records; that of the tenant's own registration would be in the way.
        house.on_the_writer(|tx| {
            tx.heads.clear();
            Ok(tx.connection.execute_batch("DELETE FROM fd_audit; DELETE FROM fd_audit_head")?)
        });
        house
    }

    /// Queues work for the writer without waiting for it.
    fn send(
        &self,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> oneshot::Receiver<Result<(), StoreError>> {
        let (reply, waiting) = oneshot::channel();
        self.store.driver.writer.send(WriteJob::Task(Box::new(work), reply)).unwrap();
        waiting
    }

    /// Lets the writer do something to its own connection. It need not be committed to last.
    fn on_the_writer(&self, work: impl FnOnce(&mut WriteTx<'_>) -> Result<(), StoreError> + Send + 'static) {
        let (done, heard) = mpsc::channel();
        drop(self.send(move |tx| {
            let outcome = work(tx);
            let _ = done.send(outcome.is_ok());
            outcome
        }));
        assert_eq!(heard.recv(), Ok(true));
    }

    /// Keeps the writer busy until the other end is dropped, and waits until it is.
    fn hold(&self, held: mpsc::Receiver<()>) {
        let (begun, heard) = mpsc::channel();
        drop(self.send(move |_| {
            let _ = begun.send(());
            let _ = held.recv();
            Ok(())
        }));
        heard.recv().unwrap();
    }

    /// Commits all of these in one group, with a last piece of work.
    async fn together(
        &self,
        plans: Vec<Commit>,
        last: impl FnOnce(&mut WriteTx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> Vec<Result<Committed, StoreError>> {
        self.gather(plans, |house| drop(house.send(last))).await
    }

    /// Commits all of these in one group, with nothing else in it.
    async fn alone(&self, plans: Vec<Commit>) -> Vec<Result<Committed, StoreError>> {
        self.gather(plans, |_| {}).await
    }

    async fn gather(&self, plans: Vec<Commit>, then: impl FnOnce(&House)) -> Vec<Result<Committed, StoreError>> {
        let (release, held) = mpsc::channel::<()>();
        self.hold(held);
        let waiting: Vec<_> = plans
            .into_iter()
            .map(|plan| {
                let (reply, waiting) = oneshot::channel();
                let plan = self.store.driver.encode(plan).unwrap();
                self.store.driver.writer.send(WriteJob::Commit(Box::new(plan), reply)).unwrap();
                waiting
            })
            .collect();
        then(self);
        drop(release);
        let mut outcomes = Vec::new();
        for outcome in waiting {
            outcomes.push(outcome.await.unwrap());
        }
        outcomes
    }

    async fn present(&self, id: &str) -> bool {
        self.store.get(&north(), &BOAT, id, Disclosure::Masked).await.unwrap().is_some()
    }

    /// As if nothing had been: the next plans have the first numbers, and every chain holds.
    async fn goes_on(&self) {
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
        rusqlite::Connection::open(&self.path).unwrap()
    }

    fn events(&self) -> Vec<String> {
        let connection = self.raw();
        let mut statement = connection.prepare("SELECT seq || ' ' || event FROM fd_outbox ORDER BY seq").unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(end);
            let _ = std::fs::remove_file(path);
        }
    }
}

fn north() -> TenantId {
    TenantId::parse("north").unwrap()
}

/// A boat with a body of this many letters, and one event.
fn plan(id: &str, letters: usize) -> Commit {
    let row = Row {
        id: id.to_owned(),
        version: 1,
        created_at: 1,
        updated_at: 1,
        cells: Vec::new(),
        search_terms: Vec::new(),
        body: format!(r#"{{"log":"{}"}}"#, "x".repeat(letters)),
        masked: None,
        personal: None,
    };
    let taken = Fault::new(FaultKind::InvalidArgument, "It is taken.");
    Commit {
        tenant: north(),
        at: Millis(5_000),
        steps: vec![Step::Insert { table: &BOAT, row, on_duplicate: taken }],
        events: vec![(id.to_owned(), Event { kind: "boat", id: id.to_owned(), change: Change::Created })],
        claim: None,
        answer: Item { id: id.to_owned(), body: "{}".to_owned(), masked: None, personal: None },
        audit: format!(r#"{{"plan":"{id}"}}"#),
    }
}

struct Standing;

impl Clock for Standing {
    fn now(&self) -> Millis {
        Millis(5_000)
    }
}

struct Counting(AtomicU64);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (byte, from) in bytes.iter_mut().zip(number.iter().cycle()) {
            *byte = *from;
        }
    }
}
