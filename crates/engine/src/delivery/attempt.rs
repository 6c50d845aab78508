//! One attempt to send a delivery: a lease by its version, the request, and what its answer means. A node that dies in
//! between leaves a lease that ends; another attempt then sends the same.

use std::time::Duration;

use futures_util::future::join_all;

use super::notice::{AttemptOutcome, DeliveryNotice};
use super::record::{DeliveryRecord, DeliveryStatus};
use super::record_store::DeliveryStore;
use super::rules::{DeliveryOrder, DeliveryRules, DeliveryVerdict, Readiness};
use crate::desk::{Desk, Mount};
use crate::model::caller::TenantId;
use crate::model::fault::Fault;
use crate::model::timestamp::Millis;
use crate::ports::http_client::{HttpError, HttpRequest, HttpResponse};

/// How long a node may take for an attempt, with all its variants, before another one makes the next.
const LEASE: Duration = Duration::from_secs(60);
/// How many requests one attempt makes at most.
const MAX_VARIANTS: usize = 4;
/// How many deliveries to one endpoint are sent at a time.
pub(super) const PARALLEL: usize = 4;

/// Sends everything of a tenant that is due, each delivery once. Returns how many attempts were made.
pub async fn send_due(desk: &Desk, mount: &Mount, tenant: &TenantId) -> Result<usize, Fault> {
    let Some(rules) = mount.contract.dialect.deliveries() else { return Ok(0) };
    let store = DeliveryStore { desk, mount, tenant };
    let mut attempts = 0;
    for endpoint in rules.endpoints(&store.rows()).await? {
        loop {
            let due = store.due(&endpoint.name, endpoint.order, parallel(endpoint.order)).await?;
            let sent = join_all(due.iter().map(|id| attempt(store, rules, id))).await;
            let made = sent.into_iter().collect::<Result<Vec<_>, Fault>>()?.into_iter().flatten().count();
            if made == 0 {
                break;
            }
            attempts += made;
        }
    }
    Ok(attempts)
}

/// How many deliveries to an endpoint are sent at a time.
pub(super) fn parallel(order: DeliveryOrder) -> usize {
    match order {
        DeliveryOrder::Ordered => 1,
        DeliveryOrder::Parallel => PARALLEL,
    }
}

/// Sends a delivery if it is due and no other node has it. None if nothing was sent.
pub(super) async fn attempt(
    store: DeliveryStore<'_>,
    rules: &dyn DeliveryRules,
    id: &str,
) -> Result<Option<AttemptOutcome>, Fault> {
    let now = store.desk.now();
    let record = store.get(id).await?.filter(|record| record.state.status.is_open() && record.state.due_at <= now.0);
    let (Some(mut record), Readiness::Ready) = (record, rules.readiness()) else { return Ok(None) };
    let content = record.content();
    let Some(first) = rules.request(&content, now, 0, &store.rows()).await? else { return Ok(None) };
    record.state.tries = record.state.tries.saturating_add(1);
    record.state.tried_at = Some(now.0);
    record.state.due_at = now.0.saturating_add(millis(LEASE));
    let Some(mut record) = store.change(record, "leased").await? else { return Ok(None) };
    let (answer, verdict) = post_variants(store, rules, &record, first).await?;
    let outcome = settle(store.desk, rules, &mut record, verdict);
    let result = match &answer {
        Ok(response) => response.status.to_string(),
        Err(error) => error.as_str().to_owned(),
    };
    record.state.last_result = Some(result.clone());
    let (tries, subject) = (record.state.tries, record.state.subject.clone());
    let next_try_at = record.state.status.is_open().then_some(Millis(record.state.due_at));
    // If another node has it by now, because this one was slow, what it stores counts.
    store.change(record, outcome.as_str()).await?;
    store.desk.observer.on_delivery(&DeliveryNotice::Attempt {
        contract: store.contract(),
        tenant: store.tenant,
        id,
        subject: &subject,
        tries,
        outcome,
        result: &result,
        next_try_at,
    });
    Ok(Some(outcome))
}

async fn post_variants(
    store: DeliveryStore<'_>,
    rules: &dyn DeliveryRules,
    record: &DeliveryRecord,
    first: HttpRequest,
) -> Result<(Result<HttpResponse, HttpError>, DeliveryVerdict), Fault> {
    let content = record.content();
    let mut request = first;
    for variant in 1.. {
        let answer = store.desk.http_client.post(request).await;
        let verdict = rules.judge(answer.as_ref().map_err(|error| *error));
        if verdict != DeliveryVerdict::Refused || variant >= MAX_VARIANTS {
            return Ok((answer, verdict));
        }
        match rules.request(&content, store.desk.now(), variant, &store.rows()).await? {
            Some(next) => request = next,
            None => return Ok((answer, verdict)),
        }
    }
    Err(Fault::internal("the variants of a request have no end"))
}

/// Changes the delivery as the verdict says.
fn settle(
    desk: &Desk,
    rules: &dyn DeliveryRules,
    record: &mut DeliveryRecord,
    verdict: DeliveryVerdict,
) -> AttemptOutcome {
    let now = desk.now();
    let delays = rules.delays();
    let failed = usize::try_from(record.state.tries).unwrap_or(usize::MAX).saturating_sub(1);
    let outcome = match verdict {
        DeliveryVerdict::Delivered => AttemptOutcome::Delivered,
        DeliveryVerdict::Refused => AttemptOutcome::Alarm,
        DeliveryVerdict::Retry if failed < delays.len() => AttemptOutcome::Retry,
        DeliveryVerdict::Retry | DeliveryVerdict::Dead => AttemptOutcome::Dead,
    };
    record.state.status = match outcome {
        AttemptOutcome::Delivered => DeliveryStatus::Delivered,
        AttemptOutcome::Retry => DeliveryStatus::Pending,
        AttemptOutcome::Alarm => DeliveryStatus::Alarmed,
        AttemptOutcome::Dead => DeliveryStatus::Dead,
    };
    if record.state.status.is_open() {
        let delay = delays.get(failed).or(delays.last()).copied().unwrap_or(LEASE);
        record.state.due_at = now.0.saturating_add(with_jitter(desk, delay));
    } else {
        record.state.finished_at = Some(now.0);
    }
    outcome
}

/// Between three and five quarters of the delay, so that what failed together is not tried again together.
fn with_jitter(desk: &Desk, delay: Duration) -> i64 {
    let mut random = [0; 2];
    desk.random.fill(&mut random);
    let half = millis(delay) / 2;
    let extra = half.saturating_mul(i64::from(u16::from_be_bytes(random))) / i64::from(u16::MAX);
    millis(delay).saturating_mul(3) / 4 + extra
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
