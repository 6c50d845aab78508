//! The list of transferred tables and columns is complete.

use std::collections::BTreeSet;

use frontdesk_engine::model::table::{ColumnSpec, ColumnType, TableSpec};

use super::tables;
use crate::sql::ddl;

static BOAT: TableSpec = TableSpec {
    name: "boat",
    columns: &[
        ColumnSpec { name: "berth", column_type: ColumnType::Integer },
        ColumnSpec { name: "sail", column_type: ColumnType::Text },
        ColumnSpec { name: "owner", column_type: ColumnType::Digest },
    ],
    unique: &["sail"],
    sorted: &["berth"],
    filtered: &[],
    searched: &[],
    index: None,
    check: None,
};

/// Not transferred: the tenant's own row and the chain heads, which the import creates, short-lived tokens, what tables
/// of this database are indexed for, which tenants were erased here, and what this installation's audit record is compared
/// with.
const NOT_TRANSFERRED: [&str; 10] = [
    "fd_audit_head",
    "fd_audit_roster",
    "fd_audit_summary",
    "fd_erasure",
    "fd_index",
    "fd_installation",
    "fd_login_record",
    "fd_root_key",
    "fd_tenant",
    "fd_token",
];

/// Not transferred: the import rebuilds it, as it does the MAC.
const TERM_LIST: &str = "words";

/// A table that is added to the schema must be added to the transfer, or to the list above with a reason.
#[test]
fn every_table_is_transferred_with_all_columns_or_listed() {
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
    let moved = tables::all(&[&BOAT]);
    let mut known: BTreeSet<String> = moved.iter().map(|table| table.name.clone()).collect();
    known.extend(NOT_TRANSFERRED.map(str::to_owned));
    assert_eq!(names("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"), known);
    for table in &moved {
        let mut columns: BTreeSet<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        let mut nullable: BTreeSet<String> =
            table.columns.iter().filter(|column| column.nullable).map(|column| column.name.clone()).collect();
        if table.name == BOAT.name {
            columns.extend([TERM_LIST, "mac"].map(str::to_owned));
            nullable.extend([TERM_LIST, "mac"].map(str::to_owned));
        }
        if table.name == "fd_counter" {
            // The import counts what it has stored.
            let counted = ["stored_rows", "stored_bytes", "client_usage"].map(str::to_owned);
            columns.extend(counted.clone());
            nullable.extend(counted);
        }
        if table.name == "fd_client" {
            // Clients of groups are not transferred, and the import computes the other two.
            columns.extend(["tenant_groups", "version", "mac"].map(str::to_owned));
            nullable.insert("mac".to_owned());
        }
        columns.insert(table.owner().column().to_owned());
        assert_eq!(names(&format!("SELECT name FROM pragma_table_info('{}')", table.name)), columns, "{}", table.name);
        let text = "SELECT name FROM pragma_table_info('TABLE') WHERE \"notnull\" = 0";
        assert_eq!(names(&text.replace("TABLE", &table.name)), nullable, "{}", table.name);
    }
}
