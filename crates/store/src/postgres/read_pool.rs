//! The connections that reads share, and the slots that readers and writers use. A slot that has lost its connection opens a new one for the next caller; while
//! that fails, callers get an error at once instead of waiting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;
use tokio_postgres::{Error, Row};

use super::address::ConnectConfig;
use super::connection::{PgConnection, PgParams};
use crate::StoreError;

/// At most this many reads may wait on one pool.
const QUEUE_CAPACITY: usize = 1024;
/// A read that takes longer than this is cancelled when its caller stops waiting.
const SLOW: Duration = Duration::from_millis(250);
/// After a failed attempt to connect there is no other one for this long.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// A transaction that takes longer is given up.
const MAX_TX_TIME: Duration = Duration::from_secs(15);

pub(crate) struct ReadPool {
    slots: Vec<PgSlot>,
    next: AtomicUsize,
    permits: Semaphore,
}

/// Whose rows a read may see.
#[derive(Clone, Copy)]
pub(crate) enum RowScope<'a> {
    /// Only tables without tenants.
    Global,
    Tenant(&'a str),
}

impl ReadPool {
    pub(crate) fn new(config: &ConnectConfig, count: usize) -> ReadPool {
        ReadPool {
            slots: (0..count).map(|_| PgSlot::new(config.clone())).collect(),
            next: AtomicUsize::new(0),
            permits: Semaphore::new(QUEUE_CAPACITY),
        }
    }

    /// A read changes nothing, so it is sent once more if its connection was lost or retired.
    pub(crate) async fn query(
        &self,
        scope: RowScope<'_>,
        text: &str,
        params: PgParams<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let _permit = self.permits.try_acquire().map_err(|_| StoreError::Busy)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed) % self.slots.len().max(1);
        let slot = self.slots.get(number).ok_or(StoreError::Closed)?;
        let connection = slot.connection().await?;
        let mut pending = PendingRead { slot, connection, since: Instant::now(), is_done: false };
        let first = tokio::select! {
            biased;
            result = query(&pending.connection, scope, text, params) => Some(result),
            () = pending.connection.retired() => None,
        };
        let result = match first {
            Some(Err(error)) if !error.is_closed() => Err(error),
            Some(Ok(rows)) => Ok(rows),
            Some(Err(_)) | None => {
                pending.connection = slot.connection().await?;
                pending.since = Instant::now();
                query(&pending.connection, scope, text, params).await
            }
        };
        pending.is_done = true;
        Ok(result?)
    }
}

async fn query(
    connection: &PgConnection,
    scope: RowScope<'_>,
    text: &str,
    params: PgParams<'_>,
) -> Result<Vec<Row>, Error> {
    match scope {
        RowScope::Global => connection.query(text, params).await,
        RowScope::Tenant(tenant) => connection.query_as_tenant(tenant, text, params).await,
    }
}

/// A read that is under way. If its caller stops waiting and it is slow, its connection is retired, so that the
/// reads behind it do not wait for a result that nobody needs.
struct PendingRead<'a> {
    slot: &'a PgSlot,
    connection: Arc<PgConnection>,
    since: Instant,
    is_done: bool,
}

impl Drop for PendingRead<'_> {
    fn drop(&mut self) {
        if !self.is_done && self.since.elapsed() > SLOW {
            self.slot.retire(&self.connection);
        }
    }
}

/// An attempt to connect. If its caller stops waiting and it is slow, it counts as failed: those who wait for it get
/// an error instead of each trying for as long again.
struct ConnectAttempt<'a> {
    failed_at: &'a mut Option<Instant>,
    since: Instant,
}

impl Drop for ConnectAttempt<'_> {
    fn drop(&mut self) {
        if self.since.elapsed() > SLOW {
            *self.failed_at = Some(Instant::now());
        }
    }
}

/// A place for one connection, which is opened when it is needed.
pub(crate) struct PgSlot {
    config: ConnectConfig,
    connection: RwLock<Option<Arc<PgConnection>>>,
    /// When the last attempt to connect failed; locked during an attempt.
    failed_at: Mutex<Option<Instant>>,
}

impl PgSlot {
    pub(crate) fn new(config: ConnectConfig) -> PgSlot {
        PgSlot { config, connection: RwLock::default(), failed_at: Mutex::default() }
    }

    pub(crate) async fn connection(&self) -> Result<Arc<PgConnection>, StoreError> {
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        let mut failed_at = self.failed_at.lock().await;
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        if failed_at.is_some_and(|at| at.elapsed() < RETRY_PAUSE) {
            return Err(StoreError::Unreachable("the last attempt has just failed".to_owned()));
        }
        let attempt = ConnectAttempt { failed_at: &mut failed_at, since: Instant::now() };
        let connected = PgConnection::connect(&self.config).await;
        drop(attempt);
        match connected {
            Ok(connection) => {
                *failed_at = None;
                let connection = Arc::new(connection);
                *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&connection));
                Ok(connection)
            }
            Err(error) => {
                *failed_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    /// Runs a transaction of a writer and rolls it back if it fails. If that is not possible, or if it takes too long,
    /// the connection is closed.
    pub(crate) async fn transact<T>(
        &self,
        work: impl AsyncFnOnce(&PgConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let transaction = async {
            let connection = self.connection().await?;
            let result = work(&connection).await;
            if result.is_err() && connection.batch_execute("ROLLBACK").await.is_err() {
                self.discard();
            }
            result
        };
        match timeout(MAX_TX_TIME, transaction).await {
            Ok(result) => result,
            Err(_) => {
                self.discard();
                Err(StoreError::OutcomeUnknown)
            }
        }
    }

    fn discard(&self) {
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The connection gets no new reads, and those that wait on it are sent again on another one.
    fn retire(&self, connection: &Arc<PgConnection>) {
        let mut current = self.connection.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            *current = None;
        }
        drop(current);
        connection.retire();
    }

    fn current(&self) -> Option<Arc<PgConnection>> {
        let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner);
        connection.as_ref().filter(|connection| !connection.is_closed()).cloned()
    }
}
