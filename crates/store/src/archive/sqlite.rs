//! A site in a SQLite file, which the site itself may be writing at the same time. Connections are opened for reading
//! only. A statement that turns out to be long, or has to wait, runs on a thread that may block.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use frontdesk_engine::Fault;
use frontdesk_engine::archive::{Archive, Cell, Name, Number, Record, Select};
use frontdesk_engine::tool::Future;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{self, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use super::ArchiveSettings;
use super::dialect::Dialect;
use super::error::{ArchiveError, Failure};
use super::number::Decimal;
use super::pool::{Allowance, Pool};
use super::render::{Bound, Statement, render};
use super::schema::{Column, Described, Holds, Schema};

/// How many steps of the database's machine pass between two looks at the clock.
const STEPS: i32 = 1_000;
/// What is read within this is short.
const SHORT: Duration = Duration::from_millis(1);
const STATEMENTS: usize = 64;

pub(crate) struct SqliteArchive {
    path: PathBuf,
    schema: Schema,
    deadline: Duration,
    pub(super) pool: Arc<Pool<Connection>>,
}

impl SqliteArchive {
    pub(crate) async fn open(path: PathBuf, settings: &ArchiveSettings) -> Result<SqliteArchive, ArchiveError> {
        let (file, wait) = (path.clone(), settings.deadline);
        let looked = tokio::task::spawn_blocking(move || {
            let connection = connect(&file, wait)?;
            let described = describe(&connection)?;
            Ok((connection, described))
        });
        let (connection, described) = looked
            .await
            .map_err(|error| ArchiveError::Unreachable(error.to_string()))?
            .map_err(|error| ArchiveError::Unreachable(explain(&error, &path)))?;
        let prefix = settings.prefix.clone();
        let schema = Schema::of(described, &prefix).map_err(|found| ArchiveError::NoSite { prefix, found })?;
        let pool = Arc::new(Pool::new(settings.connections));
        pool.put_back(connection);
        Ok(SqliteArchive { path, schema, deadline: settings.deadline, pool })
    }

    pub(super) fn statement(&self, select: &Select) -> Result<Statement, Fault> {
        render(Dialect::Sqlite, &self.schema, select)
    }

    async fn rows(&self, select: &Select) -> Result<Vec<Record>, Fault> {
        let statement = self.statement(select)?;
        let _turn = self.pool.turn().await?;
        match self.at_once(&statement, select.bytes) {
            Some(rows) => Ok(rows?),
            None => self.on_a_thread(statement, select.bytes).await,
        }
    }

    /// What is short is read where it is asked for, because going to a thread and back costs more than it does.
    /// Nothing, if it turns out to be long, has to wait for the site, or needs a connection first.
    fn at_once(&self, statement: &Statement, bytes: usize) -> Option<Result<Vec<Record>, Failure>> {
        let mut connection = self.pool.take()?;
        let until = Instant::now() + SHORT;
        let rows = connection
            .busy_timeout(Duration::ZERO)
            .and_then(|()| connection.progress_handler(STEPS, Some(move || Instant::now() > until)))
            .map_err(|error| failure(&error))
            .and_then(|()| read(&connection, statement, bytes));
        self.pool.put_back(connection);
        match rows {
            Err(Failure::Unavailable(_)) => None,
            rows => Some(rows),
        }
    }

    async fn on_a_thread(&self, statement: Statement, bytes: usize) -> Result<Vec<Record>, Fault> {
        let waiting = Waiting(Arc::new(AtomicBool::new(false)));
        let given_up = Arc::clone(&waiting.0);
        let (pool, path, deadline) = (Arc::clone(&self.pool), self.path.clone(), self.deadline);
        let work = tokio::task::spawn_blocking(move || {
            let mut connection = match pool.take() {
                Some(connection) => connection,
                None => connect(&path, deadline).map_err(|error| failure(&error))?,
            };
            let until = Instant::now() + deadline;
            let stop = move || given_up.load(Ordering::Relaxed) || Instant::now() > until;
            let rows = connection
                .busy_timeout(deadline)
                .and_then(|()| connection.progress_handler(STEPS, Some(stop)))
                .map_err(|error| failure(&error))
                .and_then(|()| read(&connection, &statement, bytes));
            pool.put_back(connection);
            rows
        });
        let rows = work.await.map_err(|error| Fault::internal(error.to_string()))?;
        drop(waiting);
        Ok(rows?)
    }
}

impl Archive for SqliteArchive {
    fn has_table(&self, table: Name) -> bool {
        self.schema.table(table).is_some()
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<Record>, Fault>> {
        Box::pin(self.rows(select))
    }
}

/// While this lives, somebody waits for the rows.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) fn connect(path: &Path, wait: Duration) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(wait)?;
    connection.pragma_update(None, "query_only", "ON")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // What the file itself defines runs no function of ours.
    connection.pragma_update(None, "trusted_schema", "OFF")?;
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

fn describe(connection: &Connection) -> Result<Vec<Described>, rusqlite::Error> {
    let mut statement = connection.prepare(
        "SELECT m.name, c.name, c.type, c.\"notnull\" OR c.pk FROM sqlite_schema AS m, pragma_table_info(m.name) AS c \
         WHERE m.type IN ('table', 'view')",
    )?;
    let rows = statement.query_map([], |row| {
        let declared: String = row.get(2)?;
        let is = Column { holds: holds(&declared), is_filled: row.get(3)? };
        Ok(Described { table: row.get(0)?, column: row.get(1)?, is })
    })?;
    rows.collect()
}

fn holds(declared: &str) -> Holds {
    let declared = declared.to_ascii_uppercase();
    let says = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    if says(&["INT", "BOOL"]) {
        Holds::Whole
    } else if says(&["CHAR", "CLOB", "TEXT"]) {
        Holds::Text
    } else {
        Holds::Other
    }
}

fn read(connection: &Connection, statement: &Statement, bytes: usize) -> Result<Vec<Record>, Failure> {
    let failed = |error: rusqlite::Error| failure(&error);
    let mut prepared = connection.prepare_cached(&statement.text).map_err(failed)?;
    let mut rows = prepared.query(rusqlite::params_from_iter(statement.values.iter())).map_err(failed)?;
    let mut allowance = Allowance(bytes);
    let mut records = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let mut record = Vec::with_capacity(statement.columns);
        for column in 0..statement.columns {
            let cell = match row.get_ref(column).map_err(failed)? {
                ValueRef::Null => Cell::Missing,
                ValueRef::Integer(number) => Cell::Integer(number),
                ValueRef::Real(number) => Cell::Text(number.to_string()),
                ValueRef::Text(text) | ValueRef::Blob(text) if text.len() > allowance.0 => {
                    return Err(Failure::TooLarge);
                }
                ValueRef::Text(text) | ValueRef::Blob(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
            };
            record.push(allowance.spend(cell)?);
        }
        records.push(record);
    }
    Ok(records)
}

fn failure(error: &rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => Failure::Unavailable("the site's database took too long".to_owned()),
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::SchemaChanged,
        ) => Failure::Unavailable(format!("the site's database: {error}")),
        Some(_) | None => Failure::Refused(format!("the site's database: {error}")),
    }
}

fn explain(error: &rusqlite::Error, path: &Path) -> String {
    let file = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => {
            format!(
                "{file} cannot be opened. The file must be there and readable; if the site uses it in WAL mode, its folder must be writable too"
            )
        }
        Some(ErrorCode::NotADatabase) => format!("{file} is no SQLite database"),
        Some(_) | None => format!("{file}: {error}"),
    }
}

impl ToSql for Bound {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Bound::Integer(number) => ToSqlOutput::from(*number),
            Bound::Text(text) => ToSqlOutput::from(text.as_str()),
            Bound::Key(key) => ToSqlOutput::Borrowed(types::ValueRef::Blob(key)),
        })
    }
}
