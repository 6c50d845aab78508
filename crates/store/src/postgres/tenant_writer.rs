//! Writing for tenants: one transaction per tenant takes all plans that are queued for it. They are first sent together
//! in one pipeline; if one of them fails, they are sent again one by one, each with a savepoint.

use std::collections::BTreeMap;
use std::sync::Arc;

use frontdesk_engine::ports::{Claim, Commit, Committed, StoredAnswer};
use tokio::sync::mpsc::Receiver;

use super::PgContext;
use super::connection::{PgConnection, PgParams};
use super::plan_statements::{
    PgStatement, PlanRejection, StatementFailure, TenantState, check_results, closing_statements, merge_inserts,
    plan_statements,
};
use super::read_pool::PgSlot;
use super::values::{PgValue, read_row, read_rows};
use crate::StoreError;
use crate::audit::{ChainHead, GET_HEAD, roster, tenant_chain};
use crate::backend::ReplySender;
use crate::backend::stats::WriterCounters;
use crate::backend::usage::{GET_USAGE, TenantUsage};
use crate::idempotency::{self, StoredResponse};
use crate::keyring::TenantKeys;
use crate::sql::registry_rows::{LOCK_TENANT, TENANTS};
use crate::sql::{FIND_CLAIM, GET_EVENT_COUNTER};

/// At most this many plans are taken together.
const MAX_BATCH: usize = 256;

pub(crate) struct TenantJob {
    pub(crate) commit: Box<Commit>,
    pub(crate) keys: Arc<TenantKeys>,
    pub(crate) reply: ReplySender<Committed>,
}

/// Runs until the queue is closed and empty.
pub(crate) async fn run(
    slot: PgSlot,
    mut queue: Receiver<TenantJob>,
    context: Arc<PgContext>,
    counters: Arc<WriterCounters>,
) {
    while let Some(first) = queue.recv().await {
        let mut batch = vec![first];
        while batch.len() < MAX_BATCH
            && let Ok(job) = queue.try_recv()
        {
            batch.push(job);
        }
        batch.iter().for_each(|_| counters.dequeued());
        let mut tenants: BTreeMap<String, Vec<TenantJob>> = BTreeMap::new();
        for job in batch {
            tenants.entry(job.commit.tenant.as_str().to_owned()).or_default().push(job);
        }
        for (tenant, jobs) in tenants {
            counters.batch(jobs.len());
            let outcomes =
                slot.transact(async |connection| commit_all(connection, &context, &tenant, &jobs).await).await;
            if outcomes.is_err() {
                counters.commit_failed();
            }
            reply_all(jobs, outcomes);
        }
    }
}

type Outcomes = Vec<Result<Committed, StoreError>>;

/// Callers may have stopped waiting.
fn reply_all(jobs: Vec<TenantJob>, outcomes: Result<Outcomes, StoreError>) {
    match outcomes {
        Ok(outcomes) => {
            for (job, outcome) in jobs.into_iter().zip(outcomes) {
                let _ = job.reply.send(outcome);
            }
        }
        Err(error) => {
            for job in jobs {
                let _ = job.reply.send(Err(error.for_batch_member()));
            }
        }
    }
}

async fn commit_all(
    connection: &PgConnection,
    context: &PgContext,
    tenant: &str,
    jobs: &[TenantJob],
) -> Result<Outcomes, StoreError> {
    // Also for a single plan: most succeed, and this takes two round trips less.
    match commit_batch(connection, context, tenant, jobs).await? {
        BatchOutcome::Committed => Ok(jobs.iter().map(|_| Ok(Committed::Done)).collect()),
        BatchOutcome::Rejected => {
            connection.batch_execute("ROLLBACK").await?;
            commit_with_savepoints(connection, context, tenant, jobs).await
        }
    }
}

enum BatchOutcome {
    Committed,
    /// A statement failed; nothing is committed and the transaction is still open.
    Rejected,
}

async fn commit_batch(
    connection: &PgConnection,
    context: &PgContext,
    tenant: &str,
    jobs: &[TenantJob],
) -> Result<BatchOutcome, StoreError> {
    let LockedTenant { state: before, wrapped_key } = begin(connection, context, tenant).await?;
    let mut state = before.clone();
    let mut statements = Vec::new();
    for job in jobs {
        if !job.keys.are_of(&wrapped_key) {
            return Ok(BatchOutcome::Rejected);
        }
        match plan_statements(context, &job.keys, &job.commit, &mut state) {
            Ok(plan) => statements.extend(plan),
            Err(_) => return Ok(BatchOutcome::Rejected),
        }
    }
    let mut statements = merge_inserts(statements);
    statements.extend(closing_statements(context, tenant, &before, &state));
    match execute(connection, None, &statements).await {
        Ok(()) => {}
        Err(StatementFailure::Error(error)) if connection.is_closed() => return Err(error),
        Err(StatementFailure::Error(_) | StatementFailure::Rejected(_)) => return Ok(BatchOutcome::Rejected),
    }
    connection.commit().await?;
    Ok(BatchOutcome::Committed)
}

async fn commit_with_savepoints(
    connection: &PgConnection,
    context: &PgContext,
    tenant: &str,
    jobs: &[TenantJob],
) -> Result<Outcomes, StoreError> {
    let LockedTenant { state: before, wrapped_key } = begin(connection, context, tenant).await?;
    let mut state = before.clone();
    let mut outcomes = Vec::new();
    for job in jobs {
        // The tenant that this call was for was erased, and another one has its id now.
        if !job.keys.are_of(&wrapped_key) {
            outcomes.push(Err(StoreError::TenantErased));
            continue;
        }
        let mut next = state.clone();
        let applied = match plan_statements(context, &job.keys, &job.commit, &mut next) {
            Ok(plan) => execute(connection, Some("SAVEPOINT plan"), &plan).await,
            Err(error) => {
                outcomes.push(Err(error));
                continue;
            }
        };
        outcomes.push(match applied {
            Ok(()) => {
                connection.batch_execute("RELEASE plan").await?;
                state = next;
                Ok(Committed::Done)
            }
            Err(failure) => {
                connection.batch_execute("ROLLBACK TO plan; RELEASE plan").await?;
                match failure {
                    StatementFailure::Error(error) => Err(error),
                    StatementFailure::Rejected(PlanRejection::Outcome(committed)) => Ok(committed),
                    StatementFailure::Rejected(PlanRejection::Claimed) => stored_response(connection, job).await,
                }
            }
        });
    }
    match execute(connection, None, &closing_statements(context, tenant, &before, &state)).await {
        Ok(()) => {}
        Err(StatementFailure::Error(error)) => return Err(error),
        Err(StatementFailure::Rejected(_)) => {
            return Err(StoreError::NotCommitted("the counters were not stored".to_owned()));
        }
    }
    connection.commit().await?;
    Ok(outcomes)
}

/// A tenant that no other node writes for until the transaction ends.
struct LockedTenant {
    state: TenantState,
    wrapped_key: Vec<u8>,
}

async fn begin(connection: &PgConnection, context: &PgContext, tenant: &str) -> Result<LockedTenant, StoreError> {
    let chain = tenant_chain(tenant);
    let queries: [(&str, PgParams<'_>); 4] =
        [(LOCK_TENANT, &[&tenant]), (GET_EVENT_COUNTER, &[&tenant]), (GET_HEAD, &[&chain]), (GET_USAGE, &[&tenant])];
    let results = connection.begin_as_tenant(tenant, &queries).await?;
    let [locked, counter, head, usage] = results.as_slice() else {
        return Err(StoreError::NotCommitted("a result is missing".to_owned()));
    };
    let locked = TENANTS.verify(context.keyring.registry(), read_rows(locked)?).rows.pop();
    let locked = locked.ok_or(StoreError::UnknownTenant)?;
    if locked.optional_integer("erasing_at")?.is_some() {
        return Err(StoreError::TenantErased);
    }
    let wrapped_key = locked.bytes("sealed_key")?.to_vec();
    let event = match counter.first() {
        Some(row) => row.try_get(0)?,
        None => 0,
    };
    let head = match head.first() {
        Some(row) => Some(ChainHead::read(&read_row(row)?, &context.audit_key, &chain)?),
        None => {
            roster::begin_chain(connection, &context.audit_key, &chain, 0).await?;
            None
        }
    };
    let head = ChainHead::or_last_link(head, connection, &chain).await?;
    let usage = TenantUsage::read(usage.first().map(read_row).transpose()?.as_ref())?;
    Ok(LockedTenant { state: TenantState { event, head, usage }, wrapped_key })
}

async fn execute(
    connection: &PgConnection,
    first: Option<&str>,
    statements: &[PgStatement],
) -> Result<(), StatementFailure> {
    let changes: Vec<(&str, &[PgValue])> =
        statements.iter().map(|statement| (&*statement.text, statement.values.as_slice())).collect();
    let results =
        connection.execute_all(first, &changes).await.map_err(|error| StatementFailure::Error(error.into()))?;
    check_results(statements, results)
}

/// The response of the earlier call that has claimed the job's idempotency key.
async fn stored_response(connection: &PgConnection, job: &TenantJob) -> Result<Committed, StoreError> {
    let tenant = job.commit.tenant.as_str();
    let claim =
        job.commit.claim.as_ref().ok_or_else(|| StoreError::NotCommitted("the plan has no claim".to_owned()))?;
    let hash = idempotency::key_hash(&job.keys, claim);
    let rows = connection.query(FIND_CLAIM, &[&tenant, &claim.client.as_str(), &claim.tool, &hash]).await?;
    let claimed = read_claim(&job.keys, tenant, claim, &hash, &rows)?;
    claimed.map(Committed::AlreadyClaimed).ok_or_else(|| StoreError::NotCommitted("the claim is gone".to_owned()))
}

/// The response stored under an idempotency key, decrypted.
pub(crate) fn read_claim(
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    key_hash: &str,
    rows: &[tokio_postgres::Row],
) -> Result<Option<StoredAnswer>, StoreError> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let stored = StoredResponse { request_hash: row.try_get(0)?, answer: row.try_get(1)? };
    Ok(Some(idempotency::open(keys, tenant, claim, key_hash, &stored).ok_or(StoreError::WrongKey)?))
}
