//! Between stages 2 and 3: the mount's door, for a caller who is known. It decides in this order and reads no further
//! than it must: scope, rate, media type, size, the server, the tool. The body is not read before it is asked for here.

use bytes::Bytes;
use frontdesk_wire::frame::{self, Body, Frame, Id, Request};
use frontdesk_wire::glimpse::{Glimpse, glimpse};
use frontdesk_wire::json::Value;

use crate::caller::Caller;
use crate::desk::{Desk, Mount};
use crate::door::{Door, Standing};
use crate::fault::{Fault, FaultKind};
use crate::incoming::{Incoming, Verb};
use crate::permit::rate_limited;
use crate::reply::Reply;
use crate::stages::admit::lacking;
use crate::stages::frame::Unframed;
use crate::stages::record::{Sighting, known_method};
use crate::stages::shape::too_large;

/// A body up to this long is read before it is judged: nearly every one passes, and would otherwise be read twice.
const SHORT: usize = 16 * 1024;

/// What has come in.
pub(crate) enum Passed {
    Bytes(Bytes),
    /// The message that was in them, which was read on the way.
    Message(Frame),
}

/// The body of a request that may come in. A mount without a door takes it at once.
pub(crate) async fn pass(
    desk: &Desk,
    mount: &Mount,
    caller: &Caller,
    incoming: &mut Incoming,
    sighting: &mut Sighting<'_>,
) -> Result<Passed, Unframed> {
    take_verb(incoming)?;
    let Some(door) = &mount.door else {
        return match &incoming.refused {
            Some(fault) => Err(fault.clone().into()),
            None => Ok(Passed::Bytes(incoming.body.whole().await?)),
        };
    };
    let (body, looked) = approach(desk, mount, door, caller, incoming, sighting, Looked::at).await?;
    match (refuse_tool(door, &looked.seen()).and_then(|()| refuse_unknown(door)), looked) {
        (Ok(()), Looked::Through(request)) => Ok(Passed::Message(Frame::Request(request))),
        (Ok(()), Looked::Over(_)) => Ok(Passed::Bytes(body)),
        (Err(fault), looked) => Err(Unframed { fault, id: looked.seen().id.cloned() }),
    }
}

/// What was found in a body before it was judged.
pub(crate) enum Looked {
    Over(Glimpse),
    /// The whole request: it is short, and nothing is wrong with it.
    Through(Request),
}

impl Looked {
    fn at(body: &[u8]) -> Looked {
        let whole = if body.len() <= SHORT { frame::read(body).ok() } else { None };
        match whole {
            Some(Body::One(Frame::Request(request))) => Looked::Through(request),
            Some(Body::One(Frame::Notification(_) | Frame::Response) | Body::Batch(_)) | None => {
                Looked::Over(glimpse(body))
            }
        }
    }

    pub(crate) fn over(body: &[u8]) -> Looked {
        Looked::Over(glimpse(body))
    }

    pub(crate) fn seen(&self) -> Seen<'_> {
        match self {
            Looked::Over(Glimpse { id, method, name }) => {
                Seen { id: id.as_ref(), method: method.as_deref(), name: name.as_deref() }
            }
            Looked::Through(request) => Seen {
                id: Some(&request.id),
                method: Some(&request.method),
                name: request.params.get("name").and_then(Value::as_str),
            },
        }
    }
}

/// The members by which a message is judged, as far as they could be read.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) id: Option<&'a Id>,
    pub(crate) method: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
}

pub(crate) fn take_verb(incoming: &Incoming) -> Result<(), Fault> {
    match incoming.verb {
        Verb::Post => Ok(()),
        Verb::Get | Verb::Delete | Verb::Other => {
            Err(Fault::new(FaultKind::WrongVerb, "Send JSON-RPC messages with POST; there is no stream to GET here."))
        }
    }
}

/// Scope, rate, media type, size, and whether the server is open: what every way in has in common.
pub(crate) async fn approach(
    desk: &Desk,
    mount: &Mount,
    door: &Door,
    caller: &Caller,
    incoming: &mut Incoming,
    sighting: &mut Sighting<'_>,
    look: impl FnOnce(&[u8]) -> Looked,
) -> Result<(Bytes, Looked), Unframed> {
    // Of all that can be wrong with the transport, only a wrong media type leaves a body that can be read safely.
    let refused = match &incoming.refused {
        Some(fault) if fault.kind != FaultKind::WrongMedia => return Err(fault.clone().into()),
        refused => refused.clone(),
    };
    // The transport reads no more than its own cap. Of a body beyond that nothing is seen, so its method is one that
    // cannot be read; it is refused below for its size in any case.
    let arrived = incoming.body.whole().await.map_err(|fault| match fault.kind == FaultKind::TooLarge {
        true => larger(door),
        false => fault,
    });
    let looked = arrived.as_deref().map_or_else(|_| Looked::Over(Glimpse::default()), look);
    let seen = looked.seen();
    if let Some(method) = seen.method {
        sighting.method(method);
    }
    let judged = judge(desk, mount, door, caller, &seen).and(refused.map_or(Ok(()), Err));
    match judged.and(arrived).and_then(|body| fits(door, body)).and_then(|body| refuse_denied(door).map(|()| body)) {
        Ok(body) => Ok((body, looked)),
        Err(fault) => Err(Unframed { fault, id: seen.id.cloned() }),
    }
}

/// A message whose method cannot be read needs no scope: it is going to be refused, and costs its sender a call.
pub(crate) fn judge(desk: &Desk, mount: &Mount, door: &Door, caller: &Caller, seen: &Seen<'_>) -> Result<(), Fault> {
    if let Some(method) = seen.method {
        let needed = door.scopes.needed(method);
        if !caller.scopes.has(needed) {
            return Err(lacking(needed));
        }
    }
    // All invented methods together have one budget, so that inventing more buys nothing.
    let method = seen.method.map_or("unknown", known_method);
    let key = [mount.server(), method, caller.client.as_str()];
    desk.rates.count(&key, door.calls, desk.now()).map_err(rate_limited)
}

fn fits(door: &Door, body: Bytes) -> Result<Bytes, Fault> {
    match body.len() > door.payload_bytes {
        true => Err(larger(door)),
        false => Ok(body),
    }
}

/// The server's own limit, also where it was the transport that gave up: beyond its limit nothing gets through here.
fn larger(door: &Door) -> Fault {
    Fault::new(FaultKind::TooLarge, format!("The message is larger than {} bytes.", door.payload_bytes))
}

pub(crate) fn refuse_denied(door: &Door) -> Result<(), Fault> {
    match door.standing {
        Standing::Denied => Err(Fault::new(FaultKind::ServerDenied, "The operator does not let this server be used.")),
        Standing::Served | Standing::Unknown => Ok(()),
    }
}

pub(crate) fn refuse_tool(door: &Door, seen: &Seen<'_>) -> Result<(), Fault> {
    match (seen.method, seen.name) {
        (Some("tools/call"), Some(name)) if door.denies(name) => Err(denied()),
        _ => Ok(()),
    }
}

pub(crate) fn refuse_unknown(door: &Door) -> Result<(), Fault> {
    match door.standing {
        Standing::Unknown => {
            Err(Fault::new(FaultKind::UnknownServer, "No server has this name; look at the last part of the address."))
        }
        Standing::Served | Standing::Denied => Ok(()),
    }
}

pub(crate) fn denied() -> Fault {
    Fault::new(FaultKind::ToolDenied, "The operator does not let this tool be used.")
}

/// An answer that no tool made, on its way out: no larger than the door lets through.
pub(crate) fn leave(mount: &Mount, reply: Reply) -> Result<Reply, Fault> {
    match &mount.door {
        Some(door) if reply.body.len() > door.result_bytes => Err(too_large()),
        Some(_) | None => Ok(reply),
    }
}
