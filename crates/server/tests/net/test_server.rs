//! A desk with a few paths that behave well or badly, on a free port of this machine.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use frontdesk::net::{
    AddressSource, BodyError, ConnectionCounters, ConnectionCounts, ConnectionLimits, DrainResult, IncomingBody, Peer,
    ResponseBody, Shutdown, Tls,
};
use frontdesk::net::{bind, ensure, load};
use http::{Request, Response, StatusCode};
use hyper::body::Frame;
use time::OffsetDateTime;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpConnection, trusting};

pub(crate) const BODY_LIMIT: usize = 1024 * 1024;
pub(crate) const BIG: usize = 64 * 1024 * 1024;

pub(crate) struct Desk {
    pub(crate) address: SocketAddr,
    pub(crate) ca_file: PathBuf,
    pub(crate) tls: Arc<Tls>,
    pub(crate) shutdown: Shutdown,
    pub(crate) calls: Arc<Calls>,
    pub(crate) serving: JoinHandle<DrainResult>,
    gauges: Arc<ConnectionCounters>,
    _folder: TestFolder,
}

/// Calls that take a while.
pub(crate) struct Calls {
    pub(crate) begun: AtomicUsize,
    /// Dropped before their end.
    pub(crate) abandoned: AtomicUsize,
    /// A slow call waits for a permit.
    pub(crate) may_end: Semaphore,
}

/// What a short deadline is: long enough for an honest client on a busy machine.
pub(crate) const SHORT: Duration = Duration::from_millis(1500);
/// Whatever takes so long was not ended by a short deadline.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Every deadline long. A test makes those short that it is about, so that no other can be meant.
pub(crate) fn patient() -> ConnectionLimits {
    ConnectionLimits {
        handshake: LONG,
        head: LONG,
        body: LONG,
        idle: LONG,
        write: LONG,
        drain: LONG,
        ..ConnectionLimits::default()
    }
}

impl Desk {
    pub(crate) async fn open(caps: ConnectionLimits) -> Self {
        let folder = TestFolder::new();
        let certificate = ensure(folder.path(), &[], now()).unwrap();
        let tls = Arc::new(Tls::new(load(&certificate.certificate, &certificate.key).unwrap()));
        let listener = bind(SocketAddr::from(([127, 0, 0, 1], 0)), AddressSource::Flag("--listen")).await.unwrap();
        let address = listener.local_addr();
        let gauges = Arc::new(ConnectionCounters::default());
        let shutdown = Shutdown::new();
        let calls = Arc::new(Calls { begun: 0.into(), abandoned: 0.into(), may_end: Semaphore::new(0) });
        let body_deadline = caps.body;
        let noticed = Arc::clone(&calls);
        let service = Arc::new(move |request: Request<IncomingBody>, peer: Peer| {
            answer(request, peer, body_deadline, Arc::clone(&noticed))
        });
        let serving =
            tokio::spawn(listener.serve(Arc::clone(&tls), caps, Arc::clone(&gauges), service, shutdown.clone()));
        Self { address, ca_file: certificate.ca_file, tls, shutdown, calls, serving, gauges, _folder: folder }
    }

    pub(crate) fn client(&self) -> HttpClient {
        HttpClient::new(self.address, &self.ca_file)
    }

    pub(crate) async fn connect(&self) -> HttpConnection {
        self.try_connect().await.unwrap()
    }

    pub(crate) async fn try_connect(&self) -> io::Result<HttpConnection> {
        let config = Arc::new(trusting(&self.ca_file, rustls::ALL_VERSIONS));
        HttpConnection::open(self.address, config, "localhost").await
    }

    pub(crate) fn gauges(&self) -> ConnectionCounts {
        self.gauges.snapshot()
    }

    /// Waits until the gauges look as wanted; a test that waits in vain says what it saw.
    pub(crate) async fn until(&self, wanted: impl Fn(ConnectionCounts) -> bool) {
        for _ in 0..3000 {
            if wanted(self.gauges()) {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("not seen within 30 s; now {:?}", self.gauges());
    }

    /// Waits until a call that takes a while has begun.
    pub(crate) async fn until_called(&self) {
        while self.calls.begun.load(Ordering::SeqCst) == 0 {
            sleep(Duration::from_millis(10)).await;
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the client's verifier reads the real clock, so the certificate must too"
)]
pub(crate) fn now() -> OffsetDateTime {
    OffsetDateTime::from(SystemTime::now())
}

async fn answer(
    request: Request<IncomingBody>,
    peer: Peer,
    body_deadline: Duration,
    calls: Arc<Calls>,
) -> Response<ResponseBody> {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/hello" => Response::new(ResponseBody::full("hello")),
        "/peer" => Response::new(ResponseBody::full(peer.address.to_string())),
        "/slow" => {
            let notice = Notice::of(&calls);
            let _ = calls.may_end.acquire().await;
            std::mem::forget(notice);
            Response::new(ResponseBody::full("slow"))
        }
        "/forever" => {
            let _notice = Notice::of(&calls);
            std::future::pending::<Infallible>().await;
            Response::new(ResponseBody::empty())
        }
        "/big" => Response::new(ResponseBody::full(vec![b'x'; BIG])),
        "/stream" => Response::new(ResponseBody::stream(Pieces(["one ", "two ", "three"].into()))),
        "/panic" => panic!("a secret that no client may read"),
        "/ignore-body" => Response::new(ResponseBody::full("ignored")),
        "/echo" => match request.into_body().collect(BODY_LIMIT, body_deadline).await {
            Ok(bytes) => Response::new(ResponseBody::full(bytes)),
            Err(BodyError::TooLarge) => refusal(StatusCode::PAYLOAD_TOO_LARGE),
            Err(BodyError::TooSlow) => refusal(StatusCode::REQUEST_TIMEOUT),
            Err(BodyError::NoMemory) => refusal(StatusCode::SERVICE_UNAVAILABLE),
            Err(BodyError::Broken) => refusal(StatusCode::BAD_REQUEST),
        },
        _ => refusal(StatusCode::NOT_FOUND),
    }
}

fn refusal(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = status;
    response
}

/// Counts the calls that were dropped before their end.
struct Notice(Arc<Calls>);

impl Notice {
    fn of(calls: &Arc<Calls>) -> Notice {
        calls.begun.fetch_add(1, Ordering::SeqCst);
        Notice(Arc::clone(calls))
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        self.0.abandoned.fetch_add(1, Ordering::SeqCst);
    }
}

struct Pieces(VecDeque<&'static str>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(Bytes::from(piece)))))
    }
}
