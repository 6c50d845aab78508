//! Posts batches to the collector over a kept-alive connection. Every request has a deadline, and only the status and the
//! number of rejected spans of an answer are used.

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

use crate::config::CollectorUrl;

const DEADLINE: Duration = Duration::from_secs(5);
/// Longer answers are not read.
const MAX_RESPONSE: usize = 64 * 1024;

pub(super) struct OtlpClient {
    pub(super) endpoint: CollectorUrl,
    pub(super) transport: Transport,
    pub(super) headers: HeaderMap,
    pub(super) connection: Option<SendRequest<Full<Bytes>>>,
}

/// How the collector is connected to.
pub(super) enum Transport {
    /// Without TLS, on this machine only.
    Loopback,
    Tls(Arc<ClientConfig>),
}

/// Why an export failed.
#[derive(Debug)]
pub(super) enum ExportError {
    /// A retry may succeed.
    Retryable(String),
    Permanent(String),
}

impl OtlpClient {
    /// Returns how many spans the collector rejected.
    pub(super) async fn send(&mut self, body: Bytes) -> Result<u64, ExportError> {
        match timeout(DEADLINE, self.attempt(body)).await {
            Ok(result) => result,
            Err(_) => {
                let seconds = DEADLINE.as_secs();
                Err(ExportError::Retryable(format!("{} did not answer within {seconds} seconds", self.endpoint)))
            }
        }
    }

    async fn attempt(&mut self, body: Bytes) -> Result<u64, ExportError> {
        // The other end may have closed a kept-alive connection; that is not an error.
        if let Some(connection) = self.connection.take().filter(SendRequest::is_ready)
            && let Ok(response) = self.post(connection, body.clone()).await
        {
            return self.evaluate(response);
        }
        let response = match self.connect().await {
            Ok(connection) => self.post(connection, body).await,
            Err(error) => Err(error),
        };
        match response {
            Ok(response) => self.evaluate(response),
            Err(error) => Err(ExportError::Retryable(format!("{} cannot be reached ({error})", self.endpoint))),
        }
    }

    async fn connect(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        let host = self.endpoint.host();
        let found: Vec<SocketAddr> = lookup_host((host, self.endpoint.port())).await?.collect();
        match &self.transport {
            Transport::Loopback => {
                // Whatever `localhost` resolves to, cleartext stays on this machine.
                let here: Vec<SocketAddr> = found.into_iter().filter(|address| address.ip().is_loopback()).collect();
                handshake_http(TcpStream::connect(here.as_slice()).await?).await
            }
            Transport::Tls(config) => {
                let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
                let stream = TcpStream::connect(found.as_slice()).await?;
                handshake_http(TlsConnector::from(Arc::clone(config)).connect(name, stream).await?).await
            }
        }
    }

    async fn post(&mut self, mut connection: SendRequest<Full<Bytes>>, body: Bytes) -> io::Result<(StatusCode, Bytes)> {
        let mut request =
            Request::post(self.endpoint.target().clone()).body(Full::new(body)).map_err(io::Error::other)?;
        let headers = request.headers_mut();
        headers.extend(self.headers.clone());
        headers.insert(HOST, HeaderValue::try_from(self.endpoint.authority()).map_err(io::Error::other)?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("frontdesk/", env!("CARGO_PKG_VERSION"))));
        let response = connection.send_request(request).await.map_err(io::Error::other)?;
        let (head, body) = response.into_parts();
        // The status is known. An answer that is too long or incomplete only closes the connection.
        let Ok(body) = Limited::new(body, MAX_RESPONSE).collect().await else {
            return Ok((head.status, Bytes::new()));
        };
        self.connection = Some(connection);
        Ok((head.status, body.to_bytes()))
    }

    /// OTLP defines which statuses can be retried.
    fn evaluate(&self, (status, body): (StatusCode, Bytes)) -> Result<u64, ExportError> {
        if status.is_success() {
            return Ok(rejected(&body));
        }
        let why = format!("{} answered {}", self.endpoint, status.as_u16());
        match status.as_u16() {
            429 | 502 | 503 | 504 => Err(ExportError::Retryable(why)),
            _ => Err(ExportError::Permanent(why)),
        }
    }
}

async fn handshake_http(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> io::Result<SendRequest<Full<Bytes>>> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // It ends when the sender is dropped or the collector closes.
    tokio::spawn(connection);
    Ok(sender)
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct OtlpResponse {
    partial_success: PartialSuccess,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    rejected_spans: Int64,
}

/// OTLP writes 64-bit integers as strings, but not every collector does.
#[derive(Deserialize)]
#[serde(untagged)]
enum Int64 {
    Number(u64),
    Text(String),
}

impl Default for Int64 {
    fn default() -> Int64 {
        Int64::Number(0)
    }
}

fn rejected(body: &[u8]) -> u64 {
    match serde_json::from_slice::<OtlpResponse>(body).unwrap_or_default().partial_success.rejected_spans {
        Int64::Number(count) => count,
        Int64::Text(text) => text.parse().unwrap_or_default(),
    }
}
