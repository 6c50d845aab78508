//! The engine's `Store` on SQLite.

use std::sync::Arc;

use frontdesk_engine::model::page::{CountQuery, Page, Query};
use frontdesk_engine::model::table::{Cell, StoredRow, TableSpec};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, OutboxEvent, Store, StoredAnswer};
use frontdesk_engine::{Fault, TenantId};
use rusqlite::OptionalExtension;
use tokio::sync::oneshot;

use super::commit_texts::find_claim;
use super::encode::EncodedCommit;
use super::readers::{read_count, read_events, read_page, read_row};
use super::writer::WriteJob;
use super::{SqliteStore, SqliteStoreDriver};
use crate::StoreError;
use crate::idempotency;
use crate::keyring::{HashDomain, TenantKeys};
use crate::sql::registry_rows::TENANTS;
use crate::sql::session::run_ready;
use crate::sql::{self, QueryParam};

impl Store for SqliteStore {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        table: &'static TableSpec,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            let text = &self.driver.context.texts(table)?.get;
            let keys = self.driver.keys(tenant.as_str())?;
            let row = self.driver.pool.with(|connection| {
                Ok(connection.prepare_cached(text)?.query_row([tenant.as_str(), id], read_row).optional()?)
            })?;
            let row = row.map(|row| row.disclose(keys.as_deref(), tenant.as_str(), table, disclosure));
            Ok(row.transpose()?)
        })
    }

    fn find<'a>(
        &'a self,
        tenant: &'a TenantId,
        table: &'static TableSpec,
        column: &'static str,
        value: Cell,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            let text = sql::for_sqlite(&sql::find(table, column));
            let keys = self.driver.keys(tenant.as_str())?;
            let row = self.driver.pool.with(|connection| {
                let value = QueryParam::of(&value, HashDomain::Column { table: table.name, column }, keys.as_deref());
                let mut statement = connection.prepare_cached(&text)?;
                Ok(statement.query_row(rusqlite::params![tenant.as_str(), value], read_row).optional()?)
            })?;
            let row = row.map(|row| row.disclose(keys.as_deref(), tenant.as_str(), table, Disclosure::Masked));
            Ok(row.transpose()?)
        })
    }

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(async move {
            let keys = self.driver.keys(tenant.as_str())?;
            let inline = |connection: &_| read_page(connection, tenant.as_str(), &query, keys.as_deref());
            if let Some(page) = self.driver.pool.run_inline(inline)? {
                return Ok(page);
            }
            let tenant = tenant.clone();
            let read = move |connection: &_| read_page(connection, tenant.as_str(), &query, keys.as_deref());
            self.driver.readers.run(read).await
        })
    }

    fn count<'a>(&'a self, tenant: &'a TenantId, query: CountQuery) -> Future<'a, Result<usize, Fault>> {
        Box::pin(async move {
            let keys = self.driver.keys(tenant.as_str())?;
            let inline = |connection: &_| read_count(connection, tenant.as_str(), &query, keys.as_deref());
            if let Some(count) = self.driver.pool.run_inline(inline)? {
                return Ok(count);
            }
            let tenant = tenant.clone();
            let read = move |connection: &_| read_count(connection, tenant.as_str(), &query, keys.as_deref());
            self.driver.readers.run(read).await
        })
    }

    fn find_claim<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        Box::pin(async move {
            let SqliteStoreDriver { context, pool, .. } = &self.driver;
            let keys = self.driver.keys(tenant.as_str())?.ok_or(StoreError::UnknownTenant)?;
            let hash = idempotency::key_hash(&keys, claim);
            let claimed = pool.with(|connection| {
                find_claim(connection, &context.commit_texts, &keys, tenant.as_str(), claim, &hash)
            })?;
            Ok(claimed)
        })
    }

    /// Always none: the writer looks for the claim before it writes, on pages that it needs in any case.
    fn find_claim_early<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn commit<'a>(&'a self, commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        Box::pin(async move {
            let (tenant, claim) = (commit.tenant.clone(), commit.claim.clone());
            let outcome = self.driver.commit(commit).await;
            // The response to a repeated call can be read even while nothing can be written.
            if outcome.is_err()
                && let Some(claim) = claim
                && let Ok(Some(earlier)) = self.find_claim(&tenant, &claim).await
            {
                return Ok(Committed::AlreadyClaimed(earlier));
            }
            match outcome {
                Err(StoreError::OutcomeUnknown) => Ok(Committed::Unknown),
                outcome => Ok(outcome?),
            }
        })
    }

    fn events<'a>(
        &'a self,
        tenant: &'a TenantId,
        after: i64,
        limit: usize,
    ) -> Future<'a, Result<Vec<OutboxEvent>, Fault>> {
        Box::pin(async move {
            // Looked up for the sake of a tenant that is being erased.
            self.driver.keys(tenant.as_str())?;
            Ok(self.driver.pool.with(|connection| read_events(connection, tenant.as_str(), after, limit))?)
        })
    }

    fn append_audit<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            match durability {
                Durability::Grouped => Ok(self.driver.writer.buffer_record(&record)?),
                Durability::Awaited => {
                    let (sender, reply) = oneshot::channel();
                    self.driver.writer.send(WriteJob::Record(record, sender))?;
                    Ok(self.driver.reply(reply).await?)
                }
            }
        })
    }

    fn append_audit_detached(&self, record: String) {
        let _ = self.driver.writer.buffer_record(&record);
    }
}

impl SqliteStoreDriver {
    async fn commit(&self, commit: Commit) -> Result<Committed, StoreError> {
        let plan = self.encode(commit)?;
        let (sender, reply) = oneshot::channel();
        self.writer.send(WriteJob::Commit(Box::new(plan), sender))?;
        self.reply(reply).await
    }

    pub(super) fn encode(&self, commit: Commit) -> Result<EncodedCommit, StoreError> {
        let keys = self.keys(commit.tenant.as_str())?.ok_or(StoreError::UnknownTenant)?;
        EncodedCommit::new(&self.context, &keys, commit)
    }

    /// The tenant's keys, `None` for an unknown tenant. The keys of a tenant that was registered since the start are
    /// loaded when they are first needed. Every read begins here, so that none succeeds for a tenant that is being erased.
    pub(super) fn keys(&self, tenant: &str) -> Result<Option<Arc<TenantKeys>>, StoreError> {
        let keyring = &self.context.keyring;
        if let Some(keys) = keyring.keys(tenant) {
            return Ok(Some(keys));
        }
        let state = keyring.state();
        let found = self.pool.with(|connection| {
            run_ready(TENANTS.find(connection, keyring.registry(), "WHERE tenant = $1", &[tenant.into()]))
        })?;
        match found.first() {
            None => Ok(None),
            Some(row) if row.optional_integer("erasing_at")?.is_some() => Err(StoreError::TenantErased),
            Some(row) => keyring.unwrap_since(state, tenant, row.bytes("sealed_key")?).map(Some),
        }
    }
}
