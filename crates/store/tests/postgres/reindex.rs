//! A declaration that gains columns, over rows that an earlier release has stored on PostgreSQL, with other nodes at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use frontdesk_engine::Fault;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::{self, Row, RowIndex, StoredRow, TableSpec};
use frontdesk_engine::model::tenant::TenantProfile;
use frontdesk_engine::ports::registry::Registry as _;
use frontdesk_engine::ports::{Disclosure, Durability, Store as _};
use frontdesk_store::PostgresStore;
use tokio::task::JoinSet;

use crate::test_store::{TestStore, open};
use frontdesk_testkit::eventually;
use frontdesk_testkit::store_suite::boats::{BOAT, TAKEN, add, done, ended, fault, plan, take_berths, update};
use frontdesk_testkit::store_suite::grown_boats::{AFLOAT, GROWN, GROWN_SPEC, check, index, older, with_hull};
use frontdesk_testkit::store_suite::{StoreInspector as _, north, south};

/// More than two chunks in the north, and the south behind it.
const NORTHERN: usize = 600;
const SOUTHERN: usize = 30;

fn boats(count: usize) -> Vec<(String, usize)> {
    (0..count).map(|number| (format!("b{number:03}"), number)).collect()
}

/// A database of the earlier release.
async fn earlier() -> TestStore {
    let test = TestStore::new().await;
    for (tenant, count) in [(north(), NORTHERN), (south(), SOUTHERN)] {
        add(&*test.store, &tenant, boats(count).iter().map(|(id, number)| older(id, *number))).await;
    }
    done(&*test.store, plan("take", &north(), vec![take_berths("b007", 3)])).await;
    test
}

async fn check_all(test: &TestStore, store: &PostgresStore) {
    for (tenant, count) in [(north(), NORTHERN), (south(), SOUTHERN)] {
        check(store, &tenant, &boats(count)).await;
    }
    assert_eq!(test.database.sql("SELECT id FROM boat WHERE berths = 1"), ["b007"]);
    assert_eq!(test.database.sql("SELECT count(*) FROM boat WHERE version <> 1 OR updated_at <> 1000"), ["0"]);
}

/// Before there were write-only values, `fd_index`, profiles of tenants and a chain of administration.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_an_earlier_release_is_migrated() {
    let test = TestStore::new().await;
    let without_secret = |id: &str, number| Row { secret: None, ..older(id, number) };
    add(&*test.store, &north(), [without_secret("b1", 1)]).await;
    let read = r#"{"read":1}"#;
    test.store.append_audit(read.to_owned(), Durability::Awaited).await.unwrap();
    test.database.sql(
        "DROP TABLE fd_index; ALTER TABLE boat DROP COLUMN sealed_secret; \
         ALTER TABLE dispatch_task DROP COLUMN sealed_secret; UPDATE fd_schema SET version = 1; \
         DROP TABLE fd_erasure; DROP INDEX fd_tenant_in_group; ALTER TABLE fd_tenant DROP COLUMN profile, \
         DROP COLUMN tenant_group, DROP COLUMN erasing_at, DROP COLUMN version, DROP COLUMN mac; \
         ALTER TABLE fd_client DROP COLUMN tenant_groups, DROP COLUMN version, DROP COLUMN mac; \
         ALTER TABLE fd_token DROP COLUMN authenticated_at, DROP COLUMN version, DROP COLUMN mac; \
         ALTER TABLE fd_counter DROP COLUMN stored_rows, DROP COLUMN stored_bytes, DROP COLUMN client_usage; \
         DROP TABLE fd_installation, fd_audit_roster, fd_audit_summary, fd_login_record",
    );
    for table in ["fd_audit", "fd_audit_head"] {
        let own = "chain = 'tenant:' || current_setting('frontdesk.tenant', true) OR chain LIKE 'node:%'";
        test.database.sql(&format!("ALTER POLICY frontdesk ON {table} USING ({own}) WITH CHECK ({own})"));
    }
    let store = open(&test.database.url(), &[&BOAT], [7; 32], &test.clock).await.unwrap();
    let found = store.get(&north(), &BOAT, "b1", Disclosure::ToChange).await.unwrap().unwrap();
    assert_eq!((found.personal, found.secret), (older("b1", 1).personal, None));
    let row = Row { version: 2, ..older("b1", 1) };
    let secret = row.secret.clone();
    let change = update(row, 1, OnConflict::Retry);
    done(&store, plan("change", &north(), vec![change])).await;
    let found = store.get(&north(), &BOAT, "b1", Disclosure::ToChange).await.unwrap().unwrap();
    assert_eq!(found.secret, secret);
    assert_eq!(test.database.sql("SELECT version FROM fd_schema"), ["9"]);
    // Administration has a chain of its own now, and what was recorded before stays verifiable.
    store.record_administration(r#"{"did":"something"}"#.to_owned()).await.unwrap();
    let administration = test.peek().administration();
    let set_up = r#"{"action":"installation.set_up","at":"1970-01-01T00:00:05Z","public_key":"fdpub_"#;
    assert!(administration.first().is_some_and(|record| record.starts_with(set_up)), "{administration:?}");
    assert_eq!(administration.get(1..), Some(&[r#"{"did":"something"}"#.to_owned()][..]));
    assert_eq!(test.peek().node(), [read]);
    assert!(test.verified().await.is_intact());
    let tenant = store.tenant(&north()).await.unwrap().unwrap();
    assert_eq!((tenant.profile, tenant.group), (TenantProfile::default(), None));
    assert_eq!(
        test.database.sql("SELECT indexed FROM fd_index WHERE table_name = 'boat'"),
        [
            r#"{"columns":["hull text","length integer required","berths integer","harbour text","owner digest"],"searched":[]}"#
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_found_by_columns_their_table_has_gained() {
    let test = earlier().await;
    let store = open(&test.database.url(), &[&GROWN], [7; 32], &test.clock).await.unwrap();
    check_all(&test, &store).await;
    let indexes = "SELECT count(*) FROM pg_indexes WHERE indexname IN ('boat_one_sail_number', 'boat_with_skipper')";
    assert_eq!(test.database.sql(indexes), ["2"]);
}

static INDEXED: AtomicUsize = AtomicUsize::new(0);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_reindex_continues_where_it_stopped() {
    static INTERRUPTED: TableSpec = TableSpec { index: Some(fail_at_b400), ..GROWN_SPEC };
    static COUNTED: TableSpec = TableSpec { index: Some(count_rows), ..GROWN_SPEC };
    fn fail_at_b400(row: &StoredRow) -> Result<RowIndex, Fault> {
        if row.id == "b400" { Err(Fault::internal("the process ends here")) } else { index(row) }
    }
    fn count_rows(row: &StoredRow) -> Result<RowIndex, Fault> {
        INDEXED.fetch_add(1, Ordering::SeqCst);
        index(row)
    }
    let test = earlier().await;
    let refused = open(&test.database.url(), &[&INTERRUPTED], [7; 32], &test.clock).await.err().unwrap().to_string();
    assert!(refused.starts_with("row b400 of table boat of tenant north could not be indexed"), "{refused}");
    let position = "SELECT at_tenant || ' ' || at_id FROM fd_index WHERE table_name = 'boat'";
    assert_eq!(test.database.sql(position), ["north b255"]);
    let store = open(&test.database.url(), &[&COUNTED], [7; 32], &test.clock).await.unwrap();
    assert_eq!(INDEXED.load(Ordering::SeqCst), NORTHERN + SOUTHERN - 256);
    check_all(&test, &store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_values_of_a_new_unique_column_are_refused() {
    let test = TestStore::new().await;
    let twin = Row { body: older("b1", 1).body, ..older("b9", 1) };
    add(&*test.store, &south(), [older("b1", 1), older("b5", 5), twin]).await;
    let refused = open(&test.database.url(), &[&GROWN], [7; 32], &test.clock).await.err().unwrap();
    assert_eq!(
        refused.to_string(),
        "tenant south has two rows of table boat (b1 and b9) with the same value in column sail_number, which must be \
         unique in this version. Restore the backup from before the upgrade with the earlier version, change or remove \
         one of the rows there, and upgrade or export again."
    );
}

/// Row-level security hides the rows from a query over all tenants; they must be noticed nevertheless.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_column_nobody_can_fill_is_refused() {
    static FILTERED: TableSpec = TableSpec { index: None, searched: &[], ..GROWN_SPEC };
    let test = TestStore::new().await;
    add(&*test.store, &south(), [older("b1", 1)]).await;
    let refused = open(&test.database.url(), &[&FILTERED], [7; 32], &test.clock).await.err().unwrap().to_string();
    assert!(refused.starts_with("table boat has rows, and this version looks them up by sail_number"), "{refused}");
    let columns = "SELECT count(*) FROM pg_attribute WHERE attrelid = 'boat'::regclass AND attname = 'sail_number'";
    assert_eq!(test.database.sql(columns), ["0"], "nothing was changed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_together_share_the_reindex() {
    let test = earlier().await;
    let mut all = JoinSet::new();
    for _ in 0..3 {
        let (url, clock) = (test.database.url(), Arc::clone(&test.clock));
        all.spawn(async move { open(&url, &[&GROWN], [7; 32], &clock).await.map_err(|error| error.to_string()) });
    }
    for store in all.join_all().await {
        check_all(&test, &store.unwrap()).await;
    }
}

/// A row that another node is changing is indexed as that node leaves it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_being_changed_is_indexed_as_changed() {
    let test = TestStore::new().await;
    add(&*test.store, &north(), [older("b1", 1), older("b2", 2)]).await;
    // Added before, because adding a column waits for the writer, too.
    test.database.sql(
        "ALTER TABLE boat ADD COLUMN sail_number TEXT; ALTER TABLE boat ADD COLUMN horsepower BIGINT NOT NULL DEFAULT 0; \
         ALTER TABLE boat ADD COLUMN skipper TEXT",
    );
    // As a writer of another node: it holds the tenant's row and has changed a boat. Its MAC is computed like that of a
    // row of an earlier release.
    let changed = older("b1", 3).body;
    let writer = test.database.hold(&format!(
        "SELECT 1 FROM fd_tenant WHERE tenant = 'north' FOR NO KEY UPDATE; \
         UPDATE boat SET body = '{changed}', version = 2, mac = NULL WHERE tenant = 'north' AND id = 'b1'"
    ));
    let (url, clock) = (test.database.url(), Arc::clone(&test.clock));
    let opening = tokio::spawn(async move { open(&url, &[&GROWN], [7; 32], &clock).await.map(|_| ()) });
    eventually("the reindex waits for the writer", async || {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                       AND datname = current_database()";
        test.database.sql(waiting) == ["1"]
    })
    .await;
    writer.commit();
    opening.await.unwrap().unwrap();
    assert_eq!(test.database.sql("SELECT version || ' ' || horsepower FROM boat ORDER BY id"), ["2 3", "1 2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_column_that_need_not_be_unique_any_more_is_not() {
    let test = TestStore::new().await;
    add(&*test.store, &north(), [older("b0", 0), older("b1", 1)]).await;
    let store = open(&test.database.url(), &[&AFLOAT], [7; 32], &test.clock).await.unwrap();
    // The boat b0 of the earlier release lies ashore, so its hull can be afloat once more, and ashore as often as it likes.
    for (id, afloat, ended_as) in [
        ("ashore", table::Cell::Null, "done"),
        ("afloat", table::Cell::Text("H-b0".to_owned()), "done"),
        ("again", table::Cell::Text("H-b0".to_owned()), "boat_taken"),
        ("also", table::Cell::Text("H-b1".to_owned()), "boat_taken"),
    ] {
        let row = with_hull(id, "H-b0", afloat);
        let insert = Step::Insert { table: &AFLOAT, row, on_duplicate: fault(TAKEN) };
        assert_eq!(ended(&store.commit(plan(id, &north(), vec![insert])).await), ended_as, "{id}");
    }
    let found = store.find(&north(), &AFLOAT, "afloat_hull", table::Cell::Text("H-b0".to_owned())).await.unwrap();
    assert_eq!(found.unwrap().id, "afloat");
}
