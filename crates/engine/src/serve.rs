//! The path of a call: ten stages in this order, each named after what it does. Read this file first.
//! Everything that goes wrong becomes a `Fault`, and every `Fault` becomes an answer in one place: the contract's
//! dialect. Rare paths are boxed, which keeps the future of an ordinary call small.

pub mod batch;

use std::sync::Arc;

use frontdesk_wire::frame::{Frame, FrameBody, FrameError, Request};
use frontdesk_wire::json::Value;
use frontdesk_wire::method::Method;
use tokio::time::{Instant, timeout_at};

use crate::desk::{Desk, Mount};
use crate::model::caller::Caller;
use crate::model::contract::ReplyContext;
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::{Incoming, Verb};
use crate::model::reply::Reply;
use crate::model::tool::Effect;
use crate::model::trace::Trace;
use crate::pipeline::admit::{Charge, admit, admit_notification};
use crate::pipeline::frame::{cancel, era, frame};
use crate::pipeline::identify::identify;
use crate::pipeline::perform::perform;
use crate::pipeline::permit::permit;
use crate::pipeline::precheck::{check_reply_size, precheck};
use crate::pipeline::read::read;
use crate::pipeline::record::stopwatch::Stage;
use crate::pipeline::record::{CallRecord, record};
use crate::pipeline::resolve::listing::list;
use crate::pipeline::resolve::{Resolved, request_target, resolve};
use crate::pipeline::shape::shape;
use crate::serve::batch::batch;

/// Answers one request. Stage 1, receive, has happened: its product is `Incoming`.
pub async fn serve(desk: &Desk, mount: &Mount, mut incoming: Incoming) -> Reply {
    let deadline = Instant::now() + desk.settings.deadline;
    let mut call_record = CallRecord::start(desk, mount, &incoming);
    call_record.start_stage(Stage::Identify);
    let caller = match timeout_at(deadline, identify(desk, mount, &incoming))
        .await
        .unwrap_or_else(|_| Err(identify_timeout()))
    {
        Ok(caller) => caller,
        Err(fault) => return Box::pin(record(call_record, Err(fault), &ReplyContext::new(mount, &incoming))).await,
    };
    call_record.end_stage();
    call_record.set_caller(&caller);
    let checked = precheck(desk, mount, &caller, &mut incoming, &mut call_record).await;
    let framed = checked.and_then(|body| frame(mount, &incoming, body));
    let context = CallContext { desk, mount, incoming: &incoming, caller: &caller, deadline, charge: Charge::Due };
    match framed {
        Ok(FrameBody::One(frame)) => handle_message(&context, call_record, Ok(frame)).await,
        Ok(FrameBody::Batch(frames)) => {
            call_record.discard();
            Box::pin(batch(&context, frames)).await
        }
        // DELETE ends an MCP session. There are none, so it always succeeds.
        Err(rejection) if rejection.fault.kind == FaultKind::MethodNotAllowed && incoming.verb == Verb::Delete => {
            let outcome = admit_notification(desk, mount, &caller).map(|()| Reply::empty(204));
            Box::pin(record(call_record, outcome, &context.reply_context())).await
        }
        Err(rejection) => {
            Box::pin(record(call_record, Err(rejection.fault), &context.reply_context().with_id(rejection.id.as_ref())))
                .await
        }
    }
}

/// A known caller's request while it is being answered.
pub(crate) struct CallContext<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) mount: &'a Mount,
    pub(crate) incoming: &'a Incoming,
    pub(crate) caller: &'a Arc<Caller>,
    /// When all of it must have been answered.
    pub(crate) deadline: Instant,
    pub(crate) charge: Charge,
}

impl<'a> CallContext<'a> {
    pub(crate) fn reply_context(&self) -> ReplyContext<'a> {
        ReplyContext::new(self.mount, self.incoming).with_scopes(&self.caller.scopes)
    }
}

/// Answers one message, of whatever kind.
pub(crate) async fn handle_message(
    context: &CallContext<'_>,
    mut call_record: CallRecord<'_>,
    frame: Result<Frame, FrameError>,
) -> Reply {
    match frame {
        Ok(Frame::Request(mut request)) => {
            // Taken out here, because the reply context borrows the rest of the request.
            let arguments = request.params.remove("arguments");
            call_record.set_method(request.method());
            let message_trace = trace_of_message(context.incoming, &request);
            if let Some(trace) = &message_trace {
                call_record.set_trace(trace);
            }
            let mut reply_context = context
                .reply_context()
                .with_trace(message_trace.as_ref().unwrap_or(&context.incoming.trace))
                .with_id(Some(&request.id));
            let answered = timeout_at(
                context.deadline,
                run_call(context, &mut call_record, &mut reply_context, &request, arguments),
            )
            .await;
            let outcome = answered.unwrap_or_else(|_| Err(deadline_fault(&call_record)));
            let reply = record(call_record, outcome, &reply_context).await;
            match &message_trace {
                Some(trace) => reply.header("X-Trace-Id", trace.display_id().to_owned()),
                None => reply,
            }
        }
        Ok(Frame::Notification(notification)) => {
            call_record.set_method(notification.method());
            let admitted = admit_notification(context.desk, context.mount, context.caller);
            let outcome = admitted.map(|()| cancel(context.desk, context.caller, &notification));
            Box::pin(record(call_record, outcome.map(|()| Reply::empty(202)), &context.reply_context())).await
        }
        Ok(Frame::Response) => {
            let outcome = admit_notification(context.desk, context.mount, context.caller).map(|()| Reply::empty(202));
            Box::pin(record(call_record, outcome, &context.reply_context())).await
        }
        Err(error) => {
            let id = error.id().cloned();
            Box::pin(record(call_record, Err(error.into()), &context.reply_context().with_id(id.as_ref()))).await
        }
    }
}

/// The era, then stages 4 to 9 for one message; stage 10 records the outcome, whatever it is.
async fn run_call<'a>(
    context: &CallContext<'a>,
    call_record: &mut CallRecord<'_>,
    reply_context: &mut ReplyContext<'a>,
    request: &'a Request,
    arguments: Option<Value>,
) -> Result<Reply, Fault> {
    let CallContext { desk, mount, incoming, caller, .. } = *context;
    reply_context.era = Some(era(incoming, request)?);
    reply_context.target = request_target(request);
    let resolved = resolve(mount, caller, request, arguments, reply_context)?;
    if let Resolved::Tool { tool, target, .. } = &resolved {
        reply_context.target = *target;
        call_record.set_tool(&tool.spec);
    }
    admit(desk, mount, caller, &resolved, context.charge)?;
    let (tool, arguments) = match resolved {
        Resolved::Ready(result) => {
            return check_reply_size(mount, reply_context.rpc_result(&result))
                .map(|reply| add_session_id(context, request, reply));
        }
        Resolved::Listing(cursor) => {
            call_record.set_tenant(caller, None);
            return check_reply_size(mount, Box::pin(list(desk, mount, caller, cursor, reply_context)).await?);
        }
        Resolved::Tool { tool, arguments, .. } => (tool, arguments),
    };
    let input = read(mount, &tool.spec, arguments, incoming.idempotency_key.as_deref())?;
    call_record.set_tenant(caller, input.tenant.as_deref());
    if input.idempotency_key.is_some() {
        call_record.mark_keyed();
    }
    let permitted = permit(desk, mount, caller, &tool.spec, input)?;
    call_record.start_stage(Stage::Perform);
    let outcome = perform(desk, tool, &permitted, call_record, &request.id).await?;
    call_record.end_stage();
    shape(desk, mount, &permitted, outcome, call_record, reply_context)
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
fn add_session_id(context: &CallContext<'_>, request: &Request, reply: Reply) -> Reply {
    if context.mount.contract.dialect.compatibility().sends_session_id && request.method() == Method::Initialize {
        reply.header("MCP-Session-Id", context.desk.new_uuid())
    } else {
        reply
    }
}

pub(crate) fn identify_timeout() -> Fault {
    Fault::unavailable("the credential was not checked within the deadline")
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
