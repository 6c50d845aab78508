//! Stage 8: doing it. A reading tool answers. A writing tool only plans; its plan is committed here,
//! together with its idempotency claim, its events and its audit record, so that "exactly once" and
//! "audited" are properties of this one place.

use std::future::poll_fn;
use std::task::Poll;

use frontdesk_wire::frame::Id;

use crate::desk::Desk;
use crate::fault::{Fault, FaultKind};
use crate::permit::Permitted;
use crate::plan::Plan;
use crate::ports::{Claim, Claimed, Commit, Committed};
use crate::stages::record::Sighting;
use crate::tool::{Future, Item, Outcome, Replay, Run, Tool, WriteTool};

/// A plan that is stale through no fault of the caller is made anew up to three times.
const TRIES: usize = 4;

pub async fn perform(
    desk: &Desk,
    tool: &Tool,
    permitted: &Permitted<'_>,
    sighting: &mut Sighting<'_>,
    id: &Id,
) -> Result<Outcome, Fault> {
    match &tool.run {
        Run::Read(read) => until_withdrawn(desk, permitted, id, read(permitted)).await,
        Run::Consult(tool) => until_withdrawn(desk, permitted, id, tool.consult(permitted)).await,
        Run::Write { plan, replay } => {
            // Boxed, so that reads do not carry the room it needs.
            Box::pin(write(desk, *plan, *replay, permitted, sighting)).await.map(Outcome::One)
        }
    }
}

async fn until_withdrawn(
    desk: &Desk,
    permitted: &Permitted<'_>,
    id: &Id,
    mut reading: Future<'_, Result<Outcome, Fault>>,
) -> Result<Outcome, Fault> {
    // What is answered at once is not registered: a withdrawal would come too late.
    let begun = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await;
    if let Poll::Ready(outcome) = begun {
        return outcome;
    }
    let entry = desk.inflight.enter(&permitted.caller().client, id);
    tokio::select! {
        outcome = reading => outcome,
        () = entry.withdrawn() => Err(Fault::new(FaultKind::Cancelled, "The request was cancelled by its caller.")),
    }
}

async fn write(
    desk: &Desk,
    tool: WriteTool,
    replay: Option<Replay>,
    permitted: &Permitted<'_>,
    sighting: &mut Sighting<'_>,
) -> Result<Item, Fault> {
    let claim = permitted.claim();
    let mut turn = desk.turns.join(permitted.tenant()).await;
    for _ in 0..TRIES {
        if let Some(claim) = &claim
            && let Some(earlier) = desk.store.claimed_early(permitted.tenant(), claim).await?
        {
            return repeat(permitted, Some(claim), earlier, replay).await;
        }
        let plan = match tool(permitted).await {
            Ok(plan) => plan,
            // The first call under this key may have committed, and be the very reason why this one
            // cannot: the last unit is gone because we took it.
            Err(fault) => {
                return match claimed(desk, permitted, claim.as_ref()).await? {
                    Some(earlier) => repeat(permitted, claim.as_ref(), earlier, replay).await,
                    None => Err(fault),
                };
            }
        };
        let Plan { steps, events, outcome } = plan;
        let commit = Commit {
            tenant: permitted.tenant().clone(),
            at: desk.now(),
            steps,
            events: permitted.numbered(events),
            claim: claim.clone(),
            answer: outcome.clone(),
            audit: sighting.written(&outcome, permitted.disclosure()),
        };
        match desk.store.commit(commit).await? {
            Committed::Done => {
                sighting.recorded();
                return Ok(outcome);
            }
            Committed::Claimed(earlier) => return repeat(permitted, claim.as_ref(), earlier, replay).await,
            Committed::Refused(fault) => return Err(fault),
            Committed::Stale => {
                if turn.is_none() {
                    turn = desk.turns.wait(permitted.tenant()).await;
                }
            }
            Committed::Unknown => {
                sighting.touched(&outcome.id);
                return Err(unknown(claim.as_ref()));
            }
        }
    }
    Err(Fault::unavailable("the plan was stale every time it was made"))
}

async fn claimed(desk: &Desk, permitted: &Permitted<'_>, claim: Option<&Claim>) -> Result<Option<Claimed>, Fault> {
    match claim {
        Some(claim) => desk.store.claimed(permitted.tenant(), claim).await,
        None => Ok(None),
    }
}

async fn repeat(
    permitted: &Permitted<'_>,
    claim: Option<&Claim>,
    earlier: Claimed,
    replay: Option<Replay>,
) -> Result<Item, Fault> {
    if claim.is_some_and(|claim| claim.meaning != earlier.meaning) {
        return Err(Fault::new(
            FaultKind::KeyReused,
            "This idempotency key was used before with other arguments. Use a new key for a new request.",
        ));
    }
    match replay {
        Some(replay) => replay(permitted, earlier.answer).await,
        None => Ok(earlier.answer),
    }
}

/// The plan was handed over and may still commit; only a key makes repeating it safe.
fn unknown(claim: Option<&Claim>) -> Fault {
    match claim {
        Some(_) => Fault::new(
            FaultKind::KeyInFlight,
            "The first request with this idempotency key is still being worked on. Repeat it with the same key.",
        )
        .retry_after(1),
        None => Fault::outcome_unknown(),
    }
}
