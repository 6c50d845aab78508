//! Idle connections of a site's database, and limits for the number of queries that run at once: in all, and of one
//! caller.

use std::collections::HashMap;
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
    queue: WaitQueue,
    /// Of callers that have queries; each may have half of the connections.
    callers: Mutex<HashMap<String, Arc<WaitQueue>>>,
}

/// The permission to run a query. A thread that works on after its caller has left keeps a clone.
pub(super) type QueryPermit = Arc<QueryPermits>;

/// One connection of the pool, and of the caller's share. Released together.
pub(super) struct QueryPermits {
    _connection: OwnedSemaphorePermit,
    _share: Option<OwnedSemaphorePermit>,
}

impl<C> ConnectionPool<C> {
    pub(super) fn new(max_connections: usize) -> ConnectionPool<C> {
        let max_connections = max_connections.max(1);
        ConnectionPool {
            idle: Mutex::default(),
            max_connections,
            queue: WaitQueue::new(max_connections),
            callers: Mutex::default(),
        }
    }

    /// The caller's share first: whoever waits for its own queries takes no place in the queue of all.
    pub(super) async fn acquire(&self, caller: Option<&str>) -> Result<QueryPermit, Fault> {
        let share = match caller {
            Some(caller) => {
                let queue = self.share_of(caller);
                let acquired = queue.acquire("the caller's share of connections to the site's database is busy").await;
                drop(queue);
                Some(acquired?)
            }
            None => None,
        };
        let connection = self.queue.acquire("all connections to the site's database are busy").await?;
        Ok(Arc::new(QueryPermits { _connection: connection, _share: share }))
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

    fn share_of(&self, caller: &str) -> Arc<WaitQueue> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = callers.get(caller) {
            return Arc::clone(queue);
        }
        // A caller is added rarely, so this is when those without queries are removed.
        callers.retain(|_, queue| Arc::strong_count(queue) > 1 || !queue.is_unused());
        let queue = Arc::new(WaitQueue::new(self.max_connections.div_ceil(2)));
        callers.insert(caller.to_owned(), Arc::clone(&queue));
        queue
    }
}

/// Permits, and a bounded number of calls that wait for one.
struct WaitQueue {
    permits: Arc<Semaphore>,
    max: usize,
    waiting: AtomicUsize,
}

impl WaitQueue {
    fn new(max: usize) -> WaitQueue {
        WaitQueue { permits: Arc::new(Semaphore::new(max)), max, waiting: AtomicUsize::new(0) }
    }

    async fn acquire(&self, busy: &'static str) -> Result<OwnedSemaphorePermit, Fault> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let waiter = Waiter(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.max.saturating_mul(WAITERS_PER_CONNECTION) {
            return Err(Fault::unavailable("too many calls wait for the site's database"));
        }
        let acquired = tokio::time::timeout(ACQUIRE_TIMEOUT, Arc::clone(&self.permits).acquire_owned()).await;
        drop(waiter);
        match acquired {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(Fault::unavailable(busy)),
        }
    }

    fn is_unused(&self) -> bool {
        self.permits.available_permits() == self.max
    }
}

/// Counts a waiting call until it is dropped.
struct Waiter<'a>(&'a AtomicUsize);

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
