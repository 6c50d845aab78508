//! SQL functions for decimal numbers, which SQLite lacks.

use frontdesk_engine::ports::site_db::Number;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

use crate::site_db::decimal::Decimal;

/// The functions return sort keys, which SQLite compares byte by byte; `fd_decimal_text` turns one into text.
pub(super) fn register(connection: &Connection) -> Result<(), rusqlite::Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("fd_signed", 1, flags, |call| Ok(sort_key(call, Number::Signed)))?;
    connection.create_scalar_function("fd_unsigned", 1, flags, |call| Ok(sort_key(call, Number::Unsigned)))?;
    connection.create_scalar_function("fd_decimal", 3, flags, |call| {
        Ok(sort_key(call, Number::Decimal { digits: call.get(1)?, places: call.get(2)? }))
    })?;
    connection.create_scalar_function("fd_decimal_text", 2, flags, |call| {
        let scale: u8 = call.get(1)?;
        let number = match call.get_raw(0) {
            ValueRef::Blob(key) => Decimal::from_sort_key(key),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => None,
        };
        Ok(number.map(|number| number.to_text(usize::from(scale))))
    })
}

fn sort_key(call: &Context<'_>, number: Number) -> Option<Vec<u8>> {
    let text = match call.get_raw(0) {
        ValueRef::Null => return None,
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
    };
    Some(Decimal::parse_prefix(&text).cast(number).sort_key())
}
