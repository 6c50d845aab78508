//! Wakes whoever waits for something to happen in a tenant on this node. It may wake for nothing, and it knows nothing of
//! other nodes: who waits looks at the store by itself from time to time.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, watch};

use crate::model::caller::TenantId;

/// Clones share who waits.
#[derive(Debug, Clone, Default)]
pub struct TenantChanges(Arc<Mutex<HashMap<TenantId, watch::Sender<()>>>>, Arc<ChangedTenants>);

/// The tenants in which something has changed, for one who follows all of them. Bounded by the number of tenants.
#[derive(Debug, Default)]
struct ChangedTenants {
    tenants: Mutex<HashSet<TenantId>>,
    added: Notify,
}

/// Somebody who waits for the next change of a tenant.
#[derive(Debug)]
pub struct ChangeWaiter(watch::Receiver<()>);

impl TenantChanges {
    /// Something was committed that others may wait for.
    pub fn note(&self, tenant: &TenantId) {
        let mut changed = self.1.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if !changed.contains(tenant) {
            changed.insert(tenant.clone());
        }
        drop(changed);
        self.1.added.notify_one();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = waiting.get(tenant)
            && sender.send(()).is_err()
        {
            // Nobody waits any more.
            waiting.remove(tenant);
        }
    }

    /// The tenants in which something has changed since the last call, once there are any. For one waiter at a time.
    pub async fn next_tenants(&self) -> HashSet<TenantId> {
        loop {
            let added = self.1.added.notified();
            let changed = std::mem::take(&mut *self.1.tenants.lock().unwrap_or_else(PoisonError::into_inner));
            if !changed.is_empty() {
                return changed;
            }
            added.await;
        }
    }

    /// TenantChanges from now on, also those before `next` is called.
    pub fn subscribe(&self, tenant: &TenantId) -> ChangeWaiter {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = waiting.entry(tenant.clone()).or_insert_with(|| watch::Sender::new(()));
        ChangeWaiter(sender.subscribe())
    }
}

impl ChangeWaiter {
    /// Returns when something has changed since the last call.
    pub async fn next(&mut self) {
        // The sender is dropped only when nobody waits.
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::{TenantChanges, TenantId};

    #[tokio::test]
    async fn a_change_wakes_those_who_wait_for_its_tenant() {
        let changes = TenantChanges::default();
        let [one, other] = ["one", "other"].map(|name| TenantId::parse(name).unwrap());
        let (mut first, mut second) = (changes.subscribe(&one), changes.subscribe(&other));
        changes.note(&one);
        assert!(timeout(Duration::from_secs(60), first.next()).await.is_ok());
        assert!(timeout(Duration::ZERO, second.next()).await.is_err());
        assert!(timeout(Duration::ZERO, first.next()).await.is_err(), "once for each change");
        drop((first, second));
        changes.note(&one);
        assert_eq!(changes.0.lock().unwrap().len(), 1, "nobody waits for the first one");
    }
}
