//! The bodies of requests and answers. A request body is only ever read with a limit and a deadline.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use frontdesk_engine::limits::body_memory::{BodyReservation, UNCOUNTED_BODY};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::{Instant, timeout_at};

use super::activity::Activity;

/// A request body that has not been read yet.
pub struct IncomingBody {
    source: BodySource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// More bytes than the limit, by Content-Length or as sent.
    TooLarge,
    /// Not complete at the deadline.
    TooSlow,
    /// The client went away or broke the framing.
    Broken,
    /// There is no memory for it.
    NoMemory,
}

/// The body of an answer: bytes, or a stream.
pub struct ResponseBody {
    content: ResponseContent,
}

enum BodySource {
    Network { incoming: Incoming, activity: Activity },
    Ready(Bytes),
}

enum ResponseContent {
    Full(Bytes),
    Stream(Pin<Box<dyn HttpBody<Data = Bytes, Error = io::Error> + Send>>),
}

impl IncomingBody {
    /// A body that is in memory, for calls that did not come over the network.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self { source: BodySource::Ready(bytes.into()) }
    }

    /// How long it will be, if that is known.
    pub fn length(&self) -> Option<usize> {
        match &self.source {
            BodySource::Network { incoming, .. } => usize::try_from(incoming.size_hint().exact()?).ok(),
            BodySource::Ready(bytes) => Some(bytes.len()),
        }
    }

    pub(super) fn new(incoming: Incoming, activity: Activity) -> Self {
        Self { source: BodySource::Network { incoming, activity } }
    }

    /// Reads the whole body. `deadline` counts from now and is for all of it, so that a client cannot extend it byte by byte.
    /// After an error the connection closes after the answer, because the start of the next request is unknown.
    pub async fn collect(self, limit: usize, deadline: Duration) -> Result<Bytes, BodyError> {
        self.collect_counted(limit, deadline, None).await
    }

    /// The same; memory is reserved before more than a small body is held.
    pub async fn collect_counted(
        self,
        limit: usize,
        deadline: Duration,
        reservation: Option<&BodyReservation>,
    ) -> Result<Bytes, BodyError> {
        match self.source {
            BodySource::Ready(bytes) if bytes.len() > limit => Err(BodyError::TooLarge),
            BodySource::Ready(bytes) => Ok(bytes),
            BodySource::Network { incoming, activity } => {
                let bytes = read(incoming, limit, Instant::now() + deadline, reservation).await?;
                activity.body_ended();
                Ok(bytes)
            }
        }
    }
}

async fn read(
    mut incoming: Incoming,
    limit: usize,
    deadline: Instant,
    reservation: Option<&BodyReservation>,
) -> Result<Bytes, BodyError> {
    // A client that waits for `100 Continue` then need not send the body.
    if incoming.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(BodyError::TooLarge);
    }
    let length = incoming.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let mut reservation = reservation;
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    if let Some(length) = length.filter(|length| *length > UNCOUNTED_BODY) {
        reserve(&mut reservation, length)?;
        // In one piece: a buffer that grows leaves its smaller selves behind.
        whole.reserve(length);
    }
    loop {
        let frame = match timeout_at(deadline, incoming.frame()).await {
            Err(_elapsed) => return Err(BodyError::TooSlow),
            Ok(None) => break,
            Ok(Some(Err(_broken))) => return Err(BodyError::Broken),
            Ok(Some(Ok(frame))) => frame,
        };
        // Trailers are ignored.
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len() + whole.len() + data.len() > limit {
            return Err(BodyError::TooLarge);
        }
        if first.len() + whole.len() + data.len() > UNCOUNTED_BODY {
            reserve(&mut reservation, length.unwrap_or(limit))?;
        }
        // Nearly every request arrives in one frame, which is returned without a copy.
        if first.is_empty() && whole.capacity() == 0 {
            first = data;
        } else {
            if !first.is_empty() {
                whole = BytesMut::from(std::mem::take(&mut first));
            }
            whole.extend_from_slice(&data);
        }
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}

/// Once for each body.
fn reserve(reservation: &mut Option<&BodyReservation>, bytes: usize) -> Result<(), BodyError> {
    match reservation.take() {
        Some(reservation) => reservation.reserve(bytes).map_err(|_| BodyError::NoMemory),
        None => Ok(()),
    }
}

impl fmt::Debug for IncomingBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content must not be logged.
        f.write_str("IncomingBody(..)")
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the request body is larger than the limit; send less in one request",
            Self::TooSlow => "the request body did not arrive in time; send it without pauses",
            Self::Broken => "the request body ended early; send as many bytes as Content-Length says",
            Self::NoMemory => "too many large requests are being received; send this one again in a moment",
        })
    }
}

impl std::error::Error for BodyError {}

impl ResponseBody {
    pub fn empty() -> Self {
        Self::full(Bytes::new())
    }

    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self { content: ResponseContent::Full(bytes.into()) }
    }

    /// A stream; an error in it aborts the connection, so that the client does not mistake a part for the whole.
    pub fn stream(body: impl HttpBody<Data = Bytes, Error = io::Error> + Send + 'static) -> Self {
        Self { content: ResponseContent::Stream(Box::pin(body)) }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut self.get_mut().content {
            ResponseContent::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            ResponseContent::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            ResponseContent::Stream(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            ResponseContent::Full(bytes) => bytes.is_empty(),
            ResponseContent::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            ResponseContent::Full(bytes) => SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            ResponseContent::Stream(body) => body.size_hint(),
        }
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self::full(bytes)
    }
}
