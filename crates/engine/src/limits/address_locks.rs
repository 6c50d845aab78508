//! Turns of addresses: requests of one address that are taken one after the other, in the order in which they came.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use super::ip_prefix::ip_prefix;

const SHARDS: usize = 64;

/// A fixed number of locks; addresses that share one only wait longer. Clones share them.
#[derive(Clone)]
pub struct AddressLocks {
    hasher: RandomState,
    locks: Arc<[Mutex<()>]>,
}

/// Holds the turn until it is dropped.
pub type AddressTurn<'a> = MutexGuard<'a, ()>;

impl Default for AddressLocks {
    fn default() -> AddressLocks {
        AddressLocks { hasher: RandomState::new(), locks: (0..SHARDS).map(|_| Mutex::new(())).collect() }
    }
}

impl AddressLocks {
    /// Waits for those of this address that came first.
    pub async fn acquire(&self, address: IpAddr) -> Option<AddressTurn<'_>> {
        match self.locks.get(self.hasher.hash_one(ip_prefix(address)) as usize % SHARDS) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        }
    }
}
