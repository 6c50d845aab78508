//! One connection: handshake, requests one after another, close. It ends at its deadlines, and a panic in one call does not
//! affect another.
//!
//! hyper drops the future of a call when its client disconnects. That is intended: it stops a read that nobody waits for.
//! What must continue, such as a commit, has to run in a task of its own.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use frontdesk_engine::seal::sha256;
use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response, StatusCode};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::activity::{Activity, OnDeadline, TimedStream};
use super::admission::ConnectionPermit;
use super::body::{IncomingBody, ResponseBody};
use super::counters::{ConnectionCounters, count};
use super::limits::ConnectionLimits;
use super::shutdown::Shutdown;
use super::tls::Tls;

/// The smallest buffer that hyper allows.
const MIN_BUFFER: usize = 8 * 1024;

/// Large enough to write a long answer in few pieces.
const BUFFER: usize = 64 * 1024;

/// The other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Peer {
    pub address: IpAddr,
    /// The SHA-256 of the certificate that it has presented, if it has one. Nothing else of the certificate is checked.
    /// Shared, because it is part of the future of every call.
    pub certificate: Option<Arc<[u8; 32]>>,
}

/// What all connections of a listener share.
pub(super) struct ListenerContext<S> {
    pub(super) tls: Arc<Tls>,
    pub(super) limits: ConnectionLimits,
    pub(super) counters: Arc<ConnectionCounters>,
    pub(super) service: Arc<S>,
    pub(super) shutdown: Shutdown,
}

pub(super) async fn serve_connection<S, F>(
    socket: TcpStream,
    peer: Peer,
    context: Arc<ListenerContext<S>>,
    permit: Arc<ConnectionPermit>,
) where
    S: Fn(Request<IncomingBody>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    let activity = Activity::new(&context.limits, Some(permit));
    let accepted = tokio::select! {
        () = context.shutdown.requested() => return,
        accepted = accept_tls(TimedStream::new(socket, activity.clone()), &context) => accepted,
    };
    match accepted {
        Some(stream) => {
            let certificate = presented_certificate(&stream);
            serve_requests(stream, Peer { certificate, ..peer }, &context, &activity).await;
        }
        None => count(&context.counters.handshakes_failed),
    }
}

/// Plain HTTP is not answered: an answer would encourage the client to send its credential again.
async fn accept_tls<S>(socket: TimedStream, context: &ListenerContext<S>) -> Option<TlsStream<TimedStream>> {
    let handshake = TlsAcceptor::from(context.tls.current()).accept(socket);
    timeout(context.limits.handshake, handshake).await.ok()?.ok()
}

fn presented_certificate(stream: &TlsStream<TimedStream>) -> Option<Arc<[u8; 32]>> {
    let (_, session) = stream.get_ref();
    session.peer_certificates()?.first().map(|certificate| Arc::new(sha256(certificate)))
}

async fn serve_requests<S, F>(
    stream: TlsStream<TimedStream>,
    peer: Peer,
    context: &ListenerContext<S>,
    activity: &Activity,
) where
    S: Fn(Request<IncomingBody>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    activity.expect_head();
    let service = service_fn(|request| call(request, peer.clone(), context, activity));
    let mut connection = pin!(http(&context.limits).serve_connection(TokioIo::new(stream), service));
    let mut shutdown = pin!(context.shutdown.requested());
    let mut shutting_down = false;
    let mut timer = pin!(sleep(context.limits.head));
    poll_fn(|cx| {
        if !shutting_down && shutdown.as_mut().poll(cx).is_ready() {
            shutting_down = true;
            connection.as_mut().graceful_shutdown();
        }
        loop {
            // An error here is a disconnected client or invalid HTTP, which hyper has answered if possible.
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            match poll_deadline(timer.as_mut(), activity, cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(OnDeadline::Abort) => {
                    count(&context.counters.closed_late);
                    return Poll::Ready(());
                }
                Poll::Ready(OnDeadline::Close) => {
                    activity.closing();
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    })
    .await;
}

fn http(limits: &ConnectionLimits) -> http1::Builder {
    let mut http = http1::Builder::new();
    let head_bytes = limits.head_bytes.max(MIN_BUFFER);
    // The deadlines of `Activity` replace hyper's.
    http.header_read_timeout(None)
        .max_headers(limits.headers)
        .max_header_size(head_bytes)
        .max_buf_size(head_bytes.max(BUFFER));
    http
}

/// Ready when a deadline has passed. Deadlines mostly move into the future, so the timer is moved forward at once but back
/// only when it fires: a busy connection rarely resets it.
fn poll_deadline(mut timer: Pin<&mut Sleep>, activity: &Activity, cx: &mut Context<'_>) -> Poll<OnDeadline> {
    loop {
        let Some(deadline) = activity.deadline() else {
            return Poll::Pending;
        };
        if deadline.at < timer.deadline() {
            timer.as_mut().reset(deadline.at);
        }
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if deadline.at <= timer.deadline() {
            return Poll::Ready(deadline.action);
        }
        timer.as_mut().reset(deadline.at);
    }
}

async fn call<S, F>(
    request: Request<Incoming>,
    peer: Peer,
    context: &ListenerContext<S>,
    activity: &Activity,
) -> Result<Response<TrackedBody>, Infallible>
where
    S: Fn(Request<IncomingBody>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    if request.body().is_end_stream() {
        activity.call_started_without_body();
    } else {
        activity.call_started();
    }
    let end = CallEnd(activity.clone());
    let request = request.map(|incoming| IncomingBody::new(incoming, activity.clone()));
    let mut running = pin!(async { (context.service)(request, peer).await });
    let answered = poll_fn(|cx| {
        // The call is dropped after a panic, so its state is not used again.
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Some),
            Err(_panic) => Poll::Ready(None),
        }
    })
    .await;
    let mut response = answered.unwrap_or_else(|| {
        count(&context.counters.panics);
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    });
    if activity.is_body_unread() {
        // The connection closes after this answer; the client must know before it sends the next request.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response.map(|body| TrackedBody { body, _end: end }))
}

/// A body that reports when hyper drops it, which is when the wait for the next request begins.
struct TrackedBody {
    body: ResponseBody,
    _end: CallEnd,
}

struct CallEnd(Activity);

impl Drop for CallEnd {
    fn drop(&mut self) {
        self.0.call_ended();
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
