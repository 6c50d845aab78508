//! The schema: the core's own tables, by numbered migrations, and those that contracts declare, generated from their
//! declarations. Changes only ever add.

use frontdesk_engine::model::table::{ColumnSpec, ColumnType, TableSpec};

use crate::StoreError;
use crate::error::DatabaseKind;
use crate::installation::IsNewTable;

/// Each is applied once, in order; their count is the schema's version.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_core.sql"),
    include_str!("../migrations/0002_index.sql"),
    include_str!("../migrations/0003_tenants.sql"),
    include_str!("../migrations/0004_logins.sql"),
    include_str!("../migrations/0005_authenticated_rows.sql"),
    INSTALLATION,
    include_str!("../migrations/0007_keys.sql"),
    include_str!("../migrations/0008_quotas.sql"),
    include_str!("../migrations/0009_people.sql"),
];

const INSTALLATION: &str = include_str!("../migrations/0006_audit_summary.sql");

/// Whether migrating a schema of this version creates the table of the installation.
pub(crate) fn creates_installation(found: i64) -> IsNewTable {
    let is_new = MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()).any(|text| *text == INSTALLATION);
    if is_new { IsNewTable::Yes } else { IsNewTable::No }
}

/// Added to tables of releases that had no write-only values.
const SECRET_COLUMN: &str = "sealed_secret BLOB";
/// Added to tables of releases whose rows had no MACs.
const MAC_COLUMN: &str = "mac BLOB";

/// For a table that is little more than its key: SQLite then keeps one B-tree for it instead of two.
const WITHOUT_ROWID: &str = " WITHOUT ROWID";

/// The same text for PostgreSQL. Text is compared byte by byte on every database: with a collation that depends on the
/// server's locale, paging could skip or repeat rows after an upgrade.
pub(crate) fn for_postgres(text: &str) -> String {
    text.replace("BLOB", "BYTEA").replace("TEXT", "TEXT COLLATE \"C\"").replace(WITHOUT_ROWID, "")
}

/// The statements that create a table on SQLite, where a row lists its own search terms. Indexes are created apart.
pub(crate) fn create_sqlite(table: &TableSpec) -> Vec<String> {
    tables(table, ", words TEXT")
}

/// The same on PostgreSQL, where the search terms of a row are found by an index.
pub(crate) fn create_postgres(table: &TableSpec) -> Vec<String> {
    let name = table.name;
    let mut statements = tables(table, "");
    statements.push(format!("CREATE INDEX IF NOT EXISTS {name}_word_of ON {name}_word (tenant, id)"));
    statements.iter().map(|text| for_postgres(text)).collect()
}

fn tables(table: &TableSpec, words: &str) -> Vec<String> {
    let name = table.name;
    let mut columns = String::new();
    for column in table.columns {
        columns.push_str(&format!(", {} {}", column.name, type_of(table, column)));
    }
    vec![
        format!(
            "CREATE TABLE IF NOT EXISTS {name} (tenant TEXT NOT NULL, id TEXT NOT NULL, version BIGINT NOT NULL, \
             created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, body TEXT NOT NULL, masked TEXT, sealed BLOB, {SECRET_COLUMN}, {MAC_COLUMN}{words}{columns}, \
             PRIMARY KEY (tenant, id))"
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS {name}_word (tenant TEXT NOT NULL, word TEXT NOT NULL, id TEXT NOT NULL, \
             PRIMARY KEY (tenant, word, id)){WITHOUT_ROWID}"
        ),
    ]
}

/// The statements that add the columns a table does not have yet. Declared ones are NULL in existing rows, or 0 if they
/// are sorted, until the rows are indexed. A column that is not declared was added by a newer version.
pub(crate) fn add_missing_columns(
    database: DatabaseKind,
    table: &TableSpec,
    fixed: &str,
    present: &[String],
) -> Result<Vec<String>, StoreError> {
    let declared =
        |name: &str| fixed.split(", ").any(|one| one == name) || table.columns.iter().any(|one| one.name == name);
    if let Some(unknown) = present.iter().find(|name| !declared(name)) {
        return Err(StoreError::UnknownColumn { database, table: table.name.to_owned(), column: unknown.clone() });
    }
    let definitions = table.columns.iter().map(|column| format!("{} {}", column.name, type_of(table, column)));
    let is_missing =
        |definition: &String| !present.iter().any(|name| definition.split(' ').next() == Some(name.as_str()));
    let missing = [SECRET_COLUMN, MAC_COLUMN].map(str::to_owned).into_iter().chain(definitions).filter(is_missing);
    Ok(missing.map(|definition| format!("ALTER TABLE {} ADD COLUMN {definition}", table.name)).collect())
}

/// Every index begins with the tenant, so that a large tenant does not slow down the others. Filters never ask for
/// NULL, so rows without a value are left out of the filter indexes, which makes inserts about a tenth cheaper. A column
/// that is not filled yet gets its indexes later: only then is it known whether its values are unique.
pub(crate) fn indexes(table: &TableSpec, unfilled: &[&str]) -> Vec<String> {
    let name = table.name;
    let is_filled = |column: &&&str| !unfilled.contains(*column);
    let mut statements =
        vec![format!("CREATE INDEX IF NOT EXISTS {name}_by_created_at ON {name} (tenant, created_at, id)")];
    for column in table.unique.iter().filter(is_filled) {
        statements.push(format!("CREATE UNIQUE INDEX IF NOT EXISTS {name}_one_{column} ON {name} (tenant, {column})"));
    }
    for column in table.sorted.iter().filter(is_filled).filter(|column| **column != "created_at") {
        statements.push(format!("CREATE INDEX IF NOT EXISTS {name}_by_{column} ON {name} (tenant, {column}, id)"));
    }
    for column in table.filtered.iter().filter(is_filled) {
        statements.push(format!(
            "CREATE INDEX IF NOT EXISTS {name}_with_{column} ON {name} (tenant, {column}, created_at, id) \
             WHERE {column} IS NOT NULL"
        ));
    }
    statements
}

/// Names of indexes that an earlier declaration made, of columns that need not be unique any more.
pub(crate) fn outdated_indexes(table: &TableSpec) -> Vec<String> {
    let others = table.columns.iter().filter(|column| !table.unique.contains(&column.name));
    others.map(|column| format!("{}_one_{}", table.name, column.name)).collect()
}

/// A sorted integer is never NULL: comparisons with NULL are never true, so paging would lose the row.
fn type_of(table: &TableSpec, column: &ColumnSpec) -> &'static str {
    match column.column_type {
        ColumnType::Text | ColumnType::Digest => "TEXT",
        ColumnType::Integer if is_required(table, column) => "BIGINT NOT NULL DEFAULT 0",
        ColumnType::Integer => "BIGINT",
    }
}

/// Whether the column is NOT NULL.
pub(crate) fn is_required(table: &TableSpec, column: &ColumnSpec) -> bool {
    match column.column_type {
        ColumnType::Text | ColumnType::Digest => false,
        ColumnType::Integer => table.sorted.contains(&column.name),
    }
}
