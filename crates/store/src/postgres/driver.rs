//! Registry changes and retention on PostgreSQL.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::Changed;
use frontdesk_engine::seal::SealKey;
use tokio::sync::oneshot;
use tokio_postgres::Row;

use super::connection::{PgConnection, PgParams, refs};
use super::erasure_watch::ErasureWatch;
use super::read_pool::{ReadPool, RowScope};
use super::rls::AUDITOR;
use super::sql_texts::{COMMIT, delete_terms_before};
use super::values::read_rows;
use super::writers::Writers;
use super::{Address, PgContext};
use crate::StoreError;
use crate::audit::AuditClass;
use crate::audit::summary::{self, GROWN_CHAINS};
use crate::backend::usage::StorageLimits;
use crate::backend::{
    AnswersChunk, ClaimPosition, EXPIRED_CHAINS, Expired, NEWEST_LINK, RegistryChange, RetentionChunk,
    RetentionProgress, RetentionSession, StoreDriver, WriterStats, await_reply,
};
use crate::keyring::Keyring;
use crate::reindex::IndexSession as _;
use crate::sql::registry_rows::{LOCK_TENANT, LOCK_TOKENS, TENANT_NAMES};
use crate::sql::session::{SqlReader, SqlRow, SqlSession, StoredValue};
use crate::transfer::tables::TransferTable;

pub struct PostgresStoreDriver {
    pub(super) context: Arc<PgContext>,
    pub(super) address: Address,
    pub(super) lookups: ReadPool,
    pub(super) pages: ReadPool,
    pub(super) writers: Writers,
    pub(super) commit_wait: Duration,
    pub(super) erasures: ErasureWatch,
}

impl PostgresStoreDriver {
    pub(super) async fn reply<T>(&self, reply: oneshot::Receiver<Result<T, StoreError>>) -> Result<T, StoreError> {
        await_reply(reply, self.commit_wait).await
    }
}

impl StoreDriver for PostgresStoreDriver {
    type Retention<'a> = PgRetention<'a>;

    fn keyring(&self) -> &Keyring {
        &self.context.keyring
    }

    async fn read(&self, text: &str, params: &[StoredValue]) -> Result<Vec<SqlRow>, StoreError> {
        read_rows(&self.lookups.query(RowScope::Global, text, &refs(params)).await?)
    }

    async fn change(&self, change: RegistryChange, record: String) -> Result<Changed, StoreError> {
        let (sender, reply) = oneshot::channel();
        let ends_keys = change.ends_keys();
        self.writers.change(change, record, sender)?;
        let outcome = self.reply(reply).await;
        if ends_keys {
            // Other nodes notice it within a second.
            self.context.keyring.clear();
        }
        outcome
    }

    fn set_storage_limits(&self, limits: StorageLimits) {
        *self.context.limits.lock().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    async fn read_of_tenant(
        &self,
        tenant: &str,
        text: &str,
        params: &[StoredValue],
    ) -> Result<Vec<SqlRow>, StoreError> {
        read_rows(&self.lookups.query(RowScope::Tenant(tenant), text, &refs(params)).await?)
    }

    fn erased_tables(&self) -> &[TransferTable] {
        &self.context.erased_tables
    }

    /// Of this node's writers; other nodes have their own.
    fn stats(&self) -> WriterStats {
        self.writers.stats()
    }

    fn audit_key(&self) -> &SealKey {
        &self.context.audit_key
    }

    /// Nodes take turns by locking the summary. It locks no head, so no writer of a tenant waits for it.
    async fn seal_audit(&self) -> Result<(), StoreError> {
        let connection = PgConnection::connect(&self.address.with_statement_timeout()).await?;
        let (key, at) = (&self.context.audit_key, self.context.clock.now());
        connection.begin_as_tenant(AUDITOR, &[]).await?;
        let sealed = async {
            let grown = first_column(&connection.query(GROWN_CHAINS, &[]).await?)?;
            if grown.is_empty() { Ok(()) } else { summary::seal_chains(&connection, key, &grown, at).await }
        };
        connection.end(sealed.await).await
    }

    async fn retention(&self) -> Result<PgRetention<'_>, StoreError> {
        let connection = PgConnection::connect(&self.address.with_statement_timeout()).await?;
        Ok(PgRetention { connection, audit_key: &self.context.audit_key, keyring: &self.context.keyring })
    }
}

impl SqlReader for PgConnection {
    async fn query(&self, text: &str, params: &[StoredValue]) -> Result<Vec<SqlRow>, StoreError> {
        read_rows(&PgConnection::query(self, text, &refs(params)).await?)
    }
}

impl SqlSession for PgConnection {
    const FOR_SHARE: &'static str = " FOR SHARE";
    const FOR_UPDATE: &'static str = " FOR UPDATE";
    const SKIP_LOCKED: &'static str = " FOR UPDATE SKIP LOCKED";
    const DELETE_CLAIMS: &'static str = "DELETE FROM fd_claim WHERE tenant = $1 AND (client, tool, key_hash) IN \
        (SELECT client, tool, key_hash FROM fd_claim WHERE tenant = $1 AND at < $2 LIMIT $3)";
    const TABLES_OF_TENANTS: &'static str = "SELECT CAST(own.relname AS TEXT) FROM pg_class AS own \
        JOIN pg_attribute AS held ON held.attrelid = own.oid WHERE own.relkind = 'r' AND held.attname = 'tenant' \
        AND NOT held.attisdropped AND own.relnamespace = to_regnamespace(current_schema()) ORDER BY own.relname";

    fn delete_some(table: &TransferTable, rows: usize) -> String {
        table.delete_some_by_place(rows)
    }

    fn delete_terms_before(table: &TableSpec, column: &str) -> String {
        delete_terms_before(table, column)
    }

    async fn execute(&self, text: &str, params: &[StoredValue]) -> Result<u64, StoreError> {
        Ok(PgConnection::execute(self, text, &refs(params)).await?)
    }

    async fn lock_tokens(&self) -> Result<(), StoreError> {
        Ok(self.batch_execute(LOCK_TOKENS).await?)
    }

    async fn write_probe(&self) -> Result<(), StoreError> {
        PgConnection::execute(self, "UPDATE fd_schema SET version = version", &[]).await?;
        Ok(())
    }
}

/// Retention has a connection of its own while it runs.
pub(crate) struct PgRetention<'a> {
    connection: PgConnection,
    audit_key: &'a SealKey,
    keyring: &'a Keyring,
}

impl RetentionSession for PgRetention<'_> {
    /// All of them: row-level security allows no query over the rows of several tenants.
    async fn tenants(&self, _: Expired, _: Millis) -> Result<Vec<String>, StoreError> {
        first_column(&self.connection.query(TENANT_NAMES, &[]).await?)
    }

    async fn has_expired(&self, tenant: &str, expired: Expired, before: Millis) -> Result<bool, StoreError> {
        let (table, column) = (expired.table(), expired.column());
        let text = format!("SELECT 1 FROM {table} WHERE tenant = $1 AND {column} < $2 LIMIT 1");
        Ok(!self.connection.query_as_tenant(tenant, &text, &[&tenant, &before.0]).await?.is_empty())
    }

    async fn chains(&self, class: AuditClass, before: Millis) -> Result<Vec<String>, StoreError> {
        let params: PgParams<'_> = &[&before.0, &class.pattern()];
        first_column(&self.connection.query_as_tenant(AUDITOR, EXPIRED_CHAINS, params).await?)
    }

    async fn newest(&self) -> Result<Option<i64>, StoreError> {
        let rows = self.connection.query_as_tenant(AUDITOR, NEWEST_LINK, &[]).await?;
        Ok(rows.first().map_or(Ok(None), |row| row.try_get(0))?)
    }

    /// The tenant's writers are locked out meanwhile: an update must find a row complete or deleted. Idempotency
    /// keys need no lock, and a node's chain is locked by its head.
    async fn run(&self, chunk: RetentionChunk) -> Result<RetentionProgress, StoreError> {
        let tenant = match &chunk {
            RetentionChunk::Tenant { tenant, .. } | RetentionChunk::Erasure { tenant, .. } => tenant.as_str(),
            RetentionChunk::Chain { chain, .. } => chain.strip_prefix("tenant:").unwrap_or_default(),
        };
        let lock: [(&str, PgParams<'_>); 1] = [(LOCK_TENANT, &[&tenant])];
        let begun = self.connection.begin_as_tenant(tenant, &lock).await;
        let outcome = match begun {
            Ok(_) => chunk.delete(&self.connection, self.keyring, self.audit_key).await,
            Err(error) => Err(error.into()),
        };
        self.connection.batch_execute(if outcome.is_ok() { COMMIT } else { "ROLLBACK" }).await?;
        outcome
    }

    /// Nothing else changes a stored answer, so it needs no lock.
    async fn erase(&self, chunk: AnswersChunk) -> Result<(Option<ClaimPosition>, u64), StoreError> {
        let outcome = match self.connection.begin_as_tenant(&chunk.tenant, &[]).await {
            Ok(_) => chunk.erase(&self.connection, self.keyring).await,
            Err(error) => Err(error.into()),
        };
        self.connection.batch_execute(if outcome.is_ok() { COMMIT } else { "ROLLBACK" }).await?;
        outcome
    }
}

fn first_column(rows: &[Row]) -> Result<Vec<String>, StoreError> {
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}
