//! Imports that were accepted on this node and wait for its worker. It only makes the worker look at once: what is lost
//! here, with the process or because there are too many, the worker finds in the store.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::model::caller::TenantId;
use crate::model::fault::{Fault, FaultKind};
use crate::model::timestamp::Millis;

const CAPACITY: usize = 1_000;
const MAX_BODIES: usize = 8;
/// For how many milliseconds after a call others count as active.
const ACTIVE_FOR: i64 = 250;
/// How long a caller waits before its feed is received.
const BODY_WAIT: Duration = Duration::from_secs(5);

/// Clones share the queue.
#[derive(Default, Clone)]
pub struct ImportQueue {
    tenants: Arc<Mutex<VecDeque<TenantId>>>,
    added: Arc<Notify>,
    bodies: Bodies,
    /// When somebody who is no import last began to read or to write, in milliseconds since 1970.
    last_read: Arc<AtomicI64>,
    last_write: Arc<AtomicI64>,
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// Who is active beside an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    Nobody,
    Readers,
    Writers,
}

/// Feeds that are being received: each may be large, so only a few are in memory at once.
#[derive(Clone)]
struct Bodies(Arc<Semaphore>);

impl Default for Bodies {
    fn default() -> Bodies {
        Bodies(Arc::new(Semaphore::new(MAX_BODIES)))
    }
}

impl ImportQueue {
    pub(super) fn push(&self, tenant: &TenantId) {
        if let Ok(mut tenants) = self.tenants.lock()
            && tenants.len() < CAPACITY
            && !tenants.contains(tenant)
        {
            tenants.push_back(tenant.clone());
        }
        self.added.notify_one();
    }

    /// Somebody reads who waits for the answer.
    pub(crate) fn note_read(&self, now: Millis) {
        self.last_read.store(now.0, Ordering::Relaxed);
    }

    /// Somebody writes who waits for the answer.
    pub(crate) fn note_write(&self, now: Millis) {
        self.last_write.store(now.0, Ordering::Relaxed);
    }

    /// Beside others one group of rows is under way at a time, of whichever import it is.
    pub(super) async fn turn(&self) -> tokio::sync::OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Who an import must not hold up.
    pub(super) fn others(&self, now: Millis) -> Others {
        let is_recent = |at: &AtomicI64| now.0.saturating_sub(at.load(Ordering::Relaxed)) < ACTIVE_FOR;
        if is_recent(&self.last_write) {
            Others::Writers
        } else if is_recent(&self.last_read) {
            Others::Readers
        } else {
            Others::Nobody
        }
    }

    /// Permission to receive a feed, held until it has been stored.
    pub(crate) async fn receive(&self) -> Result<OwnedSemaphorePermit, Fault> {
        match timeout(BODY_WAIT, Arc::clone(&self.bodies.0).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => {
                let message = "Several files are being received already. Send this one again in a moment.";
                Err(Fault::new(FaultKind::QueueFull, message).retry_after(5))
            }
        }
    }

    /// A tenant with an import that may wait.
    pub(super) async fn next(&self) -> TenantId {
        loop {
            let added = self.added.notified();
            if let Some(tenant) = self.tenants.lock().ok().and_then(|mut tenants| tenants.pop_front()) {
                return tenant;
            }
            added.await;
        }
    }
}
