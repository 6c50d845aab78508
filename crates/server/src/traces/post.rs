//! One POST to the collector, over a connection that is kept while it is good. Every post has a deadline, and nothing
//! that a collector answers is believed beyond its status and how many spans it did not want.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use ::http::{HeaderMap, HeaderValue, Request, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::config::Endpoint;

const DEADLINE: Duration = Duration::from_secs(5);
/// More than a collector has to say.
const LONGEST_ANSWER: usize = 64 * 1024;

pub(super) struct Post {
    pub(super) endpoint: Endpoint,
    pub(super) secured: Secured,
    pub(super) headers: HeaderMap,
    pub(super) kept: Option<SendRequest<Full<Bytes>>>,
}

/// How the bytes travel.
pub(super) enum Secured {
    ByThisMachine,
    ByTls(Arc<ClientConfig>),
}

/// Why a post came to nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It may be taken later.
    Passing(String),
    Lasting(String),
}

impl Post {
    /// How many spans the collector did not want.
    pub(super) async fn send(&mut self, body: Bytes) -> Result<u64, Trouble> {
        match timeout(DEADLINE, self.attempt(body)).await {
            Ok(answered) => answered,
            Err(_) => {
                let seconds = DEADLINE.as_secs();
                Err(Trouble::Passing(format!("{} did not answer within {seconds} seconds", self.endpoint)))
            }
        }
    }

    async fn attempt(&mut self, body: Bytes) -> Result<u64, Trouble> {
        // A kept connection may have been closed at the other end; that is no failure of the collector.
        if let Some(kept) = self.kept.take().filter(SendRequest::is_ready)
            && let Ok(answered) = self.ask(kept, body.clone()).await
        {
            return self.judge(answered);
        }
        let asked = match self.connect().await {
            Ok(fresh) => self.ask(fresh, body).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(answered) => self.judge(answered),
            Err(error) => Err(Trouble::Passing(format!("{} cannot be reached ({error})", self.endpoint))),
        }
    }

    async fn connect(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        let host = self.endpoint.host();
        let found: Vec<SocketAddr> = lookup_host((host, self.endpoint.port())).await?.collect();
        match &self.secured {
            Secured::ByThisMachine => {
                // Whatever `localhost` has been made to mean, clear text stays here.
                let here: Vec<SocketAddr> = found.into_iter().filter(|address| address.ip().is_loopback()).collect();
                speak(TcpStream::connect(here.as_slice()).await?).await
            }
            Secured::ByTls(config) => {
                let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
                let stream = TcpStream::connect(found.as_slice()).await?;
                speak(TlsConnector::from(Arc::clone(config)).connect(name, stream).await?).await
            }
        }
    }

    async fn ask(&mut self, mut way: SendRequest<Full<Bytes>>, body: Bytes) -> io::Result<(StatusCode, Bytes)> {
        let mut request =
            Request::post(self.endpoint.target().clone()).body(Full::new(body)).map_err(io::Error::other)?;
        let headers = request.headers_mut();
        headers.extend(self.headers.clone());
        headers.insert(HOST, HeaderValue::try_from(self.endpoint.authority()).map_err(io::Error::other)?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("frontdesk/", env!("CARGO_PKG_VERSION"))));
        let response = way.send_request(request).await.map_err(io::Error::other)?;
        let (head, body) = response.into_parts();
        // The status has said what became of the spans. An answer that is too long or breaks off only costs the connection.
        let Ok(body) = Limited::new(body, LONGEST_ANSWER).collect().await else {
            return Ok((head.status, Bytes::new()));
        };
        self.kept = Some(way);
        Ok((head.status, body.to_bytes()))
    }

    /// OTLP names the statuses after which a repetition makes sense.
    fn judge(&self, (status, body): (StatusCode, Bytes)) -> Result<u64, Trouble> {
        if status.is_success() {
            return Ok(rejected(&body));
        }
        let why = format!("{} answered {}", self.endpoint, status.as_u16());
        match status.as_u16() {
            429 | 502 | 503 | 504 => Err(Trouble::Passing(why)),
            _ => Err(Trouble::Lasting(why)),
        }
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> io::Result<SendRequest<Full<Bytes>>> {
    let (way, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // It ends when the other half is dropped or the collector closes.
    tokio::spawn(connection);
    Ok(way)
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Answer {
    partial_success: Partial,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Partial {
    rejected_spans: Count,
}

/// A whole number is text in OTLP's JSON, but not everybody writes it so.
#[derive(Deserialize)]
#[serde(untagged)]
enum Count {
    Number(u64),
    Text(String),
}

impl Default for Count {
    fn default() -> Count {
        Count::Number(0)
    }
}

fn rejected(body: &[u8]) -> u64 {
    match serde_json::from_slice::<Answer>(body).unwrap_or_default().partial_success.rejected_spans {
        Count::Number(count) => count,
        Count::Text(text) => text.parse().unwrap_or_default(),
    }
}
