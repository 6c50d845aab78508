//! Retention: idempotency keys, rows and audit links are deleted when they have expired, in chunks, so that a write
//! never waits longer than for one chunk.

use std::future::Future;
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::SealKey;
use tokio::time::{Instant, sleep};

use super::erasure::ErasedRows;
use super::{AnswersChunk, ClaimPosition, StoreDriver};
use crate::StoreError;
use crate::audit::reader::read_links;
use crate::audit::{AuditClass, ChainHead, ChainVerifier};
use crate::backend::usage::{self, Usage};
use crate::keyring::Keyring;
use crate::sql;
use crate::sql::session::{SqlRow, SqlSession, StoredValue};

/// A chunk deletes at most this many rows, and reads at most about this many bytes of audit records.
const CHUNK_ROWS: i64 = 1_000;
const CHUNK_BYTES: usize = 8 * 1024 * 1024;
/// Links that are read by one query.
const LINKS_PER_QUERY: i64 = 50;
/// After each tenant it pauses for a multiple of the time it has worked, up to a limit: there may be many tenants, and
/// no caller waits for retention.
const THROTTLE_FACTOR: u32 = 9;
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// What has expired.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expired {
    /// Idempotency keys.
    Claims,
    /// Rows with an older value in this column.
    Rows { table: &'static TableSpec, column: &'static str },
}

impl Expired {
    pub(crate) fn table(self) -> &'static str {
        match self {
            Expired::Claims => "fd_claim",
            Expired::Rows { table, .. } => table.name,
        }
    }

    pub(crate) fn column(self) -> &'static str {
        match self {
            Expired::Claims => "at",
            Expired::Rows { column, .. } => column,
        }
    }
}

/// Work for one transaction.
#[derive(Debug, Clone)]
pub(crate) enum RetentionChunk {
    Tenant {
        tenant: String,
        expired: Expired,
        before: Millis,
    },
    Chain {
        chain: String,
        before: Millis,
    },
    /// Of a tenant that is being erased.
    Erasure {
        tenant: String,
        rows: ErasedRows,
    },
}

/// Whether another chunk may find something to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetentionProgress {
    More,
    Done,
}

/// A database while retention runs.
pub(crate) trait RetentionSession: Send + Sync {
    /// Tenants that may have expired rows.
    fn tenants(&self, expired: Expired, before: Millis)
    -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;

    /// Whether the tenant has expired rows. Takes no lock.
    fn has_expired(
        &self,
        tenant: &str,
        expired: Expired,
        before: Millis,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// The chains that `EXPIRED_CHAINS` finds.
    fn chains(&self, class: AuditClass, before: Millis)
    -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;

    /// What `NEWEST_LINK` finds.
    fn newest(&self) -> impl Future<Output = Result<Option<i64>, StoreError>> + Send;

    /// Runs the chunk in a transaction of its own.
    fn run(&self, chunk: RetentionChunk) -> impl Future<Output = Result<RetentionProgress, StoreError>> + Send;

    /// Runs the chunk in a transaction of its own; where the next one starts, if there is one, and how many answers were
    /// changed.
    fn erase(
        &self,
        chunk: AnswersChunk,
    ) -> impl Future<Output = Result<(Option<ClaimPosition>, u64), StoreError>> + Send;
}

/// Chains whose names begin with the bound pattern and whose oldest link is older than the bound instant.
pub(crate) const EXPIRED_CHAINS: &str = "SELECT chain FROM fd_audit_head AS head WHERE chain LIKE $2 AND \
    (SELECT at FROM fd_audit WHERE chain = head.chain ORDER BY seq LIMIT 1) < $1";

/// When the newest link of all chains was written, NULL if there is none.
pub(crate) const NEWEST_LINK: &str = "SELECT max(link.at) FROM fd_audit_head AS head JOIN fd_audit AS link \
    ON link.chain = head.chain AND link.seq = head.seq";

pub(super) async fn newest_link<D: StoreDriver>(driver: &D) -> Result<Option<Millis>, StoreError> {
    Ok(driver.retention().await?.newest().await?.map(Millis))
}

pub(super) async fn delete_expired<D: StoreDriver>(
    driver: &D,
    expired: Expired,
    before: Millis,
) -> Result<(), StoreError> {
    let session = driver.retention().await?;
    for tenant in session.tenants(expired, before).await? {
        let began = Instant::now();
        if session.has_expired(&tenant, expired, before).await? {
            let chunk = RetentionChunk::Tenant { tenant, expired, before };
            while session.run(chunk.clone()).await? == RetentionProgress::More {}
        }
        sleep((began.elapsed() * THROTTLE_FACTOR).min(MAX_PAUSE)).await;
    }
    Ok(())
}

pub(super) async fn delete_expired_links<D: StoreDriver>(
    driver: &D,
    class: AuditClass,
    before: Millis,
) -> Result<(), StoreError> {
    let session = driver.retention().await?;
    for chain in session.chains(class, before).await? {
        let chunk = RetentionChunk::Chain { chain, before };
        while session.run(chunk.clone()).await? == RetentionProgress::More {}
    }
    Ok(())
}

impl RetentionChunk {
    /// Deletes within the open transaction.
    pub(crate) async fn delete<S: SqlSession>(
        &self,
        session: &S,
        keyring: &Keyring,
        audit_key: &SealKey,
    ) -> Result<RetentionProgress, StoreError> {
        match self {
            RetentionChunk::Tenant { tenant, expired, before } => {
                let params = [tenant.as_str().into(), before.0.into(), CHUNK_ROWS.into()];
                let deleted = match expired {
                    Expired::Claims => {
                        let text = format!(
                            "{} RETURNING client, CAST(octet_length(sealed_answer) AS BIGINT)",
                            S::DELETE_CLAIMS
                        );
                        let rows = session.query(&text, &params).await?;
                        let answer = |row: &SqlRow| Ok((row.text(0)?.to_owned(), row.integer(1)? + usage::ROW_BYTES));
                        let answers = rows.iter().map(answer).collect::<Result<Vec<_>, StoreError>>()?;
                        usage::subtract(session, tenant, Usage::default(), &answers).await?;
                        rows.len()
                    }
                    Expired::Rows { table, column } => {
                        session.execute(&S::delete_terms_before(table, column), &params).await?;
                        let text =
                            format!("{} RETURNING {}", sql::delete_rows_before(table, column), usage::row_size());
                        let rows = session.query(&text, &params).await?;
                        let bytes = rows.iter().map(|row| row.integer(0)).sum::<Result<i64, StoreError>>()?;
                        let deleted = Usage { rows: usage::length(rows.len()), bytes };
                        usage::subtract(session, tenant, deleted, &[]).await?;
                        rows.len()
                    }
                };
                Ok(if usage::length(deleted) < CHUNK_ROWS { RetentionProgress::Done } else { RetentionProgress::More })
            }
            RetentionChunk::Chain { chain, before } => delete_links(session, audit_key, chain, *before).await,
            RetentionChunk::Erasure { tenant, rows } => rows.delete(session, keyring, audit_key, tenant).await,
        }
    }
}

/// Deletes the oldest links of a chain, up to the first that has not expired, so that no gap can appear.
pub(super) async fn delete_links<S: SqlSession>(
    session: &S,
    key: &SealKey,
    chain: &str,
    before: Millis,
) -> Result<RetentionProgress, StoreError> {
    let Some(head) = ChainHead::find_locked(session, key, chain).await? else {
        return Ok(RetentionProgress::Done);
    };
    let mut verifier = ChainVerifier::new(key, chain, head.clone());
    let (mut after, mut rows, mut bytes) = (i64::MIN, 0, 0);
    let mut kept = None;
    let mut progress = RetentionProgress::Done;
    while kept.is_none() {
        let links = read_links(session, chain, after, i64::MAX, i64::MIN, LINKS_PER_QUERY).await?;
        let Some(last) = links.last() else { break };
        after = last.seq;
        for link in &links {
            let is_full = rows >= CHUNK_ROWS || bytes >= CHUNK_BYTES;
            if link.at >= before.0 || is_full {
                kept = Some(link.seq);
                progress = if is_full { RetentionProgress::More } else { RetentionProgress::Done };
                break;
            }
            rows += 1;
            bytes += link.records.len();
            verifier.check_link(link);
        }
    }
    let first_kept = kept.unwrap_or(head.seq + 1);
    // A chain that was tampered with, and links before a gap, are evidence and stay.
    let verified = verifier.verified_up_to().filter(|(seq, _)| seq + 1 == first_kept && head.intact);
    let Some((deleted, hash)) = verified else {
        return Ok(RetentionProgress::Done);
    };
    let params: [StoredValue; 2] = [chain.into(), deleted.into()];
    session.execute("DELETE FROM fd_audit WHERE chain = $1 AND seq <= $2", &params).await?;
    let head = ChainHead { kept_after_seq: deleted, kept_after_hash: hash.to_vec(), ..head };
    head.store(session, key, chain).await?;
    Ok(progress)
}
