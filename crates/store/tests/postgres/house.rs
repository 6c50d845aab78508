//! A store on a PostgreSQL server of its own, and a look at the tables from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use frontdesk_engine::TenantId;
use frontdesk_engine::dispatch::TASK;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Registry as _, Tenant};
use frontdesk_engine::ports::{Clock, Random};
use frontdesk_engine::seal::SealKey;
use frontdesk_store::audit::Report;
use frontdesk_store::{Address, PostgresAudit, PostgresOptions, PostgresStore, StoreError};

use crate::server::Server;
use crate::suite::boats::BOAT;
use crate::suite::{Peek, Subject};

/// A clock that stands still until it is set.
pub(crate) struct Standing(AtomicI64);

impl Standing {
    pub(crate) fn at(now: i64) -> Standing {
        Standing(AtomicI64::new(now))
    }

    pub(crate) fn set(&self, now: i64) {
        self.0.store(now, Ordering::Relaxed);
    }
}

impl Clock for Standing {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::Relaxed))
    }
}

/// SplitMix64: no two fills are alike, which is all that sealing in a test needs.
struct Counting(AtomicU64);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(8) {
            let mut word = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            piece.copy_from_slice(&(word ^ (word >> 31)).to_be_bytes()[..piece.len()]);
        }
    }
}

/// Another source each time.
pub(crate) fn random() -> Arc<dyn Random> {
    static SEED: AtomicU64 = AtomicU64::new(1);
    Arc::new(Counting(AtomicU64::new(SEED.fetch_add(1 << 32, Ordering::Relaxed))))
}

pub(crate) struct House {
    pub(crate) store: Arc<PostgresStore>,
    pub(crate) clock: Arc<Standing>,
    // Dropped last: the store is closed before its server ends.
    pub(crate) server: Arc<Server>,
}

impl House {
    /// With the tenants `north` and `south`, and patient.
    pub(crate) async fn new() -> House {
        let server = Server::start();
        let address = Address::parse(&server.url()).unwrap();
        House::at(server, address).await
    }

    /// The same, on a server that is there already and is reached like this.
    pub(crate) async fn at(server: Server, address: Address) -> House {
        let clock = Arc::new(Standing(AtomicI64::new(5_000)));
        let store = open_at(address, &[&BOAT, &TASK], [7; 32], &clock).await.unwrap();
        for (id, name) in [("north", "North Harbour"), ("south", "South Harbour")] {
            let id = TenantId::parse(id).unwrap();
            store.add_tenant(Tenant { id, name: name.to_owned() }, r#"{"add":"tenant"}"#.to_owned()).await.unwrap();
        }
        // Tests count records; those of the two tenants' own registration would be in the way.
        server.sql("desk", "DELETE FROM fd_audit; DELETE FROM fd_audit_head");
        House { store: Arc::new(store), clock, server: Arc::new(server) }
    }

    /// Another node on the same database.
    pub(crate) async fn neighbour(&self) -> Arc<PostgresStore> {
        Arc::new(open(&self.server.url(), &[&BOAT, &TASK], [7; 32], &self.clock).await.unwrap())
    }

    pub(crate) fn peek(&self) -> Raw {
        Raw(Arc::clone(&self.server))
    }

    pub(crate) async fn verified(&self) -> Report {
        let address = Address::parse(&self.server.url()).unwrap();
        PostgresAudit::open(&address, &SealKey::from_bytes([7; 32])).await.unwrap().verify().await.unwrap()
    }
}

pub(crate) async fn open(
    url: &str,
    kinds: &[&'static TableSpec],
    key: [u8; 32],
    clock: &Arc<Standing>,
) -> Result<PostgresStore, StoreError> {
    open_at(Address::parse(url).unwrap(), kinds, key, clock).await
}

pub(crate) async fn open_at(
    address: Address,
    kinds: &[&'static TableSpec],
    key: [u8; 32],
    clock: &Arc<Standing>,
) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(PostgresOptions {
        address,
        master: SealKey::from_bytes(key),
        random: random(),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        kinds: kinds.to_vec(),
        commit_wait: Duration::from_secs(30),
    })
    .await
}

/// A fresh database for one behaviour of the suite.
pub(crate) async fn subject() -> Subject {
    let House { store, server, .. } = House::new().await;
    let keeper = Arc::clone(&store) as Arc<_>;
    Subject { store: Arc::clone(&store) as Arc<_>, registry: store, keeper, peek: Arc::new(Raw(server)) }
}

pub(crate) struct Raw(Arc<Server>);

impl Peek for Raw {
    fn outbox(&self, tenant: &str) -> Vec<String> {
        let text = format!(
            "SELECT seq || ' ' || event || ' ' || kind || ' ' || id || ' ' || change FROM fd_outbox \
             WHERE tenant = '{tenant}' ORDER BY seq"
        );
        self.0.sql("desk", &text)
    }

    fn audit(&self, tenant: &str) -> Vec<String> {
        self.0.sql("desk", &format!("SELECT records FROM fd_audit WHERE chain = 'tenant:{tenant}' ORDER BY seq"))
    }

    fn node(&self) -> Vec<String> {
        self.0.sql("desk", "SELECT records FROM fd_audit WHERE chain LIKE 'node:%' ORDER BY chain, seq")
    }
}
