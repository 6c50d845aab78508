//! One interface to both databases for everything that is not a hot path: a statement is written once with `$n` and
//! runs on a SQLite connection or a PostgreSQL connection.

use std::future::Future;

use frontdesk_engine::model::table::TableSpec;
use futures_util::FutureExt as _;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::for_sqlite;
use crate::StoreError;
use crate::sqlite::search_terms;
use crate::transfer::tables::TransferTable;

/// A value as a table stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredValue {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A row as it was read. Asking for a column as another type than it has is an error.
#[derive(Debug, Clone)]
pub(crate) struct SqlRow(pub(crate) Vec<StoredValue>);

pub(crate) trait SqlReader {
    fn query(&self, text: &str, params: &[StoredValue]) -> impl Future<Output = Result<Vec<SqlRow>, StoreError>>;
}

pub(crate) trait SqlSession: SqlReader {
    /// Row locks, to be added to a `SELECT`.
    const FOR_SHARE: &'static str;
    const FOR_UPDATE: &'static str;
    /// As `FOR_UPDATE`, but rows that another node has locked are left out.
    const SKIP_LOCKED: &'static str;
    /// Deletes the oldest idempotency keys of tenant `$1` that are older than `$2`, at most `$3` of them.
    const DELETE_CLAIMS: &'static str;
    /// Selects the names of the tables that have a column `tenant`.
    const TABLES_OF_TENANTS: &'static str;

    /// Deletes at most so many rows of the owner in `$1`.
    fn delete_some(table: &TransferTable, rows: usize) -> String;

    /// Deletes the search terms of the rows that `sql::delete_rows_before` deletes with the same parameters.
    fn delete_terms_before(table: &TableSpec, column: &str) -> String;

    /// The number of rows that were changed.
    fn execute(&self, text: &str, params: &[StoredValue]) -> impl Future<Output = Result<u64, StoreError>>;

    /// Until the transaction ends, no other node issues or ends tokens.
    fn lock_tokens(&self) -> impl Future<Output = Result<(), StoreError>>;

    /// Changes nothing, but writes to the disk.
    fn write_probe(&self) -> impl Future<Output = Result<(), StoreError>>;
}

/// SQLite answers at once, so these futures are always ready: see `run_ready`.
impl SqlReader for Connection {
    async fn query(&self, text: &str, params: &[StoredValue]) -> Result<Vec<SqlRow>, StoreError> {
        let mut statement = self.prepare_cached(&for_sqlite(text))?;
        let columns = statement.column_count();
        let rows = statement.query_map(params_from_iter(params), |row| {
            let values = (0..columns).map(|column| Ok(StoredValue::from(row.get_ref(column)?)));
            values.collect::<Result<_, _>>().map(SqlRow)
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// One connection writes at a time, so there are no row locks.
impl SqlSession for Connection {
    const FOR_SHARE: &'static str = "";
    const FOR_UPDATE: &'static str = "";
    const SKIP_LOCKED: &'static str = "";
    /// The unary plus makes SQLite use the index on `at`: few claims are old, and a tenant may have many.
    const DELETE_CLAIMS: &'static str = "DELETE FROM fd_claim WHERE rowid IN \
        (SELECT rowid FROM fd_claim WHERE +tenant = $1 AND at < $2 ORDER BY at LIMIT $3)";
    const TABLES_OF_TENANTS: &'static str = "SELECT own.name FROM sqlite_schema AS own, pragma_table_info(own.name) AS held \
        WHERE own.type = 'table' AND held.name = 'tenant' ORDER BY own.name";

    fn delete_some(table: &TransferTable, rows: usize) -> String {
        table.delete_some(rows)
    }

    fn delete_terms_before(table: &TableSpec, column: &str) -> String {
        search_terms::delete_terms_before(table, column)
    }

    async fn execute(&self, text: &str, params: &[StoredValue]) -> Result<u64, StoreError> {
        let changed = self.prepare_cached(&for_sqlite(text))?.execute(params_from_iter(params))?;
        Ok(u64::try_from(changed).unwrap_or(u64::MAX))
    }

    async fn lock_tokens(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// A transaction without a write would not notice a full disk.
    async fn write_probe(&self) -> Result<(), StoreError> {
        let version: i64 = self.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok(self.pragma_update(None, "user_version", version)?)
    }
}

/// The result of a future that never waits, which is every one on a SQLite session.
pub(crate) fn run_ready<T>(future: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    future.now_or_never().unwrap_or(Err(StoreError::OutcomeUnknown))
}

impl SqlRow {
    pub(crate) fn text(&self, column: usize) -> Result<&str, StoreError> {
        match self.0.get(column) {
            Some(StoredValue::Text(text)) => Ok(text),
            Some(StoredValue::Null | StoredValue::Integer(_) | StoredValue::Bytes(_)) | None => Err(unexpected(column)),
        }
    }

    pub(crate) fn integer(&self, column: usize) -> Result<i64, StoreError> {
        self.optional_integer(column)?.ok_or_else(|| unexpected(column))
    }

    pub(crate) fn optional_integer(&self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.0.get(column) {
            Some(StoredValue::Integer(number)) => Ok(Some(*number)),
            Some(StoredValue::Null) => Ok(None),
            Some(StoredValue::Text(_) | StoredValue::Bytes(_)) | None => Err(unexpected(column)),
        }
    }

    pub(crate) fn optional_text(&self, column: usize) -> Result<Option<&str>, StoreError> {
        if self.0.get(column) == Some(&StoredValue::Null) { Ok(None) } else { self.text(column).map(Some) }
    }

    pub(crate) fn optional_bytes(&self, column: usize) -> Result<Option<&[u8]>, StoreError> {
        if self.0.get(column) == Some(&StoredValue::Null) { Ok(None) } else { self.bytes(column).map(Some) }
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<&[u8], StoreError> {
        match self.0.get(column) {
            Some(StoredValue::Bytes(bytes)) => Ok(bytes),
            Some(StoredValue::Null | StoredValue::Integer(_) | StoredValue::Text(_)) | None => Err(unexpected(column)),
        }
    }
}

fn unexpected(column: usize) -> StoreError {
    StoreError::UnexpectedValue { column }
}

impl From<&str> for StoredValue {
    fn from(text: &str) -> StoredValue {
        StoredValue::Text(text.to_owned())
    }
}

impl From<String> for StoredValue {
    fn from(text: String) -> StoredValue {
        StoredValue::Text(text)
    }
}

impl From<i64> for StoredValue {
    fn from(number: i64) -> StoredValue {
        StoredValue::Integer(number)
    }
}

impl From<&[u8]> for StoredValue {
    fn from(bytes: &[u8]) -> StoredValue {
        StoredValue::Bytes(bytes.to_vec())
    }
}

impl<T: Into<StoredValue>> From<Option<T>> for StoredValue {
    fn from(value: Option<T>) -> StoredValue {
        value.map_or(StoredValue::Null, Into::into)
    }
}

impl From<ValueRef<'_>> for StoredValue {
    fn from(value: ValueRef<'_>) -> StoredValue {
        match value {
            ValueRef::Null => StoredValue::Null,
            ValueRef::Integer(number) => StoredValue::Integer(number),
            // No column of ours holds one.
            ValueRef::Real(_) => StoredValue::Null,
            ValueRef::Text(text) => StoredValue::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => StoredValue::Bytes(bytes.to_vec()),
        }
    }
}

impl rusqlite::ToSql for StoredValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            StoredValue::Null => ValueRef::Null,
            StoredValue::Integer(number) => ValueRef::Integer(*number),
            StoredValue::Text(text) => ValueRef::Text(text.as_bytes()),
            StoredValue::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
