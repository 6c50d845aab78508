//! Idle connections of a site's database, and a limit for the number of queries that run at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use frontdesk_engine::Fault;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a call waits for a permit.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(500);
/// How many calls may wait for each connection; further ones fail at once.
const WAITERS_PER_CONNECTION: usize = 32;

pub(super) struct ConnectionPool<C> {
    idle: Mutex<Vec<C>>,
    max_connections: usize,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// The permission to run a query. A thread that works on after its caller has left kind a clone.
pub(super) type QueryPermit = Arc<OwnedSemaphorePermit>;

impl<C> ConnectionPool<C> {
    pub(super) fn new(max_connections: usize) -> ConnectionPool<C> {
        let max_connections = max_connections.max(1);
        ConnectionPool {
            idle: Mutex::default(),
            max_connections,
            permits: Arc::new(Semaphore::new(max_connections)),
            waiting: AtomicUsize::new(0),
        }
    }

    pub(super) async fn acquire(&self) -> Result<QueryPermit, Fault> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(Arc::new(permit));
        }
        let waiter = Waiter(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.max_connections.saturating_mul(WAITERS_PER_CONNECTION) {
            return Err(Fault::unavailable("too many calls wait for the site's database"));
        }
        let acquired = tokio::time::timeout(ACQUIRE_TIMEOUT, Arc::clone(&self.permits).acquire_owned()).await;
        drop(waiter);
        match acquired {
            Ok(Ok(permit)) => Ok(Arc::new(permit)),
            Ok(Err(_)) | Err(_) => Err(Fault::unavailable("all connections to the site's database are busy")),
        }
    }

    pub(super) fn take(&self) -> Option<C> {
        self.idle().pop()
    }

    pub(super) fn put(&self, connection: C) {
        let mut idle = self.idle();
        if idle.len() < self.max_connections {
            idle.push(connection);
        }
    }

    /// Closes all idle connections.
    pub(super) fn clear(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<C>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a waiting call until it is dropped.
struct Waiter<'a>(&'a AtomicUsize);

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
