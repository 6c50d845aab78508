//! The way from who accepts a task to who runs it, bounded on both sides for each server by itself, so that a slow one
//! holds up no other. It holds names of tasks only: what is lost with it is found again in the store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use crate::model::timestamp::Millis;

/// All tasks of a tenant are counted once in so many times that one is added: counting takes as long as there are many.
const COUNTED_ONCE_IN: u64 = 64;

/// How much is taken on, and how often something is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispatchLimits {
    /// So many tasks of one server wait at most.
    pub waiting: usize,
    /// So many of one server run at once.
    pub at_once: usize,
    /// So many tasks of one caller are kept by one server, answered or not.
    pub kept_for_one: usize,
    /// So many, or a few more, are kept by all servers of a tenant.
    pub kept: usize,
    /// The store is looked through this often for tasks that nobody has.
    pub poll_interval: Duration,
    /// So long a message waits for its twin's answer before it is told to ask again.
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
    lines: Arc<std::sync::Mutex<HashMap<String, ServerQueue>>>,
    finished: Arc<Notify>,
    added: Arc<AtomicU64>,
    alone_since: Option<Millis>,
    pub(crate) limits: DispatchLimits,
}

/// What one server has: places for tasks that wait, workers for those that run, and one who looks for those left behind.
#[derive(Clone)]
struct ServerQueue {
    places: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    search: Arc<Semaphore>,
    searched: Arc<AtomicBool>,
}

/// A task that waits to be run, and the place it takes up.
pub(crate) struct QueuedTask {
    pub(crate) server: String,
    pub(crate) id: String,
    /// Free again when the task is begun.
    pub(crate) place: OwnedSemaphorePermit,
}

/// A place in the queue that nobody else can take.
pub(crate) struct QueueSlot {
    sender: UnboundedSender<QueuedTask>,
    server: String,
    permit: OwnedSemaphorePermit,
}

impl QueueSlot {
    pub(crate) fn send(self, id: String) {
        // Nobody can have closed the queue: its other end is kept beside this one.
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
            lines: Arc::default(),
            finished: Arc::new(Notify::new()),
            added: Arc::default(),
            alone_since: None,
            limits,
        }
    }

    /// For a store that one node at a time has to itself: whoever had a task before this moment has gone.
    pub fn alone(self, since: Millis) -> TaskQueue {
        TaskQueue { alone_since: Some(since), ..self }
    }

    /// Whether a task that was last changed then is of an earlier start, so that nobody runs it now.
    pub(crate) fn is_orphan(&self, changed_at: i64) -> bool {
        self.alone_since.is_some_and(|since| changed_at < since.0)
    }

    /// Whether tasks of an earlier start may be there: the first time that somebody asks.
    pub(crate) fn may_have_orphans(&self, server: &str) -> bool {
        self.alone_since.is_some() && !self.line(server).searched.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn reserve(&self, server: &str) -> Option<QueueSlot> {
        let permit = self.line(server).places.try_acquire_owned().ok()?;
        Some(QueueSlot { sender: self.sender.clone(), server: server.to_owned(), permit })
    }

    /// Whoever holds it runs what is queued; a second one waits for the first to end.
    pub(crate) async fn queue(&self) -> OwnedMutexGuard<UnboundedReceiver<QueuedTask>> {
        Arc::clone(&self.receiver).lock_owned().await
    }

    /// Waits until one of the server's workers is free, and has it until dropped.
    pub(crate) async fn worker(&self, server: &str) -> Option<OwnedSemaphorePermit> {
        self.line(server).workers.acquire_owned().await.ok()
    }

    /// Leave to look for tasks of this server, unless somebody is at it.
    pub(crate) fn search(&self, server: &str) -> Option<OwnedSemaphorePermit> {
        self.line(server).search.try_acquire_owned().ok()
    }

    pub(crate) fn is_time_to_count(&self) -> bool {
        self.added.fetch_add(1, Ordering::Relaxed).is_multiple_of(COUNTED_ONCE_IN)
    }

    /// Resolves when a task that ran here has ended, from the moment of this call on.
    pub(crate) fn finished(&self) -> tokio::sync::futures::OwnedNotified {
        Arc::clone(&self.finished).notified_owned()
    }

    pub(crate) fn wake(&self) {
        self.finished.notify_waiters();
    }

    /// There are as many lines as there have been servers in the configuration.
    fn line(&self, server: &str) -> ServerQueue {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || ServerQueue {
            places: Arc::new(Semaphore::new(self.limits.waiting.max(1))),
            workers: Arc::new(Semaphore::new(self.limits.at_once.max(1))),
            search: Arc::new(Semaphore::new(1)),
            searched: Arc::default(),
        };
        lines.entry(server.to_owned()).or_insert_with(new).clone()
    }
}
