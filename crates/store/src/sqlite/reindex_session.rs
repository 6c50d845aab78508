//! Indexing rows again on SQLite, see `reindex`.

use rusqlite::{Connection, params};

use super::search_terms;
use crate::StoreError;
use crate::reindex::{IndexSession, IndexWork, IndexedRow};
use crate::sql::session::StoredValue;
use crate::sql::{for_sqlite, set_columns};

impl IndexSession for Connection {
    /// One connection writes at a time.
    async fn begin(&self, _: &str) -> Result<(), StoreError> {
        Ok(self.execute_batch("BEGIN IMMEDIATE")?)
    }

    /// Every statement names its tenant.
    async fn set_tenant(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn end<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        match outcome {
            Ok(value) => {
                self.execute_batch("COMMIT")?;
                Ok(value)
            }
            Err(error) => {
                // If this fails, closing the connection rolls back as well.
                let _ = self.execute_batch("ROLLBACK");
                Err(error)
            }
        }
    }

    async fn write(&self, work: &IndexWork, tenant: &str, rows: Vec<IndexedRow>) -> Result<(), StoreError> {
        let table = work.table;
        let set = for_sqlite(&set_columns(table, &work.columns));
        let set_words = format!("UPDATE {} SET words = ?3 WHERE tenant = ?1 AND id = ?2", table.name);
        for IndexedRow { id, version, cells, terms } in rows {
            if !cells.is_empty() {
                let values = [StoredValue::from(tenant), StoredValue::from(id.as_str())].into_iter().chain(cells);
                self.prepare_cached(&set)?.execute(rusqlite::params_from_iter(values))?;
            }
            let Some(terms) = terms else {
                continue;
            };
            // Before the list is replaced, because it says which terms are stored.
            self.prepare_cached(&search_terms::delete_terms(table))?.execute(params![tenant, id, version])?;
            for term in &terms {
                self.prepare_cached(&search_terms::insert_terms(table, 1))?.execute(params![tenant, id, term])?;
            }
            self.prepare_cached(&set_words)?.execute(params![tenant, id, search_terms::to_json(&terms)])?;
        }
        Ok(())
    }

    async fn create_index(&self, text: &str) -> Result<Option<()>, StoreError> {
        match self.execute_batch(text) {
            Ok(()) => Ok(Some(())),
            Err(error) if super::is_unique_violation(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
