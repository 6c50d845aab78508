//! Opening the database file: the version of the library, the settings of a connection, and the schema, which is only
//! ever migrated forward.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::StoreError;
use crate::backend::load_tenant_keys;
use crate::error::DatabaseKind;
use crate::installation::{self, SetupKeys};
use crate::keyring::Keyring;
use crate::reindex::{self, IndexWork, TableState};
use crate::sql::registry_rows::{SCHEMA_WITH_MACS, UnauthenticatedRows, authenticate_all, require_allowed};
use crate::sql::session::run_ready;
use crate::sql::{FIXED_COLUMNS, ddl};

/// Older libraries can corrupt a database when a checkpoint races a commit on another connection.
const OLDEST_LIBRARY: i32 = 3_051_003;
const STATEMENT_CACHE: usize = 256;
/// For connections without a `Checkpointer`.
const CHECKPOINT_PAGES: i64 = 8_192;
/// The page cache of all look-up connections together, in KiB. It is filled by use, so it stays small with little data.
const LOOKUP_CACHE_KIB: usize = 32 * 1024;
/// SQLite's default for one connection.
const MIN_CACHE_KIB: usize = 2_000;

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
    // What was erased or expired is overwritten, instead of staying in free pages.
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// Creates the file with permissions for its owner only; SQLite gives its other files the same mode. An existing file
/// is not opened, because closing it would release the locks that SQLite holds on it.
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
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// A reader for look-ups. There are about as many as processors. Its cache holds the upper levels of the B-trees, so
/// that in a large database a look-up reads only leaf pages.
pub fn lookup(path: &Path) -> Result<Connection, StoreError> {
    let connection = reader(path)?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cache = i64::try_from((LOOKUP_CACHE_KIB / processors).max(MIN_CACHE_KIB)).unwrap_or(i64::MAX);
    connection.pragma_update(None, "cache_size", -cache)?;
    Ok(connection)
}

/// Returns what has to be indexed again afterwards.
pub(crate) fn migrate(
    connection: &Connection,
    tables: &[&'static TableSpec],
    keys: &SetupKeys,
    keyring: &Keyring,
    rows: UnauthenticatedRows,
) -> Result<Vec<IndexWork>, StoreError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = ddl::MIGRATIONS.len() as i64;
    if found > known {
        return Err(StoreError::NewerSchema { database: DatabaseKind::Sqlite, found, known });
    }
    require_allowed(found, rows)?;
    let transaction = connection.unchecked_transaction()?;
    for text in ddl::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        transaction.execute_batch(text)?;
    }
    if found < SCHEMA_WITH_MACS {
        run_ready(authenticate_all(&*transaction, keyring))?;
    }
    let mut work = Vec::new();
    for table in tables {
        work.extend(update_table(&transaction, table)?);
    }
    run_ready(set_up_installation(&transaction, keys, found))?;
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(work)
}

/// In the transaction that creates the table, so that deleting its row later is not the same as a new database. The
/// master key is tried first: a wrong one must leave nothing behind.
async fn set_up_installation(connection: &Connection, keys: &SetupKeys, found: i64) -> Result<(), StoreError> {
    load_tenant_keys(connection, &Keyring::new(&keys.master, Arc::clone(&keys.random))).await?;
    installation::set_up(connection, keys, ddl::creates_installation(found)).await
}

/// Creates a declared table, or adds the columns that its declaration has gained.
fn update_table(connection: &Connection, table: &'static TableSpec) -> Result<Option<IndexWork>, StoreError> {
    let exists: Option<i64> = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", [table.name], |row| row.get(0))
        .optional()?;
    let mut found = TableState::New;
    if exists.is_some() {
        let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let present: Vec<String> = statement.query_map([table.name], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for text in ddl::add_missing_columns(DatabaseKind::Sqlite, table, FIXED_COLUMNS, &present)? {
            connection.execute_batch(&text)?;
        }
        for name in ddl::outdated_indexes(table) {
            connection.execute_batch(&format!("DROP INDEX IF EXISTS {name}"))?;
        }
        found = TableState::Existing { columns: present };
    }
    for text in ddl::create_sqlite(table) {
        connection.execute_batch(&text)?;
    }
    let plan = run_ready(reindex::plan(connection, table, &found))?;
    for text in ddl::indexes(table, &plan.unfilled) {
        connection.execute_batch(&text)?;
    }
    Ok(plan.work)
}
