//! Taking turns. Plans of one tenant are made side by side; one that turns out stale waits for its turn
//! and holds it while it is made again, and newcomers queue behind it. So a crowd that wants the same
//! row is served one after the other instead of losing the race for ever.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use crate::model::caller::TenantId;

const QUEUES: usize = 64;

/// A fixed number of queues; tenants that share one only wait a little longer. Clones share them.
#[derive(Clone)]
pub struct TenantLocks {
    hasher: RandomState,
    queues: Arc<[Mutex<()>]>,
}

/// Somebody's turn, until it is dropped.
pub type TenantGuard<'a> = MutexGuard<'a, ()>;

impl Default for TenantLocks {
    fn default() -> TenantLocks {
        TenantLocks { hasher: RandomState::new(), queues: (0..QUEUES).map(|_| Mutex::new(())).collect() }
    }
}

impl TenantLocks {
    /// Goes ahead at once when nobody has the turn, and takes it only when somebody else does.
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
