//! Reading the audit chains on either database: verifying every link, and exporting the records.

use frontdesk_engine::seal::SealKey;

use super::{
    AuditLink, AuditReport, AuditSelection, ChainHead, ChainSelection, ChainVerifier, GENESIS_HASH, tenant_chain,
};
use crate::StoreError;
use crate::sql::registry_rows::TENANT_OR_CHAIN;
use crate::sql::session::{SqlReader, SqlRow};

/// How many links are held in memory at a time. A link can have thousands of records.
const LINKS_PER_QUERY: i64 = 64;

/// Whether the tenant exists, or its records still do.
pub(crate) async fn knows_tenant<S: SqlReader>(session: &S, tenant: &str) -> Result<bool, StoreError> {
    if !session.query(TENANT_OR_CHAIN, &[tenant.into(), tenant_chain(tenant).into()]).await?.is_empty() {
        return Ok(true);
    }
    // Of a tenant that was erased there are still the reads and the erasure itself.
    Ok(!session.query("SELECT 1 FROM fd_erasure WHERE tenant = $1", &[tenant.into()]).await?.is_empty())
}

/// To be called in one snapshot, so that what a server writes meanwhile does not look like tampering.
pub(crate) async fn verify<S: SqlReader>(session: &S, key: &SealKey) -> Result<AuditReport, StoreError> {
    // Also the chains of which only links are left.
    let names = "SELECT chain FROM fd_audit_head UNION SELECT chain FROM fd_audit ORDER BY chain";
    let mut chains = Vec::new();
    for row in session.query(names, &[]).await? {
        let chain = row.text(0)?;
        let head = ChainHead::find(session, key, chain).await?;
        let head = head.unwrap_or_else(|| ChainHead::missing(0, GENESIS_HASH.to_vec()));
        let mut verifier = ChainVerifier::new(key, chain, head);
        let mut after = i64::MIN;
        loop {
            let links = read_links(session, chain, after, i64::MAX, i64::MIN, LINKS_PER_QUERY).await?;
            let Some(last) = links.last() else { break };
            after = last.seq;
            links.iter().for_each(|link| verifier.check_link(link));
        }
        chains.push(verifier.finish());
    }
    Ok(AuditReport { chains })
}

/// Hands every selected record to `take`, chain by chain in order, up to where the chains end now. No transaction is
/// open while `take` runs: a slow consumer must not keep the database from checkpointing or vacuuming. Links that
/// retention deletes meanwhile are left out.
pub(crate) async fn export<S: SqlReader>(
    session: &S,
    selection: &AuditSelection,
    mut take: impl FnMut(&str, i64, &str) -> std::io::Result<()>,
) -> Result<u64, StoreError> {
    let mut count = 0;
    let ends = "SELECT chain, MAX(seq) FROM fd_audit GROUP BY chain ORDER BY chain";
    for row in session.query(ends, &[]).await? {
        let (chain, last) = (row.text(0)?, row.integer(1)?);
        let Some(selected) = ChainSelection::of(chain, selection.tenant.as_deref()) else {
            continue;
        };
        let mut after = i64::MIN;
        loop {
            let links = read_links(session, chain, after, last, selection.since, LINKS_PER_QUERY).await?;
            let Some(end) = links.last() else { break };
            after = end.seq;
            for link in &links {
                for record in link.records.lines().filter(|record| selected.has(record)) {
                    take(chain, link.seq, record)
                        .map_err(|error| StoreError::Io { path: "the export".into(), error })?;
                    count += 1;
                }
            }
        }
    }
    Ok(count)
}

/// The next links of a chain that were not written before `since`.
pub(crate) async fn read_links<S: SqlReader>(
    session: &S,
    chain: &str,
    after: i64,
    last: i64,
    since: i64,
    limit: i64,
) -> Result<Vec<AuditLink>, StoreError> {
    let text = "SELECT seq, at, records, hash FROM fd_audit WHERE chain = $1 AND seq > $2 AND seq <= $3 \
                AND at >= $4 ORDER BY seq LIMIT $5";
    let params = [chain.into(), after.into(), last.into(), since.into(), limit.into()];
    let rows = session.query(text, &params).await?;
    let link = |row: &SqlRow| {
        Ok(AuditLink {
            seq: row.integer(0)?,
            at: row.integer(1)?,
            records: row.text(2)?.to_owned(),
            hash: row.bytes(3)?.to_vec(),
        })
    };
    rows.iter().map(link).collect()
}
