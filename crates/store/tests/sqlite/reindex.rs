//! A declaration that gains columns or searched fields, over rows that an earlier release has stored.

use std::cell::Cell;

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::{self, ColumnSpec, ColumnType, Row, RowIndex, StoredRow, TableSpec};
use frontdesk_engine::ports::{Disclosure, Store as _};
use frontdesk_engine::{Fault, TenantId};
use frontdesk_store::{SqliteStore, StoreError};
use rusqlite::Connection;

use crate::test_store::{Folder, TestStore, open};
use frontdesk_testkit::store_suite::boats::{BOAT, TAKEN, add, boat, done, ended, fault, plan, query, take_berths};
use frontdesk_testkit::store_suite::grown_boats::{AFLOAT, GROWN, GROWN_SPEC, check, index, older, with_hull};
use frontdesk_testkit::store_suite::{north, south};

/// More than two chunks in the north, and the south behind it.
const NORTHERN: usize = 600;
const SOUTHERN: usize = 30;

fn boats(count: usize) -> Vec<(String, usize)> {
    (0..count).map(|number| (format!("b{number:03}"), number)).collect()
}

/// A data folder of the earlier release, closed.
async fn earlier() -> std::sync::Arc<Folder> {
    let test = TestStore::new().await;
    for (tenant, count) in [(north(), NORTHERN), (south(), SOUTHERN)] {
        add(&*test.store, &tenant, boats(count).iter().map(|(id, number)| older(id, *number))).await;
    }
    done(&*test.store, plan("take", &north(), vec![take_berths("b007", 3)])).await;
    let TestStore { store, folder, .. } = test;
    drop(store);
    folder
}

async fn check_all(store: &SqliteStore) {
    for (tenant, count) in [(north(), NORTHERN), (south(), SOUTHERN)] {
        check(store, &tenant, &boats(count)).await;
    }
    assert_eq!(grown_ids(store, &north(), vec![Filter::Equals("berths", table::Cell::Integer(1))]).await, ["b007"]);
}

async fn grown_ids(store: &SqliteStore, tenant: &TenantId, filters: Vec<Filter>) -> Vec<String> {
    let projection = frontdesk_engine::model::page::Projection::Ids;
    let wanted = frontdesk_engine::model::page::Query { table: &GROWN, projection, ..query(filters) };
    store.page(tenant, wanted).await.unwrap().rows
}

#[tokio::test]
async fn rows_are_found_by_columns_their_table_has_gained() {
    let folder = earlier().await;
    let store = open(&folder.database(), &[&GROWN], [7; 32]).unwrap();
    check_all(&store).await;
    // The new columns are unique and searched from now on.
    let twin = Step::Insert { table: &GROWN, row: grown("new", "GER b001"), on_duplicate: fault(TAKEN) };
    assert_eq!(ended(&store.commit(plan("twin", &north(), vec![twin])).await), "boat_taken");
    let free = Step::Insert { table: &GROWN, row: grown("new", "GER 9"), on_duplicate: fault(TAKEN) };
    done(&store, plan("new", &north(), vec![free])).await;
    // A row that was indexed again loses exactly its own words.
    let row = Row { version: 2, search_terms: Vec::new(), ..grown("b010", "GER b010") };
    let update = Step::Update {
        table: &GROWN,
        row,
        expect_version: 1,
        on_conflict: OnConflict::Retry,
        on_duplicate: fault(TAKEN),
    };
    done(&store, plan("rename", &north(), vec![update])).await;
    let raw = Connection::open(folder.database()).unwrap();
    let count = |text: &str| -> i64 { raw.query_row(text, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM boat_word WHERE tenant = 'north' AND id = 'b010'"), 0);
    assert_eq!(count("SELECT count(*) FROM boat WHERE version = 1 AND updated_at <> 1000"), 0);
    // The next start has nothing to do.
    drop(store);
    drop(open(&folder.database(), &[&INDEXES_NOTHING], [7; 32]).unwrap());
}

fn grown(id: &str, sail: &str) -> Row {
    let cells = [("sail_number", table::Cell::Text(sail.to_owned())), ("horsepower", table::Cell::Integer(1))];
    Row { cells: boat(id, 7).cells.into_iter().chain(cells).collect(), ..older(id, 1) }
}

/// As `GROWN`, but no row can be indexed.
static INDEXES_NOTHING: TableSpec =
    TableSpec { index: Some(|_| Err(Fault::internal("there is nothing to index"))), ..GROWN_SPEC };

thread_local! {
    /// How many rows this test has indexed.
    static INDEXED: Cell<usize> = const { Cell::new(0) };
}

/// As `GROWN`, but the 400th row cannot be indexed.
static INTERRUPTED: TableSpec = TableSpec { index: Some(fail_after_400), ..GROWN_SPEC };
static COUNTED: TableSpec = TableSpec { index: Some(count_rows), ..GROWN_SPEC };

fn fail_after_400(row: &StoredRow) -> Result<RowIndex, Fault> {
    if INDEXED.replace(INDEXED.get() + 1) >= 400 {
        return Err(Fault::internal("the process ends here"));
    }
    index(row)
}

fn count_rows(row: &StoredRow) -> Result<RowIndex, Fault> {
    INDEXED.set(INDEXED.get() + 1);
    index(row)
}

#[tokio::test]
async fn an_interrupted_reindex_continues_where_it_stopped() {
    let folder = earlier().await;
    assert_eq!(
        refused(open(&folder.database(), &[&INTERRUPTED], [7; 32])),
        "row b400 of table boat of tenant north could not be indexed for this version: the process ends here. \
         The row was not changed. Report this as a bug."
    );
    let raw = Connection::open(folder.database()).unwrap();
    let position: (String, String) = raw
        .query_row("SELECT at_tenant, at_id FROM fd_index WHERE table_name = 'boat'", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(position, ("north".to_owned(), "b255".to_owned()), "the chunks before are done");
    let names = "SELECT count(*) FROM sqlite_schema WHERE name = 'boat_one_sail_number'";
    assert_eq!(raw.query_row(names, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "not unique before it is filled");
    INDEXED.set(0);
    let store = open(&folder.database(), &[&COUNTED], [7; 32]).unwrap();
    assert_eq!(INDEXED.get(), NORTHERN + SOUTHERN - 256);
    check_all(&store).await;
}

/// A run for one declaration must not count for another.
#[tokio::test]
async fn another_declaration_starts_the_reindex_again() {
    static MORE: TableSpec = TableSpec { searched: &["name", "owner"], index: Some(count_rows), ..GROWN_SPEC };
    let folder = earlier().await;
    refused(open(&folder.database(), &[&INTERRUPTED], [7; 32]));
    INDEXED.set(0);
    let store = open(&folder.database(), &[&MORE], [7; 32]).unwrap();
    assert_eq!(INDEXED.get(), NORTHERN + SOUTHERN);
    check_all(&store).await;
}

#[tokio::test]
async fn equal_values_of_a_new_unique_column_are_refused() {
    let test = TestStore::new().await;
    let twin = Row { body: older("b1", 1).body, ..older("b9", 1) };
    add(&*test.store, &south(), [older("b1", 1), older("b5", 5), twin]).await;
    let TestStore { store, folder, .. } = test;
    drop(store);
    let expected = "tenant south has two rows of table boat (b1 and b9) with the same value in column sail_number, \
                    which must be unique in this version. Restore the backup from before the upgrade with the earlier \
                    version, change or remove one of the rows there, and upgrade or export again.";
    // Also the second time, when all rows are indexed.
    for _ in 0..2 {
        assert_eq!(refused(open(&folder.database(), &[&GROWN], [7; 32])), expected);
    }
}

#[tokio::test]
async fn a_new_column_nobody_can_fill_is_refused() {
    static FILTERED: TableSpec = TableSpec { index: None, searched: &[], ..GROWN_SPEC };
    static SEARCHED: TableSpec = TableSpec { index: None, columns: BOAT_COLUMNS, ..BOAT_LIKE };
    let folder = earlier().await;
    let expected = |gained: &str| {
        format!(
            "table boat has rows, and this version looks them up by {gained}, which it cannot compute for rows that \
             exist. Start the earlier version again, and report this as a bug."
        )
    };
    let said = refused(open(&folder.database(), &[&FILTERED], [7; 32]));
    assert_eq!(said, expected("sail_number, horsepower, skipper"));
    assert_eq!(refused(open(&folder.database(), &[&SEARCHED], [7; 32])), expected("name"));
    // The earlier release starts as before, and a column that is only read is no obstacle.
    drop(open(&folder.database(), &[&BOAT], [7; 32]).unwrap());
    let plain = open(&folder.database(), &[&PLAIN], [7; 32]).unwrap();
    assert!(plain.get(&north(), &PLAIN, "b001", Disclosure::Full).await.unwrap().is_some());
    drop(plain);
    // Nor is anything if there are no rows.
    let empty = TestStore::new().await;
    let TestStore { store, folder, .. } = empty;
    drop(store);
    drop(open(&folder.database(), &[&FILTERED], [7; 32]).unwrap());
}

const BOAT_COLUMNS: &[ColumnSpec] = &[
    ColumnSpec { name: "hull", column_type: ColumnType::Text },
    ColumnSpec { name: "length", column_type: ColumnType::Integer },
    ColumnSpec { name: "berths", column_type: ColumnType::Integer },
    ColumnSpec { name: "harbour", column_type: ColumnType::Text },
    ColumnSpec { name: "owner", column_type: ColumnType::Digest },
];

const BOAT_LIKE: TableSpec =
    TableSpec { unique: &["hull"], sorted: &["length"], filtered: &["harbour"], searched: &["name"], ..GROWN_SPEC };

/// With a column that nothing looks up.
static PLAIN: TableSpec = TableSpec {
    columns: &[
        ColumnSpec { name: "hull", column_type: ColumnType::Text },
        ColumnSpec { name: "length", column_type: ColumnType::Integer },
        ColumnSpec { name: "berths", column_type: ColumnType::Integer },
        ColumnSpec { name: "harbour", column_type: ColumnType::Text },
        ColumnSpec { name: "owner", column_type: ColumnType::Digest },
        ColumnSpec { name: "sail_number", column_type: ColumnType::Text },
    ],
    searched: &[],
    index: None,
    ..BOAT_LIKE
};

fn refused(opened: Result<SqliteStore, StoreError>) -> String {
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_column_that_need_not_be_unique_any_more_is_not() {
    let test = TestStore::new().await;
    add(&*test.store, &north(), [older("b0", 0), older("b1", 1)]).await;
    let TestStore { store, folder, .. } = test;
    drop(store);
    let store = open(&folder.database(), &[&AFLOAT], [7; 32]).unwrap();
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
