//! Stage 10: the audit record, log line and metrics of the call. Every exit passes here once, also when the caller
//! disconnects; an answer with personal data is not sent before its record is on disk.

mod call_record;
pub mod latency_window;
pub mod service_level;
pub mod stopwatch;

pub use call_record::CallRecord;
use stopwatch::Stage;

use bytes::Bytes;
use frontdesk_wire::event_stream::event;
use frontdesk_wire::frame::Id;

use crate::desk::{Desk, Mount};
use crate::limits::tally::TallyKey;
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::Incoming;
use crate::model::observation::Observation;
use crate::model::reply::{Reply, ReplyKind};
use crate::pipeline::permit::rate_limited;
use crate::ports::Durability;
use crate::serve::batch::as_rpc;

/// What a call does between the start and the end of its record. A trait, because the future of an async closure is not
/// known to be `Send` for every lifetime of the record.
pub trait RunCall {
    fn run<'a>(self, call_record: &mut CallRecord<'a>) -> impl Future<Output = Result<Reply, Fault>> + Send;
}

/// Starts the record of a call, runs the call and finishes the record with its outcome. Every call goes through here; a
/// call that is dropped before its end is finished by its record.
pub async fn record_call<'a>(desk: &'a Desk, mount: &'a Mount, incoming: &'a Incoming, call: impl RunCall) -> Reply {
    let mut call_record = CallRecord::start(desk, mount, incoming);
    let outcome = call.run(&mut call_record).await;
    let reply = match (outcome, call_record.is_discarded()) {
        (Ok(reply), true) => reply,
        // Its calls were recorded one by one, and this is none of their outcomes.
        (Err(fault), true) => {
            call_record.restart();
            finish(&mut call_record, Err(fault)).await
        }
        (outcome, false) => finish(&mut call_record, outcome).await,
    };
    match &call_record.message_trace {
        Some(trace) => reply.header("X-Trace-Id", trace.display_id().to_owned()),
        None => reply,
    }
}

/// Makes the reply, hands the record to the store and the observation to the observer.
async fn finish(call_record: &mut CallRecord<'_>, outcome: Result<Reply, Fault>) -> Reply {
    let desk = call_record.desk;
    call_record.end_stage();
    let (mut reply, mut cause, nothing_changed) = match outcome {
        Ok(reply) => (reply, None, true),
        Err(fault) => match classify_refusal(call_record, fault) {
            RefusalRecord::Recorded(fault) => {
                call_record.set_failure(fault.kind);
                (failure_reply(call_record, &fault), fault.cause, changed_nothing(fault.kind))
            }
            RefusalRecord::Counted(fault) => return count_refusal(call_record, fault),
        },
    };
    if let Some(observation) = call_record.observation.as_mut().filter(|observation| !observation.recorded) {
        let durability = if observation.personal { Durability::Awaited } else { Durability::Grouped };
        // From here on the store has the record, also if the caller disconnects while it is written.
        call_record.handed_to_store = true;
        let micros = call_record.stopwatch.start(Stage::Record);
        set_reply(observation, &reply, micros);
        let line = observation.to_line();
        let appended = desk.store.append_audit(observation.completed_line(&line), durability).await;
        call_record.stopwatch.stop(&mut observation.stages);
        observation.stored_line = appended.is_ok().then_some(line);
        if let Err(fault) = appended {
            cause = Some(format!("the call could not be recorded: {}", fault.cause.unwrap_or_default()));
            if nothing_changed {
                let fault = if observation.personal { not_on_record() } else { Fault::unavailable("") };
                call_record.set_failure(fault.kind);
                reply = failure_reply(call_record, &fault);
            }
        }
    }
    if let Some(mut observation) = call_record.observation.take() {
        // The clock was just read where the recording was timed.
        let ended = observation.stages.record.map_or_else(|| call_record.stopwatch.micros(), |lap| lap.until);
        set_reply(&mut observation, &reply, ended);
        call_record.mount.service_level.add(&observation);
        desk.observer.on_call(&observation, cause.as_deref());
    }
    reply
}

/// Personal data leaves only when its record is on disk. That holds for the repeated answer of an idempotency key too: what
/// the first call did is done and stays done.
fn not_on_record() -> Fault {
    let message = "This answer has personal data, and the record of its reading cannot be stored right now; what was done before \
                   under an idempotency key stays done. Repeat the request, with the same key.";
    Fault { message: message.into(), ..Fault::unavailable("") }
}

/// For a refusal that is counted in the tally instead of recorded. The cause is logged, but not every time.
fn count_refusal(call_record: &mut CallRecord<'_>, fault: Fault) -> Reply {
    let reply = failure_reply(call_record, &fault);
    let desk = call_record.desk;
    if let (Some(mut observation), Some(cause)) = (call_record.observation.take(), fault.cause)
        && desk.tally.may_log_cause(tally_key(&observation))
    {
        observation.outcome = fault.kind.as_str();
        set_reply(&mut observation, &reply, call_record.stopwatch.micros());
        desk.observer.on_call(&observation, Some(&cause));
    }
    reply
}

fn failure_reply(call_record: &CallRecord<'_>, fault: &Fault) -> Reply {
    let dialect = call_record.mount.contract.dialect.as_ref();
    let reply = Reply { fault: Some(fault.kind), ..dialect.failure(fault, &call_record.reply_context()) };
    if call_record.is_stream_open() { last_event(call_record.id(), reply) } else { reply }
}

/// A failure as the last event of a stream whose status was sent long ago. A request that was cancelled gets no answer.
fn last_event(id: Option<&Id>, reply: Reply) -> Reply {
    let message = match reply.fault {
        Some(FaultKind::Cancelled) => None,
        Some(_) | None => as_rpc(id, &reply),
    };
    let body = message.map(|message| event(&message)).unwrap_or_default();
    Reply { status: 200, headers: Vec::new(), body: Bytes::from(body), kind: ReplyKind::Events, ..reply }
}

fn set_reply(observation: &mut Observation, reply: &Reply, micros: u64) {
    observation.status = Some(reply.status);
    observation.code = reply.code;
    observation.micros = micros;
}

fn tally_key(observation: &Observation) -> TallyKey {
    match &observation.caller {
        Some(caller) => TallyKey::Client(caller.client.clone()),
        None => TallyKey::of_address(observation.address),
    }
}

/// Whether a refusal gets an audit record of its own.
enum RefusalRecord {
    Recorded(Fault),
    Counted(Fault),
}

/// Refusals have a budget of their own, as large as that of calls. Refusals of unauthenticated callers, and of a client
/// beyond its budget, are only counted, so that no flood of refusals can fill the disk.
fn classify_refusal(call_record: &CallRecord<'_>, fault: Fault) -> RefusalRecord {
    let desk = call_record.desk;
    let Some(observation) = &call_record.observation else {
        return RefusalRecord::Recorded(fault);
    };
    let Some(caller) = &observation.caller else {
        desk.tally.count(tally_key(observation), fault.kind.as_str());
        return RefusalRecord::Counted(fault);
    };
    let server_faults = [
        FaultKind::Unavailable,
        FaultKind::OutcomeUnknown,
        FaultKind::KeyInFlight,
        FaultKind::Internal,
        FaultKind::Cancelled,
    ];
    if server_faults.contains(&fault.kind) {
        return RefusalRecord::Recorded(fault);
    }
    let key = [observation.contract, caller.client.as_str(), "refusals"];
    match desk.rates.take(&key, desk.settings.calls, desk.monotonic()) {
        Ok(()) => RefusalRecord::Recorded(fault),
        Err(seconds) => {
            desk.tally.count(TallyKey::Client(caller.client.clone()), fault.kind.as_str());
            RefusalRecord::Counted(if fault.kind == FaultKind::RateLimited { fault } else { rate_limited(seconds) })
        }
    }
}

/// Whether a call with this outcome certainly changed nothing. If not, the caller is told that the outcome is
/// unknown, not that nothing was changed.
fn changed_nothing(kind: FaultKind) -> bool {
    ![FaultKind::Unavailable, FaultKind::OutcomeUnknown, FaultKind::KeyInFlight].contains(&kind)
}
