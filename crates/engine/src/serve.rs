//! The path of a call. Ten stages, in this order, each named after what it does; a newcomer reads
//! this file first. Whatever goes wrong anywhere becomes a `Fault`, and every `Fault` becomes an
//! answer in one place: the contract's dialect. What is seldom gone through is boxed, because the future of a call is
//! moved about and would have room for all of it.

use std::sync::Arc;

use frontdesk_wire::frame::{Body, Frame, FrameError, Request};
use frontdesk_wire::json::Value;
use tokio::time::{Instant, timeout_at};

use crate::caller::Caller;
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::incoming::{Incoming, Verb};
use crate::permit::permit;
use crate::reply::Reply;
use crate::stages::admit::{Paid, admit, admit_notice};
use crate::stages::batch::batch;
use crate::stages::door::{leave, pass};
use crate::stages::frame::{era, frame, withdraw};
use crate::stages::identify::identify;
use crate::stages::listing::list;
use crate::stages::perform::perform;
use crate::stages::read::read;
use crate::stages::record::{Sighting, record};
use crate::stages::resolve::{Target, place, resolve};
use crate::stages::shape::{At, Wrap, shape};
use crate::stages::stopwatch::Stage;
use crate::tool::Effect;
use crate::trace::Trace;

/// Answers one request. Stage 1, receive, has happened: its product is `Incoming`.
pub async fn serve(desk: &Desk, mount: &Mount, mut incoming: Incoming) -> Reply {
    let until = Instant::now() + desk.settings.deadline;
    let mut sighting = Sighting::open(desk, mount, &incoming);
    sighting.enter(Stage::Identify);
    let caller = match timeout_at(until, identify(desk, mount, &incoming)).await.unwrap_or_else(|_| Err(unjudged())) {
        Ok(caller) => caller,
        Err(fault) => return Box::pin(record(sighting, Err(fault), &At::unknown(mount, &incoming))).await,
    };
    sighting.leave();
    sighting.caller(&caller);
    let passed = pass(desk, mount, &caller, &mut incoming, &mut sighting).await;
    let framed = passed.and_then(|passed| frame(mount, &incoming, passed));
    let visit = Visit { desk, mount, incoming: &incoming, caller: &caller, until, paid: Paid::Not };
    match framed {
        Ok(Body::One(frame)) => message(&visit, sighting, Ok(frame)).await,
        Ok(Body::Batch(frames)) => {
            sighting.dismiss();
            Box::pin(batch(&visit, frames)).await
        }
        // There is no session to end, so ending it has succeeded.
        Err(unframed) if unframed.fault.kind == FaultKind::WrongVerb && incoming.verb == Verb::Delete => {
            let outcome = admit_notice(desk, mount, &caller).map(|()| Reply::empty(204));
            Box::pin(record(sighting, outcome, &visit.at())).await
        }
        Err(unframed) => {
            Box::pin(record(sighting, Err(unframed.fault), &visit.at().maybe_id(unframed.id.as_ref()))).await
        }
    }
}

/// A known caller's request while it is being answered.
pub(crate) struct Visit<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) mount: &'a Mount,
    pub(crate) incoming: &'a Incoming,
    pub(crate) caller: &'a Arc<Caller>,
    /// When all of it must have been answered.
    pub(crate) until: Instant,
    pub(crate) paid: Paid,
}

impl<'a> Visit<'a> {
    pub(crate) fn at(&self) -> At<'a> {
        At::unknown(self.mount, self.incoming).granted(&self.caller.scopes)
    }
}

/// Answers one message, of whatever kind.
pub(crate) async fn message(visit: &Visit<'_>, mut sighting: Sighting<'_>, frame: Result<Frame, FrameError>) -> Reply {
    match frame {
        Ok(Frame::Request(mut request)) => {
            // Taken out here, because what is answered refers to the rest.
            let arguments = request.params.remove("arguments");
            sighting.method(&request.method);
            let named = named_trace(visit.incoming, &request);
            if let Some(trace) = &named {
                sighting.traced(trace);
            }
            let mut at = visit.at().traced(named.as_ref().unwrap_or(&visit.incoming.trace)).id(&request.id);
            let answered = timeout_at(visit.until, call(visit, &mut sighting, &mut at, &request, arguments)).await;
            let outcome = answered.unwrap_or_else(|_| Err(too_late(&sighting)));
            let reply = record(sighting, outcome, &at).await;
            match &named {
                Some(trace) => reply.header("X-Trace-Id", trace.shown().to_owned()),
                None => reply,
            }
        }
        Ok(Frame::Notification(notification)) => {
            sighting.method(&notification.method);
            let admitted = admit_notice(visit.desk, visit.mount, visit.caller);
            let outcome = admitted.map(|()| withdraw(visit.desk, visit.caller, &notification));
            Box::pin(record(sighting, outcome.map(|()| Reply::empty(202)), &visit.at())).await
        }
        Ok(Frame::Response) => {
            let outcome = admit_notice(visit.desk, visit.mount, visit.caller).map(|()| Reply::empty(202));
            Box::pin(record(sighting, outcome, &visit.at())).await
        }
        Err(error) => {
            let id = error.id().cloned();
            Box::pin(record(sighting, Err(error.into()), &visit.at().maybe_id(id.as_ref()))).await
        }
    }
}

/// Stages 4 to 9 for one message; stage 10 sees however it ends.
async fn call<'a>(
    visit: &Visit<'a>,
    sighting: &mut Sighting<'_>,
    at: &mut At<'a>,
    request: &'a Request,
    arguments: Option<Value>,
) -> Result<Reply, Fault> {
    let Visit { desk, mount, incoming, caller, .. } = *visit;
    at.era(era(incoming, request)?);
    at.place(place(request));
    let target = resolve(mount, caller, request, arguments, at)?;
    if let Target::Tool { tool, place, .. } = &target {
        at.place(*place);
        sighting.tool(&tool.spec);
    }
    admit(desk, mount, caller, &target, visit.paid)?;
    let (tool, arguments) = match target {
        Target::Ready(result) => return leave(mount, at.result(&result)).map(|reply| greet(visit, request, reply)),
        Target::Listing(cursor) => {
            sighting.tenant(caller, None);
            return leave(mount, Box::pin(list(desk, mount, caller, cursor, at)).await?);
        }
        Target::Tool { tool, arguments, .. } => (tool, arguments),
    };
    let reading = read(mount, &tool.spec, arguments, incoming.idempotency_key.as_deref())?;
    sighting.tenant(caller, reading.tenant.as_deref());
    if reading.key.is_some() {
        sighting.keyed();
    }
    let permitted = permit(desk, mount, caller, &tool.spec, reading)?;
    sighting.enter(Stage::Perform);
    let outcome = perform(desk, tool, &permitted, sighting, &request.id).await?;
    sighting.leave();
    shape(desk, mount, &permitted, outcome, sighting, at)
}

/// The trace a message names itself. It is nearer to who asked than that of the request it came in, which any
/// proxy may have begun; only what the caller calls it by stays.
fn named_trace(incoming: &Incoming, request: &Request) -> Option<Trace> {
    let trace = Trace::continued(request.meta()?.get("traceparent")?.as_str()?)?;
    Some(match &incoming.trace.name {
        Some(name) => trace.called(name),
        None => trace,
    })
}

/// Clients of some contracts expect a session's name at its beginning. There is no session: the name means nothing,
/// is kept nowhere and is never asked for.
fn greet(visit: &Visit<'_>, request: &Request, reply: Reply) -> Reply {
    match visit.mount.contract.dialect.manners().names_sessions && request.method == "initialize" {
        true => reply.header("MCP-Session-Id", visit.desk.new_uuid()),
        false => reply,
    }
}

pub(crate) fn unjudged() -> Fault {
    Fault::unavailable("the credential was not judged within the deadline")
}

/// Only a write can have happened behind a caller's back, and only a key makes repeating it safe.
fn too_late(sighting: &Sighting<'_>) -> Fault {
    let message = match sighting.effect() {
        Some(Effect::Adds | Effect::Changes) if !sighting.is_keyed() => return Fault::outcome_unknown(),
        Some(Effect::Adds | Effect::Changes) => {
            "This took too long. A write may still have happened: repeat it with the same idempotency key."
        }
        Some(Effect::Reads) | None => "This took too long. Try again, or ask for less.",
    };
    Fault::new(FaultKind::Unavailable, message).retry_after(1)
}
