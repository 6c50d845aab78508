//! Reading the audit chains: checking every link, and handing the records out.

use std::path::Path;

use frontdesk_engine::seal::Key;
use rusqlite::params;

use super::SqliteStore;
use super::chains::{head, walk_links};
use super::readers::Pool;
use crate::StoreError;
use crate::audit::{Head, Report, START, Walk, tenant_chain};

/// Which records to hand out.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Milliseconds since 1970; links written before are left out.
    pub since: i64,
    /// Only the chain of this tenant's writes.
    pub tenant: Option<String>,
}

/// Reads the chains of a database that may be in use by a server.
pub struct AuditReader {
    pool: Pool,
    key: Key,
}

impl AuditReader {
    pub fn open(database: &Path, master: &Key) -> AuditReader {
        AuditReader { pool: Pool::new(database.to_owned()), key: master.derive(super::AUDIT_KEY) }
    }

    pub fn verify(&self) -> Result<Report, StoreError> {
        verify(&self.pool, &self.key)
    }

    /// Hands every selected record to `take`, a line of JSON each, chain by chain in order.
    pub fn export(
        &self,
        selection: &Selection,
        take: impl FnMut(&str, &str) -> std::io::Result<()>,
    ) -> Result<u64, StoreError> {
        export(&self.pool, selection, take)
    }
}

impl SqliteStore {
    pub fn verify_audit(&self) -> Result<Report, StoreError> {
        verify(&self.pool, &self.shared.audit_key)
    }

    pub fn export_audit(
        &self,
        selection: &Selection,
        take: impl FnMut(&str, &str) -> std::io::Result<()>,
    ) -> Result<u64, StoreError> {
        export(&self.pool, selection, take)
    }
}

fn verify(pool: &Pool, key: &Key) -> Result<Report, StoreError> {
    pool.with(|connection| {
        // One snapshot, so that a server writing meanwhile does not look like tampering.
        let snapshot = connection.unchecked_transaction()?;
        let connection = &*snapshot;
        // Also the chains of which only links are left.
        let mut names =
            connection.prepare("SELECT chain FROM fd_audit_head UNION SELECT chain FROM fd_audit ORDER BY chain")?;
        let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut chains = Vec::new();
        for chain in names {
            let head = head(connection, key, &chain)?.unwrap_or_else(|| Head::lost(0, START.to_vec()));
            let mut walk = Walk::new(key, &chain, head);
            walk_links(connection, &chain, i64::MAX, &mut walk)?;
            chains.push(walk.end());
        }
        Ok(Report { chains })
    })
}

fn export(
    pool: &Pool,
    selection: &Selection,
    mut take: impl FnMut(&str, &str) -> std::io::Result<()>,
) -> Result<u64, StoreError> {
    let only = selection.tenant.as_deref().map(tenant_chain);
    pool.with(|connection| {
        let mut statement = connection.prepare(
            "SELECT chain, records FROM fd_audit WHERE at >= ?1 AND (?2 IS NULL OR chain = ?2) ORDER BY chain, seq",
        )?;
        let mut rows = statement.query(params![selection.since, only])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let chain: String = row.get(0)?;
            let records: String = row.get(1)?;
            for record in records.lines() {
                take(&chain, record).map_err(|error| StoreError::Folder { path: "the export".into(), error })?;
                count += 1;
            }
        }
        Ok(count)
    })
}
