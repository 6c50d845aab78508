//! Indexing rows again on PostgreSQL, see `reindex`. Row-level security stays in force: each transaction is that of one
//! tenant.

use tokio_postgres::error::SqlState;

use super::connection::{PgConnection, PgParams};
use super::sql_texts::{COMMIT, SET_TENANT, delete_terms, insert_terms};
use super::values::{PgValue, storable};
use crate::StoreError;
use crate::reindex::{IndexSession, IndexWork, IndexedRow};
use crate::sql::registry_rows::LOCK_TENANT;
use crate::sql::session::StoredValue;
use crate::sql::set_columns;

impl IndexSession for PgConnection {
    /// Every writer, on any node, locks the tenant's row first, so its rows do not change meanwhile.
    async fn begin(&self, tenant: &str) -> Result<(), StoreError> {
        let lock: [(&str, PgParams<'_>); 1] = [(LOCK_TENANT, &[&tenant])];
        self.begin_as_tenant(tenant, &lock).await?;
        Ok(())
    }

    async fn set_tenant(&self, tenant: &str) -> Result<(), StoreError> {
        self.query(SET_TENANT, &[&tenant]).await?;
        Ok(())
    }

    async fn end<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        match outcome {
            Ok(value) => {
                self.batch_execute(COMMIT).await?;
                Ok(value)
            }
            Err(error) => {
                // If this fails, closing the connection rolls back as well.
                let _ = self.batch_execute("ROLLBACK").await;
                Err(error)
            }
        }
    }

    async fn write(&self, work: &IndexWork, tenant: &str, rows: Vec<IndexedRow>) -> Result<(), StoreError> {
        let table = work.table;
        let (set, delete, insert) = (set_columns(table, &work.columns), delete_terms(table), insert_terms(table));
        let mut changes: Vec<(&str, Vec<PgValue>)> = Vec::new();
        let (mut terms, mut ids) = (Vec::new(), Vec::new());
        for IndexedRow { id, cells, terms: own, .. } in rows {
            let key = vec![PgValue::text(tenant), PgValue::text(&id)];
            if !cells.is_empty() {
                let cells = cells.into_iter().map(|cell| match cell {
                    StoredValue::Text(text) => PgValue::text(&text),
                    cell @ (StoredValue::Null | StoredValue::Integer(_) | StoredValue::Bytes(_)) => PgValue::One(cell),
                });
                changes.push((&set, key.iter().cloned().chain(cells).collect()));
            }
            if let Some(own) = own {
                changes.push((&delete, key));
                ids.extend(own.iter().map(|_| storable(&id)));
                terms.extend(own.iter().map(|term| storable(term)));
            }
        }
        if !terms.is_empty() {
            changes.push((&insert, vec![PgValue::text(tenant), PgValue::Array(terms), PgValue::Array(ids)]));
        }
        let changes: Vec<(&str, &[PgValue])> =
            changes.iter().map(|(text, values)| (*text, values.as_slice())).collect();
        for result in self.execute_all(None, &changes).await? {
            result?;
        }
        Ok(())
    }

    async fn create_index(&self, text: &str) -> Result<Option<()>, StoreError> {
        match self.batch_execute(text).await {
            Ok(()) => Ok(Some(())),
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
