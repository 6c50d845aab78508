//! A store as the server sees it: the engine's two ports, statistics and retention, whichever database is behind
//! them. The registry and retention are written once over `StoreDriver`; the engine's `Store`, which is the hot path, is
//! implemented by each database.

mod answers;
mod erasure;
mod login_records;
mod registry;
mod registry_change;
mod retention;
pub(crate) mod stats;
pub(crate) mod usage;
mod word_list;

use std::future::Future;
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Store;
use frontdesk_engine::ports::login_records::LoginRecords;
use frontdesk_engine::ports::registry::{Changed, Registry};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{Fault, TenantId};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::StoreError;
use crate::audit::AuditClass;
use crate::keyring::Keyring;
use crate::sql::registry_rows::{RegistryRow, RegistryTable};
use crate::sql::session::{SqlRow, StoredValue};
use crate::transfer::tables::TransferTable;
use usage::{GET_USAGE, StorageLimits, StoredUsage, TenantUsage};

pub(crate) use answers::{AnswersChunk, ClaimPosition};
pub(crate) use registry::{load_tenant_keys, read_tenant};
pub(crate) use registry_change::{Applied, RegistryChange, tenant_columns};
pub(crate) use retention::{EXPIRED_CHAINS, Expired, NEWEST_LINK, RetentionChunk, RetentionProgress, RetentionSession};
pub use stats::WriterStats;

type BoxFuture<'a, T> = frontdesk_engine::model::tool::Future<'a, T>;

/// Where the result of queued work is sent once it is durable.
pub(crate) type ReplySender<T> = oneshot::Sender<Result<T, StoreError>>;

/// Waits for the writer's reply, up to `commit_wait`.
pub(crate) async fn await_reply<T>(
    reply: oneshot::Receiver<Result<T, StoreError>>,
    commit_wait: Duration,
) -> Result<T, StoreError> {
    match timeout(commit_wait, reply).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) | Err(_) => Err(StoreError::OutcomeUnknown),
    }
}

pub trait Backend: Store + Registry + LoginRecords {
    fn writer_stats(&self) -> WriterStats;

    /// Checks that a write can be made durable right now.
    fn writable(&self) -> BoxFuture<'_, Result<(), Fault>>;

    /// Deletes idempotency keys that were claimed before this instant.
    fn delete_expired_claims(&self, before: Millis) -> BoxFuture<'_, Result<(), Fault>>;

    /// Deletes rows whose value in this column, which must be sorted, is before this instant.
    fn delete_expired_rows(
        &self,
        table: &'static TableSpec,
        column: &'static str,
        before: Millis,
    ) -> BoxFuture<'_, Result<(), Fault>>;

    /// Deletes audit links of this class that were written before this instant, oldest first. Each chain stores the
    /// hash of the last deleted link, so that the remaining ones can still be verified.
    fn delete_expired_audit(&self, class: AuditClass, before: Millis) -> BoxFuture<'_, Result<(), Fault>>;

    /// Enters the last link of every chain that has grown into the sealed summary.
    fn seal_audit(&self) -> BoxFuture<'_, Result<(), Fault>>;

    /// Counts a restored backup in the summary, with its audit record.
    fn count_restore(&self, at: Millis, record: String) -> BoxFuture<'_, Result<(), Fault>>;

    /// What may be stored from now on.
    fn set_storage_limits(&self, limits: StorageLimits);

    /// What the tenant has stored, and of it what each of its clients has added. None until it was counted.
    fn usage<'a>(&'a self, tenant: &'a TenantId) -> BoxFuture<'a, Result<Option<StoredUsage>, Fault>>;

    /// When the newest audit record of all chains was written.
    fn newest_record(&self) -> BoxFuture<'_, Result<Option<Millis>, Fault>>;

    /// Removes the personal part of every stored answer about one of these ids, so that the replay of an old key shows
    /// nobody. The keys stay claimed. Returns how many answers were changed; repeating it is harmless.
    fn erase_answers<'a>(&'a self, tenant: &'a TenantId, ids: &'a [String]) -> BoxFuture<'a, Result<u64, Fault>>;
}

/// A store on one of the two databases.
pub struct SqlStore<D> {
    pub(crate) driver: D,
}

/// What registry and retention need of a database.
pub(crate) trait StoreDriver: Send + Sync {
    type Retention<'a>: RetentionSession
    where
        Self: 'a;

    fn keyring(&self) -> &Keyring;

    /// Reads from tables whose rows belong to no tenant.
    fn read(&self, text: &str, params: &[StoredValue]) -> impl Future<Output = Result<Vec<SqlRow>, StoreError>> + Send;

    /// The rows of an authenticated table whose MAC is right.
    fn find(
        &self,
        table: &'static RegistryTable,
        rest: &str,
        params: &[StoredValue],
    ) -> impl Future<Output = Result<Vec<RegistryRow>, StoreError>> + Send {
        async move { Ok(table.verify(self.keyring().registry(), self.read(&table.select(rest), params).await?).rows) }
    }

    /// Makes the change together with its audit record, and waits until both are durable. There is no record if
    /// nothing was changed.
    fn change(
        &self,
        change: RegistryChange,
        record: String,
    ) -> impl Future<Output = Result<Changed, StoreError>> + Send;

    fn stats(&self) -> WriterStats;

    fn audit_key(&self) -> &SealKey;

    fn seal_audit(&self) -> impl Future<Output = Result<(), StoreError>> + Send;

    fn set_storage_limits(&self, limits: StorageLimits);

    /// Reads rows of one tenant.
    fn read_of_tenant(
        &self,
        tenant: &str,
        text: &str,
        params: &[StoredValue],
    ) -> impl Future<Output = Result<Vec<SqlRow>, StoreError>> + Send;

    /// The tables with rows of tenants.
    fn erased_tables(&self) -> &[TransferTable];

    fn retention(&self) -> impl Future<Output = Result<Self::Retention<'_>, StoreError>> + Send;
}

impl<D: StoreDriver> Backend for SqlStore<D>
where
    SqlStore<D>: Store,
{
    fn writer_stats(&self) -> WriterStats {
        self.driver.stats()
    }

    /// Goes through the same queue and to the same disk as every other write.
    fn writable(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async move {
            self.driver.change(RegistryChange::WriteProbe, String::new()).await?;
            Ok(())
        })
    }

    fn delete_expired_claims(&self, before: Millis) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async move { Ok(retention::delete_expired(&self.driver, Expired::Claims, before).await?) })
    }

    fn delete_expired_rows(
        &self,
        table: &'static TableSpec,
        column: &'static str,
        before: Millis,
    ) -> BoxFuture<'_, Result<(), Fault>> {
        let expired = Expired::Rows { table, column };
        Box::pin(async move { Ok(retention::delete_expired(&self.driver, expired, before).await?) })
    }

    fn delete_expired_audit(&self, class: AuditClass, before: Millis) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async move { Ok(retention::delete_expired_links(&self.driver, class, before).await?) })
    }

    fn seal_audit(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async move { Ok(self.driver.seal_audit().await?) })
    }

    fn count_restore(&self, at: Millis, record: String) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async move {
            let change = RegistryChange::CountRestore { audit_key: self.driver.audit_key().clone(), at };
            self.driver.change(change, record).await?;
            Ok(())
        })
    }

    fn set_storage_limits(&self, limits: StorageLimits) {
        self.driver.set_storage_limits(limits);
    }

    fn usage<'a>(&'a self, tenant: &'a TenantId) -> BoxFuture<'a, Result<Option<StoredUsage>, Fault>> {
        Box::pin(async move {
            let rows = self.driver.read_of_tenant(tenant.as_str(), GET_USAGE, &[tenant.as_str().into()]).await?;
            Ok(TenantUsage::read(rows.first())?.counted())
        })
    }

    fn newest_record(&self) -> BoxFuture<'_, Result<Option<Millis>, Fault>> {
        Box::pin(async move { Ok(retention::newest_link(&self.driver).await?) })
    }

    fn erase_answers<'a>(&'a self, tenant: &'a TenantId, ids: &'a [String]) -> BoxFuture<'a, Result<u64, Fault>> {
        Box::pin(async move { Ok(answers::erase_answers(&self.driver, tenant.as_str(), ids).await?) })
    }
}
