//! Reading. A look-up by key is so short that it runs where it is asked for, on a pooled connection. A
//! page begins there too, but one that turns out to be long begins again on a reader thread, so that it
//! holds up no other call. A page nobody waits for any more is interrupted.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use frontdesk_engine::model::page::{Page, PageKey, Projection, Query};
use frontdesk_engine::model::table::{StoredRow, joined};
use frontdesk_engine::{Fault, TenantId};
use rusqlite::types::{self, ToSqlOutput};
use rusqlite::{Connection, ErrorCode, Row, ToSql};
use tokio::sync::oneshot;

use super::open;
use crate::StoreError;
use crate::sql::{self, Value};
use crate::vault::TenantKeys;

const THREADS: usize = 2;
const QUEUE: usize = 1024;
/// No statement runs longer, whoever waits.
const LONGEST: Duration = Duration::from_secs(10);
/// How many steps of the database's machine pass between two looks at the clock.
const STEPS: i32 = 10_000;
/// A page is short if it is read within this, where it is asked for.
const SHORT: Duration = Duration::from_millis(1);
const SHORT_STEPS: i32 = 1_000;

/// Connections for look-ups on the asking thread.
pub(crate) struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Pool {
    pub(crate) fn new(path: PathBuf) -> Pool {
        Pool { path, idle: Mutex::new(Vec::new()) }
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let connection = self.take()?;
        let result = work(&connection);
        self.put_back(connection);
        result
    }

    /// A page that is short; `None` if it is not.
    pub(crate) fn short_page(
        &self,
        tenant: &TenantId,
        query: &Query,
        keys: Option<&TenantKeys>,
    ) -> Result<Option<Page>, StoreError> {
        let mut connection = self.take()?;
        let until = Instant::now() + SHORT;
        connection.progress_handler(SHORT_STEPS, Some(move || Instant::now() > until))?;
        let page = read_page(&connection, tenant, query, keys);
        connection.progress_handler(0, None::<fn() -> bool>)?;
        self.put_back(connection);
        match page {
            Err(StoreError::Database(error)) if is_interrupted(&error) => Ok(None),
            page => page.map(Some),
        }
    }

    fn take(&self) -> Result<Connection, StoreError> {
        match self.idle.lock().ok().and_then(|mut idle| idle.pop()) {
            Some(connection) => Ok(connection),
            None => open::lookup(&self.path),
        }
    }

    fn put_back(&self, connection: Connection) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(connection);
        }
    }
}

fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

struct Job {
    tenant: TenantId,
    query: Query,
    keys: Option<Arc<TenantKeys>>,
    given_up: Arc<AtomicBool>,
    reply: oneshot::Sender<Result<Page, StoreError>>,
}

pub(crate) struct Readers {
    /// Gone once the readers are to end.
    jobs: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(crate) fn start(path: &Path) -> Result<Readers, StoreError> {
        let (jobs, queue) = sync_channel::<Job>(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::new();
        for number in 0..THREADS {
            let mut connection = open::reader(path)?;
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new()
                .name(format!("reader-{number}"))
                .spawn(move || work_off(&mut connection, &queue))
                .map_err(|error| StoreError::Folder { path: path.to_owned(), error })?;
            threads.push(thread);
        }
        Ok(Readers { jobs: Some(jobs), threads })
    }

    pub(crate) async fn page(
        &self,
        tenant: &TenantId,
        query: Query,
        keys: Option<Arc<TenantKeys>>,
    ) -> Result<Page, Fault> {
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting(Arc::new(AtomicBool::new(false)));
        let job = Job { tenant: tenant.clone(), query, keys, given_up: Arc::clone(&waiting.0), reply };
        let jobs = self.jobs.as_ref().ok_or(StoreError::Closed)?;
        match jobs.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                return Err(Fault::unavailable("the readers' queue is full"));
            }
            Err(TrySendError::Disconnected(_)) => return Err(StoreError::Closed.into()),
        }
        match answer.await {
            Ok(page) => Ok(page?),
            Err(_) => Err(StoreError::Closed.into()),
        }
    }
}

impl Drop for Readers {
    /// Nobody waits for a page any more, so this is short; afterwards no reader holds the file open.
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// While this lives, somebody waits for the page.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn work_off(connection: &mut Connection, queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok(job) = job else {
            return;
        };
        if job.given_up.load(Ordering::Relaxed) {
            continue;
        }
        let given_up = Arc::clone(&job.given_up);
        let until = Instant::now() + LONGEST;
        let stop = move || given_up.load(Ordering::Relaxed) || Instant::now() > until;
        let watched = connection.progress_handler(STEPS, Some(stop));
        let page = watched
            .map_err(StoreError::from)
            .and_then(|()| read_page(connection, &job.tenant, &job.query, job.keys.as_deref()));
        // Nobody waiting is not an error.
        let _ = job.reply.send(page);
    }
}

fn read_page(
    connection: &Connection,
    tenant: &TenantId,
    query: &Query,
    keys: Option<&TenantKeys>,
) -> Result<Page, StoreError> {
    let made = sql::page(tenant.as_str(), query, keys);
    let mut statement = connection.prepare_cached(&sql::for_sqlite(&made.text))?;
    let mut rows = statement.query(rusqlite::params_from_iter(made.values.iter()))?;
    let mut page = Page::default();
    let mut last = None;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        if page.rows.len() == query.window.limit {
            page.next = last;
            break;
        }
        let text = listed(row, query.projection)?;
        bytes += text.len();
        if bytes > query.window.bytes && !page.rows.is_empty() {
            page.next = last;
            break;
        }
        if has_personal(row, query.projection)? {
            page.ids.push(row.get(0)?);
        }
        last = Some(PageKey { id: row.get(0)?, value: row.get(1)? });
        page.rows.push(text);
    }
    Ok(page)
}

fn listed(row: &Row<'_>, wants: Projection) -> Result<String, StoreError> {
    match wants {
        Projection::Ids => Ok(row.get(0)?),
        Projection::Rows => {
            let body = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            let masked = row.get_ref(3)?.as_str_or_null().map_err(rusqlite::Error::from)?;
            Ok(joined(body, masked))
        }
    }
}

/// Whether something of the row is masked. Who gets only its id has seen nothing of it.
fn has_personal(row: &Row<'_>, wants: Projection) -> Result<bool, StoreError> {
    match wants {
        Projection::Ids => Ok(false),
        Projection::Rows => Ok(row.get_ref(3)? != types::ValueRef::Null),
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Value::Null => ToSqlOutput::Owned(types::Value::Null),
            Value::Text(text) => ToSqlOutput::from(*text),
            Value::Integer(number) => ToSqlOutput::from(*number),
            Value::Digest(text) => ToSqlOutput::from(text.as_str()),
        })
    }
}

/// A row of `sql::get`, its personal part still sealed.
pub(crate) struct Sealed {
    pub(crate) found: StoredRow,
    pub(crate) sealed: Option<Vec<u8>>,
}

pub(crate) fn found(row: &Row<'_>) -> rusqlite::Result<Sealed> {
    Ok(Sealed {
        found: StoredRow {
            id: row.get(0)?,
            version: row.get(1)?,
            created_at: row.get(2)?,
            body: row.get(3)?,
            masked: row.get(4)?,
            personal: None,
        },
        sealed: row.get(5)?,
    })
}
