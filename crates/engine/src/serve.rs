//! The path of a call. Ten stages, in this order, each named after what it does; a newcomer reads
//! this file first. Whatever goes wrong anywhere becomes a `Fault`, and every `Fault` becomes an
//! answer in one place: the contract's dialect.

use std::sync::Arc;
use std::time::Duration;

use frontdesk_wire::frame::{Body, Frame, FrameError, Request};
use tokio::time::Instant;

use crate::caller::Caller;
use crate::contract::Contract;
use crate::fault::{Fault, FaultKind};
use crate::incoming::{Incoming, Verb};
use crate::inflight::Inflight;
use crate::permit::permit;
use crate::ports::{Clock, Identity, Observer, Random, Store};
use crate::rate::{Budget, Rates};
use crate::reply::Reply;
use crate::seal::Key;
use crate::stages::admit::admit;
use crate::stages::catalogue::Catalogue;
use crate::stages::frame::{era, frame};
use crate::stages::identify::{Strangers, identify};
use crate::stages::perform::perform;
use crate::stages::read::read;
use crate::stages::record::{Sighting, record};
use crate::stages::resolve::{Target, place, resolve};
use crate::stages::shape::{At, Wrap, combine, shape};
use crate::timestamp::Millis;

/// Everything that calls share.
pub struct Desk {
    pub store: Arc<dyn Store>,
    pub identity: Arc<dyn Identity>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub observer: Arc<dyn Observer>,
    pub keys: Keys,
    pub rates: Rates,
    pub inflight: Inflight,
    pub strangers: Strangers,
    pub settings: Settings,
}

pub struct Keys {
    pub cursor: Key,
    pub meaning: Key,
}

#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// A page stops before it grows past this.
    pub page_bytes: usize,
    /// No answer is larger; a batch takes no further call once its answers are.
    pub reply_bytes: usize,
    /// Each client's budget of calls.
    pub calls: Budget,
    /// No request takes longer.
    pub deadline: Duration,
}

/// One contract at one address.
pub struct Mount {
    pub contract: Contract,
    /// The address as a protected resource: what a token must have been issued for.
    pub resource: String,
    /// Where that resource's metadata is published.
    pub metadata: String,
    pub(crate) catalogue: Catalogue,
}

impl Mount {
    pub fn new(contract: Contract, resource: String, metadata: String) -> Mount {
        let catalogue = Catalogue::of(&contract);
        Mount { contract, resource, metadata, catalogue }
    }
}

/// Answers one request. Stage 1, receive, has happened: its product is `Incoming`.
pub async fn serve(desk: &Desk, mount: &Mount, incoming: Incoming) -> Reply {
    let until = Instant::now() + desk.settings.deadline;
    let mut sighting = Sighting::open(desk, mount, &incoming);
    let caller = match within(until, identify(desk, mount, &incoming), unjudged).await {
        Ok(caller) => Arc::new(caller),
        Err(fault) => return record(sighting, Err(fault), &At::unknown(mount, &incoming)).await,
    };
    sighting.caller(&caller);
    let at = At::unknown(mount, &incoming).granted(&caller.scopes);
    match frame(&incoming) {
        Ok(Body::One(frame)) => message(desk, mount, &incoming, &caller, sighting, Ok(frame), until).await,
        Ok(Body::Batch(frames)) => {
            sighting.dismiss();
            batch(desk, mount, &incoming, &caller, frames, until).await
        }
        // There is no session to end, so ending it has succeeded.
        Err(unframed) if unframed.fault.kind == FaultKind::WrongVerb && incoming.verb == Verb::Delete => {
            record(sighting, Ok(Reply::empty(204)), &at).await
        }
        Err(unframed) => record(sighting, Err(unframed.fault), &at.maybe_id(unframed.id.as_ref())).await,
    }
}

/// Answers several messages of one request, one after the other; each is a call of its own.
async fn batch(
    desk: &Desk,
    mount: &Mount,
    incoming: &Incoming,
    caller: &Arc<Caller>,
    frames: Vec<Result<Frame, FrameError>>,
    until: Instant,
) -> Reply {
    let mut replies = Vec::new();
    let mut bytes = 0;
    for frame in frames {
        let mut sighting = Sighting::open(desk, mount, incoming);
        sighting.caller(caller);
        let id = match &frame {
            Ok(Frame::Request(request)) => Some(request.id.clone()),
            Ok(Frame::Notification(_) | Frame::Response) => None,
            Err(error) => error.id().cloned(),
        };
        // Refused before it is begun: a write must not happen whose answer has no room.
        let reply = match exhausted(desk, bytes, until) {
            Some(fault) if id.is_some() => {
                let at = At::unknown(mount, incoming).granted(&caller.scopes).maybe_id(id.as_ref());
                record(sighting, Err(fault), &at).await
            }
            Some(_) | None => message(desk, mount, incoming, caller, sighting, frame, until).await,
        };
        bytes += reply.body.len();
        replies.push((id, reply));
    }
    combine(replies)
}

/// Why a batch takes no further call.
fn exhausted(desk: &Desk, bytes: usize, until: Instant) -> Option<Fault> {
    if bytes >= desk.settings.reply_bytes {
        return Some(Fault::new(FaultKind::TooLarge, "The answers before this one fill the reply. Send it by itself."));
    }
    (Instant::now() >= until).then(|| Fault::unavailable("the calls before it took all the time of the batch"))
}

async fn message(
    desk: &Desk,
    mount: &Mount,
    incoming: &Incoming,
    caller: &Arc<Caller>,
    mut sighting: Sighting<'_>,
    frame: Result<Frame, FrameError>,
    until: Instant,
) -> Reply {
    let at = At::unknown(mount, incoming).granted(&caller.scopes);
    match frame {
        Ok(Frame::Request(request)) => {
            sighting.method(&request.method);
            let mut at = at.id(&request.id);
            let work = call(desk, mount, incoming, caller, &mut sighting, &mut at, &request);
            let outcome = within(until, work, too_late).await;
            record(sighting, outcome, &at).await
        }
        Ok(Frame::Notification(notification)) => {
            sighting.method(&notification.method);
            crate::stages::frame::withdraw(desk, caller, &notification);
            record(sighting, Ok(Reply::empty(202)), &at).await
        }
        Ok(Frame::Response) => record(sighting, Ok(Reply::empty(202)), &at).await,
        Err(error) => {
            let id = error.id().cloned();
            record(sighting, Err(error.into()), &at.maybe_id(id.as_ref())).await
        }
    }
}

/// Stages 4 to 9 for one message; stage 10 sees however it ends.
async fn call<'a>(
    desk: &'a Desk,
    mount: &'a Mount,
    incoming: &Incoming,
    caller: &Arc<Caller>,
    sighting: &mut Sighting<'_>,
    at: &mut At<'a>,
    request: &'a Request,
) -> Result<Reply, Fault> {
    at.era(era(incoming, request)?);
    at.place(place(request));
    let target = resolve(mount, caller, request, at)?;
    if let Target::Tool { tool, place, .. } = &target {
        at.place(*place);
        sighting.tool(&tool.spec);
    }
    admit(desk, mount, caller, &target)?;
    let (tool, arguments) = match target {
        Target::Ready(result) => return Ok(at.result(&result)),
        Target::Listing(cursor) => {
            sighting.tenant(caller, None);
            return crate::stages::listing::list(desk, mount, caller, cursor, at).await;
        }
        Target::Tool { tool, arguments, .. } => (tool, arguments),
    };
    let reading = read(mount, &tool.spec, arguments, incoming.idempotency_key.as_deref())?;
    sighting.tenant(caller, reading.tenant.as_deref());
    let permitted = permit(desk, mount, caller, &tool.spec, reading)?;
    let outcome = perform(desk, tool, &permitted, sighting, &request.id).await?;
    shape(desk, mount, &permitted, outcome, sighting, at)
}

async fn within<T>(
    until: Instant,
    work: impl Future<Output = Result<T, Fault>>,
    late: fn() -> Fault,
) -> Result<T, Fault> {
    match tokio::time::timeout_at(until, work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(late()),
    }
}

fn unjudged() -> Fault {
    Fault::unavailable("the credential was not judged within the deadline")
}

fn too_late() -> Fault {
    Fault::new(
        FaultKind::Unavailable,
        "This took too long. A write may still have happened: repeat it with the same idempotency key.",
    )
    .retry_after(1)
}

impl Desk {
    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// The prefix, then 48 bits of time and 80 random bits in an alphabet that sorts like its values.
    pub fn new_id(&self, prefix: &str) -> String {
        const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let mut random = [0; 10];
        self.random.fill(&mut random);
        let noise = random.iter().fold(0u128, |all, byte| (all << 8) | u128::from(*byte));
        let bits = ((self.now().0 as u128 & 0xffff_ffff_ffff) << 80) | noise;
        let mut id = String::with_capacity(prefix.len() + 27);
        id.push_str(prefix);
        id.push('_');
        for position in (0..26).rev() {
            let letter = LETTERS.get((bits >> (position * 5)) as usize & 31).copied().unwrap_or(b'0');
            id.push(char::from(letter));
        }
        id
    }
}
