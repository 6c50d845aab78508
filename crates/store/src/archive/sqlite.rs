//! A site in a SQLite file, which the site itself may be writing at the same time. Connections are opened for reading
//! only. A statement that turns out to be long, or has to wait, runs on a thread that may block.

mod connection;
mod describe;
#[cfg(test)]
mod tests;
mod window;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use frontdesk_engine::Fault;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::site_db::{Name, Select, SiteCell, SiteDb, SiteRow};
use rusqlite::types::{self, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql};
use tokio::sync::OwnedSemaphorePermit;

use super::ArchiveSettings;
use super::dialect::Dialect;
use super::error::{ArchiveError, Failure};
use super::file::{self, Identity};
use super::pool::{Allowance, Pool};
use super::render::{Bound, Statement};
use super::schema::{Found, Schema};
use super::texts;
use connection::connect;
use describe::describe;
use window::{Stay, Window};

/// How many steps of the database's machine pass between two looks at the clock.
const STEPS: i32 = 1_000;
/// What is read within this is short.
const SHORT: Duration = Duration::from_millis(1);
/// So often somebody who waits for the site's own write looks whether it is done.
const NAP: Duration = Duration::from_millis(5);
/// A statement ends itself at its deadline; so much later we stop waiting for it.
const GRACE: Duration = Duration::from_millis(500);
/// Whether the file has been replaced is looked at this often. Asking the system each time costs a tenth of reading a
/// page.
const LOOK: Duration = Duration::from_millis(10);

pub(crate) struct SqliteArchive {
    path: PathBuf,
    prefix: String,
    found: Found,
    deadline: Duration,
    pub(super) pool: Arc<Pool<Reader>>,
}

/// A connection, which file it has open, and when the path was last seen to lead there. The connection goes before the
/// stay does: nobody is counted as gone who still has the file.
pub(super) struct Reader {
    pub(super) connection: Connection,
    file: Identity,
    seen: Instant,
    manner: Manner,
    window: Arc<Window>,
    stay: Option<Stay>,
}

/// What statements on a connection do when the site is writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// They fail at once.
    Hurried,
    /// They wait.
    Patient,
}

impl SqliteArchive {
    pub(crate) async fn open(path: PathBuf, settings: &ArchiveSettings) -> Result<SqliteArchive, ArchiveError> {
        let (reader, schema) = look(path.clone(), settings.prefix.clone(), settings.deadline).await?;
        let pool = Arc::new(Pool::new(settings.connections));
        pool.put_back(reader);
        let prefix = settings.prefix.clone();
        Ok(SqliteArchive { path, prefix, found: Found::new(schema), deadline: settings.deadline, pool })
    }

    pub(super) fn statement(&self, select: &Select) -> Result<Statement, Fault> {
        texts::statement(Dialect::Sqlite, &self.found.now(), select, select.bytes.saturating_add(1))
    }

    async fn rows(&self, select: &Select) -> Result<Vec<SiteRow>, Fault> {
        let turn = self.pool.turn().await?;
        let (first, turn) = match self.at_once(select) {
            Some(rows) => (rows, Some(turn)),
            None => self.on_a_thread(select, turn).await,
        };
        let (Err(Failure::Changed(_)), Some(turn)) = (&first, turn) else {
            return Ok(first?);
        };
        self.pool.forget();
        let looked = look(self.path.clone(), self.prefix.clone(), self.deadline).await;
        let (reader, schema) = looked.map_err(Failure::from)?;
        self.pool.put_back(reader);
        self.found.replace(schema);
        Ok(self.on_a_thread(select, turn).await.0?)
    }

    /// What is short is read where it is asked for, because going to a thread and back costs more than it does.
    /// Nothing, if it turns out to be long, has to wait for the site, or needs a connection first.
    fn at_once(&self, select: &Select) -> Option<Result<Vec<SiteRow>, Failure>> {
        let mut reader = self.pool.take()?;
        let now = Instant::now();
        if now.duration_since(reader.seen) >= LOOK {
            if Identity::of(&self.path).is_none_or(|file| file != reader.file) {
                return Some(Err(Failure::Changed("the site's database is another file now".to_owned())));
            }
            reader.seen = now;
        }
        let statement = match self.statement(select) {
            Ok(statement) => statement,
            Err(fault) => {
                self.pool.put_back(reader);
                return Some(Err(fault.into()));
            }
        };
        let rows = self.read_now(&mut reader, &statement, select.bytes, now);
        if rows.is_ok() || reader.leave().is_ok() {
            self.pool.put_back(reader);
        }
        match rows {
            Err(Failure::Unavailable(_)) => None,
            rows => Some(rows),
        }
    }

    /// On a connection that keeps the file from one call to the next, while there are many and only for a moment.
    fn read_now(
        &self,
        reader: &mut Reader,
        statement: &Statement,
        bytes: usize,
        now: Instant,
    ) -> Result<Vec<SiteRow>, Failure> {
        let failed = |error: rusqlite::Error| failure(&error);
        hurried(reader, now + SHORT).map_err(failed)?;
        if reader.stay.as_ref().is_some_and(|stay| stay.is_over(now)) {
            reader.leave().map_err(failed)?;
            window::clear(&self.pool, now);
        }
        let _passing = match &mut reader.stay {
            Some(stay) => {
                stay.calls += 1;
                None
            }
            None => match reader.window.enter(now, &self.pool) {
                Ok(stay) => {
                    reader.stay = Some(stay);
                    reader
                        .connection
                        .prepare_cached("BEGIN")
                        .and_then(|mut begin| begin.execute([]))
                        .map_err(failed)?;
                    None
                }
                Err(passing) => Some(passing),
            },
        };
        read(&reader.connection, statement, bytes)
    }

    /// The turn goes along: a caller who leaves does not end the work at that moment.
    async fn on_a_thread(
        &self,
        select: &Select,
        turn: OwnedSemaphorePermit,
    ) -> (Result<Vec<SiteRow>, Failure>, Option<OwnedSemaphorePermit>) {
        let statement = match self.statement(select) {
            Ok(statement) => statement,
            Err(fault) => return (Err(fault.into()), Some(turn)),
        };
        let waiting = Waiting(Arc::new(AtomicBool::new(false)));
        let given_up = Arc::clone(&waiting.0);
        let (pool, path, deadline, bytes) = (Arc::clone(&self.pool), self.path.clone(), self.deadline, select.bytes);
        let work = tokio::task::spawn_blocking(move || {
            let rows = Reader::from(&pool, &path).and_then(|mut reader| {
                reader.manner = Manner::Patient;
                reader.leave().map_err(|error| failure(&error))?;
                let window = Arc::clone(&reader.window);
                let _passing = window.pass();
                let rows = patient(&mut reader.connection, deadline, given_up)
                    .map_err(|error| failure(&error))
                    .and_then(|()| read(&reader.connection, &statement, bytes));
                pool.put_back(reader);
                rows
            });
            (rows, turn)
        });
        let late = Failure::Unavailable("the site's database took too long".to_owned());
        let done = tokio::time::timeout(self.deadline + GRACE, work).await;
        drop(waiting);
        match done {
            Ok(Ok((rows, turn))) => (rows, Some(turn)),
            Ok(Err(error)) => (Err(Failure::Refused(error.to_string())), None),
            Err(_) => (Err(late), None),
        }
    }
}

impl SiteDb for SqliteArchive {
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>> {
        Box::pin(std::future::ready(Ok(self.found.now().table(table).is_some())))
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        Box::pin(self.rows(select))
    }
}

impl Reader {
    /// One that waits, or a new one.
    fn from(pool: &Pool<Reader>, path: &Path) -> Result<Reader, Failure> {
        match pool.take() {
            Some(reader) => Ok(reader),
            None => Reader::open(path),
        }
    }

    pub(super) fn open(path: &Path) -> Result<Reader, Failure> {
        // Should the file be replaced between the two, one of the next statements sees it.
        let seen = Instant::now();
        let file = Identity::of(path).ok_or_else(|| Failure::Refused(file::cannot_open(path)))?;
        file::may_be_read_beside(path, file)?;
        let connection = connect(path).map_err(|error| explain(&error, path))?;
        Ok(Reader { connection, file, seen, manner: Manner::Patient, window: Window::of(file), stay: None })
    }

    /// Gives the file up. One that cannot must be thrown away.
    fn leave(&mut self) -> Result<(), rusqlite::Error> {
        if self.stay.is_some() && !self.connection.is_autocommit() {
            self.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]))?;
        }
        self.stay = None;
        Ok(())
    }
}

/// Statements on it end then, and wait for nothing.
fn hurried(reader: &mut Reader, until: Instant) -> Result<(), rusqlite::Error> {
    if reader.manner == Manner::Patient {
        reader.connection.busy_timeout(Duration::ZERO)?;
        reader.manner = Manner::Hurried;
    }
    reader.connection.progress_handler(STEPS, Some(move || Instant::now() > until))
}

/// Statements on it end at the deadline, or when nobody waits for them any more.
fn patient(connection: &mut Connection, deadline: Duration, given_up: Arc<AtomicBool>) -> Result<(), rusqlite::Error> {
    let until = Instant::now() + deadline;
    let is_over = move || given_up.load(Ordering::Relaxed) || Instant::now() > until;
    let is_vain = is_over.clone();
    connection.busy_handler(Some(move |_| {
        std::thread::sleep(NAP);
        !is_vain()
    }))?;
    connection.progress_handler(STEPS, Some(is_over))
}

/// While this lives, somebody waits for the rows.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A new connection, and what the database has.
async fn look(path: PathBuf, prefix: String, deadline: Duration) -> Result<(Reader, Schema), ArchiveError> {
    let waiting = Waiting(Arc::new(AtomicBool::new(false)));
    let given_up = Arc::clone(&waiting.0);
    let looked = tokio::task::spawn_blocking(move || {
        let mut reader = Reader::open(&path).map_err(Failure::at_opening)?;
        let described = patient(&mut reader.connection, deadline, given_up)
            .and_then(|()| describe(&reader.connection, &prefix))
            .map_err(|error| explain(&error, &path).at_opening())?;
        Ok((reader, Schema::of(described, &prefix)?))
    });
    match tokio::time::timeout(deadline + GRACE, looked).await {
        Ok(looked) => looked.map_err(|error| ArchiveError::Unreachable(error.to_string()))?,
        Err(_) => Err(ArchiveError::Down("its file does not answer".to_owned())),
    }
}

fn read(connection: &Connection, statement: &Statement, bytes: usize) -> Result<Vec<SiteRow>, Failure> {
    let failed = |error: rusqlite::Error| failure(&error);
    let mut prepared = connection.prepare_cached(&statement.text).map_err(failed)?;
    let mut rows = prepared.query(rusqlite::params_from_iter(statement.values.iter())).map_err(failed)?;
    let mut allowance = Allowance(bytes);
    let mut records = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let mut record = Vec::with_capacity(statement.columns);
        for column in 0..statement.columns {
            let cell = match row.get_ref(column).map_err(failed)? {
                ValueRef::Null => SiteCell::Null,
                ValueRef::Integer(number) => SiteCell::Integer(number),
                ValueRef::Real(number) => SiteCell::Text(number.to_string()),
                ValueRef::Text(text) | ValueRef::Blob(text) if text.len() > allowance.0 => {
                    return Err(Failure::TooLarge);
                }
                ValueRef::Text(text) | ValueRef::Blob(text) => SiteCell::Text(match std::str::from_utf8(text) {
                    Ok(text) => text.to_owned(),
                    Err(_) => String::from_utf8_lossy(text).into_owned(),
                }),
            };
            record.push(allowance.spend(cell)?);
        }
        records.push(record);
    }
    Ok(records)
}

fn failure(error: &rusqlite::Error) -> Failure {
    let why = format!("the site's database: {error}");
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => Failure::Unavailable("the site's database took too long".to_owned()),
        Some(_) if is_passing(error) => Failure::Unavailable(why),
        Some(_) if ["no such column", "no such table"].iter().any(|words| why.contains(words)) => Failure::Changed(why),
        Some(_) | None => Failure::Refused(why),
    }
}

/// Whether it may work a little later.
fn is_passing(error: &rusqlite::Error) -> bool {
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

fn explain(error: &rusqlite::Error, path: &Path) -> Failure {
    let shown = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => Failure::Refused(file::cannot_open(path)),
        Some(ErrorCode::NotADatabase) => {
            Failure::Refused(format!("{shown} is no SQLite database. Name the file that the site keeps its tables in"))
        }
        Some(_) | None => Failure::Refused(format!("{shown}: {error}")),
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
