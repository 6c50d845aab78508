//! The engine's port, on SQLite.

use std::sync::Arc;

use frontdesk_engine::model::page::{Page, Query};
use frontdesk_engine::model::table::{Cell, StoredRow, TableSpec};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, Store, StoredAnswer};
use frontdesk_engine::{Fault, TenantId};
use rusqlite::OptionalExtension;
use tokio::sync::oneshot;

use super::SqliteStore;
use super::apply;
use super::readers::{Sealed, found};
use super::ready::Ready;
use super::writer::Job;
use crate::StoreError;
use crate::claims;
use crate::sql::{self, Value};
use crate::vault::{Place, TenantKeys};

impl Store for SqliteStore {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        kind: &'static TableSpec,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            let text = &self.shared.texts(kind)?.get;
            let row = self.pool.with(|connection| {
                Ok(connection.prepare_cached(text)?.query_row([tenant.as_str(), id], found).optional()?)
            })?;
            Ok(match row {
                None => None,
                Some(row) => Some(self.disclose(tenant, kind, row, disclosure)?),
            })
        })
    }

    fn find<'a>(
        &'a self,
        tenant: &'a TenantId,
        kind: &'static TableSpec,
        column: &'static str,
        value: Cell,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            let text = sql::for_sqlite(&sql::find(kind, column));
            let keys = self.keys(tenant.as_str())?;
            let row = self.pool.with(|connection| {
                let value = Value::of(&value, Place::Column { kind: kind.name, column }, keys.as_deref());
                let mut statement = connection.prepare_cached(&text)?;
                Ok(statement.query_row(rusqlite::params![tenant.as_str(), value], found).optional()?)
            })?;
            Ok(row.map(|row| row.found))
        })
    }

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(async move {
            let keys = self.keys(tenant.as_str())?;
            match self.pool.short_page(tenant, &query, keys.as_deref())? {
                Some(page) => Ok(page),
                None => self.readers.page(tenant, query, keys).await,
            }
        })
    }

    fn find_claim<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        Box::pin(async move {
            let keys = self.keys(tenant.as_str())?.ok_or(StoreError::UnknownTenant)?;
            let hash = claims::hash_of(&keys, claim);
            let claimed =
                self.pool.with(|connection| apply::claimed(connection, &keys, tenant.as_str(), claim, &hash))?;
            Ok(claimed)
        })
    }

    /// The writer looks before it writes, and on pages that it needs in any case; here it would be nearly every
    /// time in vain.
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
            let outcome = self.write(self.ready(commit)?).await;
            // What was answered once is answered again also while nothing can be written.
            if outcome.is_err()
                && let Some(claim) = claim
                && let Ok(Some(earlier)) = self.find_claim(&tenant, &claim).await
            {
                return Ok(Committed::AlreadyClaimed(earlier));
            }
            match outcome {
                Err(StoreError::Unfinished) => Ok(Committed::Unknown),
                outcome => Ok(outcome?),
            }
        })
    }

    fn append_audit<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            match durability {
                Durability::Grouped => Ok(self.writer.note(&record)?),
                Durability::Awaited => {
                    let (answer, waiting) = oneshot::channel();
                    self.writer.send(Job::Record(record, answer))?;
                    Ok(self.settled(waiting).await?)
                }
            }
        })
    }

    fn append_audit_detached(&self, record: String) {
        let _ = self.writer.note(&record);
    }
}

impl SqliteStore {
    pub(super) fn ready(&self, commit: Commit) -> Result<Ready, StoreError> {
        let keys = self.keys(commit.tenant.as_str())?.ok_or(StoreError::UnknownTenant)?;
        Ready::new(&self.shared, &keys, commit)
    }

    async fn write(&self, ready: Ready) -> Result<Committed, StoreError> {
        let (answer, waiting) = oneshot::channel();
        self.writer.send(Job::Commit(Box::new(ready), answer))?;
        self.settled(waiting).await
    }

    fn disclose(
        &self,
        tenant: &TenantId,
        kind: &TableSpec,
        row: Sealed,
        disclosure: Disclosure,
    ) -> Result<StoredRow, StoreError> {
        let Sealed { mut found, sealed } = row;
        if let (Disclosure::Full, Some(sealed)) = (disclosure, sealed) {
            let keys = self.keys(tenant.as_str())?.ok_or(StoreError::UnknownTenant)?;
            let place = [tenant.as_str(), kind.name, found.id.as_str(), "personal"];
            found.personal = Some(keys.open(&place, &sealed).ok_or(StoreError::WrongKey)?);
        }
        Ok(found)
    }

    /// The tenant's keys, `None` for an unknown tenant. A tenant registered since the start is unlocked
    /// when it is first met, however its registration ended for the one who asked for it.
    pub(super) fn keys(&self, tenant: &str) -> Result<Option<Arc<TenantKeys>>, StoreError> {
        if let Some(keys) = self.shared.vault.keys(tenant) {
            return Ok(Some(keys));
        }
        let sealed: Option<Vec<u8>> = self.pool.with(|connection| {
            let text = "SELECT sealed_key FROM fd_tenant WHERE tenant = ?1";
            Ok(connection.prepare_cached(text)?.query_row([tenant], |row| row.get(0)).optional()?)
        })?;
        if let Some(sealed) = sealed {
            self.shared.vault.unlock(tenant, &sealed).ok_or(StoreError::WrongKey)?;
        }
        Ok(self.shared.vault.keys(tenant))
    }

    /// Waits for the writer's word, but not for ever.
    pub(crate) async fn settled<T>(&self, waiting: oneshot::Receiver<Result<T, StoreError>>) -> Result<T, StoreError> {
        match tokio::time::timeout(self.commit_wait, waiting).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) | Err(_) => Err(StoreError::Unfinished),
        }
    }
}
