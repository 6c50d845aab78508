//! The bodies of requests and answers. A request body is only ever read with a limit and a deadline.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::{Instant, timeout_at};

use super::activity::Activity;

/// A request body that has not been read yet.
pub struct Body {
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// More bytes than the limit, announced or sent.
    TooLarge,
    /// Not complete at the deadline.
    TooSlow,
    /// The client went away or broke the framing.
    Broken,
}

/// An answer's body: bytes that are ready, or a stream that is still being made.
pub struct ResponseBody {
    content: Content,
}

enum Source {
    Network { incoming: Incoming, activity: Activity },
    Ready(Bytes),
}

enum Content {
    Full(Bytes),
    Stream(Pin<Box<dyn HttpBody<Data = Bytes, Error = io::Error> + Send>>),
}

impl Body {
    /// A body that is already here, for calls that did not come over the network.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self { source: Source::Ready(bytes.into()) }
    }

    pub(super) fn incoming(incoming: Incoming, activity: Activity) -> Self {
        Self { source: Source::Network { incoming, activity } }
    }

    /// Reads the whole body. `deadline` counts from now and is for all of it, so that a byte now and then buys no time.
    /// After an error the connection closes once the answer is sent, because its next request cannot be found.
    pub async fn collect(self, limit: usize, deadline: Duration) -> Result<Bytes, BodyError> {
        match self.source {
            Source::Ready(bytes) if bytes.len() > limit => Err(BodyError::TooLarge),
            Source::Ready(bytes) => Ok(bytes),
            Source::Network { incoming, activity } => {
                let bytes = read(incoming, limit, Instant::now() + deadline).await?;
                activity.body_ended();
                Ok(bytes)
            }
        }
    }
}

async fn read(mut incoming: Incoming, limit: usize, deadline: Instant) -> Result<Bytes, BodyError> {
    // Refusing by the announced length also spares a client that waits for `100 Continue` from sending.
    if incoming.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(BodyError::TooLarge);
    }
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    loop {
        let frame = match timeout_at(deadline, incoming.frame()).await {
            Err(_elapsed) => return Err(BodyError::TooSlow),
            Ok(None) => break,
            Ok(Some(Err(_broken))) => return Err(BodyError::Broken),
            Ok(Some(Ok(frame))) => frame,
        };
        // Trailers carry nothing that a call reads.
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len() + whole.len() + data.len() > limit {
            return Err(BodyError::TooLarge);
        }
        // Nearly every request arrives in one frame, which is then handed on without a copy.
        if first.is_empty() && whole.is_empty() {
            first = data;
        } else {
            if whole.is_empty() {
                whole = BytesMut::from(std::mem::take(&mut first));
            }
            whole.extend_from_slice(&data);
        }
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The bytes are a caller's and have no place in a log.
        f.write_str("Body(..)")
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the request body is larger than the limit; send less in one request",
            Self::TooSlow => "the request body did not arrive in time; send it without pauses",
            Self::Broken => "the request body ended early; send as many bytes as were announced",
        })
    }
}

impl std::error::Error for BodyError {}

impl ResponseBody {
    pub fn empty() -> Self {
        Self::full(Bytes::new())
    }

    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self { content: Content::Full(bytes.into()) }
    }

    /// A stream; an error of it cuts the connection, so that the client cannot take the part for the whole.
    pub fn stream(body: impl HttpBody<Data = Bytes, Error = io::Error> + Send + 'static) -> Self {
        Self { content: Content::Stream(Box::pin(body)) }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut self.get_mut().content {
            Content::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Stream(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Full(bytes) => bytes.is_empty(),
            Content::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Full(bytes) => SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            Content::Stream(body) => body.size_hint(),
        }
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self::full(bytes)
    }
}
