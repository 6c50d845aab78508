//! The in-memory queue between accepting a task and running it. Waiting and running tasks are limited per server, so that
//! a slow server does not hold up the others. It holds ids only: after a restart the tasks are found in the store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use crate::model::timestamp::Millis;

/// All tasks of a tenant are counted at every n-th addition, because counting is linear in their number.
const COUNTED_ONCE_IN: u64 = 64;

/// Limits and intervals of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispatchLimits {
    /// Waiting tasks per server.
    pub waiting: usize,
    /// Concurrently running tasks per server.
    pub at_once: usize,
    /// Stored tasks per caller and server, answered or not.
    pub kept_for_one: usize,
    /// Stored tasks per tenant; may be exceeded slightly.
    pub kept: usize,
    /// How often the store is searched for tasks without a worker.
    pub poll_interval: Duration,
    /// How long a message waits for the answer of another with the same key before its caller must ask again.
    pub wait_timeout: Duration,
}

impl Default for DispatchLimits {
    fn default() -> DispatchLimits {
        DispatchLimits {
            waiting: 1_024,
            at_once: 4,
            kept_for_one: 10_000,
            kept: 100_000,
            poll_interval: Duration::from_secs(2),
            wait_timeout: Duration::from_secs(5),
        }
    }
}

/// Clones share the queue.
#[derive(Clone)]
pub struct TaskQueue {
    sender: UnboundedSender<QueuedTask>,
    receiver: Arc<Mutex<UnboundedReceiver<QueuedTask>>>,
    server_queues: Arc<std::sync::Mutex<HashMap<String, ServerQueue>>>,
    finished: Arc<Notify>,
    added: Arc<AtomicU64>,
    alone_since: Option<Millis>,
    pub(crate) limits: DispatchLimits,
}

/// The permits of one server: for waiting tasks, for running tasks, and for the search of the store.
#[derive(Clone)]
struct ServerQueue {
    places: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    search: Arc<Semaphore>,
    searched: Arc<AtomicBool>,
}

/// A task that waits to be run, with its permit.
pub(crate) struct QueuedTask {
    pub(crate) server: String,
    pub(crate) id: String,
    /// Released when the task starts.
    pub(crate) place: OwnedSemaphorePermit,
}

/// A reserved place in the queue.
pub(crate) struct QueueSlot {
    sender: UnboundedSender<QueuedTask>,
    server: String,
    permit: OwnedSemaphorePermit,
}

impl QueueSlot {
    pub(crate) fn send(self, id: String) {
        // Cannot fail: `TaskQueue` keeps the receiver.
        let _ = self.sender.send(QueuedTask { server: self.server, id, place: self.permit });
    }
}

impl Default for TaskQueue {
    fn default() -> TaskQueue {
        TaskQueue::new(DispatchLimits::default())
    }
}

impl TaskQueue {
    pub fn new(limits: DispatchLimits) -> TaskQueue {
        let (sender, receiver) = unbounded_channel();
        TaskQueue {
            sender,
            receiver: Arc::new(Mutex::new(receiver)),
            server_queues: Arc::default(),
            finished: Arc::new(Notify::new()),
            added: Arc::default(),
            alone_since: None,
            limits,
        }
    }

    /// For a store that only one node uses: leases from before this moment belong to an earlier process.
    pub fn alone(self, since: Millis) -> TaskQueue {
        TaskQueue { alone_since: Some(since), ..self }
    }

    /// Whether a task that was last changed at this time was left by an earlier process.
    pub(crate) fn is_orphan(&self, changed_at: i64) -> bool {
        self.alone_since.is_some_and(|since| changed_at < since.0)
    }

    /// Whether tasks of an earlier process may exist: true the first time it is asked.
    pub(crate) fn may_have_orphans(&self, server: &str) -> bool {
        self.alone_since.is_some() && !self.line(server).searched.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn reserve(&self, server: &str) -> Option<QueueSlot> {
        let permit = self.line(server).places.try_acquire_owned().ok()?;
        Some(QueueSlot { sender: self.sender.clone(), server: server.to_owned(), permit })
    }

    /// The receiving end. A second worker waits for the first to end.
    pub(crate) async fn queue(&self) -> OwnedMutexGuard<UnboundedReceiver<QueuedTask>> {
        Arc::clone(&self.receiver).lock_owned().await
    }

    /// Waits for a permit to run a task of this server.
    pub(crate) async fn worker(&self, server: &str) -> Option<OwnedSemaphorePermit> {
        self.line(server).workers.acquire_owned().await.ok()
    }

    /// A permit to search the store for tasks of this server, unless a search is running.
    pub(crate) fn search(&self, server: &str) -> Option<OwnedSemaphorePermit> {
        self.line(server).search.try_acquire_owned().ok()
    }

    pub(crate) fn is_time_to_count(&self) -> bool {
        self.added.fetch_add(1, Ordering::Relaxed).is_multiple_of(COUNTED_ONCE_IN)
    }

    /// Resolves when a task ends on this node after this call.
    pub(crate) fn finished(&self) -> tokio::sync::futures::OwnedNotified {
        Arc::clone(&self.finished).notified_owned()
    }

    pub(crate) fn wake(&self) {
        self.finished.notify_waiters();
    }

    /// One entry per server that was ever configured.
    fn line(&self, server: &str) -> ServerQueue {
        let mut lines = self.server_queues.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || ServerQueue {
            places: Arc::new(Semaphore::new(self.limits.waiting.max(1))),
            workers: Arc::new(Semaphore::new(self.limits.at_once.max(1))),
            search: Arc::new(Semaphore::new(1)),
            searched: Arc::default(),
        };
        lines.entry(server.to_owned()).or_insert_with(new).clone()
    }
}
