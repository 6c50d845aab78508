//! Reading. A look-up by key is so short that it runs where it is asked for, on a pooled connection;
//! pages run on reader threads, so that a slow one holds up no other call. A page nobody waits for any
//! more is interrupted.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use frontdesk_engine::page::{Key, Page, Query, Wants};
use frontdesk_engine::table::{Cell, Found, joined};
use frontdesk_engine::{Fault, TenantId};
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, Row, ToSql};
use tokio::sync::oneshot;

use super::{Shared, open};
use crate::StoreError;
use crate::sql::{self, Statement};
use crate::vault::TenantKeys;

const THREADS: usize = 2;
const QUEUE: usize = 1024;
/// No statement runs longer, whoever waits.
const LONGEST: Duration = Duration::from_secs(10);
/// How many steps of the database's machine pass between two looks at the clock.
const STEPS: i32 = 10_000;

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
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let connection = match idle {
            Some(connection) => connection,
            None => open::reader(&self.path)?,
        };
        let result = work(&connection);
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(connection);
        }
        result
    }
}

struct Job {
    statement: Statement,
    query: Query,
    given_up: Arc<AtomicBool>,
    reply: oneshot::Sender<Result<Page, StoreError>>,
}

pub(crate) struct Readers {
    /// Gone once the readers are to end.
    jobs: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(crate) fn start(path: &Path, shared: Arc<Shared>) -> Result<Readers, StoreError> {
        let (jobs, queue) = sync_channel::<Job>(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::new();
        for number in 0..THREADS {
            let mut connection = open::reader(path)?;
            let queue = Arc::clone(&queue);
            let shared = Arc::clone(&shared);
            let thread = std::thread::Builder::new()
                .name(format!("reader-{number}"))
                .spawn(move || work_off(&mut connection, &queue, &shared))
                .map_err(|error| StoreError::Folder { path: path.to_owned(), error })?;
            threads.push(thread);
        }
        Ok(Readers { jobs: Some(jobs), threads })
    }

    pub(crate) async fn page(&self, tenant: &TenantId, query: Query) -> Result<Page, Fault> {
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting(Arc::new(AtomicBool::new(false)));
        let job = Job { statement: sql::page(tenant.as_str(), &query), query, given_up: Arc::clone(&waiting.0), reply };
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

fn work_off(connection: &mut Connection, queue: &Mutex<Receiver<Job>>, shared: &Shared) {
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
        let page = watched.map_err(StoreError::from).and_then(|()| read_page(connection, shared, &job));
        // Nobody waiting is not an error.
        let _ = job.reply.send(page);
    }
}

fn read_page(connection: &Connection, shared: &Shared, job: &Job) -> Result<Page, StoreError> {
    let mut statement = connection.prepare_cached(&sql::for_sqlite(&job.statement.text))?;
    let keys = tenant_keys(shared, &job.statement);
    let values: Vec<Bound<'_>> = job.statement.values.iter().map(|cell| Bound::of(cell, keys.as_deref())).collect();
    let mut rows = statement.query(rusqlite::params_from_iter(values.iter()))?;
    let mut page = Page::default();
    let mut last = None;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        if page.rows.len() == job.query.window.limit {
            page.next = last;
            break;
        }
        let text = listed(row, job.query.wants)?;
        bytes += text.len();
        if bytes > job.query.window.bytes && !page.rows.is_empty() {
            page.next = last;
            break;
        }
        last = Some(Key { id: row.get(0)?, value: row.get(1)? });
        page.rows.push(text);
    }
    Ok(page)
}

fn listed(row: &Row<'_>, wants: Wants) -> Result<String, StoreError> {
    match wants {
        Wants::Ids => Ok(row.get(0)?),
        Wants::Rows => {
            let body = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            let masked = row.get_ref(3)?.as_str_or_null().map_err(rusqlite::Error::from)?;
            Ok(joined(body, masked))
        }
    }
}

/// The first value of every page is its tenant.
fn tenant_keys(shared: &Shared, statement: &Statement) -> Option<Arc<TenantKeys>> {
    match statement.values.first() {
        Some(Cell::Text(tenant)) => shared.vault.keys(tenant),
        Some(Cell::Null | Cell::Integer(_) | Cell::Digest(_)) | None => None,
    }
}

/// A cell on its way into a statement; personal values are hashed here.
pub(crate) enum Bound<'a> {
    Null,
    Text(&'a str),
    Integer(i64),
    Digest(String),
}

impl<'a> Bound<'a> {
    pub(crate) fn of(cell: &'a Cell, keys: Option<&TenantKeys>) -> Bound<'a> {
        match (cell, keys) {
            (Cell::Null, _) | (Cell::Digest(_), None) => Bound::Null,
            (Cell::Text(text), _) => Bound::Text(text),
            (Cell::Integer(number), _) => Bound::Integer(*number),
            (Cell::Digest(text), Some(keys)) => Bound::Digest(keys.digest(text)),
        }
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Bound::Null => ToSqlOutput::Owned(Value::Null),
            Bound::Text(text) => ToSqlOutput::from(*text),
            Bound::Integer(number) => ToSqlOutput::from(*number),
            Bound::Digest(text) => ToSqlOutput::from(text.as_str()),
        })
    }
}

/// A row of `sql::get`, its personal part still sealed.
pub(crate) struct Sealed {
    pub(crate) found: Found,
    pub(crate) sealed: Option<Vec<u8>>,
}

pub(crate) fn found(row: &Row<'_>) -> rusqlite::Result<Sealed> {
    Ok(Sealed {
        found: Found {
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
