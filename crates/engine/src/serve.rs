//! The path of a call: ten stages in this order, each named after what it does. Read this file first.
//! Everything that goes wrong becomes a `Fault`, and every `Fault` becomes an answer in one place: the contract's
//! dialect. Rare paths are boxed, which keeps the future of an ordinary call small.

pub mod batch;
mod call_context;
pub mod own_call;
pub mod own_read;
pub mod route;
mod watch;

use frontdesk_wire::frame::{Frame, FrameBody, Notification, Request};
use frontdesk_wire::json::{Map, Value};
use frontdesk_wire::method::Method;
use tokio::time::error::Elapsed;
use tokio::time::timeout_at;

use crate::desk::{Desk, Mount};
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::{Incoming, Verb};
use crate::model::reply::Reply;
use crate::model::tool::{Effect, Outcome, Tool};
use crate::model::trace::Trace;
use crate::pipeline::admit::{admit, admit_tool};
use crate::pipeline::frame::{FrameRejection, cancel, era, frame};
use crate::pipeline::perform::perform;
use crate::pipeline::permit::{Permitted, permit};
use crate::pipeline::precheck::{check_reply_size, precheck};
use crate::pipeline::read::read;
use crate::pipeline::record::stopwatch::Stage;
use crate::pipeline::record::{CallRecord, RunCall, record_call};
use crate::pipeline::resolve::listing::list;
use crate::pipeline::resolve::{Resolved, resolve, resource_uri};
use crate::pipeline::shape::shape;
use crate::serve::batch::batch;
use crate::serve::watch::{listened_to, run_watch};

pub use call_context::CallContext;
pub use route::serve_route;

/// Answers one request. Stage 1, receive, has happened: its product is `Incoming`. Stage 10, record, is around the rest.
pub async fn serve(desk: &Desk, mount: &Mount, incoming: Incoming) -> Reply {
    serve_borrowed(desk, mount, &incoming).await
}

/// The same for a request that stays where it is, which keeps the future of a call small.
pub async fn serve_borrowed(desk: &Desk, mount: &Mount, incoming: &Incoming) -> Reply {
    record_call(desk, mount, incoming, EndpointCall).await
}

/// A request to the MCP endpoint: stages 2 to 9.
struct EndpointCall;

impl RunCall for EndpointCall {
    async fn run(self, call_record: &mut CallRecord<'_>) -> Result<Reply, Fault> {
        let mut context = CallContext::identify(call_record).await?;
        let framed = match precheck(&mut context).await {
            Ok(body) => frame(&context, body),
            Err(rejection) => Err(rejection),
        };
        match framed {
            Ok(FrameBody::One(Frame::Request(request))) => handle_request(&mut context, request).await,
            Ok(FrameBody::One(Frame::Notification(notification))) => handle_notification(&mut context, &notification),
            Ok(FrameBody::One(Frame::Response)) => handle_response(&context),
            Ok(FrameBody::Batch(frames)) => Ok(Box::pin(batch(&mut context, frames)).await),
            Err(rejection) if ends_session(&context, &rejection) => admit(&context).map(|()| Reply::empty(204)),
            Err(rejection) => Err(context.record.reject(rejection)),
        }
    }
}

/// DELETE ends an MCP session. There are none, so it always succeeds.
fn ends_session(context: &CallContext<'_, '_>, rejection: &FrameRejection) -> bool {
    rejection.fault.kind == FaultKind::MethodNotAllowed && context.record.incoming.verb == Verb::Delete
}

/// A notification has no answer, but it is recorded and charged like a call.
pub(crate) fn handle_notification(
    context: &mut CallContext<'_, '_>,
    notification: &Notification,
) -> Result<Reply, Fault> {
    context.record.set_method(notification.method());
    admit(context)?;
    cancel(context, notification);
    Ok(Reply::empty(202))
}

/// A response answers nothing that was asked. It is recorded and charged like a call.
pub(crate) fn handle_response(context: &CallContext<'_, '_>) -> Result<Reply, Fault> {
    admit(context).map(|()| Reply::empty(202))
}

/// The era, then stages 4 to 9 for one request.
pub(crate) async fn handle_request(context: &mut CallContext<'_, '_>, mut request: Request) -> Result<Reply, Fault> {
    context.record.set_method(request.method());
    context.record.set_id(request.id.clone());
    if let Some(trace) = trace_of_message(context.record.incoming, &request) {
        context.record.set_trace(trace);
    }
    context.record.set_era(era(context.record.incoming, &request)?);
    if let Some(uri) = resource_uri(&request) {
        context.record.set_uri(uri);
    }
    let arguments = request.params.remove("arguments");
    match resolve(context, &request, arguments)? {
        Resolved::Ready(result) => {
            admit(context)?;
            let reply = check_reply_size(context.record.mount, context.record.reply_context().rpc_result(&result))?;
            Ok(add_session_id(context, request.method(), reply))
        }
        Resolved::Listing(cursor) => {
            admit(context)?;
            context.record.set_tenant(&context.caller, None);
            let listed = Box::pin(timeout_at(context.deadline, list(context, cursor))).await;
            let reply = listed.unwrap_or_else(|_| Err(deadline_fault(context.record)))?;
            check_reply_size(context.record.mount, reply)
        }
        Resolved::Tool { tool, arguments } => match listened_to(context, tool, request.method()) {
            Some(watch) => Box::pin(run_watch(context, tool, watch, &request, arguments)).await,
            None => run_tool(context, tool, arguments).await,
        },
    }
}

/// Stages 5 to 9, for whatever calls a tool: a message, the address of a resource, a route. It needs no JSON-RPC request;
/// without a request id the call cannot be cancelled by one. Only stage 8 waits, so the deadline is its deadline.
pub async fn run_tool<'a>(
    context: &mut CallContext<'_, 'a>,
    tool: &'a Tool,
    arguments: Map<String, Value>,
) -> Result<Reply, Fault> {
    let permitted = permit_tool(context, tool, arguments)?;
    let performed = timeout_at(context.deadline, perform(context.record, tool, &permitted)).await;
    let outcome = end_perform(context, performed)?;
    shape(context.record, &permitted, outcome)
}

/// Stages 5 to 7. A function of its own that does not wait, so that its values are no part of the future of a call.
fn permit_tool<'a>(
    context: &mut CallContext<'_, 'a>,
    tool: &'a Tool,
    arguments: Map<String, Value>,
) -> Result<Permitted<'a>, Fault> {
    context.record.set_tool(&tool.spec);
    admit_tool(context, &tool.spec, &arguments)?;
    let CallRecord { mount, incoming, .. } = *context.record;
    let dialect = mount.contract.dialect.as_ref();
    let input = read(dialect, &tool.spec, arguments, incoming.idempotency_key.as_deref())?;
    context.record.set_tenant(&context.caller, input.tenant.as_deref());
    if input.idempotency_key.is_some() {
        context.record.mark_keyed();
    }
    let permitted = permit(context.record.desk, context.record.mount, &context.caller, &tool.spec, input)?;
    context.record.start_stage(Stage::Perform);
    Ok(permitted)
}

/// What stage 8 came to within its time.
fn end_perform(
    context: &mut CallContext<'_, '_>,
    performed: Result<Result<Outcome, Fault>, Elapsed>,
) -> Result<Outcome, Fault> {
    let outcome = performed.unwrap_or_else(|_| Err(deadline_fault(context.record)))?;
    context.record.end_stage();
    Ok(outcome)
}

/// The trace that a message names in its `_meta`. It takes precedence over that of the HTTP request, which a proxy may
/// have started; the caller's own name for the trace stays.
fn trace_of_message(incoming: &Incoming, request: &Request) -> Option<Trace> {
    let trace = Trace::parse_traceparent(request.meta()?.get("traceparent")?.as_str()?)?;
    Some(match &incoming.trace.name {
        Some(name) => trace.with_name(name),
        None => trace,
    })
}

/// Clients of some contracts expect a session id from `initialize`. There is no session: the id is random, is stored
/// nowhere and is ignored when it comes back.
fn add_session_id(context: &CallContext<'_, '_>, method: Method, reply: Reply) -> Reply {
    let compatibility = context.record.mount.contract.dialect.compatibility();
    if compatibility.sends_session_id && method == Method::Initialize {
        reply.header("MCP-Session-Id", context.record.desk.new_uuid())
    } else {
        reply
    }
}

/// After a deadline only a write can still have happened, and only an idempotency key makes repeating it safe.
fn deadline_fault(call_record: &CallRecord<'_>) -> Fault {
    let message = match call_record.effect() {
        Some(Effect::Adds | Effect::Changes) if !call_record.is_keyed() => return Fault::outcome_unknown(),
        Some(Effect::Adds | Effect::Changes) => {
            "This took too long. A write may still have happened: repeat it with the same idempotency key."
        }
        Some(Effect::Reads) | None => "This took too long. Try again, or ask for less.",
    };
    Fault::new(FaultKind::Unavailable, message).retry_after(1)
}
