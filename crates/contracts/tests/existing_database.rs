//! A database of an earlier release, in which a VIN occurred once among all vehicles, sold ones too.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::automotive::vehicle::Vehicle;
use frontdesk_contracts::record::{Entity, Stored as _};
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::table::{Cell, ColumnSpec, Row, StoredRow, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::registry::{Registry as _, Tenant};
use frontdesk_engine::ports::{Commit, Committed, Store as _};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{Code, Fault, TenantId};
use frontdesk_store::{SqliteOptions, SqliteStore};
use frontdesk_testkit::{TestClock, TestRandom};

fn tenant() -> TenantId {
    TenantId::parse("dlr_test").unwrap()
}

/// The table as it was declared: without the column of units in stock, and with a VIN that is unique.
fn earlier_table() -> &'static TableSpec {
    let now = Vehicle::table();
    let columns: Vec<ColumnSpec> = now.columns.iter().filter(|column| column.name != "live_vin").copied().collect();
    Box::leak(Box::new(TableSpec {
        name: now.name,
        columns: columns.leak(),
        unique: &["vin", "stock_number"],
        sorted: now.sorted,
        filtered: vec!["status", "make_key"].leak(),
        searched: now.searched,
        index: now.index,
        check: now.check,
    }))
}

/// A vehicle as the earlier release has stored it: nothing of its checks, prices and deals.
fn body(id: &str, stock_number: &str, status: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"vehicle","dealership_id":"dlr_test","vin":"5YJ3E1EAXKF100004","stock_number":"{stock_number}","condition":"used","year":2019,"make":"Tesla","model":"Model 3","body_style":"sedan","mileage":{{"value":1,"unit":"mi"}},"transmission":"unknown","drivetrain":"unknown","fuel_type":"unknown","options":[],"media":[],"price":{{"amount":1,"currency":"USD"}},"status":"{status}","in_stock_at":"2026-01-01T00:00:00Z","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","version":1}}"#
    )
}

fn row(id: &str, stock_number: &str, status: &str) -> Row {
    let stored = StoredRow {
        id: id.to_owned(),
        version: 1,
        created_at: 0,
        body: body(id, stock_number, status),
        masked: None,
        personal: None,
        secret: None,
    };
    let entity: Entity<Vehicle> = Entity::restore(&tenant(), &stored).unwrap();
    Row { body: stored.body, ..entity.row("dealership_id") }
}

fn open(path: &Path, table: &'static TableSpec) -> SqliteStore {
    SqliteStore::open(SqliteOptions {
        path: path.to_owned(),
        master: SealKey::from_bytes([7; 32]),
        random: Arc::new(TestRandom::distinct()),
        clock: Arc::new(TestClock::at(5_000)),
        tables: vec![table],
        commit_wait: Duration::from_secs(30),
    })
    .unwrap()
}

async fn insert(store: &SqliteStore, table: &'static TableSpec, row: Row) -> String {
    let cells = row.cells.iter().filter(|(name, _)| table.columns.iter().any(|column| column.name == *name));
    let row = Row { cells: cells.cloned().collect(), ..row };
    let answer = Item { id: row.id.clone(), version: 1, body: "{}".to_owned(), masked: None, personal: None };
    let taken = Fault::domain(Code("inventory.duplicate"), "taken");
    let commit = Commit {
        client: None,
        tenant: tenant(),
        at: Millis(5_000),
        steps: vec![Step::Insert { table, row, on_duplicate: taken }],
        events: Vec::new(),
        claim: None,
        answer,
        audit: "{}".to_owned(),
    };
    match store.commit(commit).await.unwrap() {
        Committed::Done => "done".to_owned(),
        Committed::Refused(fault) => fault.kind.as_str().to_owned(),
        Committed::AlreadyClaimed(_) | Committed::VersionConflict | Committed::Unknown => "neither".to_owned(),
    }
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_car_that_was_sold_before_the_upgrade_can_come_back() {
    let folder = Folder(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("existing-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("desk.db");
    let earlier = earlier_table();
    let store = open(&path, earlier);
    let known = Tenant::new(tenant(), "Test");
    store.add_tenant(known, "{}".to_owned()).await.unwrap();
    assert_eq!(insert(&store, earlier, row("veh_1", "A-1", "sold")).await, "done");
    assert_eq!(insert(&store, earlier, row("veh_2", "A-2", "available")).await, "inventory.duplicate");
    drop(store);

    let now = Vehicle::table();
    let store = open(&path, now);
    assert_eq!(insert(&store, now, row("veh_2", "A-2", "available")).await, "done");
    assert_eq!(insert(&store, now, row("veh_3", "A-3", "available")).await, "inventory.duplicate");
    assert_eq!(insert(&store, now, row("veh_4", "A-4", "sold")).await, "done");
    let live = Cell::Text("5YJ3E1EAXKF100004".to_owned());
    let found = store.find(&tenant(), now, "live_vin", live).await.unwrap().unwrap();
    assert_eq!(found.id, "veh_2");
}
