//! A store on a PostgreSQL database of its own, and queries that bypass the store.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::dispatch::TASK;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::Clock;
use frontdesk_engine::ports::registry::Registry as _;
use frontdesk_engine::seal::SealKey;
use frontdesk_store::Backend as _;
use frontdesk_store::audit::{AuditReport, ComparedTable, RowRemoval};
use frontdesk_store::{Address, PostgresAudit, PostgresOptions, PostgresStore, StoreError};
use frontdesk_testkit::databases::{PostgresDatabase, PostgresServer};
use frontdesk_testkit::store_suite::boats::BOAT;
use frontdesk_testkit::store_suite::{StoreInspector, StoreUnderTest, tenants, without_rows};
use frontdesk_testkit::{TestClock, TestRandom};

/// The tables whose rows are compared with the audit record.
pub(crate) const TABLES: [ComparedTable; 2] = [
    ComparedTable { table: &BOAT, removal: RowRemoval::Audited },
    ComparedTable { table: &TASK, removal: RowRemoval::ByRetention },
];

pub(crate) struct TestStore {
    pub(crate) store: Arc<PostgresStore>,
    pub(crate) clock: Arc<TestClock>,
    // Dropped last: the store is closed before its database is.
    pub(crate) database: Arc<PostgresDatabase>,
}

impl TestStore {
    /// With the tenants `north` and `south`, on a server that other tests use, too.
    pub(crate) async fn new() -> TestStore {
        let database = PostgresDatabase::from_template("store", async |database| {
            add_tenants(database, Address::parse(&database.url()).unwrap()).await;
        });
        TestStore::open(database.await, None).await
    }

    /// The same on a server of its own, which the test may stop or configure.
    pub(crate) async fn on_own_server() -> TestStore {
        let server = PostgresServer::start();
        let address = Address::parse(&server.url()).unwrap();
        TestStore::at(server, address).await
    }

    /// The same on a server that is reached like this.
    pub(crate) async fn at(server: PostgresServer, address: Address) -> TestStore {
        let database = PostgresDatabase::on(server);
        add_tenants(&database, address.clone()).await;
        TestStore::open(database, Some(address)).await
    }

    async fn open(database: PostgresDatabase, address: Option<Address>) -> TestStore {
        let clock = Arc::new(TestClock::at(5_000));
        let address = address.unwrap_or_else(|| Address::parse(&database.url()).unwrap());
        let store = open_at(address, &[&BOAT, &TASK], [7; 32], &clock).await.unwrap();
        TestStore { store: Arc::new(store), clock, database: Arc::new(database) }
    }

    /// Another node on the same database.
    pub(crate) async fn neighbour(&self) -> Arc<PostgresStore> {
        Arc::new(open(&self.database.url(), &[&BOAT, &TASK], [7; 32], &self.clock).await.unwrap())
    }

    pub(crate) fn peek(&self) -> Tables {
        Tables(Arc::clone(&self.database))
    }

    pub(crate) async fn verified(&self) -> AuditReport {
        let address = Address::parse(&self.database.url()).unwrap();
        PostgresAudit::open(&address, &SealKey::from_bytes([7; 32])).await.unwrap().verify(&TABLES).await.unwrap()
    }
}

async fn add_tenants(database: &PostgresDatabase, address: Address) {
    let clock = Arc::new(TestClock::at(5_000));
    let store = open_at(address, &[&BOAT, &TASK], [7; 32], &clock).await.unwrap();
    for tenant in tenants() {
        store.add_tenant(tenant, r#"{"add":"tenant"}"#.to_owned()).await.unwrap();
    }
    drop(store);
    // Tests count records; those of the two tenants' own registration would be in the way.
    database.sql("DELETE FROM fd_audit; DELETE FROM fd_audit_head; DELETE FROM fd_audit_roster");
}

pub(crate) async fn open(
    url: &str,
    tables: &[&'static TableSpec],
    key: [u8; 32],
    clock: &Arc<TestClock>,
) -> Result<PostgresStore, StoreError> {
    open_at(Address::parse(url).unwrap(), tables, key, clock).await
}

pub(crate) async fn open_at(
    address: Address,
    tables: &[&'static TableSpec],
    key: [u8; 32],
    clock: &Arc<TestClock>,
) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(PostgresOptions {
        address,
        master: SealKey::from_bytes(key),
        random: Arc::new(TestRandom::distinct()),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        tables: tables.to_vec(),
        commit_wait: Duration::from_secs(30),
    })
    .await
}

/// A fresh database for one behaviour of the suite.
pub(crate) async fn subject() -> StoreUnderTest {
    let TestStore { store, database, .. } = TestStore::new().await;
    subject_of(store, database)
}

/// The same with a store that is open already.
pub(crate) fn subject_of(store: Arc<PostgresStore>, database: Arc<PostgresDatabase>) -> StoreUnderTest {
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
        peek: Arc::new(Tables(database)),
    }
}

pub(crate) struct Tables(Arc<PostgresDatabase>);

impl StoreInspector for Tables {
    fn outbox(&self, tenant: &str) -> Vec<String> {
        self.0.sql(&format!(
            "SELECT seq || ' ' || event || ' ' || kind || ' ' || id || ' ' || change FROM fd_outbox \
             WHERE tenant = '{tenant}' ORDER BY seq"
        ))
    }

    fn audit(&self, tenant: &str) -> Vec<String> {
        let records = self.0.sql(&format!("SELECT records FROM fd_audit WHERE chain = 'tenant:{tenant}' ORDER BY seq"));
        records.iter().map(|record| without_rows(record)).collect()
    }

    fn node(&self) -> Vec<String> {
        let records = self.0.sql("SELECT records FROM fd_audit WHERE chain LIKE 'node:%' ORDER BY chain, seq");
        records.iter().map(|record| without_rows(record)).collect()
    }

    fn administration(&self) -> Vec<String> {
        let records = self.0.sql("SELECT records FROM fd_audit WHERE chain LIKE 'admin:%' ORDER BY chain, seq");
        records.iter().map(|record| without_rows(record)).collect()
    }
}
