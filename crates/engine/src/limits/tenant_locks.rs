//! Locks for tenants with conflicting writes. Plans of one tenant are made in parallel; one that hits a version conflict
//! takes the tenant's lock while it is made again, and new plans lock behind it. So many callers that want the same row
//! are served one after the other, and none retries for ever.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use crate::model::caller::TenantId;

const SHARDS: usize = 64;

/// A fixed number of locks; tenants that share one only wait longer. Clones share them.
#[derive(Clone)]
pub struct TenantLocks {
    hasher: RandomState,
    locks: Arc<[Mutex<()>]>,
}

/// Holds the lock until it is dropped.
pub type TenantGuard<'a> = MutexGuard<'a, ()>;

impl Default for TenantLocks {
    fn default() -> TenantLocks {
        TenantLocks { hasher: RandomState::new(), locks: (0..SHARDS).map(|_| Mutex::new(())).collect() }
    }
}

impl TenantLocks {
    /// Does not take a free lock; waits for one that is held, and then holds it.
    pub async fn acquire_if_contended(&self, tenant: &TenantId) -> Option<TenantGuard<'_>> {
        let lock = self.lock(tenant)?;
        match lock.try_lock() {
            Ok(_) => None,
            Err(_) => Some(lock.lock().await),
        }
    }

    pub async fn acquire(&self, tenant: &TenantId) -> Option<TenantGuard<'_>> {
        match self.lock(tenant) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        }
    }

    fn lock(&self, tenant: &TenantId) -> Option<&Mutex<()>> {
        self.locks.get(self.hasher.hash_one(tenant) as usize % SHARDS)
    }
}
