//! A server that the one under test calls: HTTPS with a certificate of its own, and answers as a test wants them.

use std::collections::VecDeque;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// How a request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiverAnswer {
    Status(u16),
    /// To another address.
    Redirect(String),
    /// Reads everything and never answers.
    Hang,
    /// A body of so many bytes.
    Huge(usize),
    /// A status with this JSON.
    Json(u16, String),
    /// The same after this time.
    Late(Duration, u16, String),
    /// The connection is closed without an answer.
    Close,
}

#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The receiver's own clock, in milliseconds since 1970.
    pub at: i64,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Clones share what was received.
#[derive(Clone)]
pub struct HttpsReceiver {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    /// For the next requests, in this order; the usual one for those after them.
    answers: Arc<Mutex<VecDeque<ReceiverAnswer>>>,
    usual: UsualAnswer,
    connections: Arc<Mutex<usize>>,
}

/// Sees every request, also one whose answer is another one.
type UsualAnswer = Arc<dyn Fn(&ReceivedRequest) -> ReceiverAnswer + Send + Sync>;

impl HttpsReceiver {
    /// For `localhost` and 127.0.0.1. Its certificate is written to `certificate`, which can be trusted as a CA.
    pub fn start(certificate: &Path) -> HttpsReceiver {
        HttpsReceiver::start_with(certificate, |_| ReceiverAnswer::Status(201))
    }

    /// The same for a system that does something with what it receives.
    pub fn start_with(
        certificate: &Path,
        usual: impl Fn(&ReceivedRequest) -> ReceiverAnswer + Send + Sync + 'static,
    ) -> HttpsReceiver {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        fs::write(certificate, made.cert.pem()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(rustls::ALL_VERSIONS)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let receiver = HttpsReceiver {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            answers: Arc::default(),
            usual: Arc::new(usual),
            connections: Arc::default(),
        };
        let (serving, tls) = (receiver.clone(), TlsAcceptor::from(Arc::new(config)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // On a thread of its own: it must answer also while a test waits for a process.
        std::thread::spawn(move || runtime.block_on(serving.serve(listener, tls)));
        receiver
    }

    async fn serve(self, listener: std::net::TcpListener, tls: TlsAcceptor) {
        let listener = TcpListener::from_std(listener).unwrap();
        while let Ok((stream, _)) = listener.accept().await {
            let (serving, tls) = (self.clone(), tls.clone());
            tokio::spawn(async move {
                let Ok(stream) = tls.accept(stream).await else { return };
                *serving.connections.lock().unwrap() += 1;
                let answer = service_fn(move |request| serving.clone().answer(request));
                let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, ClosedByTest> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let headers = head.headers.iter();
        let request = ReceivedRequest {
            method: head.method.to_string(),
            path: head.uri.to_string(),
            headers: headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect(),
            body: String::from_utf8(body.to_vec()).unwrap(),
            at: now(),
        };
        let usual = (self.usual)(&request);
        self.requests.lock().unwrap().push(request);
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(usual);
        let mut response = Response::new(Full::new(Bytes::from_static(b"{}")));
        match answer {
            ReceiverAnswer::Status(status) => *response.status_mut() = StatusCode::from_u16(status).unwrap(),
            ReceiverAnswer::Redirect(to) => {
                *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
                response.headers_mut().insert("location", to.parse().unwrap());
            }
            ReceiverAnswer::Hang => std::future::pending::<()>().await,
            ReceiverAnswer::Huge(bytes) => *response.body_mut() = Full::new(Bytes::from(vec![b' '; bytes])),
            ReceiverAnswer::Json(status, text) => {
                *response.status_mut() = StatusCode::from_u16(status).unwrap();
                *response.body_mut() = Full::new(Bytes::from(text));
            }
            ReceiverAnswer::Late(time, status, text) => {
                tokio::time::sleep(time).await;
                *response.status_mut() = StatusCode::from_u16(status).unwrap();
                *response.body_mut() = Full::new(Bytes::from(text));
            }
            ReceiverAnswer::Close => return Err(ClosedByTest),
        }
        Ok(response)
    }

    /// How the next requests are answered.
    pub fn script(&self, answers: impl IntoIterator<Item = ReceiverAnswer>) {
        self.answers.lock().unwrap().extend(answers);
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Connections that were secured so far.
    pub fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    /// The requests, once there are so many.
    pub async fn wait_for(&self, count: usize) -> Vec<ReceivedRequest> {
        for _ in 0..6000 {
            let requests = self.requests();
            if requests.len() >= count {
                return requests;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{} of {count} requests came", self.requests().len());
    }
}

#[expect(clippy::disallowed_methods, reason = "the receiver stands for another machine, with a clock of its own")]
fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Makes the server drop the connection.
#[derive(Debug)]
struct ClosedByTest;

impl std::fmt::Display for ClosedByTest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("closed by the test")
    }
}

impl std::error::Error for ClosedByTest {}
