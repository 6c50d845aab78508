//! Stage 1's product: a request with its transport facts. A fault of the transport is held until the caller is known,
//! and the body is not read before then, so that an unauthenticated caller learns nothing and costs little.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::limits::body_memory::{BodyReservation, UNCOUNTED_BODY};
use crate::model::event_sink::EventSink;
use crate::model::fault::{Fault, FaultKind};
use crate::model::route::RouteRequest;
use crate::model::tool::Future;
use crate::model::trace::Trace;

/// What the request asks the endpoint to do, as far as the transport can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Post,
    Get,
    Put,
    Delete,
    /// As GET, without the body of the answer.
    Head,
    Other,
}

impl Verb {
    /// As HTTP names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Post => "POST",
            Verb::Get => "GET",
            Verb::Put => "PUT",
            Verb::Delete => "DELETE",
            Verb::Head => "HEAD",
            Verb::Other => "another verb",
        }
    }
}

/// Verbs that are possible somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerbSet(u8);

impl VerbSet {
    const VERBS: [Verb; 5] = [Verb::Get, Verb::Head, Verb::Post, Verb::Put, Verb::Delete];

    #[must_use]
    pub fn with(self, verb: Verb) -> VerbSet {
        let place = VerbSet::VERBS.iter().position(|known| *known == verb);
        VerbSet(self.0 | place.map_or(0, |place| 1 << place))
    }

    pub fn contains(self, verb: Verb) -> bool {
        self != VerbSet::default() && self.with(verb) == self
    }
}

/// As the `Allow` header lists them.
impl std::fmt::Display for VerbSet {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> =
            VerbSet::VERBS.iter().filter(|verb| self.contains(**verb)).map(|verb| verb.as_str()).collect();
        out.write_str(&names.join(", "))
    }
}

/// A credential as presented, unchecked.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    Missing,
    Bearer(String),
    /// A key in a header of its own.
    ApiKey(String),
    /// The SHA-256 of the certificate with which the connection was made.
    Certificate(Arc<[u8; 32]>),
    /// Two headers, another scheme, a token where none belongs: never evaluated.
    Unusable,
}

/// Which credentials a mount looks for besides `Authorization`. Others are not even read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OtherCredentials {
    pub api_key: bool,
    pub certificate: bool,
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Credential::Missing => "Missing",
            Credential::Bearer(_) => "Bearer(***)",
            Credential::ApiKey(_) => "ApiKey(***)",
            Credential::Certificate(_) => "Certificate",
            Credential::Unusable => "Unusable",
        })
    }
}

/// Whether the caller takes an answer as a stream of events, if there is more to say than one message.
pub enum Listening {
    /// One answer.
    No,
    /// A stream that is complete at once.
    AtOnce,
    /// A stream that may stay open.
    Held(EventSink),
}

pub struct Incoming {
    pub verb: Verb,
    pub credential: Credential,
    /// `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` as received.
    pub protocol_version: Option<String>,
    pub method_header: Option<String>,
    pub name_header: Option<String>,
    /// What a request to a route has besides; none for a message.
    pub route: Option<Box<RouteRequest>>,
    /// `Idempotency-Key` as received: whether it counts, and what is a valid one, depends on what is called.
    pub idempotency_key: Option<String>,
    pub listening: Listening,
    /// The import whose row this call applies; none for what a caller sends itself.
    pub import_id: Option<Arc<str>>,
    /// A fault of the transport, which is answered once the caller is known.
    pub transport_fault: Option<Fault>,
    pub address: IpAddr,
    /// As the transport names it; a message may name a nearer one.
    pub trace: Trace,
    pub body: RequestBody,
}

/// The body, which is read when it is collected, once. The lock is never contended: it only makes the type `Sync`.
pub struct RequestBody {
    read: Mutex<Option<ReadBody>>,
    length: Option<usize>,
}

/// Reads the body, up to this many bytes, within the memory that is reserved for it, if that is counted.
type ReadBody = Box<dyn FnOnce(usize, Option<Arc<BodyReservation>>) -> Future<'static, Result<Bytes, Fault>> + Send>;

impl RequestBody {
    pub fn from_future(body: impl std::future::Future<Output = Result<Bytes, Fault>> + Send + 'static) -> RequestBody {
        RequestBody::from_reader(|_| body)
    }

    /// `read` is called with the largest number of bytes that is wanted; it may have a smaller limit of its own.
    pub fn from_reader<F>(read: impl FnOnce(usize) -> F + Send + 'static) -> RequestBody
    where
        F: std::future::Future<Output = Result<Bytes, Fault>> + Send + 'static,
    {
        RequestBody::from_counted_reader(None, |most, _| read(most))
    }

    /// `length` is what the body will have, if that is known. `read` reserves memory for more than a small body before it
    /// holds it.
    pub fn from_counted_reader<F>(
        length: Option<usize>,
        read: impl FnOnce(usize, Option<Arc<BodyReservation>>) -> F + Send + 'static,
    ) -> RequestBody
    where
        F: std::future::Future<Output = Result<Bytes, Fault>> + Send + 'static,
    {
        RequestBody { read: Mutex::new(Some(Box::new(|most, reservation| Box::pin(read(most, reservation))))), length }
    }

    pub fn from_bytes(body: impl Into<Bytes>) -> RequestBody {
        let body = body.into();
        RequestBody::from_counted_reader(Some(body.len()), |_, _| async { Ok(body) })
    }

    /// How long it will be, if that is known before it is read.
    pub fn length(&self) -> Option<usize> {
        self.length
    }

    /// Whether it is known to be so small that its memory is not counted.
    pub fn is_small(&self) -> bool {
        self.length.is_some_and(|length| length <= UNCOUNTED_BODY)
    }

    pub async fn collect(&self) -> Result<Bytes, Fault> {
        self.collect_up_to(usize::MAX).await
    }

    pub async fn collect_up_to(&self, most: usize) -> Result<Bytes, Fault> {
        self.take()?(most, None).await
    }

    /// The same within memory that is counted. What is held stays held as long as the reservation.
    pub async fn collect_counted(&self, most: usize, reservation: &Arc<BodyReservation>) -> Result<Bytes, Fault> {
        let read = self.take()?(most, Some(Arc::clone(reservation)));
        let body = tokio::select! {
            biased;
            () = reservation.revoked() => return Err(body_memory_full()),
            body = read => body?,
        };
        reservation.complete(body.len()).map_err(|_| body_memory_full())?;
        Ok(body)
    }

    fn take(&self) -> Result<ReadBody, Fault> {
        let body = self.read.lock().ok().and_then(|mut body| body.take());
        body.ok_or_else(|| Fault::internal("the body was collected before"))
    }
}

/// For a body that there is no memory for.
pub fn body_memory_full() -> Fault {
    let message = "Too many large requests are being received. Send this one again in a moment.";
    Fault::new(FaultKind::Unavailable, message).retry_after(1)
}
