//! Stage 8: doing it. A read tool answers. A writing tool only plans; its plan is committed here,
//! together with its idempotency claim, its events and its audit record, so that "exactly once" and
//! "audited" are properties of this one place.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::time::sleep;

use crate::desk::Desk;
use crate::model::fault::{Fault, FaultKind};
use crate::model::plan::Plan;
use crate::model::tool::{CompoundTool, Future, Item, Outcome, Run, Tool, ToolCall, WriteTool};
use crate::pipeline::permit::Permitted;
use crate::pipeline::record::CallRecord;
use crate::ports::{Claim, Commit, Committed, StoredAnswer};
use crate::relay::relay;
use crate::serve::own_call::{CallOrigin, OwnTool, call_tool};

/// A plan that conflicts with another write, and not with the caller's own expected version, is made again so often at
/// most. Within a process it waits for its turn, so only other nodes can be faster: of two that want the same row each
/// loses every second time.
pub(crate) const MAX_ATTEMPTS: usize = 16;
/// Two nodes that meet pause for different times, so that one of them comes through.
const MAX_PAUSE_MILLIS: u64 = 16;

pub(crate) async fn perform(
    call_record: &mut CallRecord<'_>,
    tool: &Tool,
    permitted: &Permitted<'_>,
) -> Result<Outcome, Fault> {
    match &tool.run {
        Run::Read(tool) => {
            call_record.desk.import_queue.note_read(permitted.now());
            run_cancellable(call_record, permitted, tool.read(permitted)).await
        }
        Run::Watch(tool) => {
            call_record.desk.import_queue.note_read(permitted.now());
            let watched = run_cancellable(call_record, permitted, tool.observe(permitted)).await;
            watched.map(|watched| watched.outcome)
        }
        // Boxed, so that the future of a read has no room for a write.
        Run::Write(tool) => Box::pin(write(call_record, tool.as_ref(), permitted)).await.map(Outcome::One),
        Run::Relay(tool) => Box::pin(relay(call_record, tool.as_ref(), permitted)).await.map(Outcome::One),
        Run::Compound(tool) => Box::pin(make_calls(call_record, tool.as_ref(), permitted)).await,
    }
}

/// One after the other: each is recorded by itself, and the order is that of the sender.
async fn make_calls(
    call_record: &CallRecord<'_>,
    tool: &dyn CompoundTool,
    permitted: &Permitted<'_>,
) -> Result<Outcome, Fault> {
    let CallRecord { desk, mount, incoming, .. } = *call_record;
    let origin = CallOrigin {
        caller: Arc::clone(permitted.caller()),
        address: incoming.address,
        trace: incoming.trace.clone(),
        import_id: None,
    };
    let tenant = (mount.contract.dialect.tenant_argument(), permitted.tenant().as_str());
    let mut results = Vec::new();
    for ToolCall { tool, mut arguments, key } in tool.calls(permitted)? {
        arguments.insert(tenant.0.to_owned(), tenant.1.into());
        results.push(call_tool(desk, mount, &origin, OwnTool::Published(tool), arguments, key).await);
    }
    tool.answer(permitted, results)
}

/// Only a call with a request id can be cancelled by its caller.
pub(crate) async fn run_cancellable<T>(
    call_record: &CallRecord<'_>,
    permitted: &Permitted<'_>,
    mut read: Future<'_, Result<T, Fault>>,
) -> Result<T, Fault> {
    // A read that is ready at once is not registered: a cancellation would come too late.
    let first_poll = poll_fn(|context| Poll::Ready(read.as_mut().poll(context))).await;
    if let Poll::Ready(outcome) = first_poll {
        return outcome;
    }
    let Some(id) = call_record.id() else {
        return read.await;
    };
    let entry = call_record.desk.inflight.enter(&permitted.caller().client, id);
    tokio::select! {
        outcome = read => outcome,
        () = entry.cancelled() => Err(cancelled()),
    }
}

pub(crate) fn cancelled() -> Fault {
    Fault::new(FaultKind::Cancelled, "The request was cancelled by its caller.")
}

async fn write(
    call_record: &mut CallRecord<'_>,
    tool: &dyn WriteTool,
    permitted: &Permitted<'_>,
) -> Result<Item, Fault> {
    let desk = call_record.desk;
    if call_record.incoming.import_id.is_none() {
        desk.import_queue.note_write(desk.now());
    }
    let claim = permitted.claim();
    let mut guard = desk.tenant_locks.acquire_if_contended(permitted.tenant()).await;
    for _ in 0..MAX_ATTEMPTS {
        if let Some(claim) = &claim
            && let Some(earlier) = desk.store.find_claim_early(permitted.tenant(), claim).await?
        {
            return replay(tool, permitted, Some(claim), earlier).await;
        }
        let plan = match tool.plan(permitted).await {
            Ok(plan) => plan,
            // The first call under this key may have committed, and be the very reason why this one
            // cannot: the last unit is gone because that call took it.
            Err(fault) => {
                return match find_claim(desk, permitted, claim.as_ref()).await? {
                    Some(earlier) => replay(tool, permitted, claim.as_ref(), earlier).await,
                    None => Err(fault),
                };
            }
        };
        let Plan { steps, events, outcome } = plan;
        let has_events = !events.is_empty();
        let commit = Commit {
            client: Some(permitted.caller().client.clone()),
            tenant: permitted.tenant().clone(),
            at: desk.now(),
            steps,
            events: permitted.with_event_ids(events),
            claim: claim.clone(),
            answer: outcome.clone(),
            audit: call_record.audit_line(&outcome, permitted),
        };
        match desk.store.commit(commit).await? {
            Committed::Done => {
                call_record.mark_recorded();
                if has_events {
                    desk.changes.note(permitted.tenant());
                }
                tool.committed(permitted, &outcome);
                return Ok(outcome);
            }
            Committed::AlreadyClaimed(earlier) => return replay(tool, permitted, claim.as_ref(), earlier).await,
            Committed::Refused(fault) => return Err(fault),
            Committed::VersionConflict => {
                if guard.is_none() {
                    guard = desk.tenant_locks.acquire(permitted.tenant()).await;
                } else {
                    sleep(random_pause(desk)).await;
                }
            }
            Committed::Unknown => {
                call_record.add_id(&outcome.id);
                return Err(outcome_unknown(claim.as_ref()));
            }
        }
    }
    Err(Fault::unavailable("the plan conflicted with other writes at every attempt"))
}

pub(crate) fn random_pause(desk: &Desk) -> Duration {
    let mut byte = [0];
    desk.random.fill(&mut byte);
    let [number] = byte;
    Duration::from_millis(u64::from(number) % MAX_PAUSE_MILLIS)
}

async fn find_claim(
    desk: &Desk,
    permitted: &Permitted<'_>,
    claim: Option<&Claim>,
) -> Result<Option<StoredAnswer>, Fault> {
    match claim {
        Some(claim) => desk.store.find_claim(permitted.tenant(), claim).await,
        None => Ok(None),
    }
}

async fn replay(
    tool: &dyn WriteTool,
    permitted: &Permitted<'_>,
    claim: Option<&Claim>,
    earlier: StoredAnswer,
) -> Result<Item, Fault> {
    if claim.is_some_and(|claim| claim.request_hash != earlier.request_hash) {
        return Err(key_reused());
    }
    tool.replay(permitted, earlier.answer).await
}

pub(crate) fn key_reused() -> Fault {
    Fault::new(
        FaultKind::KeyReused,
        "This idempotency key was used before with other arguments. Use a new key for a new request.",
    )
}

/// The plan was handed over and may still commit; only a key makes repeating it safe.
fn outcome_unknown(claim: Option<&Claim>) -> Fault {
    match claim {
        Some(_) => Fault::new(
            FaultKind::KeyInFlight,
            "The first request with this idempotency key is still being worked on. Repeat it with the same key.",
        )
        .retry_after(1),
        None => Fault::outcome_unknown(),
    }
}
