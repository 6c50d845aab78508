//! The engine's `Store` on PostgreSQL.

use std::sync::Arc;

use frontdesk_engine::model::page::{CountQuery, Page, PageKey, Projection, Query};
use frontdesk_engine::model::plan::Change;
use frontdesk_engine::model::table::{Cell, StoredRow, TableSpec, joined};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Claim, Commit, Committed, Disclosure, Durability, OutboxEvent, Store, StoredAnswer};
use frontdesk_engine::{Fault, TenantId};
use tokio::sync::oneshot;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connection::refs;
use super::read_pool::RowScope;
use super::tenant_writer::{TenantJob, read_claim};
use super::values::read_sealed_row;
use super::{PostgresStore, PostgresStoreDriver};
use crate::StoreError;
use crate::backend::StoreDriver as _;
use crate::idempotency;
use crate::keyring::{HashDomain, RowContent, TenantKeys};
use crate::sql::registry_rows::TENANTS;
use crate::sql::{self, FIND_CLAIM, PageBuilder, QueryParam, SealedRow};

impl Store for PostgresStore {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        table: &'static TableSpec,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<StoredRow>, Fault>> {
        Box::pin(async move {
            let text = &self.driver.context.texts(table)?.get;
            let keys = self.driver.keys(tenant.as_str()).await?;
            let row = self.driver.find_row(tenant, text, QueryParam::Text(id)).await?;
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
            let text = sql::find(table, column);
            let keys = self.driver.keys(tenant.as_str()).await?;
            let value = QueryParam::of(&value, HashDomain::Column { table: table.name, column }, keys.as_deref());
            let row = self.driver.find_row(tenant, &text, value).await?;
            let row = row.map(|row| row.disclose(keys.as_deref(), tenant.as_str(), table, Disclosure::Masked));
            Ok(row.transpose()?)
        })
    }

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(async move {
            let keys = self.driver.keys(tenant.as_str()).await?;
            let statement = sql::page(tenant.as_str(), &query, keys.as_deref());
            let scope = RowScope::Tenant(tenant.as_str());
            let rows = self.driver.pages.query(scope, &statement.text, &refs(&statement.values)).await?;
            Ok(page_of(&rows, tenant.as_str(), &query, keys.as_deref())?)
        })
    }

    fn count<'a>(&'a self, tenant: &'a TenantId, query: CountQuery) -> Future<'a, Result<usize, Fault>> {
        Box::pin(async move {
            let keys = self.driver.keys(tenant.as_str()).await?;
            let statement = sql::count(tenant.as_str(), &query, keys.as_deref());
            let scope = RowScope::Tenant(tenant.as_str());
            let rows = self.driver.pages.query(scope, &statement.text, &refs(&statement.values)).await?;
            Ok(count_of(&rows)?)
        })
    }

    fn find_claim<'a>(
        &'a self,
        tenant: &'a TenantId,
        claim: &'a Claim,
    ) -> Future<'a, Result<Option<StoredAnswer>, Fault>> {
        Box::pin(async move {
            let keys = self.driver.keys(tenant.as_str()).await?.ok_or(StoreError::UnknownTenant)?;
            let hash = idempotency::key_hash(&keys, claim);
            let params: [&(dyn ToSql + Sync); 4] = [&tenant.as_str(), &claim.client.as_str(), &claim.tool, &hash];
            let rows = self.driver.lookups.query(RowScope::Tenant(tenant.as_str()), FIND_CLAIM, &params).await?;
            Ok(read_claim(&keys, tenant.as_str(), claim, &hash, &rows)?)
        })
    }

    fn commit<'a>(&'a self, commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        Box::pin(async move {
            let keys = self.driver.keys(commit.tenant.as_str()).await?.ok_or(StoreError::UnknownTenant)?;
            let (sender, reply) = oneshot::channel();
            self.driver.writers.commit(TenantJob { commit: Box::new(commit), keys, reply: sender })?;
            match self.driver.reply(reply).await {
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
            self.driver.keys(tenant.as_str()).await?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let params: [&(dyn ToSql + Sync); 3] = [&tenant.as_str(), &after, &limit];
            let scope = RowScope::Tenant(tenant.as_str());
            let rows = self.driver.pages.query(scope, sql::EVENTS_AFTER, &params).await?;
            Ok(rows.iter().map(event_of).collect::<Result<_, StoreError>>()?)
        })
    }

    fn append_audit<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            match durability {
                Durability::Grouped => Ok(self.driver.writers.buffer_record(&record)?),
                Durability::Awaited => {
                    let (sender, reply) = oneshot::channel();
                    self.driver.writers.record(record, sender)?;
                    Ok(self.driver.reply(reply).await?)
                }
            }
        })
    }

    fn append_audit_detached(&self, record: String) {
        let _ = self.driver.writers.buffer_record(&record);
    }
}

impl PostgresStoreDriver {
    async fn find_row(
        &self,
        tenant: &TenantId,
        text: &str,
        value: QueryParam<'_>,
    ) -> Result<Option<SealedRow>, StoreError> {
        let params: [&(dyn ToSql + Sync); 2] = [&tenant.as_str(), &value];
        let rows = self.lookups.query(RowScope::Tenant(tenant.as_str()), text, &params).await?;
        Ok(rows.first().map(read_sealed_row).transpose()?)
    }

    /// The tenant's keys, `None` for an unknown tenant. The keys of a tenant that was registered since the start, here
    /// or on another node, are loaded when they are first needed. Every read begins here, so that none succeeds for a
    /// tenant that is being erased.
    async fn keys(&self, tenant: &str) -> Result<Option<Arc<TenantKeys>>, StoreError> {
        let keyring = &self.context.keyring;
        self.erasures.check(&self.lookups, keyring).await?;
        if let Some(keys) = keyring.keys(tenant) {
            return Ok(Some(keys));
        }
        let state = keyring.state();
        match self.find(&TENANTS, "WHERE tenant = $1", &[tenant.into()]).await?.first() {
            None => Ok(None),
            Some(row) if row.optional_integer("erasing_at")?.is_some() => Err(StoreError::TenantErased),
            Some(row) => keyring.unwrap_since(state, tenant, row.bytes("sealed_key")?).map(Some),
        }
    }
}

fn event_of(row: &Row) -> Result<OutboxEvent, StoreError> {
    Ok(OutboxEvent {
        seq: row.try_get(0)?,
        event_id: row.try_get(1)?,
        kind: row.try_get(2)?,
        id: row.try_get(3)?,
        change: Change::parse(row.try_get(4)?).ok_or(StoreError::UnexpectedValue { column: 4 })?,
        at: Millis(row.try_get(5)?),
    })
}

fn count_of(rows: &[Row]) -> Result<usize, StoreError> {
    let count: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn page_of(rows: &[Row], tenant: &str, query: &Query, keys: Option<&TenantKeys>) -> Result<Page, StoreError> {
    let mut page = PageBuilder::new(&query.window);
    for row in rows {
        if page.is_full() {
            break;
        }
        let id: &str = row.try_get(0)?;
        let (text, has_masked_part) = match query.projection {
            Projection::Ids => (id.to_owned(), false),
            Projection::Rows => {
                let masked: Option<&str> = row.try_get(3)?;
                let content = RowContent {
                    tenant,
                    table: query.table.name,
                    id,
                    version: row.try_get(4)?,
                    created_at: row.try_get(5)?,
                    updated_at: row.try_get(6)?,
                    body: row.try_get(2)?,
                    masked,
                    sealed: row.try_get(7)?,
                    sealed_secret: row.try_get(8)?,
                };
                content.verify(keys.ok_or(StoreError::UnknownTenant)?, row.try_get(9)?)?;
                (joined(content.body, masked), masked.is_some())
            }
        };
        let key = PageKey { id: id.to_owned(), value: row.try_get(1)? };
        if !page.push(key, text, has_masked_part) {
            break;
        }
    }
    Ok(page.finish())
}
