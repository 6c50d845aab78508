//! Values on their way into PostgreSQL and rows on their way out.

use std::error::Error;

use frontdesk_engine::model::table::StoredRow;
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::sql::Value;

/// A value of a change, owned until its answer has come.
#[derive(Debug, Clone)]
pub(crate) enum Bound {
    Null,
    Text(String),
    Integer(i64),
    Bytes(Vec<u8>),
    /// One column of several rows.
    Many(Vec<Bound>),
}

impl Bound {
    /// PostgreSQL keeps no NUL in text. Written ones are replaced by the character for what cannot be shown.
    pub(crate) fn text(text: &str) -> Bound {
        Bound::Text(storable(text))
    }

    pub(crate) fn maybe_text(text: Option<&str>) -> Bound {
        text.map_or(Bound::Null, Bound::text)
    }

    /// The values of one row for a statement that takes any number: all but the first become columns.
    pub(crate) fn row(values: Vec<Bound>) -> Vec<Bound> {
        let mut values = values.into_iter();
        let first = values.next();
        first.into_iter().chain(values.map(|value| Bound::Many(vec![value]))).collect()
    }

    pub(crate) fn maybe_bytes(bytes: Option<Vec<u8>>) -> Bound {
        bytes.map_or(Bound::Null, Bound::Bytes)
    }
}

impl From<Value<'_>> for Bound {
    fn from(value: Value<'_>) -> Bound {
        match value {
            Value::Null => Bound::Null,
            Value::Text(text) => Bound::text(text),
            Value::Integer(number) => Bound::Integer(number),
            Value::Digest(text) => Bound::Text(text),
        }
    }
}

pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

type Written = Result<IsNull, Box<dyn Error + Sync + Send>>;

impl ToSql for Bound {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Written {
        match self {
            Bound::Null => Ok(IsNull::Yes),
            Bound::Text(text) => text.to_sql(kind, out),
            Bound::Integer(number) => number.to_sql(kind, out),
            Bound::Bytes(bytes) => bytes.to_sql(kind, out),
            Bound::Many(values) => values.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl ToSql for Value<'_> {
    /// A value that is asked for and cannot be there is like NULL, which equals nothing.
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Written {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Text(text) if text.contains('\0') => Ok(IsNull::Yes),
            Value::Text(text) => text.to_sql(kind, out),
            Value::Integer(number) => number.to_sql(kind, out),
            Value::Digest(text) => text.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row of `sql::get`, its personal part still sealed.
pub(crate) struct Sealed {
    pub(crate) found: StoredRow,
    pub(crate) sealed: Option<Vec<u8>>,
}

pub(crate) fn found(row: &Row) -> Result<Sealed, tokio_postgres::Error> {
    Ok(Sealed {
        found: StoredRow {
            id: row.try_get(0)?,
            version: row.try_get(1)?,
            created_at: row.try_get(2)?,
            body: row.try_get(3)?,
            masked: row.try_get(4)?,
            personal: None,
        },
        sealed: row.try_get(5)?,
    })
}
