//! A store on a SQLite database in a temporary folder, and queries that bypass the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use frontdesk_engine::Fault;
use frontdesk_engine::dispatch::TASK;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Clock;
use frontdesk_engine::ports::registry::Registry;
use frontdesk_engine::seal::SealKey;
use frontdesk_store::audit::{AuditClass, ComparedTable, RowRemoval};
use frontdesk_store::{Backend as _, SqliteOptions, SqliteStore, StoreError};
use rusqlite::Connection;

use frontdesk_testkit::store_suite::boats::BOAT;
use frontdesk_testkit::store_suite::{StoreInspector, StoreUnderTest, tenants, without_rows};
use frontdesk_testkit::{TestClock, TestRandom};

/// The tables whose rows are compared with the audit record.
pub(crate) const TABLES: [ComparedTable; 2] = [
    ComparedTable { table: &BOAT, removal: RowRemoval::Audited },
    ComparedTable { table: &TASK, removal: RowRemoval::Audited },
];

/// Removed with everything in it when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("desk.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) struct TestStore {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) clock: Arc<TestClock>,
    // Dropped last: the database is closed before its folder goes.
    pub(crate) folder: Arc<Folder>,
}

impl TestStore {
    /// With the tenants `north` and `south`, and patient.
    pub(crate) async fn new() -> TestStore {
        TestStore::waiting(Duration::from_secs(30)).await
    }

    /// The same, but a commit is waited for only this long.
    pub(crate) async fn waiting(commit_wait: Duration) -> TestStore {
        let folder = Arc::new(Folder::new());
        let clock = Arc::new(TestClock::at(5_000));
        let opened = open_with(&folder.database(), &[&BOAT, &TASK], [7; 32], Duration::from_secs(30), &clock).unwrap();
        for tenant in tenants() {
            opened.add_tenant(tenant, r#"{"add":"tenant"}"#.to_owned()).await.unwrap();
        }
        drop(opened);
        // Tests count records; those of the two tenants' own registration would be in the way.
        let blank = "DELETE FROM fd_audit; DELETE FROM fd_audit_head; DELETE FROM fd_audit_roster";
        Connection::open(folder.database()).unwrap().execute_batch(blank).unwrap();
        let store = open_with(&folder.database(), &[&BOAT, &TASK], [7; 32], commit_wait, &clock).unwrap();
        TestStore { store: Arc::new(store), clock, folder }
    }

    /// Closes the database and opens the same file again.
    pub(crate) fn reopened(self) -> TestStore {
        let TestStore { store, clock, folder } = self;
        drop(store);
        TestStore::open(folder, clock)
    }

    /// Opens what is in the folder.
    pub(crate) fn open(folder: Arc<Folder>, clock: Arc<TestClock>) -> TestStore {
        let store = open_with(&folder.database(), &[&BOAT, &TASK], [7; 32], Duration::from_secs(30), &clock).unwrap();
        TestStore { store: Arc::new(store), clock, folder }
    }

    /// Deletes the old links of every class.
    pub(crate) async fn delete_expired_audit(&self, before: Millis) -> Result<(), Fault> {
        for class in AuditClass::ALL {
            self.store.delete_expired_audit(class, before).await?;
        }
        Ok(())
    }

    /// Another connection to the same file, as an intruder or a backup would have.
    pub(crate) fn raw(&self) -> Connection {
        let connection = Connection::open(self.folder.database()).unwrap();
        connection.busy_timeout(Duration::from_secs(60)).unwrap();
        connection
    }

    /// A raw connection that blocks other writers until it is dropped.
    pub(crate) fn locked(&self) -> Lock {
        let connection = self.raw();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        Lock(connection, Instant::now())
    }

    pub(crate) fn audit(&self, tenant: &str) -> Vec<String> {
        self.peek().audit(tenant)
    }

    pub(crate) fn outbox(&self, tenant: &str) -> Vec<String> {
        self.peek().outbox(tenant)
    }

    fn peek(&self) -> Raw {
        Raw(Arc::clone(&self.folder))
    }
}

pub(crate) fn open(path: &Path, tables: &[&'static TableSpec], key: [u8; 32]) -> Result<SqliteStore, StoreError> {
    let clock = Arc::new(TestClock::at(5_000));
    open_with(path, tables, key, Duration::from_secs(30), &clock)
}

fn open_with(
    path: &Path,
    tables: &[&'static TableSpec],
    key: [u8; 32],
    commit_wait: Duration,
    clock: &Arc<TestClock>,
) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(SqliteOptions {
        path: path.to_owned(),
        master: SealKey::from_bytes(key),
        random: Arc::new(TestRandom::distinct()),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        tables: tables.to_vec(),
        commit_wait,
    })
}

/// A fresh database for one behaviour of the suite.
pub(crate) async fn subject() -> StoreUnderTest {
    let TestStore { store, folder, .. } = TestStore::new().await;
    subject_of(store, folder)
}

/// The same with a store that is open already.
pub(crate) fn subject_of(store: Arc<SqliteStore>, folder: Arc<Folder>) -> StoreUnderTest {
    let (deleting, erasing) = (Arc::clone(&store), Arc::clone(&store));
    StoreUnderTest {
        store: Arc::clone(&store) as Arc<_>,
        registry: store,
        delete_rows: Box::new(move |kind, column, before| {
            let store = Arc::clone(&deleting);
            Box::pin(async move { store.delete_expired_rows(kind, column, before).await })
        }),
        erase_answers: Box::new(move |tenant, ids| {
            let store = Arc::clone(&erasing);
            Box::pin(async move { store.erase_answers(&tenant, &ids).await })
        }),
        peek: Arc::new(Raw(folder)),
    }
}

struct Raw(Arc<Folder>);

impl Raw {
    fn lines(&self, text: &str, value: &str) -> Vec<String> {
        let connection = Connection::open(self.0.database()).unwrap();
        let mut statement = connection.prepare(text).unwrap();
        let rows = statement.query_map([value], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }
}

impl StoreInspector for Raw {
    fn outbox(&self, tenant: &str) -> Vec<String> {
        let text = "SELECT seq || ' ' || event || ' ' || kind || ' ' || id || ' ' || change FROM fd_outbox \
                    WHERE tenant = ?1 ORDER BY seq";
        self.lines(text, tenant)
    }

    fn audit(&self, tenant: &str) -> Vec<String> {
        let records = self.lines("SELECT records FROM fd_audit WHERE chain = 'tenant:' || ?1 ORDER BY seq", tenant);
        records.iter().map(|record| without_rows(record)).collect()
    }

    fn node(&self) -> Vec<String> {
        let records = self.lines("SELECT records FROM fd_audit WHERE chain LIKE ?1 ORDER BY seq", "node:%");
        records.iter().map(|record| without_rows(record)).collect()
    }

    fn administration(&self) -> Vec<String> {
        let records = self.lines("SELECT records FROM fd_audit WHERE chain LIKE ?1 ORDER BY seq", "admin:%");
        records.iter().map(|record| without_rows(record)).collect()
    }
}

/// A test that keeps the store from writing for a moment. The writer gives up after a second and a half, and a machine
/// that is busy may keep a test for longer than that: then it has shown nothing, says so, and is done once more.
pub(crate) async fn shown(test: impl AsyncFn() -> Shown) {
    for _ in 0..20 {
        match test().await {
            Shown::Yes => return,
            Shown::TooSlow => {}
        }
    }
    panic!("this machine is too slow to show anything");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Yes,
    TooSlow,
}

/// A lock and since when it is held.
pub(crate) struct Lock(Connection, Instant);

impl Lock {
    /// Whether the writer has surely been waiting for it until now.
    pub(crate) fn ends_in_time(self) -> bool {
        let Lock(connection, since) = self;
        drop(connection);
        since.elapsed() < Duration::from_millis(1_300)
    }

    /// Whether the writer may have given up already.
    pub(crate) fn is_old(&self) -> bool {
        self.1.elapsed() >= Duration::from_millis(1_300)
    }
}
