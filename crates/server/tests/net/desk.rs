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
use frontdesk::net::{Body, BodyError, Caps, Drained, Gauges, Peer, ResponseBody, Setting, Shutdown, Snapshot, Tls};
use frontdesk::net::{bind, ensure, load};
use http::{Request, Response, StatusCode};
use hyper::body::Frame;
use time::OffsetDateTime;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::support::client::{Client, Connection, trusting};
use crate::support::folder::Folder;

pub(crate) const BODY_LIMIT: usize = 1024 * 1024;
pub(crate) const BIG: usize = 64 * 1024 * 1024;

pub(crate) struct Desk {
    pub(crate) address: SocketAddr,
    pub(crate) ca_file: PathBuf,
    pub(crate) tls: Arc<Tls>,
    pub(crate) shutdown: Shutdown,
    pub(crate) abandoned: Arc<AtomicUsize>,
    pub(crate) serving: JoinHandle<Drained>,
    gauges: Arc<Gauges>,
    _folder: Folder,
}

/// Every deadline short, and each with a length of its own so that a test can tell them apart.
pub(crate) fn impatient() -> Caps {
    Caps {
        handshake: Duration::from_millis(400),
        head: Duration::from_millis(400),
        body: Duration::from_millis(400),
        idle: Duration::from_millis(1200),
        write: Duration::from_millis(600),
        drain: Duration::from_millis(1200),
        ..Caps::default()
    }
}

impl Desk {
    pub(crate) async fn open(caps: Caps) -> Self {
        let folder = Folder::new();
        let certificate = ensure(folder.path(), &[], now()).unwrap();
        let tls = Arc::new(Tls::new(load(&certificate.certificate, &certificate.key).unwrap()));
        let listener = bind(SocketAddr::from(([127, 0, 0, 1], 0)), Setting::Flag("--listen")).await.unwrap();
        let address = listener.local_addr();
        let gauges = Arc::new(Gauges::default());
        let shutdown = Shutdown::new();
        let abandoned = Arc::new(AtomicUsize::new(0));
        let body_deadline = caps.body;
        let noticed = Arc::clone(&abandoned);
        let service = Arc::new(move |request: Request<Body>, peer: Peer| {
            answer(request, peer, body_deadline, Arc::clone(&noticed))
        });
        let serving =
            tokio::spawn(listener.serve(Arc::clone(&tls), caps, Arc::clone(&gauges), service, shutdown.clone()));
        Self { address, ca_file: certificate.ca_file, tls, shutdown, abandoned, serving, gauges, _folder: folder }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address, &self.ca_file)
    }

    pub(crate) async fn connect(&self) -> Connection {
        self.try_connect().await.unwrap()
    }

    pub(crate) async fn try_connect(&self) -> io::Result<Connection> {
        let config = Arc::new(trusting(&self.ca_file, rustls::ALL_VERSIONS));
        Connection::open(self.address, config, "localhost").await
    }

    pub(crate) fn gauges(&self) -> Snapshot {
        self.gauges.snapshot()
    }

    /// Waits until the gauges look as wanted; a test that waits in vain says what it saw.
    pub(crate) async fn until(&self, wanted: impl Fn(Snapshot) -> bool) {
        for _ in 0..500 {
            if wanted(self.gauges()) {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("not seen within 5 s; now {:?}", self.gauges());
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
    request: Request<Body>,
    peer: Peer,
    body_deadline: Duration,
    abandoned: Arc<AtomicUsize>,
) -> Response<ResponseBody> {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/hello" => Response::new(ResponseBody::full("hello")),
        "/peer" => Response::new(ResponseBody::full(peer.address.to_string())),
        "/slow" => {
            let notice = Notice(abandoned);
            sleep(Duration::from_millis(700)).await;
            std::mem::forget(notice);
            Response::new(ResponseBody::full("slow"))
        }
        "/forever" => {
            let _notice = Notice(abandoned);
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
struct Notice(Arc<AtomicUsize>);

impl Drop for Notice {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
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
