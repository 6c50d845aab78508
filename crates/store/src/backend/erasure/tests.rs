//! No table is forgotten by an erasure.

use std::collections::BTreeSet;

use frontdesk_engine::model::table::{ColumnSpec, ColumnType, TableSpec};

use crate::sql::ddl;
use crate::sql::session::SqlSession;
use crate::transfer::tables::{self, RowOwner};

static BOAT: TableSpec = TableSpec {
    name: "boat",
    columns: &[ColumnSpec { name: "sail", column_type: ColumnType::Text }],
    unique: &[],
    sorted: &[],
    filtered: &[],
    searched: &[],
    index: None,
    check: None,
};

/// Erased by statements of their own: the head with its chain; tokens when it begins; clients, which may have other
/// tenants, and the tenant's row when it ends; what people have allowed for it when it begins.
const BY_OTHER_STEPS: [&str; 5] = ["fd_audit_head", "fd_client", "fd_login_record", "fd_tenant", "fd_token"];

/// Without rows of tenants: what tables are indexed for, which tenants were erased and that their chains have ended, and
/// what the audit record is compared with; the root key.
const NOT_OF_TENANTS: [&str; 6] =
    ["fd_audit_roster", "fd_audit_summary", "fd_erasure", "fd_index", "fd_installation", "fd_root_key"];

/// A table that is added to the schema must be erased, or be added to one of the lists above with a reason.
#[test]
fn every_table_is_erased_or_listed() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    for text in ddl::MIGRATIONS {
        connection.execute_batch(text).unwrap();
    }
    for text in ddl::create_sqlite(&BOAT) {
        connection.execute_batch(&text).unwrap();
    }
    let names = |text: &str| -> BTreeSet<String> {
        let mut statement = connection.prepare(text).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let all = tables::all(&[&BOAT]);
    let mut known: BTreeSet<String> = all
        .iter()
        .filter(|table| matches!(table.owner(), RowOwner::Tenant | RowOwner::Chain))
        .map(|table| table.name.clone())
        .collect();
    known.extend(BY_OTHER_STEPS.into_iter().chain(NOT_OF_TENANTS).map(str::to_owned));
    assert_eq!(names("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"), known);
    // What is looked for before an erasure begins finds every table with a tenant.
    let with_tenant = names(<rusqlite::Connection as SqlSession>::TABLES_OF_TENANTS);
    let chunked = all.iter().filter(|table| table.owner() == RowOwner::Tenant).map(|table| table.name.clone());
    let mut expected: BTreeSet<String> = chunked.collect();
    expected.extend(["fd_erasure", "fd_tenant"].map(str::to_owned));
    assert_eq!(with_tenant, expected);
}
