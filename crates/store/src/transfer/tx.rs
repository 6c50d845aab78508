//! A transaction on either database that reads or writes a tenant's rows, some at a time, so that a tenant may be
//! larger than the memory.

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::seal::SealKey;
use rusqlite::{Connection, ffi};
use tokio_postgres::error::SqlState;

use super::tables::{RowOwner, TransferTable};
use super::{DataLocation, ImportTarget};
use crate::StoreError;
use crate::audit::{roster, tenant_chain};
use crate::keyring::TenantKeys;
use crate::postgres::check_initialized;
use crate::postgres::connection::PgConnection;
use crate::postgres::sql_texts::{BEGIN, BEGIN_SNAPSHOT};
use crate::postgres::values::{PgValue, storable};
use crate::reindex::{self, IndexWork};
use crate::sql::for_sqlite;
use crate::sql::session::{SqlReader, SqlRow, SqlSession, StoredValue};
use crate::sqlite::{open, search_terms};

/// How many rows are read at a time.
const CHUNK_ROWS: usize = 256;

pub(super) struct TransferTx {
    tenant: String,
    connection: TransferConnection,
}

enum TransferConnection {
    Sqlite(Connection),
    Postgres(PgConnection),
}

impl SqlReader for TransferTx {
    async fn query(&self, text: &str, params: &[StoredValue]) -> Result<Vec<SqlRow>, StoreError> {
        match &self.connection {
            TransferConnection::Sqlite(connection) => SqlReader::query(connection, text, params).await,
            TransferConnection::Postgres(connection) => SqlReader::query(connection, text, params).await,
        }
    }
}

impl TransferTx {
    /// One snapshot; servers may go on writing.
    pub(super) async fn begin_read(location: &DataLocation, tenant: &str) -> Result<TransferTx, StoreError> {
        let connection = match location {
            DataLocation::Sqlite(path) => {
                let connection = open::reader(path)?;
                connection.execute_batch("BEGIN")?;
                TransferConnection::Sqlite(connection)
            }
            DataLocation::Postgres(address) => {
                let connection = PgConnection::connect(&address.without_statement_timeout()).await?;
                connection.batch_execute(BEGIN_SNAPSHOT).await?;
                TransferConnection::Postgres(connection.with_tenant(tenant).await?)
            }
        };
        Ok(TransferTx { tenant: tenant.to_owned(), connection })
    }

    /// Nothing is visible to others before `commit`.
    pub(super) async fn begin_write(target: &ImportTarget, tenant: &str) -> Result<TransferTx, StoreError> {
        let connection = match &target.location {
            DataLocation::Sqlite(path) => {
                let connection = open::writer(path)?;
                // Rebuilding the lists of search terms may sort more than fits into memory.
                connection.pragma_update(None, "temp_store", "FILE")?;
                connection.execute_batch("BEGIN IMMEDIATE")?;
                TransferConnection::Sqlite(connection)
            }
            DataLocation::Postgres(address) => {
                let connection = PgConnection::connect(&address.without_statement_timeout()).await?;
                // The server that was stopped for this import may have used another database.
                check_initialized(&connection, &target.master, &target.tables).await?;
                connection.batch_execute(BEGIN).await?;
                TransferConnection::Postgres(connection.with_tenant(tenant).await?)
            }
        };
        Ok(TransferTx { tenant: tenant.to_owned(), connection })
    }

    pub(super) async fn commit(self) -> Result<(), StoreError> {
        match self.connection {
            TransferConnection::Sqlite(connection) => Ok(connection.execute_batch("COMMIT")?),
            TransferConnection::Postgres(connection) => connection.commit().await,
        }
    }

    /// Hands every row of the table to `take`, in the order of its key.
    pub(super) async fn for_each_row(
        &self,
        table: &TransferTable,
        mut take: impl FnMut(Vec<StoredValue>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut params = vec![self.owner(table.owner())];
        let mut rows = self.query(&table.select_first(CHUNK_ROWS), &params).await?;
        while let Some(SqlRow(last)) = rows.last() {
            params.truncate(1);
            params.extend(last.iter().take(table.key()).cloned());
            for SqlRow(row) in rows {
                take(row)?;
            }
            rows = self.query(&table.select_next(CHUNK_ROWS), &params).await?;
        }
        Ok(())
    }

    pub(super) async fn count(&self, table: &TransferTable) -> Result<u64, StoreError> {
        let rows = self.query(&table.count(), &[self.owner(table.owner())]).await?;
        let count = rows.first().map(|row| row.integer(0)).transpose()?.unwrap_or_default();
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// The values as the database stores them.
    pub(super) fn stored(&self, row: Vec<StoredValue>) -> Vec<StoredValue> {
        match &self.connection {
            TransferConnection::Sqlite(_) => row,
            TransferConnection::Postgres(_) => row.into_iter().map(storable_value).collect(),
        }
    }

    /// The number of changed rows.
    pub(super) async fn execute(&self, text: &str, params: &[StoredValue]) -> Result<u64, StoreError> {
        match &self.connection {
            TransferConnection::Sqlite(connection) => SqlSession::execute(connection, text, params).await,
            TransferConnection::Postgres(connection) => SqlSession::execute(connection, text, params).await,
        }
    }

    /// Enters the tenant's chain into the roster.
    pub(super) async fn begin_chain(&self, key: &SealKey, chain: &str, rows_since: i64) -> Result<(), StoreError> {
        match &self.connection {
            TransferConnection::Sqlite(connection) => roster::begin_chain(connection, key, chain, rows_since).await,
            TransferConnection::Postgres(connection) => roster::begin_chain(connection, key, chain, rows_since).await,
        }
    }

    /// Inserts rows of one table, each with a value for every column.
    pub(super) async fn insert(&self, table: &TransferTable, rows: Vec<Vec<StoredValue>>) -> Result<(), StoreError> {
        let owner = self.owner(table.owner());
        let inserted = match &self.connection {
            TransferConnection::Sqlite(connection) => insert_each(connection, table, &owner, &rows),
            TransferConnection::Postgres(connection) => insert_all(connection, table, owner, rows).await,
        };
        inserted.map_err(|error| {
            if is_unique_violation(&error) { StoreError::DuplicateRow { table: table.name.clone() } } else { error }
        })
    }

    /// Computes columns and search terms of the rows that were inserted.
    pub(super) async fn reindex(&self, keys: &TenantKeys, work: &IndexWork) -> Result<(), StoreError> {
        let indexed = match &self.connection {
            TransferConnection::Sqlite(connection) => reindex::run_tenant(connection, keys, work, &self.tenant).await,
            TransferConnection::Postgres(connection) => reindex::run_tenant(connection, keys, work, &self.tenant).await,
        };
        indexed.map_err(|error| {
            let column = work.columns.iter().find(|column| work.table.unique.contains(&column.name));
            match column {
                Some(column) if is_unique_violation(&error) => {
                    StoreError::NotUnique { table: work.table.name, column: column.name, rows: None }
                }
                Some(_) | None => error,
            }
        })
    }

    /// Only SQLite stores these lists, so they are not transferred.
    pub(super) fn rebuild_term_lists(&self, table: &TableSpec) -> Result<(), StoreError> {
        match &self.connection {
            TransferConnection::Sqlite(connection) => {
                connection.execute(&search_terms::rebuild_term_lists(table), [&self.tenant])?;
                Ok(())
            }
            TransferConnection::Postgres(_) => Ok(()),
        }
    }

    fn owner(&self, owner: RowOwner) -> StoredValue {
        match owner {
            RowOwner::Tenant | RowOwner::Client => self.tenant.as_str().into(),
            RowOwner::Chain => tenant_chain(&self.tenant).into(),
        }
    }
}

fn insert_each(
    connection: &Connection,
    table: &TransferTable,
    owner: &StoredValue,
    rows: &[Vec<StoredValue>],
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(&for_sqlite(&table.insert()))?;
    for row in rows {
        statement.raw_bind_parameter(1, owner)?;
        for (number, value) in (2..).zip(row) {
            statement.raw_bind_parameter(number, value)?;
        }
        statement.raw_execute()?;
    }
    Ok(())
}

async fn insert_all(
    connection: &PgConnection,
    table: &TransferTable,
    owner: StoredValue,
    rows: Vec<Vec<StoredValue>>,
) -> Result<(), StoreError> {
    let count = rows.first().map_or(0, Vec::len);
    let mut columns: Vec<Vec<StoredValue>> = (0..count).map(|_| Vec::with_capacity(rows.len())).collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(storable_value(value));
        }
    }
    let mut values = vec![PgValue::One(owner)];
    values.extend(columns.into_iter().map(PgValue::Array));
    for result in connection.execute_all(None, &[(&table.insert_many(), &values)]).await? {
        result?;
    }
    Ok(())
}

fn storable_value(value: StoredValue) -> StoredValue {
    match value {
        StoredValue::Text(text) => storable(&text),
        value @ (StoredValue::Null | StoredValue::Integer(_) | StoredValue::Bytes(_)) => value,
    }
}

/// Violations of other constraints mean that a row is invalid, not that it exists.
fn is_unique_violation(error: &StoreError) -> bool {
    let codes = [ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ffi::SQLITE_CONSTRAINT_UNIQUE];
    matches!(error, StoreError::Database(error) if error.sqlite_error().is_some_and(|error| codes.contains(&error.extended_code)))
        || matches!(error, StoreError::Postgres(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION))
}
