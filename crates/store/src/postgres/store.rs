//! The engine's port, on PostgreSQL.

use std::sync::Arc;

use frontdesk_engine::model::page::{Page, PageKey, Projection, Query};
use frontdesk_engine::model::table::{Cell, StoredRow, TableSpec, joined};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, Store, StoredAnswer};
use frontdesk_engine::{Fault, TenantId};
use tokio::sync::oneshot;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::lanes::Seeing;
use super::tenants::{Job, read_claim};
use super::values::{Sealed, found};
use crate::StoreError;
use crate::claims;
use crate::sql::{self, FIND_CLAIM, Value};
use crate::vault::{Place, TenantKeys};

impl Store for PostgresStore {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        kind: &'static TableSpec,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            let text = &self.shared.texts(kind)?.get;
            match self.one(tenant, text, Value::Text(id)).await? {
                None => Ok(None),
                Some(row) => Ok(Some(self.disclose(tenant, kind, row, disclosure).await?)),
            }
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
            let text = sql::find(kind, column);
            let keys = self.keys(tenant.as_str()).await?;
            let value = Value::of(&value, Place::Column { kind: kind.name, column }, keys.as_deref());
            Ok(self.one(tenant, &text, value).await?.map(|row| row.found))
        })
    }

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(async move {
            let keys = self.keys(tenant.as_str()).await?;
            let made = sql::page(tenant.as_str(), &query, keys.as_deref());
            let values: Vec<&(dyn ToSql + Sync)> = made.values.iter().map(|value| value as _).collect();
            let rows = self.slow.read(Seeing::Tenant(tenant.as_str()), &made.text, &values).await?;
            Ok(cut(&rows, &query)?)
        })
    }

    fn find_claim<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        Box::pin(async move {
            let keys = self.keys(tenant.as_str()).await?.ok_or(StoreError::UnknownTenant)?;
            let hash = claims::hash_of(&keys, claim);
            let values: [&(dyn ToSql + Sync); 4] = [&tenant.as_str(), &claim.client.as_str(), &claim.tool, &hash];
            let rows = self.short.read(Seeing::Tenant(tenant.as_str()), FIND_CLAIM, &values).await?;
            Ok(read_claim(&keys, tenant.as_str(), claim, &hash, &rows)?)
        })
    }

    fn commit<'a>(&'a self, commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        Box::pin(async move {
            let keys = self.keys(commit.tenant.as_str()).await?.ok_or(StoreError::UnknownTenant)?;
            let (answer, waiting) = oneshot::channel();
            self.writers.commit(Job { commit: Box::new(commit), keys, answer })?;
            match self.settled(waiting).await {
                Err(StoreError::Unfinished) => Ok(Committed::Unknown),
                outcome => Ok(outcome?),
            }
        })
    }

    fn append_audit<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            match durability {
                Durability::Grouped => Ok(self.writers.note(&record)?),
                Durability::Awaited => {
                    let (answer, waiting) = oneshot::channel();
                    self.writers.record(record, answer)?;
                    Ok(self.settled(waiting).await?)
                }
            }
        })
    }

    fn append_audit_detached(&self, record: String) {
        let _ = self.writers.note(&record);
    }
}

impl PostgresStore {
    async fn one(&self, tenant: &TenantId, text: &str, value: Value<'_>) -> Result<Option<Sealed>, StoreError> {
        let values: [&(dyn ToSql + Sync); 2] = [&tenant.as_str(), &value];
        let rows = self.short.read(Seeing::Tenant(tenant.as_str()), text, &values).await?;
        Ok(rows.first().map(found).transpose()?)
    }

    async fn disclose(
        &self,
        tenant: &TenantId,
        kind: &TableSpec,
        row: Sealed,
        disclosure: Disclosure,
    ) -> Result<StoredRow, StoreError> {
        let Sealed { mut found, sealed } = row;
        if let (Disclosure::Full, Some(sealed)) = (disclosure, sealed) {
            let keys = self.keys(tenant.as_str()).await?.ok_or(StoreError::UnknownTenant)?;
            let place = [tenant.as_str(), kind.name, found.id.as_str(), "personal"];
            found.personal = Some(keys.open(&place, &sealed).ok_or(StoreError::WrongKey)?);
        }
        Ok(found)
    }

    /// The tenant's keys, `None` for an unknown tenant. A tenant registered since the start, here or on
    /// another node, is unlocked when it is first met.
    pub(super) async fn keys(&self, tenant: &str) -> Result<Option<Arc<TenantKeys>>, StoreError> {
        if let Some(keys) = self.shared.vault.keys(tenant) {
            return Ok(Some(keys));
        }
        let text = "SELECT sealed_key FROM fd_tenant WHERE tenant = $1";
        let rows = self.short.read(Seeing::Nobodys, text, &[&tenant]).await?;
        if let Some(row) = rows.first() {
            let sealed: Vec<u8> = row.try_get(0)?;
            self.shared.vault.unlock(tenant, &sealed).ok_or(StoreError::WrongKey)?;
        }
        Ok(self.shared.vault.keys(tenant))
    }

    /// Waits for the writer's word, but not for ever.
    pub(super) async fn settled<T>(&self, waiting: oneshot::Receiver<Result<T, StoreError>>) -> Result<T, StoreError> {
        match tokio::time::timeout(self.commit_wait, waiting).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) | Err(_) => Err(StoreError::Unfinished),
        }
    }
}

/// As many of the rows as the window takes.
fn cut(rows: &[Row], query: &Query) -> Result<Page, StoreError> {
    let mut page = Page::default();
    let mut last = None;
    let mut bytes = 0;
    for row in rows {
        let id: &str = row.try_get(0)?;
        let (text, is_personal) = match query.projection {
            Projection::Ids => (id.to_owned(), false),
            Projection::Rows => {
                let masked: Option<&str> = row.try_get(3)?;
                (joined(row.try_get(2)?, masked), masked.is_some())
            }
        };
        bytes += text.len();
        let is_full = page.rows.len() == query.window.limit;
        if is_full || (bytes > query.window.bytes && !page.rows.is_empty()) {
            page.next = last;
            break;
        }
        if is_personal {
            page.ids.push(id.to_owned());
        }
        last = Some(PageKey { id: id.to_owned(), value: row.try_get(1)? });
        page.rows.push(text);
    }
    Ok(page)
}
