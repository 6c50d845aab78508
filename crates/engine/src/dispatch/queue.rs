//! The way from who accepts a task to who runs it, bounded on both sides. It holds names of tasks only: what is lost
//! with it is found again in the store.

use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

use crate::caller::TenantId;

const WAITING: usize = 1_024;
const AT_ONCE: usize = 4;

/// Clones share the queue.
#[derive(Clone)]
pub struct Tasks {
    sender: Sender<Ticket>,
    receiver: Arc<Mutex<Receiver<Ticket>>>,
    finished: Arc<Notify>,
    at_once: usize,
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
        Tasks::new(WAITING, AT_ONCE)
    }
}

impl Tasks {
    /// So many wait at most, and so many run at once.
    pub fn new(waiting: usize, at_once: usize) -> Tasks {
        let (sender, receiver) = channel(waiting.max(1));
        let receiver = Arc::new(Mutex::new(receiver));
        Tasks { sender, receiver, finished: Arc::new(Notify::new()), at_once: at_once.max(1) }
    }

    pub(crate) fn reserve(&self) -> Option<Place> {
        self.sender.clone().try_reserve_owned().ok().map(Place)
    }

    pub(crate) fn at_once(&self) -> usize {
        self.at_once
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
