//! Reading. A look-up by key runs on the caller's thread, on a pooled connection. A page or a count is tried there too;
//! one that takes too long is run again on a reader thread, so that it does not block other calls. A read whose caller
//! has gone is interrupted.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use frontdesk_engine::Fault;
use frontdesk_engine::model::page::{CountQuery, Page, PageKey, Projection, Query};
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::table::{StoredRow, joined};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::OutboxEvent;
use rusqlite::types::{self, ToSqlOutput};
use rusqlite::{Connection, ErrorCode, Row, ToSql};
use tokio::sync::oneshot;

use super::open;
use crate::StoreError;
use crate::keyring::{RowContent, TenantKeys};
use crate::sql::{self, PageBuilder, QueryParam, SealedRow};

const THREADS: usize = 2;
const QUEUE: usize = 1024;
/// No statement runs longer.
const MAX_QUERY_TIME: Duration = Duration::from_secs(10);
/// How many virtual machine steps pass between two checks of the time limit.
const PROGRESS_STEPS: i32 = 10_000;
/// How long a page or a count may take on the caller's thread.
const INLINE_LIMIT: Duration = Duration::from_millis(1);
const INLINE_PROGRESS_STEPS: i32 = 1_000;

/// Connections for look-ups on the caller's thread.
pub(crate) struct SqliteReadPool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl SqliteReadPool {
    pub(crate) fn new(path: PathBuf) -> SqliteReadPool {
        SqliteReadPool { path, idle: Mutex::new(Vec::new()) }
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let connection = self.acquire()?;
        let result = work(&connection);
        self.release(connection);
        result
    }

    /// What is read within the time limit of the caller's thread; `None` if it takes longer.
    pub(crate) fn run_inline<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut connection = self.acquire()?;
        let until = Instant::now() + INLINE_LIMIT;
        connection.progress_handler(INLINE_PROGRESS_STEPS, Some(move || Instant::now() > until))?;
        let result = read(&connection);
        connection.progress_handler(0, None::<fn() -> bool>)?;
        self.release(connection);
        match result {
            Err(StoreError::Database(error)) if was_interrupted(&error) => Ok(None),
            result => result.map(Some),
        }
    }

    fn acquire(&self) -> Result<Connection, StoreError> {
        match self.idle.lock().ok().and_then(|mut idle| idle.pop()) {
            Some(connection) => Ok(connection),
            None => open::lookup(&self.path),
        }
    }

    fn release(&self, connection: Connection) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(connection);
        }
    }
}

fn was_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

struct ReadJob {
    cancelled: Arc<AtomicBool>,
    run: RunRead,
}

/// Reads and replies. It gets the error instead of a connection that cannot be used.
type RunRead = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;

pub(crate) struct ReaderThreads {
    /// `None` once the threads are to end.
    requests: Option<SyncSender<ReadJob>>,
    threads: Vec<JoinHandle<()>>,
}

impl ReaderThreads {
    pub(crate) fn start(path: &Path) -> Result<ReaderThreads, StoreError> {
        let (requests, queue) = sync_channel::<ReadJob>(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::new();
        for number in 0..THREADS {
            let mut connection = open::reader(path)?;
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new()
                .name(format!("reader-{number}"))
                .spawn(move || run_reader(&mut connection, &queue))
                .map_err(|error| StoreError::Io { path: path.to_owned(), error })?;
            threads.push(thread);
        }
        Ok(ReaderThreads { requests: Some(requests), threads })
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Fault> {
        let (reply, answer) = oneshot::channel();
        let waiting = CancelOnDrop(Arc::new(AtomicBool::new(false)));
        let run = Box::new(move |connection: Result<&Connection, StoreError>| {
            // The caller may have stopped waiting.
            let _ = reply.send(connection.and_then(read));
        });
        let job = ReadJob { cancelled: Arc::clone(&waiting.0), run };
        let requests = self.requests.as_ref().ok_or(StoreError::Closed)?;
        match requests.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                return Err(Fault::unavailable("the readers' queue is full"));
            }
            Err(TrySendError::Disconnected(_)) => return Err(StoreError::Closed.into()),
        }
        match answer.await {
            Ok(result) => Ok(result?),
            Err(_) => Err(StoreError::Closed.into()),
        }
    }
}

impl Drop for ReaderThreads {
    /// Running reads are interrupted because their callers are gone; afterwards no reader holds the file open.
    fn drop(&mut self) {
        self.requests = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Interrupts the read when its caller stops waiting.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run_reader(connection: &mut Connection, queue: &Mutex<Receiver<ReadJob>>) {
    loop {
        let job = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok(job) = job else {
            return;
        };
        if job.cancelled.load(Ordering::Relaxed) {
            continue;
        }
        let cancelled = Arc::clone(&job.cancelled);
        let until = Instant::now() + MAX_QUERY_TIME;
        let stop = move || cancelled.load(Ordering::Relaxed) || Instant::now() > until;
        let watched = connection.progress_handler(PROGRESS_STEPS, Some(stop));
        (job.run)(watched.map_err(StoreError::from).map(|()| &*connection));
    }
}

pub(crate) fn read_count(
    connection: &Connection,
    tenant: &str,
    query: &CountQuery,
    keys: Option<&TenantKeys>,
) -> Result<usize, StoreError> {
    let statement = sql::count(tenant, query, keys);
    let mut prepared = connection.prepare_cached(&sql::for_sqlite(&statement.text))?;
    let count: i64 = prepared.query_row(rusqlite::params_from_iter(statement.values.iter()), |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

pub(crate) fn read_page(
    connection: &Connection,
    tenant: &str,
    query: &Query,
    keys: Option<&TenantKeys>,
) -> Result<Page, StoreError> {
    let statement = sql::page(tenant, query, keys);
    let mut prepared = connection.prepare_cached(&sql::for_sqlite(&statement.text))?;
    let mut rows = prepared.query(rusqlite::params_from_iter(statement.values.iter()))?;
    let mut page = PageBuilder::new(&query.window);
    while let Some(row) = rows.next()? {
        if page.is_full() {
            break;
        }
        let id: String = row.get(0)?;
        let (text, has_masked_part) = match query.projection {
            Projection::Ids => (id.clone(), false),
            Projection::Rows => {
                let body = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
                let masked = row.get_ref(3)?.as_str_or_null().map_err(rusqlite::Error::from)?;
                let bytes = |column| row.get_ref(column)?.as_blob_or_null().map_err(rusqlite::Error::from);
                let content = RowContent {
                    tenant,
                    table: query.table.name,
                    id: &id,
                    version: row.get(4)?,
                    created_at: row.get(5)?,
                    updated_at: row.get(6)?,
                    body,
                    masked,
                    sealed: bytes(7)?,
                    sealed_secret: bytes(8)?,
                };
                content.verify(keys.ok_or(StoreError::UnknownTenant)?, bytes(9)?)?;
                (joined(body, masked), masked.is_some())
            }
        };
        if !page.push(PageKey { id, value: row.get(1)? }, text, has_masked_part) {
            break;
        }
    }
    Ok(page.finish())
}

/// The tenant's events behind a number.
pub(crate) fn read_events(
    connection: &Connection,
    tenant: &str,
    after: i64,
    limit: usize,
) -> Result<Vec<OutboxEvent>, StoreError> {
    let mut prepared = connection.prepare_cached(&sql::for_sqlite(sql::EVENTS_AFTER))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = prepared.query(rusqlite::params![tenant, after, limit])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let change: String = row.get(4)?;
        events.push(OutboxEvent {
            seq: row.get(0)?,
            event_id: row.get(1)?,
            kind: row.get(2)?,
            id: row.get(3)?,
            change: Change::parse(&change).ok_or(StoreError::UnexpectedValue { column: 4 })?,
            at: Millis(row.get(5)?),
        });
    }
    Ok(events)
}

impl ToSql for QueryParam<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            QueryParam::Null => ToSqlOutput::Owned(types::Value::Null),
            QueryParam::Text(text) => ToSqlOutput::from(*text),
            QueryParam::Integer(number) => ToSqlOutput::from(*number),
            QueryParam::Digest(text) => ToSqlOutput::from(text.as_str()),
        })
    }
}

/// A row of `sql::get`.
pub(crate) fn read_row(row: &Row<'_>) -> rusqlite::Result<SealedRow> {
    Ok(SealedRow {
        found: StoredRow {
            id: row.get(0)?,
            version: row.get(1)?,
            created_at: row.get(2)?,
            body: row.get(3)?,
            masked: row.get(4)?,
            personal: None,
            secret: None,
        },
        sealed: row.get(5)?,
        sealed_secret: row.get(6)?,
        updated_at: row.get(7)?,
        mac: row.get(8)?,
    })
}
