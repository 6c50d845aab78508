//! A small trace collector: accepts OTLP over HTTP, and can be told to fail, to delay or to hang.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// How it replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectorMode {
    Accept,
    /// Accepts everything, half a second later.
    Delay,
    /// Accepts everything, with a reply of a megabyte.
    LongReply,
    Status(u16),
    /// Reads everything and never replies.
    Hang,
}

#[derive(Clone)]
pub struct TraceCollector {
    pub address: SocketAddr,
    mode: Arc<Mutex<CollectorMode>>,
    posts: Arc<Mutex<Vec<OtlpPost>>>,
    /// How many posts it did not accept.
    refused: Arc<Mutex<usize>>,
}

#[derive(Debug, Clone)]
pub struct OtlpPost {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub text: String,
}

impl TraceCollector {
    pub fn start(mode: CollectorMode) -> TraceCollector {
        TraceCollector::listen(mode, None)
    }

    pub fn start_with_tls(config: ServerConfig) -> TraceCollector {
        TraceCollector::listen(CollectorMode::Accept, Some(TlsAcceptor::from(Arc::new(config))))
    }

    /// On a thread of its own: it must reply also while a test waits for the application to stop.
    fn listen(mode: CollectorMode, tls: Option<TlsAcceptor>) -> TraceCollector {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let collector = TraceCollector {
            address,
            mode: Arc::new(Mutex::new(mode)),
            posts: Arc::default(),
            refused: Arc::default(),
        };
        let serving = collector.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let serve = async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (serving, tls) = (serving.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve_connection(stream, serving).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve_connection(stream, serving).await;
                            }
                        }
                    }
                });
            }
        };
        std::thread::spawn(move || runtime.block_on(serve));
        collector
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn set_mode(&self, mode: CollectorMode) {
        *self.mode.lock().unwrap() = mode;
    }

    pub fn refused(&self) -> usize {
        *self.refused.lock().unwrap()
    }

    pub fn posts(&self) -> Vec<OtlpPost> {
        self.posts.lock().unwrap().clone()
    }

    /// Every span that was posted so far.
    pub fn spans(&self) -> Vec<Value> {
        let of = |post: &OtlpPost| {
            let request: Value = serde_json::from_str(&post.text).unwrap();
            request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
        };
        self.posts().iter().flat_map(of).collect()
    }

    /// The spans of a trace, once all that were posted with them are here.
    pub async fn trace(&self, id: &str) -> Vec<Value> {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let spans: Vec<Value> = self.spans().into_iter().filter(|span| span["traceId"] == id).collect();
            if !spans.is_empty() {
                return spans;
            }
            assert!(Instant::now() < deadline, "no span of {id} came");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn serve_connection(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, collector: TraceCollector) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let collector = collector.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            let headers = head.headers.iter();
            let post = OtlpPost {
                method: head.method.to_string(),
                path: head.uri.to_string(),
                headers: headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect(),
                text: String::from_utf8(body.to_vec()).unwrap(),
            };
            let now = *collector.mode.lock().unwrap();
            if now == CollectorMode::Delay {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            let (status, text) = match now {
                CollectorMode::Accept | CollectorMode::Delay => {
                    collector.posts.lock().unwrap().push(post);
                    (200, "{\"partialSuccess\":{}}".to_owned())
                }
                CollectorMode::LongReply => {
                    collector.posts.lock().unwrap().push(post);
                    (200, " ".repeat(1024 * 1024))
                }
                CollectorMode::Status(status) => {
                    *collector.refused.lock().unwrap() += 1;
                    (status, "{}".to_owned())
                }
                CollectorMode::Hang => std::future::pending().await,
            };
            let mut response = Response::new(Full::new(Bytes::from(text)));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            Ok::<_, Infallible>(response)
        }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}
