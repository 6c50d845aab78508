//! The audit chains on SQLite: appending within the writer's transaction, and reading beside it.

use std::path::Path;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::seal::installation_key::InstallationPublicKey;
use rusqlite::params;

use super::readers::SqliteReadPool;
use super::write_tx::WriteTx;
use super::{SqliteContext, SqliteStore};
use crate::StoreError;
use crate::audit::anchor::{self, AnchorVerifier};
use crate::audit::reader::VerifyKeys;
use crate::audit::{
    AnchorReport, AnchorStart, AuditClass, AuditReport, AuditSelection, ChainHead, ComparedTable, KEY_PURPOSE, reader,
    roster,
};
use crate::installation;
use crate::sql::ddl;
use crate::sql::session::run_ready;

/// There is one node on an embedded database.
pub(super) const NODE: &str = "embedded";

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
            if found.is_none() {
                roster::begin_chain(self.connection, &self.context.audit_key, chain, 0).await?;
            }
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
    master: SealKey,
    key: SealKey,
}

impl AuditReader {
    pub fn open(database: &Path, master: &SealKey) -> AuditReader {
        let pool = SqliteReadPool::new(database.to_owned());
        AuditReader { pool, master: master.clone(), key: master.derive(KEY_PURPOSE) }
    }

    /// Whether the tenant exists, or its records still do.
    pub fn knows(&self, tenant: &str) -> Result<bool, StoreError> {
        self.pool.with(|connection| run_ready(reader::knows_tenant(connection, tenant)))
    }

    /// With the rows of these tables.
    pub fn verify(&self, tables: &[ComparedTable]) -> Result<AuditReport, StoreError> {
        verify(&self.pool, &VerifyKeys { master: &self.master, audit: &self.key, tables })
    }

    /// The next anchor; `None` if nothing has changed since the one before.
    pub fn anchor(&self, start: &AnchorStart, at: Millis) -> Result<Option<String>, StoreError> {
        self.pool.with(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            run_ready(async {
                let installation = installation::find(&*snapshot, &self.master).await?;
                let key = installation.ok_or(StoreError::NoInstallation)?.key;
                anchor::compose(&*snapshot, &self.key, &key, start, at).await
            })
        })
    }

    pub fn verify_anchors(
        &self,
        public_key: InstallationPublicKey,
        lines: impl Iterator<Item = std::io::Result<String>>,
    ) -> Result<AnchorReport, StoreError> {
        self.pool.with(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            run_ready(async {
                let verifier = AnchorVerifier::new(&*snapshot, &self.key, public_key).await?;
                verifier.check_all(&*snapshot, lines).await
            })
        })
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
    /// With the rows of all tables.
    pub fn verify_audit(&self) -> Result<AuditReport, StoreError> {
        let SqliteContext { master, audit_key, compared_tables, .. } = &*self.driver.context;
        verify(&self.driver.pool, &VerifyKeys { master, audit: audit_key, tables: compared_tables })
    }

    pub fn export_audit(
        &self,
        selection: &AuditSelection,
        take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
    ) -> Result<u64, StoreError> {
        self.driver.pool.with(|connection| run_ready(reader::export(connection, selection, take)))
    }
}

fn verify(pool: &SqliteReadPool, keys: &VerifyKeys<'_>) -> Result<AuditReport, StoreError> {
    pool.with(|connection| {
        let snapshot = connection.unchecked_transaction()?;
        let version: i64 = snapshot.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version < ddl::MIGRATIONS.len() as i64 {
            return Err(StoreError::NotInitialized);
        }
        run_ready(reader::verify(&*snapshot, keys))
    })
}
