//! Moving a tenant between databases and releases. An import while nodes are running does not make them wait.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Registry as _, Tenant};
use frontdesk_engine::ports::{Disclosure, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_store::transfer::{DataLocation, ImportTarget, Manifest, StoredValue, TenantExport, TenantImport};
use frontdesk_store::{Address, PostgresStore, SqliteOptions, SqliteStore, StoreError};
use tokio::time::timeout;

use crate::test_store::{TestStore, open};
use frontdesk_testkit::databases::PostgresDatabase;
use frontdesk_testkit::store_suite::boats::{BOAT, add, boat};
use frontdesk_testkit::store_suite::grown_boats::{GROWN, GROWN_SPEC, check, older};
use frontdesk_testkit::store_suite::north;
use frontdesk_testkit::{TestClock, TestFolder, TestRandom};

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
    let tenant = Tenant::new(north(), "North");
    let added = timeout(Duration::from_secs(60), node.add_tenant(tenant, "{}".to_owned())).await;
    assert_eq!(added.unwrap().unwrap(), Changed::Done);
    assert_eq!(
        arrival.finish(Millis(6_000), "{}").await.unwrap_err().to_string(),
        "tenant north already exists in this database, and an import overwrites nothing. \
         Import it into another database."
    );
    assert_eq!(server.sql("SELECT count(*) FROM boat"), ["0"]);
}

type Rows = Vec<(usize, Vec<StoredValue>)>;

async fn exported(location: &DataLocation, key: [u8; 32], tables: &[&'static TableSpec]) -> (Manifest, Rows) {
    let export = TenantExport::open(location, &SealKey::from_bytes(key), tables, &north()).await.unwrap();
    let mut rows = Vec::new();
    let take = |table, row| {
        rows.push((table, row));
        Ok(())
    };
    export.rows(take).await.unwrap();
    // As it is written to a file and read from it.
    (Manifest::from_json(&export.manifest().to_json()).unwrap(), rows)
}

async fn imported(
    location: &DataLocation,
    tables: &[&'static TableSpec],
    (manifest, rows): (Manifest, Rows),
) -> Result<(), StoreError> {
    let target = ImportTarget {
        location: location.clone(),
        master: SealKey::from_bytes([8; 32]),
        random: Arc::new(TestRandom::distinct()),
        tables: tables.to_vec(),
    };
    let mut import = TenantImport::open(&target, &manifest).await?;
    for (table, row) in rows {
        import.put(table, row).await?;
    }
    import.finish(Millis(6_000), "{}").await
}

/// Opens both databases with these tables and the same master key.
async fn targets(tables: &[&'static TableSpec]) -> (TestFolder, SqliteStore, PostgresDatabase, PostgresStore) {
    let (folder, database) = (TestFolder::new(), PostgresDatabase::create());
    let sqlite = SqliteStore::open(SqliteOptions {
        path: folder.path().join("desk.db"),
        master: SealKey::from_bytes([8; 32]),
        random: Arc::new(TestRandom::distinct()),
        clock: Arc::new(TestClock::at(5_000)),
        tables: tables.to_vec(),
        commit_wait: Duration::from_secs(30),
    });
    let postgres = open(&database.url(), tables, [8; 32], &Arc::new(TestClock::at(5_000))).await.unwrap();
    (folder, sqlite.unwrap(), database, postgres)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_only_values_move_sealed_between_databases() {
    let old = TestStore::new().await;
    add(&*old.store, &north(), [older("b1", 1)]).await;
    let (folder, sqlite, database, postgres) = targets(&[&BOAT]).await;
    let home = DataLocation::Postgres(Address::parse(&old.database.url()).unwrap());
    let first = exported(&home, [7; 32], &[&BOAT]).await;
    assert!(!format!("{first:?}").contains("0451"));
    let embedded = DataLocation::Sqlite(folder.path().join("desk.db"));
    imported(&embedded, &[&BOAT], first).await.unwrap();
    let found = sqlite.get(&north(), &BOAT, "b1", Disclosure::ToChange).await.unwrap().unwrap();
    assert_eq!(found.secret, older("b1", 1).secret);
    assert_eq!(sqlite.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap().secret, None);
    let second = exported(&embedded, [8; 32], &[&BOAT]).await;
    imported(&DataLocation::Postgres(Address::parse(&database.url()).unwrap()), &[&BOAT], second).await.unwrap();
    let found = postgres.get(&north(), &BOAT, "b1", Disclosure::ToChange).await.unwrap().unwrap();
    assert_eq!(found.secret, older("b1", 1).secret);
}

/// The export knows neither the columns that were added since nor what it was searched by.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_of_an_earlier_release_gets_the_new_columns() {
    let old = TestStore::new().await;
    let boats: Vec<(String, usize)> = (0..300).map(|number| (format!("b{number:03}"), number)).collect();
    add(&*old.store, &north(), boats.iter().map(|(id, number)| older(id, *number))).await;
    let home = DataLocation::Postgres(Address::parse(&old.database.url()).unwrap());
    let (mut manifest, rows) = exported(&home, [7; 32], &[&BOAT]).await;
    manifest.tables.iter_mut().for_each(|table| table.searched = None);
    let (folder, sqlite, database, postgres) = targets(&[&GROWN]).await;
    for (location, store) in [
        (DataLocation::Sqlite(folder.path().join("desk.db")), &sqlite as &dyn Store),
        (DataLocation::Postgres(Address::parse(&database.url()).unwrap()), &postgres),
    ] {
        imported(&location, &[&GROWN], (manifest.clone(), rows.clone())).await.unwrap();
        check(store, &north(), &boats).await;
    }
}

/// Of the release before write-only values: the manifest says so, and the rows have no value for them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_without_write_only_values_is_imported() {
    let old = TestStore::new().await;
    add(&*old.store, &north(), [Row { secret: None, ..older("b1", 1) }]).await;
    let home = DataLocation::Postgres(Address::parse(&old.database.url()).unwrap());
    let (mut manifest, mut rows) = exported(&home, [7; 32], &[&BOAT]).await;
    let number = manifest.tables.iter().position(|table| table.table == "boat").unwrap();
    let columns = &mut manifest.tables[number].columns;
    let position = columns.split(", ").position(|column| column == "sealed_secret BYTEA").unwrap();
    *columns = columns.replace(", sealed_secret BYTEA", "");
    manifest.tables.iter_mut().for_each(|table| table.searched = None);
    for (table, row) in &mut rows {
        if *table == number {
            assert_eq!(row.remove(position), StoredValue::Null);
        }
    }
    let (folder, sqlite, _database, _postgres) = targets(&[&BOAT]).await;
    let embedded = DataLocation::Sqlite(folder.path().join("desk.db"));
    imported(&embedded, &[&BOAT], (manifest.clone(), rows.clone())).await.unwrap();
    let found = sqlite.get(&north(), &BOAT, "b1", Disclosure::ToChange).await.unwrap().unwrap();
    assert_eq!((found.personal, found.secret), (older("b1", 1).personal, None));
    // A row that does not have what its manifest announces is refused, whichever release it is of.
    let (folder, ..) = targets(&[&BOAT]).await;
    for (table, row) in &mut rows {
        if *table == number {
            row.push(StoredValue::Null);
        }
    }
    let longer = imported(&DataLocation::Sqlite(folder.path().join("desk.db")), &[&BOAT], (manifest, rows)).await;
    assert!(longer.unwrap_err().to_string().contains("a row of table boat has values that Frontdesk does not write"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_with_columns_nobody_can_fill_is_refused() {
    static UNFILLED: TableSpec = TableSpec { index: None, ..GROWN_SPEC };
    let old = TestStore::new().await;
    add(&*old.store, &north(), [older("b1", 1), Row { body: older("b1", 1).body, ..older("b2", 2) }]).await;
    let home = DataLocation::Postgres(Address::parse(&old.database.url()).unwrap());
    let export = exported(&home, [7; 32], &[&BOAT]).await;
    let mismatch = "table boat has other columns in this database. Import with the version of Frontdesk that made the \
                    export, and upgrade afterwards.";
    let (folder, ..) = targets(&[&UNFILLED]).await;
    let embedded = DataLocation::Sqlite(folder.path().join("desk.db"));
    assert_eq!(imported(&embedded, &[&UNFILLED], export.clone()).await.unwrap_err().to_string(), mismatch);
    // Nor are two rows that this release would not let exist together, on either database.
    let (folder, _sqlite, database, _postgres) = targets(&[&GROWN]).await;
    for location in [
        DataLocation::Sqlite(folder.path().join("desk.db")),
        DataLocation::Postgres(Address::parse(&database.url()).unwrap()),
    ] {
        let refused = imported(&location, &[&GROWN], export.clone()).await.unwrap_err().to_string();
        assert!(refused.starts_with("two rows of table boat have the same value in column sail_number"), "{refused}");
    }
    // An export of a later release has columns that are not known here.
    let newer =
        exported(&DataLocation::Postgres(Address::parse(&old.database.url()).unwrap()), [7; 32], &[&BOAT]).await;
    let (mut manifest, rows) = newer;
    let number = manifest.tables.iter().position(|table| table.table == "boat").unwrap();
    manifest.tables[number].columns.push_str(", keel TEXT");
    let (folder, ..) = targets(&[&BOAT]).await;
    let embedded = DataLocation::Sqlite(folder.path().join("desk.db"));
    assert_eq!(imported(&embedded, &[&BOAT], (manifest, rows)).await.unwrap_err().to_string(), mismatch);
}
