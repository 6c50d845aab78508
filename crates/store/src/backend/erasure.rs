//! Erasing a tenant. First it is marked, in one transaction with the audit record and the end of its tokens; then its
//! rows are deleted in chunks, each with its count; in the end its clients and its key. It can be interrupted at any
//! point: the mark and the counts are stored, and the next run continues.

use std::collections::BTreeMap;
use std::time::Duration;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{ErasedChain, ErasureProgress, ErasureRecords, ErasureReport};
use frontdesk_engine::seal::SealKey;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use super::StoreDriver;
use super::registry_change::{Applied, RegistryChange, remove_tenant, tokens_for};
use super::retention::{RetentionChunk, RetentionProgress, RetentionSession, delete_links};
use super::word_list::{has_word, remove};
use crate::StoreError;
use crate::audit::{AuditClass, ChainHead, roster, tenant_chain};
use crate::keyring::Keyring;
use crate::reindex::IndexSession;
use crate::sql::registry_rows::{CLIENTS, RegistryKey, TENANTS, TOKENS};
use crate::sql::session::{SqlReader, SqlSession};
use crate::transfer::tables::{RowOwner, TransferTable};

/// A chunk deletes at most this many rows, so that other writers wait a few milliseconds.
const CHUNK_ROWS: usize = 250;
/// After each chunk it pauses as long as the chunk took, up to this: no caller waits for an erasure.
const MAX_PAUSE: Duration = Duration::from_millis(20);
/// How long one call works.
const WORK_TIME: Duration = Duration::from_secs(1);
/// Before the end. Meanwhile every node forgets the key and the tokens that it has in memory, so that neither can be
/// used for a new tenant with the same id.
const SETTLE_TIME: Duration = Duration::from_millis(1_500);

/// Rows of a tenant that one chunk deletes some of.
#[derive(Debug, Clone)]
pub(crate) enum ErasedRows {
    Table(TransferTable),
    Chain,
}

pub(super) async fn erase<D: StoreDriver>(
    driver: &D,
    tenant: &TenantId,
    at: Millis,
    records: ErasureRecords,
) -> Result<ErasureProgress, StoreError> {
    if stored_report(driver, tenant).await?.is_none() {
        let known_tables = driver.erased_tables().iter().map(|table| table.name.clone()).collect();
        let begin = RegistryChange::BeginErasure { tenant: tenant.clone(), at, known_tables };
        driver.change(begin, records.begin).await?;
        let report = stored_report(driver, tenant).await?;
        return Ok(report.map_or(ErasureProgress::UnknownTenant, ErasureProgress::More));
    }
    if !delete_for_a_while(driver, tenant).await? {
        return Ok(ErasureProgress::More(stored_report(driver, tenant).await?.unwrap_or_default()));
    }
    sleep(SETTLE_TIME).await;
    driver.change(RegistryChange::FinishErasure { tenant: tenant.clone(), at }, records.end).await?;
    let text = "SELECT report FROM fd_erasure WHERE tenant = $1 ORDER BY number DESC LIMIT 1";
    let rows = driver.read(text, &[tenant.as_str().into()]).await?;
    let report = rows.first().map(|row| parse_report(row.text(0)?)).transpose()?;
    Ok(ErasureProgress::Done(report.unwrap_or_default()))
}

/// Whether nothing is left to delete.
async fn delete_for_a_while<D: StoreDriver>(driver: &D, tenant: &TenantId) -> Result<bool, StoreError> {
    let began = Instant::now();
    let session = driver.retention().await?;
    let tables = driver.erased_tables().iter().filter(|table| table.owner() == RowOwner::Tenant);
    for rows in tables.cloned().map(ErasedRows::Table).chain([ErasedRows::Chain]) {
        let chunk = RetentionChunk::Erasure { tenant: tenant.as_str().to_owned(), rows };
        loop {
            let chunk_began = Instant::now();
            let progress = session.run(chunk.clone()).await?;
            if progress == RetentionProgress::Done {
                break;
            }
            if began.elapsed() > WORK_TIME {
                return Ok(false);
            }
            sleep(chunk_began.elapsed().min(MAX_PAUSE)).await;
        }
    }
    Ok(true)
}

/// Of an erasure that has not ended.
async fn stored_report<D: StoreDriver>(driver: &D, tenant: &TenantId) -> Result<Option<ErasureReport>, StoreError> {
    let text = "SELECT report FROM fd_erasure WHERE tenant = $1 AND ended_at IS NULL";
    let rows = driver.read(text, &[tenant.as_str().into()]).await?;
    rows.first().map(|row| parse_report(row.text(0)?)).transpose()
}

/// Marks the tenant. Nothing if it is marked already, or does not exist.
pub(super) async fn begin<S: IndexSession>(
    session: &S,
    key: &RegistryKey,
    tenant: &str,
    at: Millis,
    known_tables: &[String],
    record: &str,
) -> Result<Applied, StoreError> {
    // Tokens that are being issued on another node are waited for, and those that are issued later see the mark.
    session.lock_tokens().await?;
    let rest = format!("WHERE tenant = $1 AND erasing_at IS NULL{}", S::FOR_UPDATE);
    let Some(row) = TENANTS.find(session, key, &rest, &[tenant.into()]).await?.pop() else {
        return Ok(Applied::Nothing);
    };
    TENANTS.update(session, key, row, vec![("erasing_at", at.0.into())]).await?;
    session.set_tenant(tenant).await?;
    require_known_tables(session, tenant, known_tables).await?;
    let chain = chain_end(session, &tenant_chain(tenant)).await?;
    session.set_tenant("").await?;
    let report = ErasureReport { rows: BTreeMap::new(), clients: 0, chain };
    let text = "INSERT INTO fd_erasure (number, tenant, begun_at, report) \
                SELECT coalesce(max(number), 0) + 1, CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT) FROM fd_erasure";
    session.execute(text, &[tenant.into(), at.0.into(), json!(report).to_string().into()]).await?;
    for token in tokens_for(session, key, tenant).await? {
        remove_tenant(session, key, token, tenant).await?;
    }
    Ok(Applied::Done(AuditClass::Administration, completed(record, &[("erased_chain", json!(report.chain))])?))
}

/// A table of a contract that this version no longer has would otherwise keep its rows.
async fn require_known_tables<S: SqlSession>(session: &S, tenant: &str, known: &[String]) -> Result<(), StoreError> {
    for row in session.query(S::TABLES_OF_TENANTS, &[]).await? {
        let table = row.text(0)?;
        let is_known = known.iter().any(|known| known == table) || [TENANTS.name, "fd_erasure"].contains(&table);
        if !is_known {
            let text = format!("SELECT 1 FROM {table} WHERE tenant = $1 LIMIT 1");
            if !session.query(&text, &[tenant.into()]).await?.is_empty() {
                return Err(StoreError::UnknownRows { table: table.to_owned() });
            }
        }
    }
    Ok(())
}

async fn chain_end<S: SqlReader>(session: &S, chain: &str) -> Result<ErasedChain, StoreError> {
    let text = "SELECT seq, hash FROM fd_audit_head WHERE chain = $1";
    let rows = session.query(text, &[chain.into()]).await?;
    let links = session.query("SELECT count(*) FROM fd_audit WHERE chain = $1", &[chain.into()]).await?;
    let links = links.first().map(|row| row.integer(0)).transpose()?.unwrap_or_default();
    let (seq, hash) = match rows.first() {
        Some(row) => (row.integer(0)?, row.bytes(1)?.iter().map(|byte| format!("{byte:02x}")).collect()),
        None => (0, String::new()),
    };
    Ok(ErasedChain { seq, hash, links: u64::try_from(links).unwrap_or_default(), intact: true })
}

/// Removes its clients, its key and its row. To be called when its rows are gone.
pub(super) async fn finish<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    tenant: &str,
    at: Millis,
    record: &str,
) -> Result<Applied, StoreError> {
    let lock = format!("WHERE tenant = $1 AND erasing_at IS NOT NULL{}", S::FOR_UPDATE);
    if TENANTS.find(session, key, &lock, &[tenant.into()]).await?.is_empty() {
        return Ok(Applied::Nothing);
    }
    let own = RowOwner::Client.condition();
    for client in CLIENTS.find(session, key, &format!("WHERE {own}"), &[tenant.into()]).await? {
        TOKENS.delete(session, "client = $1", &[client.value("client")?.clone()]).await?;
    }
    let clients = CLIENTS.delete(session, own, &[tenant.into()]).await?;
    let shared = format!("WHERE {}{}", has_word("tenants", 1), S::FOR_UPDATE);
    for client in CLIENTS.find(session, key, &shared, &[tenant.into()]).await? {
        let left = remove(client.text("tenants")?, tenant);
        CLIENTS.update(session, key, client, vec![("tenants", left.into())]).await?;
    }
    TENANTS.delete(session, "tenant = $1", &[tenant.into()]).await?;
    let report = change_report(session, tenant, |report| report.clients = clients).await?;
    let text = "UPDATE fd_erasure SET ended_at = $2 WHERE tenant = $1 AND ended_at IS NULL";
    session.execute(text, &[tenant.into(), at.0.into()]).await?;
    let removed = json!({"rows": report.rows, "clients": report.clients});
    let record = completed(record, &[("removed", removed), ("erased_chain", json!(report.chain))])?;
    Ok(Applied::Done(AuditClass::Administration, record))
}

impl ErasedRows {
    /// Deletes some rows and counts them, within the open transaction.
    pub(super) async fn delete<S: SqlSession>(
        &self,
        session: &S,
        keyring: &Keyring,
        audit_key: &SealKey,
        tenant: &str,
    ) -> Result<RetentionProgress, StoreError> {
        // Only of a tenant that is marked: another node may have finished, and the id may be in use again.
        let mark = "WHERE tenant = $1 AND erasing_at IS NOT NULL";
        if TENANTS.find(session, keyring.registry(), mark, &[tenant.into()]).await?.is_empty() {
            return Ok(RetentionProgress::Done);
        }
        match self {
            ErasedRows::Table(table) => {
                let deleted = session.execute(&S::delete_some(table, CHUNK_ROWS), &[tenant.into()]).await?;
                if deleted == 0 {
                    return Ok(RetentionProgress::Done);
                }
                change_report(session, tenant, |report| *report.rows.entry(table.name.clone()).or_default() += deleted)
                    .await?;
                Ok(RetentionProgress::More)
            }
            ErasedRows::Chain => delete_chain(session, audit_key, tenant).await,
        }
    }
}

/// The oldest links first, as retention does, so that the rest stays verifiable if this is interrupted. A chain that was
/// tampered with cannot be continued like that: it is deleted as it is, and the report says so.
async fn delete_chain<S: SqlSession>(
    session: &S,
    audit_key: &SealKey,
    tenant: &str,
) -> Result<RetentionProgress, StoreError> {
    let chain = tenant_chain(tenant);
    if delete_links(session, audit_key, &chain, Millis(i64::MAX)).await? == RetentionProgress::More {
        return Ok(RetentionProgress::More);
    }
    let left = format!(
        "DELETE FROM fd_audit WHERE chain = $1 AND seq IN (SELECT seq FROM fd_audit WHERE chain = $1 LIMIT {CHUNK_ROWS})"
    );
    let head = ChainHead::find(session, audit_key, &chain).await?;
    let deleted = session.execute(&left, &[chain.as_str().into()]).await?;
    if deleted > 0 || head.as_ref().is_some_and(|head| !head.intact) {
        change_report(session, tenant, |report| report.chain.intact = false).await?;
    }
    if deleted > 0 {
        return Ok(RetentionProgress::More);
    }
    if let Some(head) = head {
        roster::end_chain(session, audit_key, &chain, &head).await?;
    }
    session.execute("DELETE FROM fd_audit_head WHERE chain = $1", &[chain.into()]).await?;
    Ok(RetentionProgress::Done)
}

async fn change_report<S: SqlSession>(
    session: &S,
    tenant: &str,
    change: impl FnOnce(&mut ErasureReport),
) -> Result<ErasureReport, StoreError> {
    let text = format!("SELECT report FROM fd_erasure WHERE tenant = $1 AND ended_at IS NULL{}", S::FOR_UPDATE);
    let rows = session.query(&text, &[tenant.into()]).await?;
    let mut report = rows.first().map(|row| parse_report(row.text(0)?)).transpose()?.unwrap_or_default();
    change(&mut report);
    let text = "UPDATE fd_erasure SET report = $2 WHERE tenant = $1 AND ended_at IS NULL";
    session.execute(text, &[tenant.into(), json!(report).to_string().into()]).await?;
    Ok(report)
}

fn parse_report(text: &str) -> Result<ErasureReport, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::UnexpectedValue { column: 0 })
}

/// The record with what only the store knows.
fn completed(record: &str, more: &[(&str, Value)]) -> Result<String, StoreError> {
    let object: Option<Map<String, Value>> = serde_json::from_str(record).ok();
    let mut object = object.ok_or_else(|| StoreError::NotCommitted("the record is not a JSON object".to_owned()))?;
    object.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Ok(Value::Object(object).to_string())
}

#[cfg(test)]
mod tests;
