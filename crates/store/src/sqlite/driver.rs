//! Registry changes and retention on SQLite: tasks for the writer thread.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::Changed;
use frontdesk_engine::seal::SealKey;
use tokio::sync::oneshot;

use super::SqliteContext;
use super::readers::{ReaderThreads, SqliteReadPool};
use super::write_tx::WriteTx;
use super::writer::{SqliteWriter, WriteJob};
use crate::StoreError;
use crate::audit::summary::{self, GROWN_CHAINS};
use crate::audit::{AuditClass, tenant_chain};
use crate::backend::stats::WriterStats;
use crate::backend::usage::StorageLimits;
use crate::backend::{
    AnswersChunk, Applied, ClaimPosition, EXPIRED_CHAINS, Expired, NEWEST_LINK, RegistryChange, RetentionChunk,
    RetentionProgress, RetentionSession, StoreDriver, await_reply,
};
use crate::keyring::Keyring;
use crate::sql::registry_rows;
use crate::sql::session::{SqlReader, SqlRow, StoredValue, run_ready};
use crate::transfer::tables::TransferTable;

/// How many chains are entered into the summary at once, while other writers wait.
const CHAINS_PER_SEAL: usize = 100;

pub struct SqliteStoreDriver {
    pub(super) context: Arc<SqliteContext>,
    pub(super) pool: SqliteReadPool,
    pub(super) readers: ReaderThreads,
    pub(super) writer: SqliteWriter,
    pub(super) commit_wait: Duration,
}

impl SqliteStoreDriver {
    pub(super) async fn reply<T>(&self, reply: oneshot::Receiver<Result<T, StoreError>>) -> Result<T, StoreError> {
        await_reply(reply, self.commit_wait).await
    }

    /// Runs a task on the writer thread and waits until it is committed.
    async fn run_task<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, reply) = oneshot::channel();
        let (send_result, mut result) = oneshot::channel();
        let task = Box::new(move |tx: &mut WriteTx<'_>| {
            // The caller may have stopped waiting.
            let _ = send_result.send(work(tx)?);
            Ok(())
        });
        self.writer.send(WriteJob::Task(task, sender))?;
        self.reply(reply).await?;
        result.try_recv().map_err(|_| StoreError::OutcomeUnknown)
    }
}

impl StoreDriver for SqliteStoreDriver {
    type Retention<'a> = &'a SqliteStoreDriver;

    fn keyring(&self) -> &Keyring {
        &self.context.keyring
    }

    async fn read(&self, text: &str, params: &[StoredValue]) -> Result<Vec<SqlRow>, StoreError> {
        self.pool.with(|connection| run_ready(connection.query(text, params)))
    }

    fn set_storage_limits(&self, limits: StorageLimits) {
        self.context.storage.set_limits(limits);
    }

    async fn read_of_tenant(&self, _: &str, text: &str, params: &[StoredValue]) -> Result<Vec<SqlRow>, StoreError> {
        self.read(text, params).await
    }

    async fn change(&self, change: RegistryChange, record: String) -> Result<Changed, StoreError> {
        self.run_task(move |tx| {
            let applied = run_ready(change.apply(tx.connection, tx.context.keyring.registry(), &record))?;
            if let Applied::Done(class, record) = &applied {
                tx.append_node_link(*class, record)?;
            }
            if change.ends_keys() {
                tx.ends_keys = true;
            }
            Ok(applied.changed())
        })
        .await
    }

    fn erased_tables(&self) -> &[TransferTable] {
        &self.context.erased_tables
    }

    fn stats(&self) -> WriterStats {
        self.writer.stats()
    }

    fn audit_key(&self) -> &SealKey {
        &self.context.audit_key
    }

    /// Looked for beside the writer, which then enters some at a time.
    async fn seal_audit(&self) -> Result<(), StoreError> {
        let grown = first_column(&self.read(GROWN_CHAINS, &[]).await?)?;
        let at = self.context.clock.now();
        for chains in grown.chunks(CHAINS_PER_SEAL).map(<[String]>::to_vec) {
            self.run_task(move |tx| run_ready(summary::seal_chains(tx.connection, &tx.context.audit_key, &chains, at)))
                .await?;
        }
        Ok(())
    }

    async fn retention(&self) -> Result<&SqliteStoreDriver, StoreError> {
        Ok(self)
    }
}

impl RetentionSession for &SqliteStoreDriver {
    /// Only those that have expired rows, so that the writer has nothing to do for the others.
    async fn tenants(&self, expired: Expired, before: Millis) -> Result<Vec<String>, StoreError> {
        let text = match expired {
            Expired::Claims => "SELECT DISTINCT tenant FROM fd_claim WHERE at < $1 ORDER BY tenant".to_owned(),
            Expired::Rows { table, column } => registry_rows::tenants_with_rows_before(table, column),
        };
        first_column(&self.read(&text, &[before.0.into()]).await?)
    }

    async fn has_expired(&self, _: &str, _: Expired, _: Millis) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn chains(&self, class: AuditClass, before: Millis) -> Result<Vec<String>, StoreError> {
        first_column(&self.read(EXPIRED_CHAINS, &[before.0.into(), class.pattern().into()]).await?)
    }

    async fn newest(&self) -> Result<Option<i64>, StoreError> {
        let rows = self.read(NEWEST_LINK, &[]).await?;
        rows.first().map_or(Ok(None), |row| row.optional_integer(0))
    }

    async fn run(&self, chunk: RetentionChunk) -> Result<RetentionProgress, StoreError> {
        self.run_task(move |tx| {
            let progress = run_ready(chunk.delete(tx.connection, &tx.context.keyring, &tx.context.audit_key))?;
            // The row of its head has changed.
            match &chunk {
                RetentionChunk::Chain { chain, .. } => tx.heads.remove(chain),
                RetentionChunk::Erasure { tenant, .. } => tx.heads.remove(&tenant_chain(tenant)),
                RetentionChunk::Tenant { .. } => None,
            };
            Ok(progress)
        })
        .await
    }

    async fn erase(&self, chunk: AnswersChunk) -> Result<(Option<ClaimPosition>, u64), StoreError> {
        self.run_task(move |tx| run_ready(chunk.erase(tx.connection, &tx.context.keyring))).await
    }
}

fn first_column(rows: &[SqlRow]) -> Result<Vec<String>, StoreError> {
    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
}
