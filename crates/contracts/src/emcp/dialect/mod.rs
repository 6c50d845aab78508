//! How this contract reads arguments and writes answers: lenient spellings are normalized, transport errors are plain
//! HTTP, everything else is JSON-RPC. No other module formats its answers.

mod dispatched;
mod failure;
mod lenient;

use frontdesk_engine::dispatch::DispatchReply;
use frontdesk_engine::model::contract::{Compatibility, Dialect, Payload, ReplyContext, RequestTarget};
use frontdesk_engine::model::tool::ToolSpec;
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::{Fault, Reply};
use frontdesk_wire::answer::{finished_result, success, tool_success};
use frontdesk_wire::version::{Era, Version};
use serde_json::{Map, Value};

pub struct Emcp {
    /// The tenant that the site belongs to, if configured.
    pub tenant: Option<String>,
}

impl Dialect for Emcp {
    fn normalize(&self, tool: &ToolSpec, arguments: Map<String, Value>) -> Map<String, Value> {
        lenient::normalize(&tool.input, arguments)
    }

    fn read(&self, _: &ToolSpec, arguments: Map<String, Value>, _: Option<&str>) -> Result<ToolInput, Fault> {
        // Every tool only reads, so an idempotency key that a proxy adds to all requests is ignored.
        Ok(ToolInput { arguments, tenant: self.tenant.clone(), window: None, idempotency_key: None })
    }

    fn success(&self, payload: Payload, context: &ReplyContext<'_>) -> Reply {
        let object = match payload {
            Payload::One(object) => object,
            Payload::Many { items, .. } => format!("{{\"items\":[{}]}}", items.join(",")),
        };
        no_store(match (context.id, context.target) {
            (_, RequestTarget::Route { .. }) => Reply::plain(200, object),
            (None, _) => Reply::empty(202),
            (Some(id), RequestTarget::Tool(_)) => Reply::rpc(tool_success(id, &object, &era_or_default(context))),
            (Some(id), RequestTarget::Resource(_) | RequestTarget::Method | RequestTarget::Transport) => {
                Reply::rpc(success(id, &finished_result(&object, &era_or_default(context), None)))
            }
        })
    }

    fn failure(&self, fault: &Fault, context: &ReplyContext<'_>) -> Reply {
        no_store(failure::failure(fault, context))
    }

    fn dispatch_reply(&self, reply: &DispatchReply<'_>) -> Reply {
        dispatched::dispatch_reply(reply)
    }

    /// No tool has this argument: the URL selects the site.
    fn tenant_argument(&self) -> &'static str {
        "site"
    }

    fn key_argument(&self) -> &'static str {
        "idempotency_key"
    }

    fn compatibility(&self) -> Compatibility {
        Compatibility {
            default_version: Some(Version::V2025_11_25),
            sends_session_id: true,
            accepts_trace_id: true,
            ..Compatibility::default()
        }
    }
}

/// Every answer depends on the token, so no cache may store it.
fn no_store(reply: Reply) -> Reply {
    reply.header("Cache-Control", "no-store")
}

/// The era of the request; a request without a version means 2025-03-26.
fn era_or_default(context: &ReplyContext<'_>) -> Era {
    context.era.unwrap_or(Era::Legacy(Version::V2025_03_26))
}
