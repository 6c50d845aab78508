//! Texts that only PostgreSQL is sent. The walls' and the registry's stand beside what uses them.

use std::sync::Arc;

use frontdesk_engine::model::table::{ColumnType, TableSpec};

use crate::sql;

/// Whoever has waited for a lock must see what was committed meanwhile, whatever the role's default is.
pub const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
pub const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY";
pub const COMMIT: &str = "COMMIT";

/// Until the transaction ends, row-level security lets only this tenant's rows through.
pub const TENANT: &str = "SELECT set_config('frontdesk.tenant', $1, true)";

/// Whoever writes for a tenant locks its row first, on whichever node: the tenant's numbers, its chain and
/// everything its plans have read stand still until the commit.
pub const LOCK: &str = "SELECT 1 FROM fd_tenant WHERE tenant = $1 FOR NO KEY UPDATE";

/// A key that is taken is met as a row too few, so that the rest of the flight is not lost with it.
pub const ADD_CLAIMS: &str = "INSERT INTO fd_claim (tenant, client, tool, key_hash, meaning, sealed_answer, at) \
    SELECT $1, * FROM unnest(CAST($2 AS TEXT[]), CAST($3 AS TEXT[]), CAST($4 AS TEXT[]), CAST($5 AS BYTEA[]), \
    CAST($6 AS BYTEA[]), CAST($7 AS BIGINT[])) AS many ON CONFLICT DO NOTHING";

pub const ADD_EVENTS: &str = "INSERT INTO fd_outbox (tenant, seq, event, kind, id, change, at) \
    SELECT $1, * FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS TEXT[]), CAST($4 AS TEXT[]), CAST($5 AS TEXT[]), \
    CAST($6 AS TEXT[]), CAST($7 AS BIGINT[])) AS many";

pub(crate) const ADD_LINKS: &str = "INSERT INTO fd_audit (chain, seq, at, records, hash) \
    SELECT $1, * FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS TEXT[]), CAST($5 AS BYTEA[])) AS many";

/// Columns every kind's table has before its own.
pub(crate) const FIXED: &str = "tenant, id, version, created_at, updated_at, body, masked, sealed";

/// Any number of rows, column by column: the values are the tenant and an array for each other column.
pub fn insert_many(kind: &TableSpec) -> String {
    let fixed = ["TEXT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "TEXT", "BYTEA"];
    let own = kind.columns.iter().map(|column| match column.column_type {
        ColumnType::Text | ColumnType::Digest => "TEXT",
        ColumnType::Integer => "BIGINT",
    });
    let arrays: Vec<String> = (2..)
        .zip(fixed.into_iter().chain(own))
        .map(|(number, holds)| format!("CAST(${number} AS {holds}[])"))
        .collect();
    let columns: String = kind.columns.iter().map(|column| format!(", {}", column.name)).collect();
    format!("INSERT INTO {} ({}{columns}) SELECT $1, * FROM unnest({}) AS many", kind.name, FIXED, arrays.join(", "))
}

/// Any number of words of any number of rows.
pub fn add_words(kind: &TableSpec) -> String {
    format!(
        "INSERT INTO {}_word (tenant, word, id) SELECT $1, * FROM unnest(CAST($2 AS TEXT[]), CAST($3 AS TEXT[])) AS many \
         ON CONFLICT DO NOTHING",
        kind.name
    )
}

fn remove_words(kind: &TableSpec) -> String {
    format!("DELETE FROM {}_word WHERE tenant = $1 AND id = $2", kind.name)
}

/// Removes the words of the rows that `sql::remove_rows_before` is about to remove.
pub(crate) fn remove_words_before(kind: &TableSpec, column: &str) -> String {
    format!("DELETE FROM {}_word WHERE tenant = $1 AND id IN ({})", kind.name, sql::before(kind, column))
}

/// A kind's statements, made once.
pub(crate) struct Texts {
    pub(crate) get: Arc<str>,
    pub(crate) insert: Arc<str>,
    pub(crate) update: Arc<str>,
    pub(crate) require: Arc<str>,
    pub(crate) add_words: Arc<str>,
    pub(crate) remove_words: Arc<str>,
}

impl Texts {
    pub(crate) fn of(kind: &TableSpec) -> Texts {
        Texts {
            get: sql::get(kind).into(),
            insert: insert_many(kind).into(),
            update: sql::update(kind, FIXED).into(),
            require: format!("SELECT 1 FROM {} WHERE tenant = $1 AND id = $2 AND version = $3", kind.name).into(),
            add_words: add_words(kind).into(),
            remove_words: remove_words(kind).into(),
        }
    }
}
