//! The audit chains on SQLite: appending within the writer's transaction, and reading beside it.

use std::path::Path;

use frontdesk_engine::seal::SealKey;
use rusqlite::params;

use super::SqliteStore;
use super::readers::SqliteReadPool;
use super::write_tx::WriteTx;
use crate::StoreError;
use crate::audit::{AuditClass, AuditReport, AuditSelection, ChainHead, KEY_PURPOSE, reader};
use crate::sql::session::run_ready;

/// There is one node on an embedded database.
const NODE: &str = "embedded";

impl WriteTx<'_> {
    /// Appends records to a chain of this node, as one link.
    pub(super) fn append_node_link(&mut self, class: AuditClass, records: &str) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let at = self.context.clock.now().0;
        self.append_link(&class.chain(NODE), at, records)
    }

    pub(super) fn append_link(&mut self, chain: &str, at: i64, records: &str) -> Result<(), StoreError> {
        let mut head = self.head(chain)?;
        head.append(&self.context.audit_key, chain, at, records);
        self.connection
            .prepare_cached("INSERT INTO fd_audit (chain, seq, at, records, hash) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![chain, head.seq, at, records, head.hash])?;
        self.heads.insert(chain.to_owned(), head);
        if !self.dirty_heads.iter().any(|dirty| dirty == chain) {
            self.dirty_heads.push(chain.to_owned());
        }
        Ok(())
    }

    fn head(&self, chain: &str) -> Result<ChainHead, StoreError> {
        if let Some(head) = self.heads.get(chain) {
            return Ok(head.clone());
        }
        run_ready(async {
            let found = ChainHead::find(self.connection, &self.context.audit_key, chain).await?;
            ChainHead::or_last_link(found, self.connection, chain).await
        })
    }

    pub(super) fn write_heads(&mut self) -> Result<(), StoreError> {
        for chain in self.dirty_heads.drain(..) {
            if let Some(head) = self.heads.get(&chain) {
                run_ready(head.store(self.connection, &self.context.audit_key, &chain))?;
            }
        }
        Ok(())
    }
}

/// Reads the chains of a database that may be in use by a server.
pub struct AuditReader {
    pool: SqliteReadPool,
    key: SealKey,
}

impl AuditReader {
    pub fn open(database: &Path, master: &SealKey) -> AuditReader {
        AuditReader { pool: SqliteReadPool::new(database.to_owned()), key: master.derive(KEY_PURPOSE) }
    }

    /// Whether the tenant exists, or its records still do.
    pub fn knows(&self, tenant: &str) -> Result<bool, StoreError> {
        self.pool.with(|connection| run_ready(reader::knows_tenant(connection, tenant)))
    }

    pub fn verify(&self) -> Result<AuditReport, StoreError> {
        verify(&self.pool, &self.key)
    }

    /// Hands every selected record to `take`, a line of JSON each, with its chain and link number.
    pub fn export(
        &self,
        selection: &AuditSelection,
        take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
    ) -> Result<u64, StoreError> {
        self.pool.with(|connection| run_ready(reader::export(connection, selection, take)))
    }
}

impl SqliteStore {
    pub fn verify_audit(&self) -> Result<AuditReport, StoreError> {
        verify(&self.driver.pool, &self.driver.context.audit_key)
    }

    pub fn export_audit(
        &self,
        selection: &AuditSelection,
        take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
    ) -> Result<u64, StoreError> {
        self.driver.pool.with(|connection| run_ready(reader::export(connection, selection, take)))
    }
}

fn verify(pool: &SqliteReadPool, key: &SealKey) -> Result<AuditReport, StoreError> {
    pool.with(|connection| {
        let snapshot = connection.unchecked_transaction()?;
        run_ready(reader::verify(&*snapshot, key))
    })
}
