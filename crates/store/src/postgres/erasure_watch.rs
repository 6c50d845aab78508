//! Learning that a tenant was erased on another node: then the keys in memory may be those of a tenant that no longer
//! exists, although one with its id may. One number is looked up once in a while, whatever the number of tenants.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Mutex as AsyncMutex;

use super::read_pool::{ReadPool, RowScope};
use crate::StoreError;
use crate::keyring::Keyring;

/// The number is looked up when it is older than this; one call does so, and the others go on.
const REFRESH_AFTER: Duration = Duration::from_millis(500);
/// Beyond this age nobody goes on without it.
const MAX_AGE: Duration = Duration::from_secs(1);

const LAST_ERASURE: &str = "SELECT coalesce(max(number), 0) FROM fd_erasure";

pub(super) struct ErasureWatch {
    seen: Mutex<LastErasure>,
    refreshing: AsyncMutex<()>,
}

#[derive(Clone, Copy)]
struct LastErasure {
    number: i64,
    /// Before it was looked up; `None` if it never was.
    since: Option<Instant>,
}

impl LastErasure {
    fn is_older_than(self, age: Duration) -> bool {
        self.since.is_none_or(|since| since.elapsed() >= age)
    }
}

impl ErasureWatch {
    pub(super) fn new() -> ErasureWatch {
        ErasureWatch { seen: Mutex::new(LastErasure { number: 0, since: None }), refreshing: AsyncMutex::default() }
    }

    /// Removes all keys from memory if a tenant was erased since the last look.
    pub(super) async fn check(&self, pool: &ReadPool, keyring: &Keyring) -> Result<(), StoreError> {
        if !self.seen().is_older_than(REFRESH_AFTER) {
            return Ok(());
        }
        let _turn = match self.refreshing.try_lock() {
            Ok(turn) => turn,
            Err(_) if !self.seen().is_older_than(MAX_AGE) => return Ok(()),
            Err(_) => self.refreshing.lock().await,
        };
        if !self.seen().is_older_than(REFRESH_AFTER) {
            return Ok(());
        }
        let since = Instant::now();
        let rows = pool.query(RowScope::Global, LAST_ERASURE, &[]).await?;
        let number: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
        if number != self.seen().number {
            keyring.clear();
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = LastErasure { number, since: Some(since) };
        Ok(())
    }

    fn seen(&self) -> LastErasure {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
