//! Reading the audit chains: checking every link, and handing the records out.

use std::path::Path;

use frontdesk_engine::seal::Key;
use rusqlite::params;

use super::SqliteStore;
use super::readers::Pool;
use crate::StoreError;
use crate::audit::{Head, Link, Report, Walk, tenant_chain};

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
        let mut heads = connection
            .prepare("SELECT chain, seq, hash, kept_after_seq, kept_after_hash FROM fd_audit_head ORDER BY chain")?;
        let heads = heads.query_map([], |row| {
            let head =
                Head { seq: row.get(1)?, hash: row.get(2)?, kept_after_seq: row.get(3)?, kept_after_hash: row.get(4)? };
            Ok((row.get::<_, String>(0)?, head))
        })?;
        let mut chains = Vec::new();
        for head in heads {
            let (chain, head) = head?;
            let mut walk = Walk::new(key, &chain, head);
            let mut links =
                connection.prepare_cached("SELECT seq, records, hash FROM fd_audit WHERE chain = ?1 ORDER BY seq")?;
            let mut rows = links.query([&chain])?;
            while let Some(row) = rows.next()? {
                walk.step(&Link { seq: row.get(0)?, records: row.get(1)?, hash: row.get(2)? });
            }
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
