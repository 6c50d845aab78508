//! Opening the database file: the library's version, the settings of a connection, and the schema,
//! which only ever moves forward.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::StoreError;
use crate::error::DatabaseKind;
use crate::sql::ddl;

/// Older libraries can corrupt a database when a checkpoint races a commit on another connection.
const OLDEST_LIBRARY: i32 = 3_051_003;
const STATEMENTS: usize = 256;
/// Where the store's own thread does not bring the log home.
const CHECKPOINT_PAGES: i64 = 8_192;
/// What all connections together that look things up may keep of the file, in KiB. Each keeps what it has met: with
/// little data that is little.
const KEPT: usize = 32 * 1024;
/// What SQLite gives a connection by itself.
const KEPT_AT_LEAST: usize = 2_000;

pub(crate) fn writer(path: &Path) -> Result<Connection, StoreError> {
    if rusqlite::version_number() < OLDEST_LIBRARY {
        return Err(StoreError::OldLibrary { version: rusqlite::version() });
    }
    create(path)?;
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Makes the file before SQLite does, for its owner alone; the files SQLite puts beside it get its mode.
/// A file that is there is not even opened: closing it would end locks that SQLite holds on it.
fn create(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::Io { path: path.to_owned(), error }),
    }
}

pub(crate) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "query_only", "ON")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// A reader for look-ups, of which there are as many as there are processors. It keeps the upper levels of the trees:
/// in a large database a look-up reads its leaves and no more.
pub fn lookup(path: &Path) -> Result<Connection, StoreError> {
    let connection = reader(path)?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let kept = i64::try_from((KEPT / processors).max(KEPT_AT_LEAST)).unwrap_or(i64::MAX);
    connection.pragma_update(None, "cache_size", -kept)?;
    Ok(connection)
}

pub(crate) fn migrate(connection: &Connection, kinds: &[&'static TableSpec]) -> Result<(), StoreError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = ddl::MIGRATIONS.len() as i64;
    if found > known {
        return Err(StoreError::NewerSchema { database: DatabaseKind::Sqlite, found, known });
    }
    let transaction = connection.unchecked_transaction()?;
    for text in ddl::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        transaction.execute_batch(text)?;
    }
    for kind in kinds {
        grow(&transaction, kind)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

/// Makes a kind's table, or adds the columns its declaration has gained.
fn grow(connection: &Connection, kind: &'static TableSpec) -> Result<(), StoreError> {
    let exists: Option<i64> = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", [kind.name], |row| row.get(0))
        .optional()?;
    if exists.is_some() {
        let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let present: Vec<String> = statement.query_map([kind.name], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let fixed: Vec<&str> = crate::sql::FIXED_COLUMNS.split(", ").collect();
        let declared = |name: &str| fixed.contains(&name) || kind.columns.iter().any(|column| column.name == name);
        if let Some(unknown) = present.iter().find(|name| !declared(name)) {
            return Err(StoreError::UnknownColumn {
                database: DatabaseKind::Sqlite,
                table: kind.name.to_owned(),
                column: unknown.clone(),
            });
        }
        for column in kind.columns.iter().filter(|column| !present.iter().any(|name| name == column.name)) {
            connection.execute_batch(&ddl::add_column(kind, column))?;
        }
    }
    for statement in ddl::create_sqlite(kind) {
        connection.execute_batch(&statement)?;
    }
    Ok(())
}
