//! One connection from its first byte to its last: handshake, calls one after another, goodbye. It never outlives a
//! deadline of its client's making, and a panic in one call never takes another call with it.
//!
//! A client that disconnects while its call runs makes hyper drop the call's future. That is wanted: it stops a read
//! that nobody waits for. What must survive the client, such as a plan on its way to the writer, has to run elsewhere.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
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

use super::activity::{Activity, Then, Watched};
use super::body::{Body, ResponseBody};
use super::caps::Caps;
use super::gauges::{Gauges, count};
use super::shutdown::Shutdown;
use super::tls::Tls;

/// hyper refuses to work with a smaller buffer.
const SMALLEST_BUFFER: usize = 8 * 1024;

/// Large enough that a long answer is not written in crumbs.
const BUFFER: usize = 64 * 1024;

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer {
    pub address: IpAddr,
}

/// What all connections of a listener share.
pub(super) struct House<S> {
    pub(super) tls: Arc<Tls>,
    pub(super) caps: Caps,
    pub(super) gauges: Arc<Gauges>,
    pub(super) service: Arc<S>,
    pub(super) shutdown: Shutdown,
}

pub(super) async fn attend<S, F>(socket: TcpStream, peer: Peer, house: Arc<House<S>>)
where
    S: Fn(Request<Body>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    let activity = Activity::new(&house.caps);
    let shaken = tokio::select! {
        () = house.shutdown.requested() => return,
        shaken = shake_hands(Watched::new(socket, activity.clone()), &house) => shaken,
    };
    match shaken {
        Some(stream) => converse(stream, peer, &house, &activity).await,
        None => count(&house.gauges.handshakes_failed),
    }
}

/// Plain HTTP fails here like any other noise: an HTTP answer would invite the client to send its credential again.
async fn shake_hands<S>(socket: Watched, house: &House<S>) -> Option<TlsStream<Watched>> {
    let handshake = TlsAcceptor::from(house.tls.current()).accept(socket);
    timeout(house.caps.handshake, handshake).await.ok()?.ok()
}

async fn converse<S, F>(stream: TlsStream<Watched>, peer: Peer, house: &House<S>, activity: &Activity)
where
    S: Fn(Request<Body>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    activity.expect_head();
    let service = service_fn(|request| call(request, peer, house, activity));
    let mut connection = pin!(http(&house.caps).serve_connection(TokioIo::new(stream), service));
    let mut shutdown = pin!(house.shutdown.requested());
    let mut asked = false;
    let mut alarm = pin!(sleep(house.caps.head));
    poll_fn(|cx| {
        if !asked && shutdown.as_mut().poll(cx).is_ready() {
            asked = true;
            connection.as_mut().graceful_shutdown();
        }
        loop {
            // An error here is a client that left or spoke nonsense, and hyper has answered it as far as it can be.
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            match watch(alarm.as_mut(), activity, cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Then::Cut) => {
                    count(&house.gauges.closed_late);
                    return Poll::Ready(());
                }
                Poll::Ready(Then::Close) => {
                    activity.closing();
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    })
    .await;
}

fn http(caps: &Caps) -> http1::Builder {
    let mut http = http1::Builder::new();
    let head_bytes = caps.head_bytes.max(SMALLEST_BUFFER);
    // The deadlines of `Activity` replace hyper's.
    http.header_read_timeout(None)
        .max_headers(caps.headers)
        .max_header_size(head_bytes)
        .max_buf_size(head_bytes.max(BUFFER));
    http
}

/// Ready when a deadline has passed. Deadlines mostly move away, so the alarm is moved nearer at once but moved away
/// only when it rings: a busy connection hardly touches the timer.
fn watch(mut alarm: Pin<&mut Sleep>, activity: &Activity, cx: &mut Context<'_>) -> Poll<Then> {
    loop {
        let Some(deadline) = activity.deadline() else {
            return Poll::Pending;
        };
        if deadline.at < alarm.deadline() {
            alarm.as_mut().reset(deadline.at);
        }
        if alarm.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if deadline.at <= alarm.deadline() {
            return Poll::Ready(deadline.then);
        }
        alarm.as_mut().reset(deadline.at);
    }
}

async fn call<S, F>(
    request: Request<Incoming>,
    peer: Peer,
    house: &House<S>,
    activity: &Activity,
) -> Result<Response<Answer>, Infallible>
where
    S: Fn(Request<Body>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<ResponseBody>> + Send,
{
    if request.body().is_end_stream() {
        activity.call_began_without_body();
    } else {
        activity.call_began();
    }
    let end = CallEnd(activity.clone());
    let request = request.map(|incoming| Body::incoming(incoming, activity.clone()));
    let mut running = pin!(async { (house.service)(request, peer).await });
    let answered = poll_fn(|cx| {
        // The call is dropped after a panic, so nothing sees what it left half done.
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Some),
            Err(_panic) => Poll::Ready(None),
        }
    })
    .await;
    let mut response = answered.unwrap_or_else(|| {
        count(&house.gauges.panics);
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    });
    if activity.is_body_left() {
        // The connection closes after this answer, and a client that is not told would send its next call into it.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response.map(|body| Answer { body, _end: end }))
}

/// An answer's body that tells when hyper is done with it, which is when the wait for the next request begins.
struct Answer {
    body: ResponseBody,
    _end: CallEnd,
}

struct CallEnd(Activity);

impl Drop for CallEnd {
    fn drop(&mut self) {
        self.0.call_ended();
    }
}

impl HttpBody for Answer {
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
