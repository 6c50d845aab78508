//! Statements that only PostgreSQL is sent. Those of row-level security and the schema are in their own modules.

use std::sync::Arc;

use frontdesk_engine::model::table::{ColumnType, TableSpec};

use crate::backend::usage;
use crate::sql;

/// After waiting for a lock, a statement must see what was committed meanwhile, whatever the role's default is.
pub const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
pub const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY";
/// One snapshot for several reads.
pub(crate) const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
pub const COMMIT: &str = "COMMIT";

/// Until the transaction ends, row-level security shows only this tenant's rows.
pub const SET_TENANT: &str = "SELECT set_config('frontdesk.tenant', $1, true)";

/// A key that is taken is reported as a missing row, so that it does not abort the transaction.
pub const INSERT_CLAIMS: &str = "INSERT INTO fd_claim (tenant, client, tool, key_hash, meaning, sealed_answer, at) \
    SELECT $1, * FROM unnest(CAST($2 AS TEXT[]), CAST($3 AS TEXT[]), CAST($4 AS TEXT[]), CAST($5 AS BYTEA[]), \
    CAST($6 AS BYTEA[]), CAST($7 AS BIGINT[])) AS many ON CONFLICT DO NOTHING";

pub const INSERT_EVENTS: &str = "INSERT INTO fd_outbox (tenant, seq, event, kind, id, change, at) \
    SELECT $1, * FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS TEXT[]), CAST($4 AS TEXT[]), CAST($5 AS TEXT[]), \
    CAST($6 AS TEXT[]), CAST($7 AS BIGINT[])) AS many";

pub(crate) const INSERT_LINKS: &str = "INSERT INTO fd_audit (chain, seq, at, records, hash) \
    SELECT $1, * FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS TEXT[]), CAST($5 AS BYTEA[])) AS many";

/// The columns of every table before its declared ones.
pub(crate) const FIXED_COLUMNS: &str =
    "tenant, id, version, created_at, updated_at, body, masked, sealed, sealed_secret, mac";

/// Inserts any number of rows; the parameters are the tenant and an array for each other column.
pub fn insert_many(table: &TableSpec) -> String {
    let fixed = ["TEXT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "TEXT", "BYTEA", "BYTEA", "BYTEA"];
    let own = table.columns.iter().map(|column| match column.column_type {
        ColumnType::Text | ColumnType::Digest => "TEXT",
        ColumnType::Integer => "BIGINT",
    });
    let arrays: Vec<String> = (2..)
        .zip(fixed.into_iter().chain(own))
        .map(|(number, holds)| format!("CAST(${number} AS {holds}[])"))
        .collect();
    let columns: String = table.columns.iter().map(|column| format!(", {}", column.name)).collect();
    format!(
        "INSERT INTO {} ({}{columns}) SELECT $1, * FROM unnest({}) AS many",
        table.name,
        FIXED_COLUMNS,
        arrays.join(", ")
    )
}

/// Inserts any number of search terms of any number of rows.
pub fn insert_terms(table: &TableSpec) -> String {
    format!(
        "INSERT INTO {}_word (tenant, word, id) SELECT $1, * FROM unnest(CAST($2 AS TEXT[]), CAST($3 AS TEXT[])) AS many \
         ON CONFLICT DO NOTHING",
        table.name
    )
}

pub(crate) fn delete_terms(table: &TableSpec) -> String {
    format!("DELETE FROM {}_word WHERE tenant = $1 AND id = $2", table.name)
}

/// Deletes the search terms of the rows that `sql::delete_rows_before` deletes.
pub(crate) fn delete_terms_before(table: &TableSpec, column: &str) -> String {
    format!("DELETE FROM {}_word WHERE tenant = $1 AND id IN ({})", table.name, sql::ids_before(table, column))
}

/// The statements of one table, generated once.
pub(crate) struct PgTexts {
    pub(crate) get: Arc<str>,
    pub(crate) insert: Arc<str>,
    pub(crate) update: Arc<str>,
    pub(crate) remove: Arc<str>,
    pub(crate) require: Arc<str>,
    pub(crate) require_absent: Arc<str>,
    pub(crate) insert_terms: Arc<str>,
    pub(crate) delete_terms: Arc<str>,
    /// Counts the bytes of a row that is about to change.
    pub(crate) before_change: Arc<str>,
}

impl PgTexts {
    pub(crate) fn of(table: &TableSpec) -> PgTexts {
        PgTexts {
            get: sql::get(table).into(),
            insert: insert_many(table).into(),
            update: sql::update(table, FIXED_COLUMNS).into(),
            remove: sql::remove(table).into(),
            require: format!("SELECT 1 FROM {} WHERE tenant = $1 AND id = $2 AND version = $3", table.name).into(),
            require_absent: format!(
                "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM {} WHERE tenant = $1 AND id = $2)",
                table.name
            )
            .into(),
            insert_terms: insert_terms(table).into(),
            delete_terms: delete_terms(table).into(),
            before_change: usage::before_change(table).into(),
        }
    }
}
