//! Stage 10: what is remembered of the call. Every exit passes here once, also when the caller hangs
//! up; an answer with personal data does not leave before its record is on disk.

use std::sync::Arc;

use crate::audit::Observation;
use crate::caller::Caller;
use crate::contract::Dialect;
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::incoming::Incoming;
use crate::permit::{one_tenant, rate_limited};
use crate::ports::{Disclosure, Durability};
use crate::reply::Reply;
use crate::stages::shape::At;
use crate::stages::stopwatch::{Stage, Stopwatch};
use crate::tally::Who;
use crate::tool::{Effect, Item, ToolSpec};
use crate::trace::Trace;

pub async fn record(mut sighting: Sighting<'_>, outcome: Result<Reply, Fault>, at: &At<'_>) -> Reply {
    let desk = sighting.desk;
    let dialect = sighting.mount.contract.dialect.as_ref();
    let Some(seen) = &mut sighting.observation else {
        return Reply::empty(202);
    };
    sighting.stopwatch.stop(&mut seen.laps);
    seen.era = at.0.era;
    let outcome = match outcome {
        Ok(reply) => Ok(reply),
        Err(fault) => match counted(desk, seen, fault) {
            Refusal::Recorded(fault) => Err(fault),
            // The tally speaks for this one. Why it happened is worth a line in the log, but not one each time.
            Refusal::Counted(fault) => {
                let reply = refused(dialect, &fault, at);
                if let (Some(mut seen), Some(cause)) = (sighting.observation.take(), fault.cause)
                    && desk.tally.may_explain(whose(&seen))
                {
                    seen.outcome = fault.kind.word();
                    answered(&mut seen, &reply, sighting.stopwatch.micros());
                    desk.observer.seen(&seen, Some(&cause));
                }
                return reply;
            }
        },
    };
    let (mut reply, mut cause, certain) = match outcome {
        Ok(reply) => (reply, None, true),
        Err(fault) => {
            seen.outcome = fault.kind.word();
            seen.personal = false;
            (refused(dialect, &fault, at), fault.cause, is_certain(fault.kind))
        }
    };
    if !seen.recorded {
        let durability = match seen.personal {
            true => Durability::Awaited,
            false => Durability::Grouped,
        };
        // The store has it from here on, also if the caller hangs up while it is written.
        sighting.handed_over = true;
        let micros = sighting.stopwatch.start(Stage::Record);
        answered(seen, &reply, micros);
        let line = seen.line();
        let kept = desk.store.observe(seen.completed(&line), durability).await;
        sighting.stopwatch.stop(&mut seen.laps);
        seen.kept = kept.is_ok().then_some(line);
        if let Err(fault) = kept {
            cause = Some(format!("the call could not be recorded: {}", fault.cause.unwrap_or_default()));
            if certain {
                let fault = Fault::unavailable("");
                seen.outcome = fault.kind.word();
                seen.personal = false;
                reply = refused(dialect, &fault, at);
            }
        }
    }
    if let Some(mut seen) = sighting.observation.take() {
        // The clock has just been looked at where the recording was timed.
        let ended = seen.laps.record.map_or_else(|| sighting.stopwatch.micros(), |lap| lap.until);
        answered(&mut seen, &reply, ended);
        desk.observer.seen(&seen, cause.as_deref());
    }
    reply
}

fn refused(dialect: &dyn Dialect, fault: &Fault, at: &At<'_>) -> Reply {
    Reply { fault: Some(fault.kind), ..dialect.failure(fault, &at.0) }
}

fn answered(seen: &mut Observation, reply: &Reply, micros: u64) {
    seen.status = Some(reply.status);
    seen.code = reply.code;
    seen.micros = micros;
}

fn whose(seen: &Observation) -> Who {
    match &seen.caller {
        Some(caller) => Who::Client(caller.client.clone()),
        None => Who::at(seen.address),
    }
}

enum Refusal {
    Recorded(Fault),
    Counted(Fault),
}

/// Refusals have a budget of their own, as large as that of calls. What a stranger is refused, and what
/// a client is refused beyond its budget, is only counted: no flood of refusals can fill the disk.
fn counted(desk: &Desk, seen: &Observation, fault: Fault) -> Refusal {
    let Some(caller) = &seen.caller else {
        desk.tally.count(whose(seen), fault.kind.word());
        return Refusal::Counted(fault);
    };
    let ours = [
        FaultKind::Unavailable,
        FaultKind::OutcomeUnknown,
        FaultKind::KeyInFlight,
        FaultKind::Internal,
        FaultKind::Cancelled,
    ];
    if ours.contains(&fault.kind) {
        return Refusal::Recorded(fault);
    }
    let key = [seen.contract, caller.client.as_str(), "refusals"];
    match desk.rates.take(&key, desk.settings.calls, desk.now()) {
        Ok(()) => Refusal::Recorded(fault),
        Err(seconds) => {
            desk.tally.count(Who::Client(caller.client.clone()), fault.kind.word());
            Refusal::Counted(match fault.kind == FaultKind::RateLimited {
                true => fault,
                false => rate_limited(seconds),
            })
        }
    }
}

/// Whether it is known that a call that ended like this changed nothing. If not, the caller must be
/// told just that, and not that nothing was changed.
fn is_certain(kind: FaultKind) -> bool {
    ![FaultKind::Unavailable, FaultKind::OutcomeUnknown, FaultKind::KeyInFlight].contains(&kind)
}

/// The methods that are written down by name; any other one is the caller's text.
pub(crate) const METHODS: [&str; 22] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tools/call",
    "tools/list",
];

pub(crate) fn known_method(method: &str) -> &'static str {
    METHODS.into_iter().find(|known| *known == method).unwrap_or("unknown")
}

/// A call while it is going on. Dropped before its end, it is recorded as cancelled.
pub struct Sighting<'a> {
    desk: &'a Desk,
    mount: &'a Mount,
    /// Boxed, because a sighting is handed on from future to future.
    observation: Option<Box<Observation>>,
    stopwatch: Stopwatch,
    effect: Option<Effect>,
    /// Whether the call can be repeated under its key.
    keyed: bool,
    /// Whether the store has been given the record.
    handed_over: bool,
}

impl<'a> Sighting<'a> {
    pub fn open(desk: &'a Desk, mount: &'a Mount, incoming: &Incoming) -> Sighting<'a> {
        Sighting {
            desk,
            mount,
            observation: Some(Box::new(Observation::begun(
                desk.now(),
                incoming.trace.clone(),
                mount.contract.id,
                incoming.address,
            ))),
            stopwatch: Stopwatch::new(),
            effect: None,
            keyed: false,
            handed_over: false,
        }
    }

    /// Forgets this sighting: its parts are recorded one by one.
    pub fn dismiss(mut self) {
        self.observation = None;
    }

    /// In another trace than that of the whole request.
    pub fn traced(&mut self, trace: &Trace) {
        self.note(|seen| seen.trace = trace.clone());
    }

    /// From here on time is spent on this stage, until `leave` or the end of the call.
    pub fn enter(&mut self, stage: Stage) {
        self.stopwatch.start(stage);
    }

    pub fn leave(&mut self) {
        if let Some(seen) = &mut self.observation {
            self.stopwatch.stop(&mut seen.laps);
        }
    }

    pub fn caller(&mut self, caller: &Arc<Caller>) {
        self.note(|seen| seen.caller = Some(Arc::clone(caller)));
    }

    pub fn method(&mut self, method: &str) {
        self.note(|seen| seen.method = Some(known_method(method)));
    }

    pub fn tool(&mut self, spec: &ToolSpec) {
        self.effect = Some(spec.effect);
        self.note(|seen| seen.tool = Some(spec.name));
    }

    /// What the call can do to the world, once its tool is known.
    pub fn effect(&self) -> Option<Effect> {
        self.effect
    }

    /// The call came with an idempotency key.
    pub fn keyed(&mut self) {
        self.keyed = true;
    }

    pub fn is_keyed(&self) -> bool {
        self.keyed
    }

    /// The tenant the call is about, once it is certain that it is one of the caller's.
    pub fn tenant(&mut self, caller: &Caller, asked: Option<&str>) {
        if let Ok(tenant) = one_tenant(caller, asked) {
            self.note(|seen| seen.tenant = Some(tenant));
        }
    }

    pub fn touched(&mut self, id: &str) {
        self.note(|seen| {
            if !seen.ids.iter().any(|known| known == id) {
                seen.ids.push(id.to_owned());
            }
        });
    }

    pub fn counted(&mut self, rows: usize) {
        self.note(|seen| seen.count = Some(rows));
    }

    pub fn disclosed(&mut self) {
        self.note(|seen| seen.personal = true);
    }

    pub fn recorded(&mut self) {
        self.note(|seen| seen.recorded = true);
    }

    /// The record of a write that is about to happen. It is committed with the write, so there is one
    /// exactly if there is the other.
    pub(crate) fn written(&self, item: &Item, disclosure: Disclosure) -> String {
        match &self.observation {
            Some(seen) => Observation {
                ids: vec![item.id.clone()],
                personal: disclosure == Disclosure::Full && item.personal.is_some(),
                ..Observation::clone(seen)
            }
            .line(),
            None => String::new(),
        }
    }

    fn note(&mut self, change: impl FnOnce(&mut Observation)) {
        if let Some(seen) = &mut self.observation {
            change(seen);
        }
    }
}

impl Drop for Sighting<'_> {
    fn drop(&mut self) {
        if let Some(mut seen) = self.observation.take() {
            seen.outcome = match std::thread::panicking() {
                true => FaultKind::Internal.word(),
                false => FaultKind::Cancelled.word(),
            };
            self.stopwatch.stop(&mut seen.laps);
            seen.micros = self.stopwatch.micros();
            if seen.caller.is_none() {
                self.desk.tally.count(Who::at(seen.address), seen.outcome);
            } else if !seen.recorded && !self.handed_over {
                self.desk.store.observe_detached(seen.line());
            }
            self.desk.observer.seen(&seen, None);
        }
    }
}
