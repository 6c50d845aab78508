//! A site in a SQLite file, which the site may write at the same time. Connections are read-only. A query starts on the
//! calling thread and moves to a blocking thread if it takes long or the file is locked.

mod file;
mod functions;
mod introspect;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use frontdesk_engine::ports::site_db::{SiteCell, SiteRow};
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use super::dialect::SqlDialect;
use super::error::ReadError;
use super::pool::QueryPermit;
use super::reader::SiteDriver;
use super::render::{SiteQuery, SqlParam};
use super::rows::{RowCollector, text_cell};
use super::schema::ColumnInfo;
use file::FileId;

/// Virtual machine instructions between two checks of the deadline.
const PROGRESS_STEPS: i32 = 1_000;
/// How long a query may take on the calling thread.
const INLINE_LIMIT: Duration = Duration::from_millis(1);
/// The pause between two attempts to lock the file.
const BUSY_INTERVAL: Duration = Duration::from_millis(5);
/// How often a connection checks whether the file was replaced; each check is a system call.
const FILE_CHECK_INTERVAL: Duration = Duration::from_millis(10);
const CACHED_STATEMENTS: usize = 64;

pub(super) struct SqliteDriver {
    path: Arc<Path>,
    deadline: Duration,
}

pub(super) struct SqliteSession {
    pub(super) connection: Connection,
    file: FileId,
    /// When the path was last checked.
    file_checked: Instant,
    busy_policy: BusyPolicy,
}

/// What a query does when the site has locked the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BusyPolicy {
    FailFast,
    Wait,
}

impl SqliteDriver {
    pub(super) fn new(path: PathBuf, deadline: Duration) -> SqliteDriver {
        SqliteDriver { path: path.into(), deadline }
    }

    /// Runs `work` on a blocking thread, where it waits for locks until the deadline or until the caller is gone. The
    /// permit is released after the connection.
    async fn on_thread<T: Send + 'static>(
        &self,
        mut session: SqliteSession,
        permit: Option<QueryPermit>,
        work: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<(T, SqliteSession), ReadError> {
        let cancel = CancelOnDrop(Arc::default());
        let (deadline, cancelled) = (Instant::now() + self.deadline, Arc::clone(&cancel.0));
        let (result, session, _permit) = run_blocking(move || {
            session.wait_for_locks(deadline, cancelled).map_err(|error| read_error(&error))?;
            Ok((work(&session.connection)?, session, permit))
        })
        .await?;
        Ok((result, session))
    }
}

impl SiteDriver for SqliteDriver {
    type Connection = SqliteSession;

    const DIALECT: SqlDialect = SqlDialect::Sqlite;

    async fn connect(&self) -> Result<SqliteSession, ReadError> {
        let path = Arc::clone(&self.path);
        run_blocking(move || SqliteSession::open(&path)).await
    }

    async fn introspect(
        &self,
        session: SqliteSession,
        prefix: &str,
    ) -> Result<(Vec<ColumnInfo>, SqliteSession), ReadError> {
        let (path, prefix) = (Arc::clone(&self.path), prefix.to_owned());
        let list = move |connection: &Connection| {
            introspect::columns(connection, &prefix).map_err(|error| explain(&error, &path))
        };
        self.on_thread(session, None, list).await
    }

    /// Moving a short query to a thread and back costs more than the query.
    async fn query(
        &self,
        mut session: SqliteSession,
        query: &SiteQuery,
        permit: &QueryPermit,
    ) -> Result<(Vec<SiteRow>, SqliteSession), ReadError> {
        let now = Instant::now();
        session.check_file(&self.path, now)?;
        session.fail_fast(now + INLINE_LIMIT).map_err(|error| read_error(&error))?;
        match read(&session.connection, query) {
            Err(ReadError::Unavailable(_)) => {
                let (query, permit) = (query.clone(), Some(Arc::clone(permit)));
                self.on_thread(session, permit, move |connection| read(connection, &query)).await
            }
            rows => Ok((rows?, session)),
        }
    }
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or_else(|error| Err(ReadError::Rejected(error.to_string())))
}

impl SqliteSession {
    fn open(path: &Path) -> Result<SqliteSession, ReadError> {
        // If the file is replaced between these two steps, a later check notices.
        let file_checked = Instant::now();
        let file = FileId::of(path).ok_or_else(|| ReadError::Rejected(file::cannot_open(path)))?;
        file::check_wal_ownership(path, file)?;
        let connection = connect(path).map_err(|error| explain(&error, path))?;
        Ok(SqliteSession { connection, file, file_checked, busy_policy: BusyPolicy::Wait })
    }

    fn check_file(&mut self, path: &Path, now: Instant) -> Result<(), ReadError> {
        if now.duration_since(self.file_checked) >= FILE_CHECK_INTERVAL {
            if FileId::of(path) != Some(self.file) {
                return Err(ReadError::SchemaChanged("the site's database is another file now".to_owned()));
            }
            self.file_checked = now;
        }
        Ok(())
    }

    /// Queries end at `until`, and fail at once if the file is locked.
    fn fail_fast(&mut self, until: Instant) -> Result<(), rusqlite::Error> {
        if self.busy_policy == BusyPolicy::Wait {
            self.connection.busy_timeout(Duration::ZERO)?;
            self.busy_policy = BusyPolicy::FailFast;
        }
        self.connection.progress_handler(PROGRESS_STEPS, Some(move || Instant::now() > until))
    }

    /// Queries and their waits for locks end at the deadline, or when they are cancelled.
    fn wait_for_locks(&mut self, deadline: Instant, cancelled: Arc<AtomicBool>) -> Result<(), rusqlite::Error> {
        let is_over = move || cancelled.load(Ordering::Relaxed) || Instant::now() > deadline;
        let gives_up = is_over.clone();
        self.busy_policy = BusyPolicy::Wait;
        self.connection.busy_handler(Some(move |_| {
            std::thread::sleep(BUSY_INTERVAL);
            !gives_up()
        }))?;
        self.connection.progress_handler(PROGRESS_STEPS, Some(is_over))
    }
}

/// Cancels the work of a thread when nobody waits for its result any more.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "query_only", "ON")?;
    // Large sorts go to a file: a few long texts must not fill the memory.
    connection.pragma_update(None, "temp_store", "FILE")?;
    // Views and triggers of the file may not call our functions.
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    // Otherwise a prepared statement is planned again for each set of parameters, which costs more than most queries.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    functions::register(&connection)?;
    Ok(connection)
}

fn read(connection: &Connection, query: &SiteQuery) -> Result<Vec<SiteRow>, ReadError> {
    let failed = |error: rusqlite::Error| read_error(&error);
    let mut statement = connection.prepare_cached(&query.sql).map_err(failed)?;
    let mut rows = statement.query(rusqlite::params_from_iter(query.params.iter())).map_err(failed)?;
    let mut collector = RowCollector::new(query);
    while let Some(row) = rows.next().map_err(failed)? {
        collector.push((0..query.columns).map(|column| Ok(cell(row.get_ref(column).map_err(failed)?))))?;
    }
    Ok(collector.finish())
}

fn cell(value: ValueRef<'_>) -> SiteCell {
    match value {
        ValueRef::Null => SiteCell::Null,
        ValueRef::Integer(number) => SiteCell::Integer(number),
        ValueRef::Real(number) => SiteCell::Text(number.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => text_cell(text.to_vec()),
    }
}

fn read_error(error: &rusqlite::Error) -> ReadError {
    let reason = format!("the site's database: {error}");
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => ReadError::timed_out(),
        Some(_) if is_transient(error) => ReadError::Unavailable(reason),
        Some(_) if ["no such column", "no such table"].iter().any(|text| reason.contains(text)) => {
            ReadError::SchemaChanged(reason)
        }
        Some(_) | None => ReadError::Rejected(reason),
    }
}

/// Whether a retry may succeed.
fn is_transient(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::OperationInterrupted
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::CannotOpen
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::SchemaChanged
        )
    )
}

fn explain(error: &rusqlite::Error, path: &Path) -> ReadError {
    let shown = path.display();
    ReadError::Rejected(match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => file::cannot_open(path),
        Some(ErrorCode::NotADatabase) => {
            format!("{shown} is not a SQLite database. Name the file with the site's tables")
        }
        Some(_) | None => format!("{shown}: {error}"),
    })
}

impl ToSql for SqlParam {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            SqlParam::Integer(number) => ToSqlOutput::from(*number),
            SqlParam::Text(text) => ToSqlOutput::from(text.as_str()),
            SqlParam::SortKey(key) => ToSqlOutput::from(key.as_slice()),
        })
    }
}
