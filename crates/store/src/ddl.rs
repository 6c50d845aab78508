//! Tables: the core's own, by numbered migrations, and those of the contracts' kinds, made from their
//! declarations. Changes only ever add.

use frontdesk_engine::model::table::{ColumnSpec, ColumnType, TableSpec};

/// Each is applied once, in order; their number is the schema's version.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("migrations/0001_core.sql")];

/// Said of a table that is little more than its key, so that SQLite keeps one tree for it instead of two.
const ALL_KEY: &str = " WITHOUT ROWID";

/// The same text for PostgreSQL. Text is compared byte by byte on every database: an order that depends on
/// the language of a server would change under a walk from page to page.
pub(crate) fn for_postgres(text: &str) -> String {
    text.replace("BLOB", "BYTEA").replace("TEXT", "TEXT COLLATE \"C\"").replace(ALL_KEY, "")
}

/// The statements that make a kind's table where there is none, on SQLite: a row remembers its words.
pub(crate) fn create(kind: &TableSpec) -> Vec<String> {
    let mut made = tables(kind, ", words TEXT");
    made.extend(indexes(kind));
    made
}

/// The same on PostgreSQL, where a row's words are found by an index: what rows of an older version do not remember
/// could be told to them only one tenant at a time, from behind its wall.
pub(crate) fn create_on_postgres(kind: &TableSpec) -> Vec<String> {
    let table = kind.name;
    let mut made = tables(kind, "");
    made.push(format!("CREATE INDEX IF NOT EXISTS {table}_word_of ON {table}_word (tenant, id)"));
    made.extend(indexes(kind));
    made.iter().map(|text| for_postgres(text)).collect()
}

fn tables(kind: &TableSpec, words: &str) -> Vec<String> {
    let table = kind.name;
    let mut columns = String::new();
    for column in kind.columns {
        columns.push_str(&format!(", {} {}", column.name, type_of(kind, column)));
    }
    vec![
        format!(
            "CREATE TABLE IF NOT EXISTS {table} (tenant TEXT NOT NULL, id TEXT NOT NULL, version BIGINT NOT NULL, \
             created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, body TEXT NOT NULL, masked TEXT, sealed BLOB{words}{columns}, \
             PRIMARY KEY (tenant, id))"
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS {table}_word (tenant TEXT NOT NULL, word TEXT NOT NULL, id TEXT NOT NULL, \
             PRIMARY KEY (tenant, word, id)){ALL_KEY}"
        ),
    ]
}

/// A column that a newer declaration has added. Rows from before have no value in it, or zero if they
/// are to be sorted by it.
pub(crate) fn add_column(kind: &TableSpec, column: &ColumnSpec) -> String {
    format!("ALTER TABLE {} ADD COLUMN {} {}", kind.name, column.name, type_of(kind, column))
}

/// Every index begins with the tenant, so that one tenant's size costs no other anything. Nobody asks for rows
/// without a value, so those are in no index of filters: most leads have no owner yet, and writing that down in
/// four places was a tenth of their cost.
pub(crate) fn indexes(kind: &TableSpec) -> Vec<String> {
    let table = kind.name;
    let mut made =
        vec![format!("CREATE INDEX IF NOT EXISTS {table}_by_created_at ON {table} (tenant, created_at, id)")];
    for column in kind.unique {
        made.push(format!("CREATE UNIQUE INDEX IF NOT EXISTS {table}_one_{column} ON {table} (tenant, {column})"));
    }
    for column in kind.sorted.iter().filter(|column| **column != "created_at") {
        made.push(format!("CREATE INDEX IF NOT EXISTS {table}_by_{column} ON {table} (tenant, {column}, id)"));
    }
    for column in kind.filtered {
        made.push(format!(
            "CREATE INDEX IF NOT EXISTS {table}_with_{column} ON {table} (tenant, {column}, created_at, id) \
             WHERE {column} IS NOT NULL"
        ));
    }
    made
}

/// A number that rows are sorted by is never missing: nothing comes after or before NULL, so a walk
/// from page to page would lose the row.
fn type_of(kind: &TableSpec, column: &ColumnSpec) -> &'static str {
    match column.column_type {
        ColumnType::Text | ColumnType::Digest => "TEXT",
        ColumnType::Integer if is_needed(kind, column) => "BIGINT NOT NULL DEFAULT 0",
        ColumnType::Integer => "BIGINT",
    }
}

/// Whether every row has a value in it.
pub(crate) fn is_needed(kind: &TableSpec, column: &ColumnSpec) -> bool {
    match column.column_type {
        ColumnType::Text | ColumnType::Digest => false,
        ColumnType::Integer => kind.sorted.contains(&column.name),
    }
}
