//! Stage 10: what is remembered of the call. Every exit passes here once, also when the caller hangs
//! up; an answer with personal data does not leave before its record is on disk.

use std::time::Instant;

use crate::audit::Observation;
use crate::caller::Caller;
use crate::fault::{Fault, FaultKind};
use crate::incoming::Incoming;
use crate::permit::one_tenant;
use crate::ports::Durability;
use crate::reply::Reply;
use crate::serve::{Desk, Mount};
use crate::stages::shape::At;
use crate::tool::ToolSpec;

pub async fn record(mut sighting: Sighting<'_>, outcome: Result<Reply, Fault>, at: &At<'_>) -> Reply {
    let Some(mut seen) = sighting.observation.take() else {
        return Reply::empty(202);
    };
    let desk = sighting.desk;
    let dialect = sighting.mount.contract.dialect.as_ref();
    let (mut reply, mut cause) = match outcome {
        Ok(reply) => (reply, None),
        Err(fault) => {
            seen.outcome = fault.kind.word();
            seen.personal = false;
            (dialect.failure(&fault, &at.0), fault.cause)
        }
    };
    seen.micros = u64::try_from(sighting.began.elapsed().as_micros()).unwrap_or(u64::MAX);
    if seen.caller.is_none() {
        desk.strangers.count(seen.address);
    } else if !seen.recorded {
        let durability = match seen.personal {
            true => Durability::Awaited,
            false => Durability::Grouped,
        };
        if let Err(fault) = desk.store.observe(seen.line(), durability).await {
            let fault = Fault::unavailable("the call could not be recorded").because(fault.cause.unwrap_or_default());
            seen.outcome = fault.kind.word();
            reply = dialect.failure(&fault, &at.0);
            cause = fault.cause;
        }
    }
    desk.observer.seen(&seen, cause.as_deref());
    reply
}

/// A call while it is going on. Dropped before its end, it is recorded as cancelled.
pub struct Sighting<'a> {
    desk: &'a Desk,
    mount: &'a Mount,
    observation: Option<Observation>,
    began: Instant,
}

impl<'a> Sighting<'a> {
    pub fn open(desk: &'a Desk, mount: &'a Mount, incoming: &Incoming) -> Sighting<'a> {
        Sighting {
            desk,
            mount,
            observation: Some(Observation {
                at: desk.now(),
                trace: incoming.trace.clone(),
                contract: mount.contract.id,
                address: incoming.address,
                caller: None,
                method: None,
                tool: None,
                tenant: None,
                ids: Vec::new(),
                count: None,
                outcome: "ok",
                personal: false,
                recorded: false,
                micros: 0,
            }),
            began: Instant::now(),
        }
    }

    /// Forgets this sighting: its parts are recorded one by one.
    pub fn dismiss(mut self) {
        self.observation = None;
    }

    pub fn caller(&mut self, caller: &Caller) {
        self.note(|seen| seen.caller = Some(caller.clone()));
    }

    /// Only methods we know are written down: an unknown one is the caller's text.
    pub fn method(&mut self, method: &str) {
        let known = method.len() <= 48 && method.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'/' || byte == b'_');
        let method = if known { method } else { "unknown" };
        self.note(|seen| seen.method = Some(method.to_owned()));
    }

    pub fn tool(&mut self, spec: &ToolSpec) {
        self.note(|seen| seen.tool = Some(spec.name));
    }

    /// The tenant the call is about, once it is certain that it is one of the caller's.
    pub fn tenant(&mut self, caller: &Caller, asked: Option<&str>) {
        if let Ok(tenant) = one_tenant(caller, asked) {
            self.note(|seen| seen.tenant = Some(tenant.as_str().to_owned()));
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

    pub(crate) fn line(&self, outcome: &'static str) -> String {
        match &self.observation {
            Some(seen) => Observation {
                outcome,
                ..seen.clone()
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
            seen.outcome = FaultKind::Cancelled.word();
            seen.micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
            if seen.caller.is_some() && !seen.recorded {
                self.desk.store.observe_detached(seen.line());
            }
            self.desk.observer.seen(&seen, None);
        }
    }
}
