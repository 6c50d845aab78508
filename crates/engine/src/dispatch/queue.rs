//! The way from who accepts a task to who runs it, bounded on both sides. It holds names of tasks only: what is lost
//! with it is found again in the store.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

use crate::caller::TenantId;

/// How much is taken on, and how often something is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// So many tasks wait at most.
    pub waiting: usize,
    /// So many run at once.
    pub at_once: usize,
    /// The store is looked through this often for tasks that nobody has.
    pub look: Duration,
    /// So long a message waits for its twin's answer before it is told to ask again.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { waiting: 1_024, at_once: 4, look: Duration::from_secs(2), patience: Duration::from_secs(5) }
    }
}

/// Clones share the queue.
#[derive(Clone)]
pub struct Tasks {
    sender: Sender<Ticket>,
    receiver: Arc<Mutex<Receiver<Ticket>>>,
    finished: Arc<Notify>,
    pub(crate) limits: Limits,
}

/// A task that waits to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) tenant: TenantId,
    pub(crate) server: String,
    pub(crate) id: String,
}

/// A place in the queue that nobody else can take.
pub(crate) struct Place(tokio::sync::mpsc::OwnedPermit<Ticket>);

impl Place {
    pub(crate) fn send(self, ticket: Ticket) {
        self.0.send(ticket);
    }
}

impl Default for Tasks {
    fn default() -> Tasks {
        Tasks::new(Limits::default())
    }
}

impl Tasks {
    pub fn new(limits: Limits) -> Tasks {
        let (sender, receiver) = channel(limits.waiting.max(1));
        let receiver = Arc::new(Mutex::new(receiver));
        Tasks { sender, receiver, finished: Arc::new(Notify::new()), limits }
    }

    pub(crate) fn reserve(&self) -> Option<Place> {
        self.sender.clone().try_reserve_owned().ok().map(Place)
    }

    /// Whoever holds it runs what is queued; a second one waits for the first to end.
    pub(crate) async fn line(&self) -> OwnedMutexGuard<Receiver<Ticket>> {
        Arc::clone(&self.receiver).lock_owned().await
    }

    /// Resolves when a task that ran here has ended, from the moment of this call on.
    pub(crate) fn finished(&self) -> tokio::sync::futures::OwnedNotified {
        Arc::clone(&self.finished).notified_owned()
    }

    pub(crate) fn wake(&self) {
        self.finished.notify_waiters();
    }
}
