//! The library's manner of speaking: results are small JSON objects, and a fault says its word and
//! its place, so that a test sees both.

use frontdesk_engine::dispatch::DispatchReply;
use frontdesk_engine::model::contract::{Compatibility, Dialect, Payload, ReplyContext, RequestTarget};
use frontdesk_engine::model::fault::{Fault, FaultKind, Problem};
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::schema::Schema;
use frontdesk_engine::model::tool::{Effect, ToolSpec};
use frontdesk_engine::model::tool_input::{PageRequest, ToolInput};
use frontdesk_wire::answer::{error, finished_result, quote, success};
use frontdesk_wire::version::{Era, Version};
use serde_json::{Map, Value};

#[derive(Default)]
pub(crate) struct Plainly(pub(crate) Compatibility);

/// What a page holds when nobody says how much.
const PAGE: usize = 2;

impl Dialect for Plainly {
    fn read(
        &self,
        tool: &ToolSpec,
        mut arguments: Map<String, Value>,
        header_key: Option<&str>,
    ) -> Result<ToolInput, Fault> {
        let mut text = |name: &str| arguments.remove(name).and_then(|value| value.as_str().map(str::to_owned));
        let (tenant, cursor, key) = (text("branch"), text("cursor"), text("request_key"));
        let limit = arguments.remove("limit").and_then(|limit| limit.as_u64());
        let is_list =
            matches!(&tool.input, Schema::Object(fields) if fields.iter().any(|field| field.name == "cursor"));
        let key = match tool.effect {
            Effect::Reads => None,
            Effect::Adds | Effect::Changes => {
                key.as_deref().or(header_key).map(|key| IdempotencyKey::read(key, "request_key")).transpose()?
            }
        };
        Ok(ToolInput {
            arguments,
            tenant,
            window: is_list.then(|| PageRequest {
                cursor,
                limit: limit.map(|limit| limit as usize),
                default_limit: PAGE,
                with_total: false,
            }),
            idempotency_key: key,
        })
    }

    fn success(&self, shaped: Payload, at: &ReplyContext<'_>) -> Reply {
        let result = match shaped {
            Payload::One(item) => format!(r#"{{"item":{item}}}"#),
            Payload::Many { items, cursor: None, .. } => format!(r#"{{"items":[{}]}}"#, items.join(",")),
            Payload::Many { items, cursor: Some(cursor), .. } => {
                format!(r#"{{"items":[{}],"more":{}}}"#, items.join(","), quote(&cursor))
            }
        };
        if let RequestTarget::Route { .. } = at.target {
            return Reply::plain(200, result);
        }
        let era = at.era.unwrap_or(Era::Legacy(Version::V2025_03_26));
        Reply::rpc(success(at.id.unwrap(), &finished_result(&result, &era, None)))
    }

    fn failure(&self, fault: &Fault, at: &ReplyContext<'_>) -> Reply {
        let place = match at.target {
            RequestTarget::Tool(name) => format!("tool {name}"),
            RequestTarget::Resource(address) => format!("resource {address}"),
            RequestTarget::Route { tool, effect } => format!("route {tool} {effect:?}"),
            RequestTarget::Method => "method".to_owned(),
            RequestTarget::Transport => "transport".to_owned(),
        };
        let mut data = format!(r#"{{"fault":{},"at":{}"#, quote(fault.kind.as_str()), quote(&place));
        if !fault.problems.is_empty() {
            let problem =
                |problem: &Problem| quote(&format!("{} {}: {}", problem.pointer, problem.keyword, problem.expected));
            let problems: Vec<String> = fault.problems.iter().map(problem).collect();
            data += &format!(r#","problems":[{}]"#, problems.join(","));
        }
        if let Some(seconds) = fault.retry_after {
            data += &format!(r#","retry_after":{seconds}"#);
        }
        for scope in &fault.needed {
            data += &format!(r#","needed":{}"#, quote(scope.as_str()));
        }
        data.push('}');
        match plain_status(fault.kind) {
            Some(status) => Reply::plain(status, data),
            None => Reply::rpc(error(at.id, -1, &fault.message, Some(&data))),
        }
    }

    fn dispatch_reply(&self, reply: &DispatchReply<'_>) -> Reply {
        frontdesk_testkit::dispatch_reply(reply)
    }

    fn compatibility(&self) -> Compatibility {
        self.0
    }

    fn key_argument(&self) -> &'static str {
        "request_key"
    }

    fn tenant_argument(&self) -> &'static str {
        "branch"
    }
}

/// Some faults are answered outside JSON-RPC, as contracts do it.
fn plain_status(kind: FaultKind) -> Option<u16> {
    if kind == FaultKind::Unauthenticated {
        Some(401)
    } else if kind == FaultKind::Forbidden || kind == FaultKind::HostNotAllowed {
        Some(403)
    } else if kind == FaultKind::MethodNotAllowed {
        Some(405)
    } else {
        None
    }
}
