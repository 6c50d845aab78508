//! Reading and writing rows whatever their table: a few at a time, so that a tenant of any size fits.

use frontdesk_engine::model::table::TableSpec;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ffi, params_from_iter};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::tables::{Holding, Table, Whose};
use super::{Field, Home, Receiving};
use crate::StoreError;
use crate::audit::tenant_chain;
use crate::postgres::live::Live;
use crate::postgres::set_up_with;
use crate::postgres::texts::BEGIN;
use crate::postgres::values::storable;
use crate::sql::for_sqlite;
use crate::sqlite::{open, words};

/// So many rows are held in memory.
const PIECE: usize = 256;

/// A connection with a transaction open on it, and the tenant it is about.
pub(super) struct Shelf {
    tenant: String,
    link: Link,
}

enum Link {
    Sqlite(Connection),
    Postgres(Live),
}

impl Shelf {
    /// One moment of the database. A server may go on writing meanwhile.
    pub(super) async fn to_read(home: &Home, tenant: &str) -> Result<Shelf, StoreError> {
        let link = match home {
            Home::Sqlite(path) => {
                let connection = open::reader(path)?;
                connection.execute_batch("BEGIN")?;
                Link::Sqlite(connection)
            }
            Home::Postgres(address) => {
                let live = Live::connect(&address.patient()).await?;
                live.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
                Link::Postgres(live.of_tenant(tenant).await?)
            }
        };
        Ok(Shelf { tenant: tenant.to_owned(), link })
    }

    /// Nobody sees what is written before `commit`.
    pub(super) async fn to_write(receiving: &Receiving, tenant: &str) -> Result<Shelf, StoreError> {
        let link = match &receiving.home {
            Home::Sqlite(path) => {
                let connection = open::writer(path)?;
                // What has to be sorted on arrival may be larger than the memory.
                connection.pragma_update(None, "temp_store", "FILE")?;
                connection.execute_batch("BEGIN IMMEDIATE")?;
                Link::Sqlite(connection)
            }
            Home::Postgres(address) => {
                let live = Live::connect(&address.patient()).await?;
                // Whoever holds the data folder may serve another database, or have looked at this one long ago.
                set_up_with(&live, &receiving.master, &receiving.kinds).await?;
                live.batch(BEGIN).await?;
                Link::Postgres(live.of_tenant(tenant).await?)
            }
        };
        Ok(Shelf { tenant: tenant.to_owned(), link })
    }

    pub(super) async fn commit(self) -> Result<(), StoreError> {
        match self.link {
            Link::Sqlite(connection) => Ok(connection.execute_batch("COMMIT")?),
            Link::Postgres(live) => crate::postgres::writers::ended(&live).await,
        }
    }

    /// Hands every row of the table to `take`, in the order of its key.
    pub(super) async fn each(
        &self,
        table: &Table,
        mut take: impl FnMut(Vec<Field>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let kinds: Vec<Holding> = table.columns.iter().map(|column| column.holds).collect();
        let mut values = vec![Field::Text(self.owner(table.whose()))];
        let mut rows = self.query(&table.first(PIECE), &values, &kinds).await?;
        while let Some(last) = rows.last() {
            values.truncate(1);
            values.extend(last.iter().take(table.key()).cloned());
            for row in rows {
                take(row)?;
            }
            rows = self.query(&table.next(PIECE), &values, &kinds).await?;
        }
        Ok(())
    }

    pub(super) async fn count(&self, table: &Table) -> Result<u64, StoreError> {
        let rows = self.query(&table.count(), &[Field::Text(self.owner(table.whose()))], &[Holding::Integer]).await?;
        match rows.first().and_then(|row| row.first()) {
            Some(Field::Integer(count)) => Ok(u64::try_from(*count).unwrap_or_default()),
            Some(_) | None => Err(StoreError::Closed),
        }
    }

    pub(super) async fn query(
        &self,
        text: &str,
        values: &[Field],
        kinds: &[Holding],
    ) -> Result<Vec<Vec<Field>>, StoreError> {
        match &self.link {
            Link::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(&for_sqlite(text))?;
                let rows = statement.query_map(params_from_iter(values), |row| {
                    (0..kinds.len()).map(|place| Ok(Field::from(row.get_ref(place)?))).collect()
                })?;
                Ok(rows.collect::<Result<_, _>>()?)
            }
            Link::Postgres(live) => {
                let rows = live.query(text, &bound(values)).await?;
                rows.iter().map(|row| fields(row, kinds).map_err(StoreError::from)).collect()
            }
        }
    }

    /// Runs one change; how many rows it met.
    pub(super) async fn change(&self, text: &str, values: &[Field]) -> Result<u64, StoreError> {
        match &self.link {
            Link::Sqlite(connection) => {
                let changed = connection.prepare_cached(&for_sqlite(text))?.execute(params_from_iter(values))?;
                Ok(changed as u64)
            }
            Link::Postgres(live) => Ok(live.execute(text, &bound(values)).await?),
        }
    }

    /// Adds rows of one table, each with a field for every column.
    pub(super) async fn put(&self, table: &Table, rows: Vec<Vec<Field>>) -> Result<(), StoreError> {
        let owner = self.owner(table.whose());
        let put = match &self.link {
            Link::Sqlite(connection) => put_each(connection, table, &owner, &rows).map_err(StoreError::from),
            Link::Postgres(live) => put_all(live, table, &owner, rows).await.map_err(StoreError::from),
        };
        put.map_err(|error| match is_taken(&error) {
            true => StoreError::AlreadyThere { table: table.name.clone() },
            false => error,
        })
    }

    /// Rows remember their words on SQLite only, so they travel without.
    pub(super) fn remember_words(&self, kind: &TableSpec) -> Result<(), StoreError> {
        match &self.link {
            Link::Sqlite(connection) => Ok(connection.execute(&words::remember(kind), [&self.tenant]).map(drop)?),
            Link::Postgres(_) => Ok(()),
        }
    }

    fn owner(&self, whose: Whose) -> String {
        match whose {
            Whose::Tenant | Whose::Client => self.tenant.clone(),
            Whose::Chain => tenant_chain(&self.tenant),
        }
    }
}

fn put_each(connection: &Connection, table: &Table, owner: &str, rows: &[Vec<Field>]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&for_sqlite(&table.insert()))?;
    for row in rows {
        statement.raw_bind_parameter(1, owner)?;
        for (place, field) in (2..).zip(row) {
            statement.raw_bind_parameter(place, field)?;
        }
        statement.raw_execute()?;
    }
    Ok(())
}

/// A column of many rows.
enum Many {
    Texts(Vec<Option<String>>),
    Integers(Vec<Option<i64>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

async fn put_all(live: &Live, table: &Table, owner: &str, rows: Vec<Vec<Field>>) -> Result<(), tokio_postgres::Error> {
    let mut columns: Vec<Many> = table
        .columns
        .iter()
        .map(|column| match column.holds {
            Holding::Text => Many::Texts(Vec::new()),
            Holding::Integer => Many::Integers(Vec::new()),
            Holding::Bytes => Many::Bytes(Vec::new()),
        })
        .collect();
    for row in rows {
        for (column, field) in columns.iter_mut().zip(row) {
            column.push(field);
        }
    }
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&owner];
    for column in &columns {
        values.push(match column {
            Many::Texts(all) => all,
            Many::Integers(all) => all,
            Many::Bytes(all) => all,
        });
    }
    live.execute(&table.insert_many(), &values).await?;
    Ok(())
}

impl Many {
    /// Arrival has checked that each field is of its column's kind.
    fn push(&mut self, field: Field) {
        match self {
            // What PostgreSQL cannot keep is kept as it would have been written there.
            Many::Texts(all) => all.push(match field {
                Field::Text(text) => Some(storable(&text)),
                Field::Null | Field::Integer(_) | Field::Bytes(_) => None,
            }),
            Many::Integers(all) => all.push(match field {
                Field::Integer(number) => Some(number),
                Field::Null | Field::Text(_) | Field::Bytes(_) => None,
            }),
            Many::Bytes(all) => all.push(match field {
                Field::Bytes(bytes) => Some(bytes),
                Field::Null | Field::Text(_) | Field::Integer(_) => None,
            }),
        }
    }
}

/// Other rules than those of keys are broken by a row that is wrong, not by one that is here.
fn is_taken(error: &StoreError) -> bool {
    let keys = [ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ffi::SQLITE_CONSTRAINT_UNIQUE];
    matches!(error, StoreError::Database(error) if error.sqlite_error().is_some_and(|error| keys.contains(&error.extended_code)))
        || matches!(error, StoreError::Postgres(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION))
}

impl From<ValueRef<'_>> for Field {
    fn from(value: ValueRef<'_>) -> Field {
        match value {
            ValueRef::Null => Field::Null,
            ValueRef::Integer(number) => Field::Integer(number),
            // No column of ours holds one.
            ValueRef::Real(_) => Field::Null,
            ValueRef::Text(text) => Field::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => Field::Bytes(bytes.to_vec()),
        }
    }
}

impl rusqlite::ToSql for Field {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Field::Null => Ok(ToSqlOutput::Borrowed(ValueRef::Null)),
            Field::Integer(number) => Ok(ToSqlOutput::Borrowed(ValueRef::Integer(*number))),
            Field::Text(text) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))),
            Field::Bytes(bytes) => Ok(ToSqlOutput::Borrowed(ValueRef::Blob(bytes))),
        }
    }
}

fn bound(values: &[Field]) -> Vec<&(dyn ToSql + Sync)> {
    let value = |field| match field {
        &Field::Null => &None::<String> as &(dyn ToSql + Sync),
        Field::Integer(number) => number,
        Field::Text(text) => text,
        Field::Bytes(bytes) => bytes,
    };
    values.iter().map(value).collect()
}

fn fields(row: &tokio_postgres::Row, kinds: &[Holding]) -> Result<Vec<Field>, tokio_postgres::Error> {
    let mut fields = Vec::with_capacity(kinds.len());
    for (place, kind) in kinds.iter().enumerate() {
        fields.push(match kind {
            Holding::Text => row.try_get::<_, Option<String>>(place)?.map_or(Field::Null, Field::Text),
            Holding::Integer => row.try_get::<_, Option<i64>>(place)?.map_or(Field::Null, Field::Integer),
            Holding::Bytes => row.try_get::<_, Option<Vec<u8>>>(place)?.map_or(Field::Null, Field::Bytes),
        });
    }
    Ok(fields)
}
