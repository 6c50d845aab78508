//! Reading the audit chains: checking every link, and handing the records out.

use std::path::Path;

use frontdesk_engine::seal::SealKey;
use rusqlite::params;

use super::SqliteStore;
use super::chains::{Meet, head, walk_links};
use super::readers::Pool;
use crate::StoreError;
use crate::audit::{self, Head, Part, Report, START, Selection, Walk};

/// An export holds this much in memory at most, and one link more.
const PIECE_LINKS: usize = 256;
const PIECE_BYTES: usize = 1024 * 1024;

/// Reads the chains of a database that may be in use by a server.
pub struct AuditReader {
    pool: Pool,
    key: SealKey,
}

impl AuditReader {
    pub fn open(database: &Path, master: &SealKey) -> AuditReader {
        AuditReader { pool: Pool::new(database.to_owned()), key: master.derive(audit::KEY) }
    }

    /// Whether there is such a tenant, or its records are still there.
    pub fn knows(&self, tenant: &str) -> Result<bool, StoreError> {
        let chain = audit::tenant_chain(tenant);
        let text = "SELECT 1 FROM fd_tenant WHERE tenant = ?1 UNION ALL SELECT 1 FROM fd_audit_head WHERE chain = ?2";
        self.pool.with(|connection| Ok(connection.prepare(text)?.exists(params![tenant, chain])?))
    }

    pub fn verify(&self) -> Result<Report, StoreError> {
        verify(&self.pool, &self.key)
    }

    /// Hands every selected record to `take`, a line of JSON each, chain by chain in order, up to where
    /// the chains end now. `take` may be slow: nothing is held open while it runs.
    pub fn export(
        &self,
        selection: &Selection,
        take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
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
        take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
    ) -> Result<u64, StoreError> {
        export(&self.pool, selection, take)
    }
}

fn verify(pool: &Pool, key: &SealKey) -> Result<Report, StoreError> {
    pool.with(|connection| {
        // One snapshot, so that a server writing meanwhile does not look like tampering. The log cannot be
        // cleared until it ends, but unlike an export it waits for nobody.
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
            walk_links(connection, &chain, &mut walk, |_| Meet::Next)?;
            chains.push(walk.end());
        }
        Ok(Report { chains })
    })
}

/// Reads a piece, lets go of the database, and only then hands the piece out: a reader who takes his
/// time must not keep the log from being cleared. Links that retention removes meanwhile are left out.
fn export(
    pool: &Pool,
    selection: &Selection,
    mut take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
) -> Result<u64, StoreError> {
    let mut count = 0;
    for (chain, last) in ends(pool)? {
        let Some(part) = Part::of(&chain, selection.tenant.as_deref()) else {
            continue;
        };
        let mut after = None;
        loop {
            let piece = read_piece(pool, &chain, after, last, selection.since)?;
            for (seq, records) in &piece.links {
                for record in records.lines().filter(|record| part.has(record)) {
                    take(&chain, *seq, record)
                        .map_err(|error| StoreError::Folder { path: "the export".into(), error })?;
                    count += 1;
                }
            }
            match piece.reached {
                Some(seq) => after = Some(seq),
                None => break,
            }
        }
    }
    Ok(count)
}

/// Every chain and its last link. An export ends there, however fast a server writes on.
fn ends(pool: &Pool) -> Result<Vec<(String, i64)>, StoreError> {
    pool.with(|connection| {
        let mut statement = connection.prepare("SELECT chain, MAX(seq) FROM fd_audit GROUP BY chain ORDER BY chain")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    })
}

/// Links of one chain that are read together.
#[derive(Default)]
struct Piece {
    /// The number of each and its records.
    links: Vec<(i64, String)>,
    /// The last of them, unless there are no more.
    reached: Option<i64>,
}

fn read_piece(pool: &Pool, chain: &str, after: Option<i64>, last: i64, since: i64) -> Result<Piece, StoreError> {
    pool.with(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT seq, records FROM fd_audit WHERE chain = ?1 AND seq > ?2 AND seq <= ?3 AND at >= ?4 ORDER BY seq",
        )?;
        let mut rows = statement.query(params![chain, after.unwrap_or(i64::MIN), last, since])?;
        let mut piece = Piece::default();
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let (seq, records): (i64, String) = (row.get(0)?, row.get(1)?);
            bytes += records.len();
            piece.links.push((seq, records));
            if piece.links.len() >= PIECE_LINKS || bytes >= PIECE_BYTES {
                piece.reached = Some(seq);
                break;
            }
        }
        Ok(piece)
    })
}
