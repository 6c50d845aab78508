//! How this contract reads arguments and writes answers: lenient spellings brought into one form, transport errors in
//! plain HTTP, everything else in JSON-RPC. The only place where its answers get their form.

mod failure;
mod plain;

use frontdesk_engine::contract::{At, Dialect, Manners, Place, Shaped};
use frontdesk_engine::reading::Reading;
use frontdesk_engine::tool::ToolSpec;
use frontdesk_engine::{Fault, Reply};
use frontdesk_wire::answer::{sealed_result, success, tool_success};
use frontdesk_wire::version::{Era, Version};
use serde_json::{Map, Value};

pub struct Emcp {
    /// The tenant that the site is kept under, where it was named.
    pub tenant: Option<String>,
}

impl Dialect for Emcp {
    fn plain(&self, tool: &ToolSpec, arguments: Map<String, Value>) -> Map<String, Value> {
        plain::plain(&tool.input, arguments)
    }

    fn read(&self, _: &ToolSpec, arguments: Map<String, Value>, _: Option<&str>) -> Result<Reading, Fault> {
        // Every tool only reads, so a key that a proxy adds everywhere is passed over.
        Ok(Reading { arguments, tenant: self.tenant.clone(), window: None, key: None })
    }

    fn success(&self, shaped: Shaped, at: &At<'_>) -> Reply {
        let object = match shaped {
            Shaped::One(object) => object,
            Shaped::Many { items, .. } => format!("{{\"items\":[{}]}}", items.join(",")),
        };
        private(match (at.id, at.place) {
            (None, _) => Reply::empty(202),
            (Some(id), Place::Tool(_)) => Reply::rpc(tool_success(id, &object, &spoken(at))),
            (Some(id), Place::Resource(_) | Place::Method | Place::Transport) => {
                Reply::rpc(success(id, &sealed_result(&object, &spoken(at), None)))
            }
        })
    }

    fn failure(&self, fault: &Fault, at: &At<'_>) -> Reply {
        private(failure::failure(fault, at))
    }

    /// No tool takes it: a site is chosen by its address.
    fn tenant_argument(&self) -> &'static str {
        "site"
    }

    fn key_argument(&self) -> &'static str {
        "idempotency_key"
    }

    fn manners(&self) -> Manners {
        Manners { assumed: Some(Version::V2025_11_25), names_sessions: true, takes_traces: true }
    }
}

/// Every answer is for one token's eyes.
fn private(reply: Reply) -> Reply {
    reply.header("Cache-Control", "no-store")
}

/// The era the request speaks; one that was never decided counts as the version meant by silence.
fn spoken(at: &At<'_>) -> Era {
    at.era.unwrap_or(Era::Legacy(Version::V2025_03_26))
}
