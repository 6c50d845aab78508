//! The import of a tenant while nodes are running: they do not wait for its rows.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Registry as _, Tenant};
use frontdesk_engine::seal::SealKey;
use frontdesk_store::Address;
use frontdesk_store::transfer::{DataLocation, ImportTarget, TenantExport, TenantImport};
use tokio::time::timeout;

use crate::test_store::{TestStore, open};
use frontdesk_testkit::databases::PostgresDatabase;
use frontdesk_testkit::store_suite::boats::{BOAT, add, boat};
use frontdesk_testkit::store_suite::north;
use frontdesk_testkit::{TestClock, TestRandom};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adding_a_tenant_does_not_wait_for_its_running_import() {
    let old = TestStore::new().await;
    add(&*old.store, &north(), [boat("b1", 7)]).await;
    let home = DataLocation::Postgres(Address::parse(&old.database.url()).unwrap());
    let departure = TenantExport::open(&home, &SealKey::from_bytes([7; 32]), &[&BOAT], &north()).await.unwrap();
    let mut rows = Vec::new();
    let take = |table, row| {
        rows.push((table, row));
        Ok(())
    };
    departure.rows(take).await.unwrap();

    let server = PostgresDatabase::create();
    let node = open(&server.url(), &[&BOAT], [7; 32], &Arc::new(TestClock::at(5_000))).await.unwrap();
    let receiving = ImportTarget {
        location: DataLocation::Postgres(Address::parse(&server.url()).unwrap()),
        master: SealKey::from_bytes([7; 32]),
        random: Arc::new(TestRandom::distinct()),
        tables: vec![&BOAT],
    };
    let mut arrival = TenantImport::open(&receiving, departure.manifest()).await.unwrap();
    for (table, row) in rows {
        arrival.put(table, row).await.unwrap();
    }
    let tenant = Tenant { id: north(), name: "North".to_owned() };
    let added = timeout(Duration::from_secs(60), node.add_tenant(tenant, "{}".to_owned())).await;
    assert_eq!(added.unwrap().unwrap(), Changed::Done);
    assert_eq!(
        arrival.finish(Millis(6_000), "{}").await.unwrap_err().to_string(),
        "tenant north already exists in this database, and an import overwrites nothing. \
         Import it into another database."
    );
    assert_eq!(server.sql("SELECT count(*) FROM boat"), ["0"]);
}
