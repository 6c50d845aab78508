//! Conversion of values to and from PostgreSQL.

use std::error::Error;

use frontdesk_engine::model::table::StoredRow;
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::StoreError;
use crate::sql::session::{SqlRow, StoredValue};
use crate::sql::{QueryParam, SealedRow};

/// An owned parameter of a write.
#[derive(Debug, Clone)]
pub(crate) enum PgValue {
    One(StoredValue),
    /// One column of several rows.
    Array(Vec<StoredValue>),
}

impl PgValue {
    pub(crate) fn integer(number: i64) -> PgValue {
        PgValue::One(StoredValue::Integer(number))
    }

    /// See `storable`.
    pub(crate) fn text(text: &str) -> PgValue {
        PgValue::One(storable(text))
    }

    /// The parameters of one row for a statement that inserts any number: all but the first become arrays.
    pub(crate) fn row(first: StoredValue, rest: impl IntoIterator<Item = StoredValue>) -> Vec<PgValue> {
        let mut values = vec![PgValue::One(first)];
        values.extend(rest.into_iter().map(|value| PgValue::Array(vec![value])));
        values
    }
}

/// PostgreSQL refuses NUL in a text, so it is stored as the replacement character.
pub(crate) fn storable(text: &str) -> StoredValue {
    StoredValue::Text(storable_text(text))
}

/// PostgreSQL cannot store NUL.
pub(crate) fn storable_text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

impl From<QueryParam<'_>> for StoredValue {
    fn from(value: QueryParam<'_>) -> StoredValue {
        match value {
            QueryParam::Null => StoredValue::Null,
            QueryParam::Text(text) => storable(text),
            QueryParam::Integer(number) => StoredValue::Integer(number),
            QueryParam::Digest(text) => StoredValue::Text(text),
        }
    }
}

type EncodeResult = Result<IsNull, Box<dyn Error + Sync + Send>>;

impl ToSql for PgValue {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> EncodeResult {
        match self {
            PgValue::One(value) => value.to_sql(kind, out),
            PgValue::Array(values) => values.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl ToSql for StoredValue {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> EncodeResult {
        match self {
            StoredValue::Null => Ok(IsNull::Yes),
            StoredValue::Text(text) => text.to_sql(kind, out),
            StoredValue::Integer(number) => number.to_sql(kind, out),
            StoredValue::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl ToSql for QueryParam<'_> {
    /// No stored text contains NUL, so a text that does is compared as NULL, which equals nothing.
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> EncodeResult {
        match self {
            QueryParam::Null => Ok(IsNull::Yes),
            QueryParam::Text(text) if text.contains('\0') => Ok(IsNull::Yes),
            QueryParam::Text(text) => text.to_sql(kind, out),
            QueryParam::Integer(number) => number.to_sql(kind, out),
            QueryParam::Digest(text) => text.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

pub(crate) fn read_rows(rows: &[Row]) -> Result<Vec<SqlRow>, StoreError> {
    rows.iter().map(|row| Ok(read_row(row)?)).collect()
}

pub(crate) fn read_row(row: &Row) -> Result<SqlRow, tokio_postgres::Error> {
    let value = |(column, kind): (usize, &Type)| {
        Ok(match *kind {
            Type::INT8 => row.try_get::<_, Option<i64>>(column)?.into(),
            Type::INT4 => row.try_get::<_, Option<i32>>(column)?.map(i64::from).into(),
            Type::BYTEA => row.try_get::<_, Option<&[u8]>>(column)?.into(),
            _ => row.try_get::<_, Option<&str>>(column)?.into(),
        })
    };
    row.columns().iter().map(tokio_postgres::Column::type_).enumerate().map(value).collect::<Result<_, _>>().map(SqlRow)
}

/// A row of `sql::get`.
pub(crate) fn read_sealed_row(row: &Row) -> Result<SealedRow, tokio_postgres::Error> {
    Ok(SealedRow {
        found: StoredRow {
            id: row.try_get(0)?,
            version: row.try_get(1)?,
            created_at: row.try_get(2)?,
            body: row.try_get(3)?,
            masked: row.try_get(4)?,
            personal: None,
            secret: None,
        },
        sealed: row.try_get(5)?,
        sealed_secret: row.try_get(6)?,
        updated_at: row.try_get(7)?,
        mac: row.try_get(8)?,
    })
}
