//! Reading the audit chains on either database: verifying every link, and exporting the records.

use std::collections::{BTreeMap, HashSet};

use frontdesk_engine::seal::SealKey;

use super::report::FindingList;
use super::roster::{ChainState, RosterEntry};
use super::row_versions::{AllNamed, LastWrites, RegistryWrites, name_missing};
use super::summary::{self, AuditSummary};
use super::{
    AuditClass, AuditFinding, AuditLink, AuditReport, AuditSelection, ChainHead, ChainSelection, ChainVerifier,
    ComparedTable, GENESIS_HASH, RowCounts, tenant_chain,
};
use crate::StoreError;
use crate::installation::{self, Installation, InstallationState};
use crate::reindex::IndexSession;
use crate::sql::registry_rows::{RegistryKey, TENANT_OR_CHAIN, TENANTS};
use crate::sql::session::{SqlReader, SqlRow};

/// Instead of a tenant, whose name it can never be: every audit chain can be read.
pub(crate) const AUDITOR: &str = "*";

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

/// What a verification needs beside the database.
pub(crate) struct VerifyKeys<'a> {
    pub(crate) master: &'a SealKey,
    pub(crate) audit: &'a SealKey,
    /// The tables whose rows are compared with their last audited writes.
    pub(crate) tables: &'a [ComparedTable],
}

/// To be called in one snapshot, so that what a server writes meanwhile does not look like tampering.
pub(crate) async fn verify<S: IndexSession>(session: &S, keys: &VerifyKeys<'_>) -> Result<AuditReport, StoreError> {
    let key = keys.audit;
    session.set_tenant(AUDITOR).await?;
    let mut findings = FindingList::default();
    let roster = verify_summary(session, keys, &mut findings).await?;
    // Also the chains of which only links are left.
    let names = "SELECT chain FROM fd_audit_head UNION SELECT chain FROM fd_audit ORDER BY chain";
    let mut report =
        AuditReport { chains: Vec::new(), findings: Vec::new(), more_findings: 0, rows: RowCounts::default() };
    let mut present = HashSet::new();
    let mut registry = RegistryWrites::default();
    let registry_key = RegistryKey::new(keys.master);
    for row in session.query(names, &[]).await? {
        let chain = row.text(0)?;
        present.insert(chain.to_owned());
        let head = ChainHead::find(session, key, chain).await?;
        let head = head.unwrap_or_else(|| ChainHead::missing(0, GENESIS_HASH.to_vec()));
        let entry = roster.get(chain);
        compare_with_entry(session, chain, &head, entry, &mut findings).await?;
        let mut verifier = ChainVerifier::new(key, chain, head.clone());
        let mut writes = LastWrites::new(keys.tables);
        for_each_link(session, chain, |link| {
            verifier.check_link(link);
            writes.add(link, &mut registry);
        })
        .await?;
        report.chains.push(verifier.finish());
        if let Some(tenant) = chain.strip_prefix(AuditClass::Writes.prefix())
            && !is_being_erased(session, &registry_key, tenant).await?
        {
            let is_whole = head.kept_after_seq == 0 && entry.is_some_and(|entry| entry.rows_since == 0);
            let all_named = if is_whole { AllNamed::Yes } else { AllNamed::No };
            session.set_tenant(tenant).await?;
            let counts = writes.compare(session, tenant, all_named, &mut findings).await?;
            session.set_tenant(AUDITOR).await?;
            report.rows.compared += counts.compared;
            report.rows.without_record += counts.without_record;
            let mut missing = writes.missing();
            if !missing.is_empty() {
                for_each_link(session, chain, |link| name_missing(link, tenant, &mut missing, &mut findings)).await?;
            }
        }
    }
    registry.compare(session, &registry_key, &mut findings).await?;
    for entry in roster.values().filter(|entry| !present.contains(&entry.chain)) {
        // A chain without a link is begun and ended in one transaction that has failed to write.
        if entry.state == ChainState::Open && entry.is_sealed() && entry.sealed_seq > 0 {
            let (chain, sealed) = (entry.chain.clone(), entry.sealed_seq);
            findings.add(AuditFinding::ChainMissing { chain, sealed });
        }
    }
    Ok(AuditReport { findings: findings.listed, more_findings: findings.more, ..report })
}

/// Its rows are deleted before its chain.
async fn is_being_erased<S: SqlReader>(session: &S, key: &RegistryKey, tenant: &str) -> Result<bool, StoreError> {
    let mark = "WHERE tenant = $1 AND erasing_at IS NOT NULL";
    Ok(!TENANTS.find(session, key, mark, &[tenant.into()]).await?.is_empty())
}

/// The row of the installation, the summary, and the roster that it was made of.
async fn verify_summary<S: SqlReader>(
    session: &S,
    keys: &VerifyKeys<'_>,
    findings: &mut FindingList,
) -> Result<BTreeMap<String, RosterEntry>, StoreError> {
    match installation::find(session, keys.master).await {
        Ok(Some(Installation { state: InstallationState::Original, .. })) => {}
        Ok(Some(Installation { state: InstallationState::Recreated, .. })) | Err(StoreError::WrongKey) => {
            findings.add(AuditFinding::InstallationRecreated);
        }
        Ok(None) => findings.add(AuditFinding::InstallationMissing),
        Err(error) => return Err(error),
    }
    let entries = summary::roster_entries(session, keys.audit, -1).await?;
    for entry in entries.iter().filter(|entry| !entry.intact) {
        findings.add(AuditFinding::EntryChanged { chain: entry.chain.clone() });
    }
    match AuditSummary::find(session, keys.audit).await? {
        None => findings.add(AuditFinding::SummaryMissing),
        Some(summary) if !summary.intact => findings.add(AuditFinding::SummaryChanged),
        Some(summary) if !summary.covers(keys.audit, entries.iter()) => findings.add(AuditFinding::RosterIncomplete),
        Some(_) => {}
    }
    Ok(entries.into_iter().map(|entry| (entry.chain.clone(), entry)).collect())
}

async fn compare_with_entry<S: SqlReader>(
    session: &S,
    chain: &str,
    head: &ChainHead,
    entry: Option<&RosterEntry>,
    findings: &mut FindingList,
) -> Result<(), StoreError> {
    let chain = chain.to_owned();
    let Some(entry) = entry else {
        findings.add(AuditFinding::ChainUnknown { chain });
        return Ok(());
    };
    let (sealed, found) = (entry.sealed_seq, head.seq);
    match entry.state {
        ChainState::Ended => findings.add(AuditFinding::ChainNotEnded { chain }),
        ChainState::Open if found < sealed => findings.add(AuditFinding::ChainRolledBack { chain, sealed, found }),
        ChainState::Open => {
            let link = summary::sealed_link(session, entry).await?;
            if !entry.is_continued_by(head, link.as_deref()) {
                findings.add(AuditFinding::ChainReplaced { chain, sealed });
            }
        }
    }
    Ok(())
}

async fn for_each_link<S: SqlReader>(
    session: &S,
    chain: &str,
    mut take: impl FnMut(&AuditLink),
) -> Result<(), StoreError> {
    let mut after = i64::MIN;
    loop {
        let links = read_links(session, chain, after, i64::MAX, i64::MIN, LINKS_PER_QUERY).await?;
        let Some(last) = links.last() else { return Ok(()) };
        after = last.seq;
        links.iter().for_each(&mut take);
    }
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
