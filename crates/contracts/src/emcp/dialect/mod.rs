//! How this contract reads arguments and writes answers: lenient spellings brought into one form, transport errors in
//! plain HTTP, everything else in JSON-RPC. The only place where its answers get their form.

mod dispatched;
mod failure;
mod plain;

use frontdesk_engine::dispatch::DispatchReply;
use frontdesk_engine::model::contract::{Compatibility, Dialect, Payload, ReplyContext, RequestTarget};
use frontdesk_engine::model::tool::ToolSpec;
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::{Fault, Reply};
use frontdesk_wire::answer::{finished_result, success, tool_success};
use frontdesk_wire::version::{Era, Version};
use serde_json::{Map, Value};

pub struct Emcp {
    /// The tenant that the site is kept under, where it was named.
    pub tenant: Option<String>,
}

impl Dialect for Emcp {
    fn normalize(&self, tool: &ToolSpec, arguments: Map<String, Value>) -> Map<String, Value> {
        plain::plain(&tool.input, arguments)
    }

    fn read(&self, _: &ToolSpec, arguments: Map<String, Value>, _: Option<&str>) -> Result<ToolInput, Fault> {
        // Every tool only reads, so a key that a proxy adds everywhere is passed over.
        Ok(ToolInput { arguments, tenant: self.tenant.clone(), window: None, idempotency_key: None })
    }

    fn success(&self, shaped: Payload, at: &ReplyContext<'_>) -> Reply {
        let object = match shaped {
            Payload::One(object) => object,
            Payload::Many { items, .. } => format!("{{\"items\":[{}]}}", items.join(",")),
        };
        private(match (at.id, at.target) {
            (None, _) => Reply::empty(202),
            (Some(id), RequestTarget::Tool(_)) => Reply::rpc(tool_success(id, &object, &spoken(at))),
            (Some(id), RequestTarget::Resource(_) | RequestTarget::Method | RequestTarget::Transport) => {
                Reply::rpc(success(id, &finished_result(&object, &spoken(at), None)))
            }
        })
    }

    fn failure(&self, fault: &Fault, at: &ReplyContext<'_>) -> Reply {
        private(failure::failure(fault, at))
    }

    fn dispatch_reply(&self, reply: &DispatchReply<'_>) -> Reply {
        dispatched::dispatch_reply(reply)
    }

    /// No tool takes it: a site is chosen by its address.
    fn tenant_argument(&self) -> &'static str {
        "site"
    }

    fn key_argument(&self) -> &'static str {
        "idempotency_key"
    }

    fn compatibility(&self) -> Compatibility {
        Compatibility { default_version: Some(Version::V2025_11_25), sends_session_id: true, accepts_trace_id: true }
    }
}

/// Every answer is for one token's eyes.
fn private(reply: Reply) -> Reply {
    reply.header("Cache-Control", "no-store")
}

/// The era the request speaks; one that was never decided counts as the version meant by silence.
fn spoken(at: &ReplyContext<'_>) -> Era {
    at.era.unwrap_or(Era::Legacy(Version::V2025_03_26))
}
