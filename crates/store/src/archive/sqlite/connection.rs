//! A connection to a site's SQLite file, for reading only, and the functions that SQLite lacks.

use std::path::Path;

use frontdesk_engine::ports::site_db::Number;
use rusqlite::config::DbConfig;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use crate::archive::number::Decimal;

const STATEMENTS: usize = 64;

pub(super) fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "query_only", "ON")?;
    // What is sorted goes to a file when it is much: a few long texts must not fill the memory.
    connection.pragma_update(None, "temp_store", "FILE")?;
    // What the file itself defines runs no function of ours.
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    // Otherwise a prepared statement is planned anew for each set of values, which costs more than most answers.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    teach(&connection)?;
    Ok(connection)
}

/// The numbers that SQLite does not have.
fn teach(connection: &Connection) -> Result<(), rusqlite::Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("fd_signed", 1, flags, |call| Ok(key(call, Number::Signed)))?;
    connection.create_scalar_function("fd_unsigned", 1, flags, |call| Ok(key(call, Number::Unsigned)))?;
    connection.create_scalar_function("fd_decimal", 3, flags, |call| {
        Ok(key(call, Number::Decimal { digits: call.get(1)?, places: call.get(2)? }))
    })?;
    connection.create_scalar_function("fd_written", 2, flags, |call| {
        let places: u8 = call.get(1)?;
        let number = match call.get_raw(0) {
            ValueRef::Blob(key) => Decimal::of_key(key),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => None,
        };
        Ok(number.map(|number| number.written(usize::from(places))))
    })
}

fn key(call: &Context<'_>, number: Number) -> Option<Vec<u8>> {
    let text = match call.get_raw(0) {
        ValueRef::Null => return None,
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
    };
    Some(Decimal::leading(&text).cast(number).key())
}
