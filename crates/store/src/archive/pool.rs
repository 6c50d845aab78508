//! Connections that wait for their next statement, and turns on them. Whoever finds too long a queue is told at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use frontdesk_engine::Fault;
use frontdesk_engine::ports::site_db::SiteCell;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::Failure;

/// So long a turn is waited for.
const WAIT: Duration = Duration::from_millis(500);
/// So many wait for each connection.
const QUEUE: usize = 32;

pub(crate) struct Pool<C> {
    idle: Mutex<Vec<C>>,
    /// More than so many are not kept.
    connections: usize,
    turns: Arc<Semaphore>,
    waiting: AtomicUsize,
    queue: usize,
}

impl<C> Pool<C> {
    pub(crate) fn new(connections: usize) -> Pool<C> {
        let connections = connections.max(1);
        Pool {
            idle: Mutex::default(),
            connections,
            turns: Arc::new(Semaphore::new(connections)),
            waiting: AtomicUsize::new(0),
            queue: connections.saturating_mul(QUEUE),
        }
    }

    /// Whoever works for a caller that may leave takes it along, so that nobody else has it before the work ends.
    pub(crate) async fn turn(&self) -> Result<OwnedSemaphorePermit, Fault> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(turn);
        }
        let waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.queue {
            return Err(Fault::unavailable("too many calls wait for the site's database"));
        }
        let turn = tokio::time::timeout(WAIT, Arc::clone(&self.turns).acquire_owned()).await;
        drop(waiting);
        match turn {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(Fault::unavailable("all connections to the site's database are busy")),
        }
    }

    pub(crate) fn take(&self) -> Option<C> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(crate) fn put_back(&self, connection: C) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.connections {
            idle.push(connection);
        }
    }

    /// Has a look at each of those that wait, and throws away those that are no good any more.
    pub(crate) fn keep_those(&self, is_good: impl FnMut(&mut C) -> bool) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(is_good);
    }

    /// When one of them is found dead, the others are as well.
    pub(crate) fn forget(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What an answer may still weigh.
pub(crate) struct Allowance(pub(crate) usize);

impl Allowance {
    /// A text weighs its bytes, an integer eight.
    pub(crate) fn spend(&mut self, cell: SiteCell) -> Result<SiteCell, Failure> {
        let weight = match &cell {
            SiteCell::Null => 0,
            SiteCell::Integer(_) => 8,
            SiteCell::Text(text) => text.len(),
        };
        self.0 = self.0.checked_sub(weight).ok_or(Failure::TooLarge)?;
        Ok(cell)
    }
}
