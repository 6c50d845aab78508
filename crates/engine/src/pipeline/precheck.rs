//! Between stages 2 and 3: collects the body, which is not read before. On mounts with a policy it also checks the
//! request before stage 3 interprets the message. The order is fixed: scope, rate, media type, size, whether the server
//! is allowed, the tool, whether the server exists.

use bytes::Bytes;
use frontdesk_wire::frame::{self, Frame, FrameBody, Id, Request};
use frontdesk_wire::json::Value;
use frontdesk_wire::method::{Method, MethodName};
use frontdesk_wire::peek::{PeekedMessage, peek};

use crate::desk::Mount;
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::{Incoming, Verb};
use crate::model::mount_policy::{MountPolicy, MountStatus};
use crate::model::reply::Reply;
use crate::pipeline::admit::BodyRate;
use crate::pipeline::frame::FrameRejection;
use crate::pipeline::permit::rate_limited;
use crate::pipeline::record::CallRecord;
use crate::pipeline::shape::too_large;
use crate::serve::CallContext;

/// A body up to this long is parsed before it is checked: nearly every one passes, and would otherwise be parsed twice.
const FULL_PARSE_LIMIT: usize = 16 * 1024;

/// The body of a request that passed the checks: raw, or parsed already.
pub(crate) enum Precheck {
    Bytes(Bytes),
    /// The message, which was parsed for the checks.
    Message(Frame),
}

/// Checks a request against the mount's policy and gives its body. A mount without a policy only collects the body.
pub(crate) async fn precheck(context: &mut CallContext<'_, '_>) -> Result<Precheck, FrameRejection> {
    let CallRecord { mount, incoming, .. } = *context.record;
    check_method(incoming)?;
    let Some(policy) = &mount.policy else {
        return match &incoming.transport_fault {
            Some(fault) => Err(fault.clone().into()),
            None => Ok(Precheck::Bytes(context.collect_body(BodyRate::Json).await?)),
        };
    };
    let (body, peeked) = check_transport(context, policy, PeekResult::parse).await?;
    match (check_tool_allowed(policy, &peeked.peek()).and_then(|()| check_server_known(policy)), peeked) {
        (Ok(()), PeekResult::Full(request)) => Ok(Precheck::Message(Frame::Request(request))),
        (Ok(()), PeekResult::Partial(_)) => Ok(Precheck::Bytes(body)),
        (Err(fault), peeked) => Err(FrameRejection { fault, id: peeked.peek().id.cloned() }),
    }
}

/// What was found in a body before it was checked.
pub(crate) enum PeekResult {
    Partial(PeekedMessage),
    /// The whole request: it is short and valid.
    Full(Request),
}

impl PeekResult {
    fn parse(body: &[u8]) -> PeekResult {
        let whole = if body.len() <= FULL_PARSE_LIMIT { frame::read(body).ok() } else { None };
        match whole {
            Some(FrameBody::One(Frame::Request(request))) => PeekResult::Full(request),
            Some(FrameBody::One(Frame::Notification(_) | Frame::Response) | FrameBody::Batch(_)) | None => {
                PeekResult::Partial(peek(body))
            }
        }
    }

    pub(crate) fn partial(body: &[u8]) -> PeekResult {
        PeekResult::Partial(peek(body))
    }

    pub(crate) fn peek(&self) -> Peek<'_> {
        match self {
            PeekResult::Partial(PeekedMessage { id, method_name, name }) => {
                Peek { id: id.as_ref(), method_name: method_name.as_ref(), name: name.as_deref() }
            }
            PeekResult::Full(request) => Peek {
                id: Some(&request.id),
                method_name: Some(&request.method_name),
                name: request.params.get("name").and_then(Value::as_str),
            },
        }
    }
}

/// The members by which a message is checked, as far as they could be read.
#[derive(Clone, Copy)]
pub(crate) struct Peek<'a> {
    pub(crate) id: Option<&'a Id>,
    pub(crate) method_name: Option<&'a MethodName>,
    pub(crate) name: Option<&'a str>,
}

impl Peek<'_> {
    fn method(&self) -> Method {
        self.method_name.map_or(Method::Unknown, MethodName::method)
    }
}

pub(crate) fn check_method(incoming: &Incoming) -> Result<(), Fault> {
    match incoming.verb {
        Verb::Post => Ok(()),
        Verb::Get | Verb::Put | Verb::Delete | Verb::Head | Verb::Other => Err(Fault::new(
            FaultKind::MethodNotAllowed,
            "Send JSON-RPC messages with POST; there is no stream to GET here.",
        )),
    }
}

/// Scope, rate, media type, size and server status: the checks that `serve` and `dispatch` share.
pub(crate) async fn check_transport(
    context: &mut CallContext<'_, '_>,
    policy: &MountPolicy,
    look: impl FnOnce(&[u8]) -> PeekResult,
) -> Result<(Bytes, PeekResult), FrameRejection> {
    let incoming = context.record.incoming;
    // Of all that can be wrong with the transport, only a wrong media type leaves a body that can be read safely.
    let refused = match &incoming.transport_fault {
        Some(fault) if fault.kind != FaultKind::UnsupportedMediaType => return Err(fault.clone().into()),
        refused => refused.clone(),
    };
    // Nothing is read of a body beyond the transport's own limit, so its method is unknown; it is refused below for its
    // size in any case.
    let arrived = context
        .collect_body(BodyRate::Json)
        .await
        .map_err(|fault| if fault.kind == FaultKind::TooLarge { payload_too_large(policy) } else { fault });
    if let Err(fault) = &arrived
        && matches!(fault.kind, FaultKind::RateLimited | FaultKind::Unavailable)
    {
        // It was not read, so nothing else can be said about it.
        return Err(fault.clone().into());
    }
    let peeked = arrived.as_deref().map_or_else(|_| PeekResult::Partial(PeekedMessage::default()), look);
    let peek = peeked.peek();
    if let Some(name) = peek.method_name {
        context.record.set_method(name.method());
    }
    if let (Some(name), Method::ToolsCall) = (peek.name, peek.method()) {
        context.record.name_tool(name);
    }
    let checked = check_scope_and_rate(context, policy, &peek).and(refused.map_or(Ok(()), Err));
    match checked
        .and(arrived)
        .and_then(|body| check_size(policy, body))
        .and_then(|body| check_server_allowed(policy).map(|()| body))
    {
        Ok(body) => Ok((body, peeked)),
        Err(fault) => Err(FrameRejection { fault, id: peek.id.cloned() }),
    }
}

/// A message whose method cannot be read needs no scope: it is going to be refused, and costs its sender a call.
pub(crate) fn check_scope_and_rate(
    context: &CallContext<'_, '_>,
    policy: &MountPolicy,
    peek: &Peek<'_>,
) -> Result<(), Fault> {
    let CallRecord { desk, mount, .. } = *context.record;
    let caller = &context.caller;
    if let Some(name) = peek.method_name {
        let needed = policy.scopes.required_scope(name);
        if !caller.scopes.has(needed) {
            return Err(Fault::missing_scope(needed));
        }
    }
    // All invented methods together have one budget, so that inventing more buys nothing.
    let method = peek.method();
    let key = [mount.server(), method.as_str(), caller.client.as_str()];
    desk.rates.count(&key, policy.calls, desk.monotonic()).map_err(rate_limited)
}

fn check_size(policy: &MountPolicy, body: Bytes) -> Result<Bytes, Fault> {
    if body.len() > policy.payload_bytes { Err(payload_too_large(policy)) } else { Ok(body) }
}

/// Names the mount's limit also where the transport's larger one was exceeded first.
fn payload_too_large(policy: &MountPolicy) -> Fault {
    Fault::new(FaultKind::TooLarge, format!("The message is larger than {} bytes.", policy.payload_bytes))
}

pub(crate) fn check_server_allowed(policy: &MountPolicy) -> Result<(), Fault> {
    match policy.status {
        MountStatus::Denied => {
            Err(Fault::new(FaultKind::ServerDenied, "The operator does not let this server be used."))
        }
        MountStatus::Served | MountStatus::Unknown => Ok(()),
    }
}

pub(crate) fn check_tool_allowed(policy: &MountPolicy, peek: &Peek<'_>) -> Result<(), Fault> {
    match peek.name {
        Some(name) if peek.method() == Method::ToolsCall && policy.denies_tool(name) => Err(tool_denied()),
        Some(_) | None => Ok(()),
    }
}

pub(crate) fn check_server_known(policy: &MountPolicy) -> Result<(), Fault> {
    match policy.status {
        MountStatus::Unknown => {
            Err(Fault::new(FaultKind::UnknownServer, "No server has this name; look at the last part of the address."))
        }
        MountStatus::Served | MountStatus::Denied => Ok(()),
    }
}

pub(crate) fn tool_denied() -> Fault {
    Fault::new(FaultKind::ToolDenied, "The operator does not let this tool be used.")
}

/// Enforces the policy's size limit on an answer that was not made by a tool.
pub(crate) fn check_reply_size(mount: &Mount, reply: Reply) -> Result<Reply, Fault> {
    match &mount.policy {
        Some(policy) if reply.body.len() > policy.result_bytes => Err(too_large()),
        Some(_) | None => Ok(reply),
    }
}
