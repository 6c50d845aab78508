//! Writing for tenants: one transaction per tenant takes all plans that wait for it. First all of them in
//! one flight; if one does not hold, again one by one, each behind a savepoint of its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::ports::{Claim, Commit, Committed, StoredAnswer};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use super::Shared;
use super::apply::{Ends, Failed, Numbers, Piece, closing, joined, judge, pieces};
use super::chains::{HEAD, head};
use super::lanes::Lane;
use super::live::Live;
use super::texts::LOCK;
use super::values::Bound;
use super::writers::{Answer, ended};
use crate::StoreError;
use crate::audit::tenant_chain;
use crate::claims;
use crate::load::Counters;
use crate::sql::{FIND_CLAIM, LAST_EVENT};
use crate::vault::TenantKeys;

/// At most this many plans are taken together.
const GROUP: usize = 256;
/// A transaction that takes longer is given up, and its connection with it.
const LONGEST: Duration = Duration::from_secs(15);

pub(crate) struct Job {
    pub(crate) commit: Box<Commit>,
    pub(crate) keys: Arc<TenantKeys>,
    pub(crate) answer: Answer<Committed>,
}

/// Works until nobody can hand over anything any more.
pub(crate) async fn write(lane: Lane, mut queue: Receiver<Job>, shared: Arc<Shared>, counters: Arc<Counters>) {
    while let Some(first) = queue.recv().await {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(job) = queue.try_recv()
        {
            group.push(job);
        }
        group.iter().for_each(|_| counters.left());
        let mut tenants: BTreeMap<String, Vec<Job>> = BTreeMap::new();
        for job in group {
            tenants.entry(job.commit.tenant.as_str().to_owned()).or_default().push(job);
        }
        for (tenant, jobs) in tenants {
            counters.group(jobs.len());
            let outcomes = match timeout(LONGEST, transact(&lane, &shared, &tenant, &jobs)).await {
                Ok(outcomes) => outcomes,
                Err(_) => {
                    lane.drop_live();
                    Err(StoreError::Unfinished)
                }
            };
            if outcomes.is_err() {
                counters.failed();
            }
            answer_all(jobs, outcomes);
        }
    }
}

type Outcomes = Vec<Result<Committed, StoreError>>;

fn answer_all(jobs: Vec<Job>, outcomes: Result<Outcomes, StoreError>) {
    // A caller who has gone does not mind not being told.
    match outcomes {
        Ok(outcomes) => {
            for (job, outcome) in jobs.into_iter().zip(outcomes) {
                let _ = job.answer.send(outcome);
            }
        }
        Err(error) => {
            for job in jobs {
                let _ = job.answer.send(Err(error.for_the_group()));
            }
        }
    }
}

async fn transact(lane: &Lane, shared: &Shared, tenant: &str, jobs: &[Job]) -> Result<Outcomes, StoreError> {
    let live = lane.live().await?;
    // A plan that is alone goes this way too: most hold, and this is two round trips less.
    let outcomes = match together(&live, shared, tenant, jobs).await {
        Ok(Together::Done) => return Ok(jobs.iter().map(|_| Ok(Committed::Done)).collect()),
        Ok(Together::NotAll) => {
            live.batch("ROLLBACK").await?;
            singly(&live, shared, tenant, jobs).await
        }
        Err(error) => Err(error),
    };
    if outcomes.is_err() && live.batch("ROLLBACK").await.is_err() {
        lane.drop_live();
    }
    outcomes
}

enum Together {
    Done,
    /// Something did not hold; nothing is committed and the transaction is still open.
    NotAll,
}

async fn together(live: &Live, shared: &Shared, tenant: &str, jobs: &[Job]) -> Result<Together, StoreError> {
    let begun = begin(live, shared, tenant).await?;
    let mut numbers = begun.clone();
    let mut all = Vec::new();
    for job in jobs {
        match pieces(shared, &job.keys, &job.commit, &mut numbers) {
            Ok(made) => all.extend(made),
            Err(_) => return Ok(Together::NotAll),
        }
    }
    let mut all = joined(all);
    all.extend(closing(shared, tenant, &begun, &numbers));
    match send(live, None, &all).await {
        Ok(()) => {}
        Err(Failed::Broken(error)) if live.is_closed() => return Err(error),
        Err(Failed::Broken(_) | Failed::Ends(_)) => return Ok(Together::NotAll),
    }
    ended(live).await?;
    Ok(Together::Done)
}

async fn singly(live: &Live, shared: &Shared, tenant: &str, jobs: &[Job]) -> Result<Outcomes, StoreError> {
    let begun = begin(live, shared, tenant).await?;
    let mut numbers = begun.clone();
    let mut outcomes = Vec::new();
    for job in jobs {
        let mut moved = numbers.clone();
        let applied = match pieces(shared, &job.keys, &job.commit, &mut moved) {
            Ok(made) => send(live, Some("SAVEPOINT piece"), &made).await,
            Err(error) => {
                outcomes.push(Err(error));
                continue;
            }
        };
        outcomes.push(match applied {
            Ok(()) => {
                live.batch("RELEASE piece").await?;
                numbers = moved;
                Ok(Committed::Done)
            }
            Err(failed) => {
                live.batch("ROLLBACK TO piece; RELEASE piece").await?;
                match failed {
                    Failed::Broken(error) => Err(error),
                    Failed::Ends(Ends::As(committed)) => Ok(committed),
                    Failed::Ends(Ends::Claimed) => claimed(live, job).await,
                }
            }
        });
    }
    let last = closing(shared, tenant, &begun, &numbers);
    match send(live, None, &last).await {
        Ok(()) => {}
        Err(Failed::Broken(error)) => return Err(error),
        Err(Failed::Ends(_)) => return Err(StoreError::NotCommitted("the numbers were not kept".to_owned())),
    }
    ended(live).await?;
    Ok(outcomes)
}

async fn begin(live: &Live, shared: &Shared, tenant: &str) -> Result<Numbers, StoreError> {
    let chain = tenant_chain(tenant);
    let questions: [(&str, super::live::Values<'_>); 3] =
        [(LOCK, &[&tenant]), (LAST_EVENT, &[&tenant]), (HEAD, &[&chain])];
    let answers = live.begin_as(tenant, &questions).await?;
    let [locked, counter, ends] = answers.as_slice() else {
        return Err(StoreError::Closed);
    };
    if locked.is_empty() {
        return Err(StoreError::UnknownTenant);
    }
    let event = match counter.first() {
        Some(row) => row.try_get(0)?,
        None => 0,
    };
    Ok(Numbers { event, head: head(live, &shared.audit_key, &chain, ends).await? })
}

async fn send(live: &Live, first: Option<&str>, pieces: &[Piece]) -> Result<(), Failed> {
    let changes: Vec<(&str, &[Bound])> = pieces.iter().map(|piece| (&*piece.text, piece.values.as_slice())).collect();
    let answers = live.change_all(first, &changes).await.map_err(|error| Failed::Broken(error.into()))?;
    judge(pieces, answers)
}

async fn claimed(live: &Live, job: &Job) -> Result<Committed, StoreError> {
    let tenant = job.commit.tenant.as_str();
    let claim = job.commit.claim.as_ref().ok_or(StoreError::Closed)?;
    let hash = claims::hash_of(&job.keys, claim);
    let rows = live.query(FIND_CLAIM, &[&tenant, &claim.client.as_str(), &claim.tool, &hash]).await?;
    let found = read_claim(&job.keys, tenant, claim, &hash, &rows)?;
    found.map(Committed::AlreadyClaimed).ok_or_else(|| StoreError::NotCommitted("the claim is gone".to_owned()))
}

/// What was answered under a key, opened.
pub(crate) fn read_claim(
    keys: &TenantKeys,
    tenant: &str,
    claim: &Claim,
    hash: &str,
    rows: &[tokio_postgres::Row],
) -> Result<Option<StoredAnswer>, StoreError> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let kept = claims::Kept { meaning: row.try_get(0)?, answer: row.try_get(1)? };
    Ok(Some(claims::open(keys, tenant, claim, hash, &kept).ok_or(StoreError::WrongKey)?))
}
