//! The engine's port, on SQLite.

use frontdesk_engine::page::{Page, Query};
use frontdesk_engine::ports::{Claim, Claimed, Commit, Committed, Disclosure, Durability, Store};
use frontdesk_engine::table::{Cell, Found, Kind};
use frontdesk_engine::tool::Future;
use frontdesk_engine::{Fault, TenantId};
use rusqlite::OptionalExtension;
use tokio::sync::oneshot;

use super::SqliteStore;
use super::apply;
use super::readers::{Bound, Sealed, found};
use super::writer::Job;
use crate::StoreError;
use crate::sql;

impl Store for SqliteStore {
    fn get<'a>(
        &'a self,
        tenant: &'a TenantId,
        kind: &'static Kind,
        id: &'a str,
        disclosure: Disclosure,
    ) -> Future<'a, Result<Option<Found>, Fault>> {
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
        kind: &'static Kind,
        column: &'static str,
        value: Cell,
    ) -> Future<'a, Result<Option<Found>, Fault>> {
        Box::pin(async move {
            let text = sql::for_sqlite(&sql::find(kind, column));
            let keys = self.shared.vault.keys(tenant.as_str());
            let row = self.pool.with(|connection| {
                let value = Bound::of(&value, keys.as_deref());
                let mut statement = connection.prepare_cached(&text)?;
                Ok(statement.query_row(rusqlite::params![tenant.as_str(), value], found).optional()?)
            })?;
            Ok(row.map(|row| row.found))
        })
    }

    fn page<'a>(&'a self, tenant: &'a TenantId, query: Query) -> Future<'a, Result<Page, Fault>> {
        Box::pin(self.readers.page(tenant, query))
    }

    fn claimed<'a>(&'a self, tenant: &'a TenantId, claim: &'a Claim) -> Future<'a, Result<Option<Claimed>, Fault>> {
        Box::pin(async move {
            let keys = self.shared.vault.keys(tenant.as_str()).ok_or(StoreError::WrongKey)?;
            let claimed = self.pool.with(|connection| apply::claimed(connection, &keys, tenant.as_str(), claim))?;
            Ok(claimed)
        })
    }

    fn commit<'a>(&'a self, commit: Commit) -> Future<'a, Result<Committed, Fault>> {
        Box::pin(async move {
            let (answer, waiting) = oneshot::channel();
            self.writer.send(Job::Commit(Box::new(commit), answer))?;
            match tokio::time::timeout(self.commit_wait, waiting).await {
                Ok(Ok(outcome)) => Ok(outcome?),
                Ok(Err(_)) => Err(StoreError::Closed.into()),
                Err(_) => Ok(Committed::Unknown),
            }
        })
    }

    fn observe<'a>(&'a self, record: String, durability: Durability) -> Future<'a, Result<(), Fault>> {
        Box::pin(async move {
            match durability {
                Durability::Grouped => Ok(self.writer.send(Job::Note(record))?),
                Durability::Awaited => {
                    let (answer, waiting) = oneshot::channel();
                    self.writer.send(Job::Record(record, answer))?;
                    self.settled(waiting).await
                }
            }
        })
    }

    fn observe_detached(&self, record: String) {
        let _ = self.writer.send(Job::Note(record));
    }
}

impl SqliteStore {
    fn disclose(
        &self,
        tenant: &TenantId,
        kind: &Kind,
        row: Sealed,
        disclosure: Disclosure,
    ) -> Result<Found, StoreError> {
        let Sealed { mut found, sealed } = row;
        if let (Disclosure::Full, Some(sealed)) = (disclosure, sealed) {
            let keys = self.shared.vault.keys(tenant.as_str()).ok_or(StoreError::WrongKey)?;
            let place = [tenant.as_str(), kind.name, found.id.as_str(), "personal"];
            found.personal = Some(keys.open(&place, &sealed).ok_or(StoreError::WrongKey)?);
        }
        Ok(found)
    }

    /// Waits for the writer's word, but not for ever.
    pub(crate) async fn settled(&self, waiting: oneshot::Receiver<Result<(), StoreError>>) -> Result<(), Fault> {
        match tokio::time::timeout(self.commit_wait, waiting).await {
            Ok(Ok(outcome)) => Ok(outcome?),
            Ok(Err(_)) => Err(StoreError::Closed.into()),
            Err(_) => Err(StoreError::Busy.into()),
        }
    }
}
