//! Counting what a plan stores, and refusing what is too much, within the writer's transaction.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{OptionalExtension, params, params_from_iter};

use super::encode::EncodedStep;
use super::write_tx::{Rejection, WriteTx, refused};
use crate::StoreError;
use crate::backend::usage::{StorageLimits, TenantUsage, UsageChange, no_room};

/// Free space is looked up again after this time.
const MAX_AGE: Duration = Duration::from_millis(250);

/// The limits, and how much room the disk of the database has.
pub(crate) struct StorageCheck {
    folder: PathBuf,
    state: Mutex<StorageState>,
}

#[derive(Default)]
struct StorageState {
    limits: StorageLimits,
    free: Option<(Instant, u64)>,
}

impl StorageCheck {
    pub(super) fn new(database: &Path) -> StorageCheck {
        let folder = database.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
        StorageCheck { folder, state: Mutex::default() }
    }

    pub(super) fn set_limits(&self, limits: StorageLimits) {
        self.state().limits = limits;
    }

    fn limits(&self) -> StorageLimits {
        self.state().limits
    }

    /// Without an answer from the system there is room until a write fails.
    fn has_room(&self) -> bool {
        let mut state = self.state();
        if state.limits.min_free_bytes == 0 {
            return true;
        }
        let free = match state.free {
            Some((since, free)) if since.elapsed() < MAX_AGE => free,
            Some(_) | None => {
                let found = rustix::fs::statvfs(&self.folder);
                let free = found.map_or(u64::MAX, |found| found.f_bavail.saturating_mul(found.f_frsize));
                state.free = Some((Instant::now(), free));
                free
            }
        };
        free >= state.limits.min_free_bytes
    }

    fn state(&self) -> MutexGuard<'_, StorageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WriteTx<'_> {
    /// Refuses what a caller may not add. What the server itself writes about a call is never refused.
    pub(super) fn check_storage(
        &mut self,
        tenant: &str,
        client: Option<&str>,
        change: &UsageChange,
    ) -> Result<(), Rejection> {
        if client.is_some() && change.writes && !self.context.storage.has_room() {
            return Err(refused(&no_room()));
        }
        let limits = self.context.storage.limits();
        self.usage(tenant)?.check(change, client, &limits).map_err(|fault| refused(&fault))
    }

    /// The bytes of the row that a step changes or removes.
    pub(super) fn size_before(&self, tenant: &str, step: &EncodedStep) -> Result<i64, StoreError> {
        let (table, id) = match step {
            EncodedStep::Update { table, row, .. } => (table, &row.id),
            EncodedStep::Remove { table, id, .. } => (table, id),
            EncodedStep::Insert { .. }
            | EncodedStep::Adjust { .. }
            | EncodedStep::Require { .. }
            | EncodedStep::RequireAbsent { .. } => return Ok(0),
        };
        let text = &self.context.texts(table)?.size;
        let size = self.connection.prepare_cached(text)?.query_row(params![tenant, id], |row| row.get(0)).optional()?;
        Ok(size.unwrap_or(0))
    }

    /// Adds what the plans of this transaction have stored.
    pub(super) fn write_usage(&mut self) -> Result<(), StoreError> {
        for (tenant, usage) in self.usage.drain().filter(|(_, usage)| usage.is_changed()) {
            self.connection
                .prepare_cached(&self.context.commit_texts.add_usage)?
                .execute(params_from_iter(usage.params(&tenant)))?;
        }
        Ok(())
    }

    fn usage(&mut self, tenant: &str) -> Result<&TenantUsage, StoreError> {
        if !self.usage.contains_key(tenant) {
            let mut statement = self.connection.prepare_cached(&self.context.commit_texts.get_usage)?;
            let stored = statement
                .query_row([tenant], |row| {
                    let clients: Option<String> = row.get(2)?;
                    Ok(TenantUsage::of(row.get(0)?, row.get(1)?, clients.as_deref()))
                })
                .optional()?;
            let stored = stored.map_or_else(|| TenantUsage::read(None), Ok)?;
            self.usage.insert(tenant.to_owned(), stored);
        }
        self.usage.get(tenant).ok_or_else(|| StoreError::NotCommitted("the usage is missing".to_owned()))
    }
}
