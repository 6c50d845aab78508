//! What is known of a call while it runs: for its record and for its reply. Every stage adds to it; `record_call` makes
//! the final record of it.

use std::sync::Arc;

use frontdesk_wire::frame::Id;
use frontdesk_wire::method::Method;
use frontdesk_wire::version::{Era, Version};

use super::stopwatch::{Stage, Stopwatch};
use crate::desk::{Desk, Mount};
use crate::limits::tally::TallyKey;
use crate::model::caller::Caller;
use crate::model::contract::{CredentialPresence, ReplyContext, RequestTarget};
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::{Credential, Incoming};
use crate::model::observation::{Observation, Streamed};
use crate::model::route::Route;
use crate::model::tool::{Effect, Item, ToolSpec};
use crate::model::trace::Trace;
use crate::pipeline::frame::FrameRejection;
use crate::pipeline::permit::{Permitted, one_tenant};

/// A call while it is going on. Dropped before its end, it is recorded as cancelled, or as internal in a panic.
pub struct CallRecord<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) mount: &'a Mount,
    pub(crate) incoming: &'a Incoming,
    /// Boxed, because the record is part of the future of every call.
    pub(super) observation: Option<Box<Observation>>,
    pub(super) stopwatch: Stopwatch,
    caller: Option<Arc<Caller>>,
    era: Option<Era>,
    id: Option<Id>,
    uri: Option<Box<str>>,
    tool: Option<&'a ToolSpec>,
    /// The trace that the message names itself, if it names one.
    pub(super) message_trace: Option<Trace>,
    /// Whether the call can be repeated under its key.
    keyed: bool,
    /// Whether the store has been given the record.
    pub(super) handed_to_store: bool,
}

impl<'a> CallRecord<'a> {
    pub(super) fn start(desk: &'a Desk, mount: &'a Mount, incoming: &'a Incoming) -> CallRecord<'a> {
        CallRecord {
            desk,
            mount,
            incoming,
            observation: Some(observation(desk, mount, incoming)),
            stopwatch: Stopwatch::new(),
            caller: None,
            era: None,
            id: None,
            uri: None,
            tool: None,
            message_trace: None,
            keyed: false,
            handed_to_store: false,
        }
    }

    /// Where the call arrived.
    pub fn mount(&self) -> &'a Mount {
        self.mount
    }

    /// Ends this record without an entry: the messages of a batch are recorded one by one.
    pub(crate) fn discard(&mut self) {
        self.observation = None;
    }

    pub(super) fn is_discarded(&self) -> bool {
        self.observation.is_none()
    }

    /// Begins the record again, as one of its own.
    pub(super) fn restart(&mut self) {
        self.observation = Some(observation(self.desk, self.mount, self.incoming));
        self.stopwatch = Stopwatch::new();
        if let Some(caller) = self.caller.clone() {
            if let Some(tenant) = self.mount.site_tenant() {
                self.set_tenant(&caller, Some(tenant.as_str()));
            }
            self.update(|observation| observation.caller = Some(caller));
        }
    }

    /// Continues what `other` has recorded so far, which is discarded there.
    pub(crate) fn take_over(&mut self, other: &mut CallRecord<'_>) {
        self.observation = other.observation.take();
        self.stopwatch = other.stopwatch;
    }

    /// What a reply needs to know, as far as the call has been understood.
    pub(crate) fn reply_context(&self) -> ReplyContext<'_> {
        let target = match (&self.uri, self.tool, &self.id) {
            (Some(uri), _, _) => RequestTarget::Resource(uri),
            (None, Some(spec), Some(_)) => RequestTarget::Tool(spec.name),
            // Every message that calls a tool has an id, so it was no message.
            (None, Some(spec), None) => RequestTarget::Route { tool: spec.name, effect: spec.effect },
            (None, None, Some(_)) => RequestTarget::Method,
            (None, None, None) if self.incoming.route.is_some() => {
                RequestTarget::Route { tool: "", effect: Effect::Reads }
            }
            (None, None, None) => RequestTarget::Transport,
        };
        ReplyContext {
            era: self.era,
            header_version: self.incoming.protocol_version.as_deref().and_then(Version::parse),
            id: self.id.as_ref(),
            target,
            metadata_url: &self.mount.metadata_url,
            ordinary_scopes: &self.mount.contract.ordinary_scopes,
            granted_scopes: self.caller.as_ref().map(|caller| &caller.scopes),
            credential: match self.incoming.credential {
                Credential::Missing => CredentialPresence::Absent,
                Credential::Bearer(_) | Credential::ApiKey(_) | Credential::Certificate(_) | Credential::Unusable => {
                    CredentialPresence::Present
                }
            },
            trace_id: self.message_trace.as_ref().unwrap_or(&self.incoming.trace).display_id(),
        }
    }

    /// In another trace than that of the whole request.
    pub(crate) fn set_trace(&mut self, trace: Trace) {
        self.update(|observation| observation.trace = trace.clone());
        self.message_trace = Some(trace);
    }

    /// The id of that other trace, as it is shown.
    pub(crate) fn own_trace(&self) -> Option<&str> {
        self.message_trace.as_ref().map(Trace::display_id)
    }

    pub(crate) fn set_id(&mut self, id: Id) {
        self.id = Some(id);
    }

    /// None for a call that is no JSON-RPC request.
    pub(crate) fn id(&self) -> Option<&Id> {
        self.id.as_ref()
    }

    pub(crate) fn set_era(&mut self, era: Era) {
        self.era = Some(era);
        self.update(|observation| observation.era = Some(era));
    }

    /// The resource that is read, whether or not it exists.
    pub(crate) fn set_uri(&mut self, uri: &str) {
        self.uri = Some(uri.into());
    }

    /// Keeps the id of a rejected message for the reply, and gives the fault.
    pub(crate) fn reject(&mut self, rejection: FrameRejection) -> Fault {
        self.id = rejection.id;
        rejection.fault
    }

    /// From here on time is spent on this stage, until `end_stage` or the end of the call.
    pub(crate) fn start_stage(&mut self, stage: Stage) {
        self.stopwatch.start(stage);
    }

    pub(crate) fn end_stage(&mut self) {
        if let Some(observation) = &mut self.observation {
            self.stopwatch.stop(&mut observation.stages);
        }
    }

    pub(crate) fn set_caller(&mut self, caller: &Arc<Caller>) {
        self.caller = Some(Arc::clone(caller));
        self.update(|observation| observation.caller = Some(Arc::clone(caller)));
    }

    pub(crate) fn set_method(&mut self, method: Method) {
        self.update(|observation| observation.method = Some(method.as_str()));
    }

    pub(crate) fn set_tool(&mut self, spec: &'a ToolSpec) {
        self.tool = Some(spec);
        self.update(|observation| observation.tool = Some(spec.name));
    }

    /// The tool that a message names, before it is known whether the message is accepted. Names that no tool has are not
    /// recorded: they are the caller's own text.
    pub(crate) fn name_tool(&mut self, name: &str) {
        let known = self.mount.contract.tools.iter().find(|tool| tool.spec.name == name);
        if let Some(tool) = known {
            self.update(|observation| observation.tool = Some(tool.spec.name));
        }
    }

    /// What the call can do to the world, once its tool is known.
    pub(crate) fn effect(&self) -> Option<Effect> {
        self.tool.map(|spec| spec.effect)
    }

    /// The route by which the tool was called, if it was.
    pub(crate) fn route(&self) -> Option<Route> {
        self.incoming.route.as_ref().and(self.tool)?.route
    }

    /// The call came with an idempotency key.
    pub(crate) fn mark_keyed(&mut self) {
        self.keyed = true;
    }

    pub(crate) fn is_keyed(&self) -> bool {
        self.keyed
    }

    /// The tenant the call is about, once it is certain that it is one of the caller's.
    pub(crate) fn set_tenant(&mut self, caller: &Caller, asked: Option<&str>) {
        if let Ok(tenant) = one_tenant(caller, asked) {
            self.update(|observation| observation.tenant = Some(tenant));
        }
    }

    pub(crate) fn add_id(&mut self, id: &str) {
        self.update(|observation| {
            if !observation.ids.iter().any(|known| known == id) {
                observation.ids.push(id.to_owned());
            }
        });
    }

    pub(crate) fn set_rows(&mut self, rows: usize) {
        self.update(|observation| observation.count = Some(rows));
    }

    pub(crate) fn mark_personal(&mut self) {
        self.update(|observation| observation.personal = true);
    }

    /// The answer is a stream of events.
    pub(crate) fn mark_streamed(&mut self, streamed: Streamed) {
        self.update(|observation| observation.streamed = streamed);
    }

    /// Whether a part of the answer has been sent already, so that only a last event can follow.
    pub(super) fn is_stream_open(&self) -> bool {
        self.observation.as_ref().is_some_and(|observation| observation.streamed == Streamed::Held)
    }

    pub(super) fn set_failure(&mut self, kind: FaultKind) {
        self.update(|observation| {
            observation.outcome = kind.as_str();
            observation.personal = false;
        });
    }

    pub(crate) fn mark_recorded(&mut self) {
        self.update(|observation| observation.recorded = true);
    }

    /// The record of a write that is about to happen. It is committed with the write, so there is one
    /// exactly if there is the other.
    pub(crate) fn audit_line(&self, item: &Item, permitted: &Permitted<'_>) -> String {
        match &self.observation {
            Some(observation) => Observation {
                ids: vec![item.id.clone()],
                personal: permitted.reveals_personal_data(item),
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

fn observation(desk: &Desk, mount: &Mount, incoming: &Incoming) -> Box<Observation> {
    let observation = Observation::new(desk.now(), incoming.trace.clone(), mount.contract.id, incoming.address);
    Box::new(Observation { import_id: incoming.import_id.clone(), ..observation })
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
            self.mount.service_level.add(&observation);
            self.desk.observer.on_call(&observation, None);
        }
    }
}
