//! Locks for tenants with conflicting writes. Plans of one tenant are made in parallel; one that hits a version conflict
//! takes the tenant's lock while it is made again, and new plans queue behind it. So many callers that want the same row
//! are served one after the other, and none retries for ever.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use crate::model::caller::TenantId;

const QUEUES: usize = 64;

/// A fixed number of locks; tenants that share one only wait longer. Clones share them.
#[derive(Clone)]
pub struct TenantLocks {
    hasher: RandomState,
    queues: Arc<[Mutex<()>]>,
}

/// Holds the lock until it is dropped.
pub type TenantGuard<'a> = MutexGuard<'a, ()>;

impl Default for TenantLocks {
    fn default() -> TenantLocks {
        TenantLocks { hasher: RandomState::new(), queues: (0..QUEUES).map(|_| Mutex::new(())).collect() }
    }
}

impl TenantLocks {
    /// Does not take a free lock; waits for one that is held, and then holds it.
    pub async fn acquire_if_contended(&self, tenant: &TenantId) -> Option<TenantGuard<'_>> {
        let queue = self.queue(tenant)?;
        match queue.try_lock() {
            Ok(_) => None,
            Err(_) => Some(queue.lock().await),
        }
    }

    pub async fn acquire(&self, tenant: &TenantId) -> Option<TenantGuard<'_>> {
        match self.queue(tenant) {
            Some(queue) => Some(queue.lock().await),
            None => None,
        }
    }

    fn queue(&self, tenant: &TenantId) -> Option<&Mutex<()>> {
        self.queues.get(self.hasher.hash_one(tenant) as usize % QUEUES)
    }
}
