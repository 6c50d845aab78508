//! Reading the audit chains on PostgreSQL: checking every link, and handing the records out.

use frontdesk_engine::seal::SealKey;

use super::Address;
use super::chains::{HEAD, read_head};
use super::live::Live;
use super::walls::AUDITOR;
use crate::StoreError;
use crate::audit::{self, Head, Link, Part, Report, START, Selection, Walk};

/// So many links are held in memory at a time.
const PIECE: i64 = 256;
const LINKS: &str = "SELECT seq, at, records, hash FROM fd_audit WHERE chain = $1 AND seq > $2 AND seq <= $3 \
                     AND at >= $4 ORDER BY seq LIMIT $5";

/// Reads the chains of a database that may be in use by servers.
pub struct PostgresAudit {
    live: Live,
    key: SealKey,
}

impl PostgresAudit {
    pub async fn open(address: &Address, master: &SealKey) -> Result<PostgresAudit, StoreError> {
        let live = Live::connect(&address.patient()).await?;
        let found = live.query("SELECT to_regclass('fd_audit') IS NOT NULL", &[]).await?;
        match found.first().map(|row| row.try_get(0)).transpose()? {
            Some(true) => Ok(PostgresAudit { live, key: master.derive(audit::KEY) }),
            Some(false) | None => Err(StoreError::NoData),
        }
    }

    pub async fn knows(&self, tenant: &str) -> Result<bool, StoreError> {
        let chain = audit::tenant_chain(tenant);
        let text = "SELECT 1 FROM fd_tenant WHERE tenant = $1 UNION ALL SELECT 1 FROM fd_audit_head WHERE chain = $2";
        Ok(!self.live.query_as(AUDITOR, text, &[&tenant, &chain]).await?.is_empty())
    }

    /// One snapshot, so that a server writing meanwhile does not look like tampering.
    pub async fn verify(&self) -> Result<Report, StoreError> {
        self.live.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let report = self.walk_all().await;
        self.live.batch("ROLLBACK").await?;
        report
    }

    async fn walk_all(&self) -> Result<Report, StoreError> {
        self.live.query("SELECT set_config('frontdesk.tenant', $1, true)", &[&AUDITOR]).await?;
        // Also the chains of which only links are left.
        let names = "SELECT chain FROM fd_audit_head UNION SELECT chain FROM fd_audit ORDER BY chain";
        let mut chains = Vec::new();
        for row in self.live.query(names, &[]).await? {
            let chain: String = row.try_get(0)?;
            let head = match self.live.query(HEAD, &[&chain]).await?.first() {
                Some(row) => read_head(&self.key, &chain, row)?,
                None => Head::lost(0, START.to_vec()),
            };
            let mut walk = Walk::new(&self.key, &chain, head);
            let mut after = i64::MIN;
            loop {
                let rows = self.live.query(LINKS, &[&chain, &after, &i64::MAX, &i64::MIN, &PIECE]).await?;
                for row in &rows {
                    let link = link(row)?;
                    walk.step(&link);
                    after = link.seq;
                }
                if rows.is_empty() {
                    break;
                }
            }
            chains.push(walk.end());
        }
        Ok(Report { chains })
    }

    /// Hands every selected record to `take`, a line of JSON each, chain by chain in order, up to where
    /// the chains end now. `take` may be slow: no transaction is open while it runs.
    pub async fn export(
        &self,
        selection: &Selection,
        mut take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
    ) -> Result<u64, StoreError> {
        let mut count = 0;
        let ends = "SELECT chain, MAX(seq) FROM fd_audit GROUP BY chain ORDER BY chain";
        for row in self.live.query_as(AUDITOR, ends, &[]).await? {
            let (chain, last): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
            let Some(part) = Part::of(&chain, selection.tenant.as_deref()) else {
                continue;
            };
            let mut after = i64::MIN;
            loop {
                let values: super::live::Values<'_> = &[&chain, &after, &last, &selection.since, &PIECE];
                let rows = self.live.query_as(AUDITOR, LINKS, values).await?;
                for row in &rows {
                    let link = link(row)?;
                    for record in link.records.lines().filter(|record| part.has(record)) {
                        take(&chain, link.seq, record)
                            .map_err(|error| StoreError::Folder { path: "the export".into(), error })?;
                        count += 1;
                    }
                    after = link.seq;
                }
                if rows.is_empty() {
                    break;
                }
            }
        }
        Ok(count)
    }
}

pub(super) fn link(row: &tokio_postgres::Row) -> Result<Link, tokio_postgres::Error> {
    Ok(Link { seq: row.try_get(0)?, at: row.try_get(1)?, records: row.try_get(2)?, hash: row.try_get(3)? })
}
