//! What is known of a call while it runs. Every stage adds to it; `record` makes the final record of it.

use std::sync::Arc;

use frontdesk_wire::method::Method;

use super::stopwatch::{Stage, Stopwatch};
use crate::desk::{Desk, Mount};
use crate::limits::tally::TallyKey;
use crate::model::caller::Caller;
use crate::model::fault::FaultKind;
use crate::model::incoming::Incoming;
use crate::model::observation::Observation;
use crate::model::tool::{Effect, Item, ToolSpec};
use crate::model::trace::Trace;
use crate::pipeline::permit::one_tenant;
use crate::ports::Disclosure;

/// A call while it is going on. Dropped before its end, it is recorded as cancelled, or as internal in a panic.
pub struct CallRecord<'a> {
    pub(super) desk: &'a Desk,
    pub(super) mount: &'a Mount,
    /// Boxed, because the record moves from future to future.
    pub(super) observation: Option<Box<Observation>>,
    pub(super) stopwatch: Stopwatch,
    effect: Option<Effect>,
    /// Whether the call can be repeated under its key.
    keyed: bool,
    /// Whether the store has been given the record.
    pub(super) handed_to_store: bool,
}

impl<'a> CallRecord<'a> {
    pub fn start(desk: &'a Desk, mount: &'a Mount, incoming: &Incoming) -> CallRecord<'a> {
        CallRecord {
            desk,
            mount,
            observation: Some(Box::new(Observation::new(
                desk.now(),
                incoming.trace.clone(),
                mount.contract.id,
                incoming.address,
            ))),
            stopwatch: Stopwatch::new(),
            effect: None,
            keyed: false,
            handed_to_store: false,
        }
    }

    /// Ends this record without an entry: the messages of a batch are recorded one by one.
    pub fn discard(mut self) {
        self.observation = None;
    }

    /// In another trace than that of the whole request.
    pub fn set_trace(&mut self, trace: &Trace) {
        self.update(|observation| observation.trace = trace.clone());
    }

    /// From here on time is spent on this stage, until `end_stage` or the end of the call.
    pub fn start_stage(&mut self, stage: Stage) {
        self.stopwatch.start(stage);
    }

    pub fn end_stage(&mut self) {
        if let Some(observation) = &mut self.observation {
            self.stopwatch.stop(&mut observation.stages);
        }
    }

    pub fn set_caller(&mut self, caller: &Arc<Caller>) {
        self.update(|observation| observation.caller = Some(Arc::clone(caller)));
    }

    pub fn set_method(&mut self, method: Method) {
        self.update(|observation| observation.method = Some(method.as_str()));
    }

    pub fn set_tool(&mut self, spec: &ToolSpec) {
        self.effect = Some(spec.effect);
        self.update(|observation| observation.tool = Some(spec.name));
    }

    /// What the call can do to the world, once its tool is known.
    pub fn effect(&self) -> Option<Effect> {
        self.effect
    }

    /// The call came with an idempotency key.
    pub fn mark_keyed(&mut self) {
        self.keyed = true;
    }

    pub fn is_keyed(&self) -> bool {
        self.keyed
    }

    /// The tenant the call is about, once it is certain that it is one of the caller's.
    pub fn set_tenant(&mut self, caller: &Caller, asked: Option<&str>) {
        if let Ok(tenant) = one_tenant(caller, asked) {
            self.update(|observation| observation.tenant = Some(tenant));
        }
    }

    pub fn add_id(&mut self, id: &str) {
        self.update(|observation| {
            if !observation.ids.iter().any(|known| known == id) {
                observation.ids.push(id.to_owned());
            }
        });
    }

    pub fn set_rows(&mut self, rows: usize) {
        self.update(|observation| observation.count = Some(rows));
    }

    pub fn mark_personal(&mut self) {
        self.update(|observation| observation.personal = true);
    }

    pub fn mark_recorded(&mut self) {
        self.update(|observation| observation.recorded = true);
    }

    /// The record of a write that is about to happen. It is committed with the write, so there is one
    /// exactly if there is the other.
    pub(crate) fn audit_line(&self, item: &Item, disclosure: Disclosure) -> String {
        match &self.observation {
            Some(observation) => Observation {
                ids: vec![item.id.clone()],
                personal: disclosure == Disclosure::Full && item.personal.is_some(),
                ..Observation::clone(observation)
            }
            .to_line(),
            None => String::new(),
        }
    }

    fn update(&mut self, change: impl FnOnce(&mut Observation)) {
        if let Some(observation) = &mut self.observation {
            change(observation);
        }
    }
}

impl Drop for CallRecord<'_> {
    fn drop(&mut self) {
        if let Some(mut observation) = self.observation.take() {
            observation.outcome =
                if std::thread::panicking() { FaultKind::Internal.as_str() } else { FaultKind::Cancelled.as_str() };
            self.stopwatch.stop(&mut observation.stages);
            observation.micros = self.stopwatch.micros();
            if observation.caller.is_none() {
                self.desk.tally.count(TallyKey::of_address(observation.address), observation.outcome);
            } else if !observation.recorded && !self.handed_to_store {
                self.desk.store.append_audit_detached(observation.to_line());
            }
            self.desk.observer.on_call(&observation, None);
        }
    }
}
