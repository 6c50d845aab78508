//! A small collector of traces: takes what OTLP posts to it, and can be told to answer otherwise or not at all.

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

/// How it meets whoever posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Takes,
    /// Takes everything, half a second later.
    Dawdles,
    /// Takes everything, and says more about it than anybody reads.
    Rambles,
    Answers(u16),
    /// Reads everything and never says a word.
    Hangs,
}

#[derive(Clone)]
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    mood: Arc<Mutex<Mood>>,
    posts: Arc<Mutex<Vec<Post>>>,
    /// How often it did not take what was posted.
    refused: Arc<Mutex<usize>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Collector {
    pub(crate) fn open(mood: Mood) -> Collector {
        Collector::listen(mood, None)
    }

    pub(crate) fn open_secured(config: ServerConfig) -> Collector {
        Collector::listen(Mood::Takes, Some(TlsAcceptor::from(Arc::new(config))))
    }

    /// On a thread of its own: it must answer also while a test waits for a desk to end.
    fn listen(mood: Mood, tls: Option<TlsAcceptor>) -> Collector {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let collector =
            Collector { address, mood: Arc::new(Mutex::new(mood)), posts: Arc::default(), refused: Arc::default() };
        let serving = collector.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let serve = async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (serving, tls) = (serving.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => converse(stream, serving).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                converse(stream, serving).await;
                            }
                        }
                    }
                });
            }
        };
        std::thread::spawn(move || runtime.block_on(serve));
        collector
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn turn(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    pub(crate) fn refused(&self) -> usize {
        *self.refused.lock().unwrap()
    }

    pub(crate) fn posts(&self) -> Vec<Post> {
        self.posts.lock().unwrap().clone()
    }

    /// Every span that was posted so far.
    pub(crate) fn spans(&self) -> Vec<Value> {
        let of = |post: &Post| {
            let request: Value = serde_json::from_str(&post.text).unwrap();
            request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
        };
        self.posts().iter().flat_map(of).collect()
    }

    /// The spans of a trace, once all that were posted with them are here.
    pub(crate) async fn trace(&self, id: &str) -> Vec<Value> {
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

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, collector: Collector) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let collector = collector.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            let headers = head.headers.iter();
            let post = Post {
                method: head.method.to_string(),
                path: head.uri.to_string(),
                headers: headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect(),
                text: String::from_utf8(body.to_vec()).unwrap(),
            };
            let now = *collector.mood.lock().unwrap();
            if now == Mood::Dawdles {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            let (status, said) = match now {
                Mood::Takes | Mood::Dawdles => {
                    collector.posts.lock().unwrap().push(post);
                    (200, "{\"partialSuccess\":{}}".to_owned())
                }
                Mood::Rambles => {
                    collector.posts.lock().unwrap().push(post);
                    (200, " ".repeat(1024 * 1024))
                }
                Mood::Answers(status) => {
                    *collector.refused.lock().unwrap() += 1;
                    (status, "{}".to_owned())
                }
                Mood::Hangs => std::future::pending().await,
            };
            let mut response = Response::new(Full::new(Bytes::from(said)));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            Ok::<_, Infallible>(response)
        }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}
