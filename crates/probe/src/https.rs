//! One HTTPS connection to the server that is judged. The other end is not trusted: every request has a deadline, answers
//! have a largest size, no redirect is followed, and nothing is ever sent without TLS.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ProtocolVersion, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{timeout, timeout_at};
use tokio_rustls::TlsConnector;

use crate::event_stream::EventStream;

/// Twice the slowest time that the checklist allows at all.
const DEADLINE: Duration = Duration::from_secs(20);
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// A stream whose answer has come is over; this much later it is not.
const END_OF_STREAM: Duration = Duration::from_secs(2);
/// A longer answer is not read.
const MAX_ANSWER: usize = 4 << 20;

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
    authority: String,
    target: String,
}

impl Endpoint {
    pub(crate) fn parse(text: &str) -> Result<Endpoint, String> {
        let wrong = |reason: &str| format!("{text:?} is no address to check: {reason}");
        let uri: Uri = text.parse().map_err(|_| wrong("write it as https://host/path"))?;
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") => {
                return Err(wrong("it is not HTTPS. TOMO refuses endpoints without TLS, so nothing was sent"));
            }
            Some(_) | None => return Err(wrong("write it as https://host/path")),
        }
        let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
        if authority.as_str().contains('@') {
            // The address is not repeated: it has a password.
            return Err("an address with a user or a password is not called; use --bearer-file".to_owned());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let target = uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
        Ok(Endpoint { host, port: authority.port_u16().unwrap_or(443), authority: authority.to_string(), target })
    }

    async fn tcp(&self) -> Result<TcpStream, String> {
        match timeout(CONNECT_DEADLINE, TcpStream::connect((self.host.as_str(), self.port))).await {
            Ok(Ok(stream)) => {
                // Latencies are measured: small requests must not wait for more.
                let _ = stream.set_nodelay(true);
                Ok(stream)
            }
            Ok(Err(error)) => Err(format!("{} cannot be reached ({error})", self.authority)),
            Err(_) => Err(format!("{} does not accept a connection within 10 seconds", self.authority)),
        }
    }

    /// Whether the server answers somebody who offers TLS 1.1 at most. None if that could not be found out.
    pub(crate) async fn accepts_tls_1_1(&self) -> Option<bool> {
        let mut stream = self.tcp().await.ok()?;
        let answer = async {
            stream.write_all(&tls_1_1_hello()).await?;
            let mut first = [0; 6];
            stream.read_exact(&mut first).await?;
            Ok::<[u8; 6], std::io::Error>(first)
        };
        match timeout(CONNECT_DEADLINE, answer).await {
            // A handshake record that begins with a ServerHello; anything else is a refusal.
            Ok(Ok([record, _, _, _, _, message])) => Some(record == 22 && message == 2),
            Ok(Err(_)) => Some(false),
            Err(_) => None,
        }
    }
}

/// A ClientHello of TLS 1.1 with the suites that servers of its time had.
fn tls_1_1_hello() -> Vec<u8> {
    let suites: [u16; 8] = [0xc013, 0xc014, 0xc009, 0xc00a, 0x002f, 0x0035, 0x000a, 0x00ff];
    // Groups secp256r1 and secp384r1, uncompressed points.
    let extensions: [u8; 16] = [0, 10, 0, 6, 0, 4, 0, 23, 0, 24, 0, 11, 0, 2, 1, 0];
    let mut body = vec![3, 2];
    body.extend_from_slice(&[0x5a; 32]);
    body.push(0);
    body.extend_from_slice(&length(suites.len() * 2));
    body.extend(suites.iter().flat_map(|suite| suite.to_be_bytes()));
    body.extend_from_slice(&[1, 0]);
    body.extend_from_slice(&length(extensions.len()));
    body.extend_from_slice(&extensions);
    let mut message = vec![1, 0];
    message.extend_from_slice(&length(body.len()));
    message.extend(body);
    let mut record = vec![22, 3, 1];
    record.extend_from_slice(&length(message.len()));
    record.extend(message);
    record
}

fn length(of: usize) -> [u8; 2] {
    u16::try_from(of).unwrap_or_default().to_be_bytes()
}

/// The certificate and key with which the caller identifies itself, as PEM.
pub(crate) struct ClientIdentity {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

/// Trusts the authorities of this PEM file only, or those that browsers trust.
pub(crate) fn tls_config(ca: Option<&[u8]>, identity: Option<&ClientIdentity>) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    match ca {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(pem) => {
            let found = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
            if roots.add_parsable_certificates(found).0 == 0 {
                return Err("the file of --ca contains no certificate in PEM".to_owned());
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13, &TLS12])
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain: Vec<CertificateDer<'static>> =
                CertificateDer::pem_slice_iter(&identity.certificate).filter_map(Result::ok).collect();
            let key = PrivateKeyDer::from_pem_slice(&identity.key)
                .map_err(|_| "the file of --client-key contains no key in PEM".to_owned())?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| format!("the files of --client-cert and --client-key do not fit: {error}"))?
        }
    };
    Ok(Arc::new(config))
}

/// How far a stream of events is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamReading {
    /// Until the answer has come.
    ToTheAnswer,
    /// Until the server ends it, which it should do at once after the answer.
    ToItsEnd,
}

/// What became of the form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// It was one document.
    NoStream,
    /// The server ended the stream.
    Ended,
    /// The answer had come and the stream was not read on.
    NotReadOn,
    /// The answer had come and the server kept the stream open.
    KeptOpen,
}

/// What came back, in whatever form.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Of a stream: the data of its events, up to the answer.
    pub(crate) messages: Vec<Vec<u8>>,
    /// How many events came after the answer.
    pub(crate) trailing: usize,
    pub(crate) stream: StreamEnd,
    /// From sending the request to having read the answer.
    pub(crate) took: Duration,
}

pub(crate) struct HttpsClient {
    endpoint: Endpoint,
    tls: Arc<ClientConfig>,
    connection: Option<SendRequest<Full<Bytes>>>,
    version: Option<ProtocolVersion>,
}

impl HttpsClient {
    pub(crate) fn new(endpoint: Endpoint, tls: Arc<ClientConfig>) -> HttpsClient {
        HttpsClient { endpoint, tls, connection: None, version: None }
    }

    /// The version of TLS that was agreed on.
    pub(crate) fn tls_version(&self) -> &'static str {
        if self.version == Some(ProtocolVersion::TLSv1_3) { "TLS 1.3" } else { "TLS 1.2" }
    }

    pub(crate) async fn connect(&mut self) -> Result<(), String> {
        if self.connection.as_ref().is_some_and(SendRequest::is_ready) {
            return Ok(());
        }
        let name = ServerName::try_from(self.endpoint.host.clone())
            .map_err(|_| format!("{:?} is no name that a certificate could have", self.endpoint.host))?;
        let tcp = self.endpoint.tcp().await?;
        let connecting = TlsConnector::from(Arc::clone(&self.tls)).connect(name, tcp);
        let stream = match timeout(CONNECT_DEADLINE, connecting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(format!("the TLS handshake failed ({error})")),
            Err(_) => return Err("the TLS handshake took longer than 10 seconds".to_owned()),
        };
        self.version = stream.get_ref().1.protocol_version();
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| format!("no HTTP/1.1 connection ({error})"))?;
        // It ends when the sender is dropped or the server closes.
        tokio::spawn(connection);
        self.connection = Some(sender);
        Ok(())
    }

    /// Posts a message. A stream is read until `ends` says that it was the last of its messages.
    pub(crate) async fn post(
        &mut self,
        headers: &HeaderMap,
        body: &Bytes,
        until: Instant,
        reading: StreamReading,
        ends: impl Fn(&[u8]) -> bool,
    ) -> Result<HttpAnswer, String> {
        let deadline = until.min(Instant::now() + DEADLINE);
        let attempt = async {
            // The server may have closed a kept connection meanwhile; that is no fault of its.
            if self.connection.as_ref().is_some_and(SendRequest::is_ready)
                && let Ok(answer) = self.exchange(headers, body, reading, &ends).await
            {
                return Ok(answer);
            }
            self.connection = None;
            self.connect().await?;
            self.exchange(headers, body, reading, &ends).await
        };
        match timeout_at(deadline.into(), attempt).await {
            Ok(answer) => answer,
            Err(_) => {
                self.connection = None;
                Err(format!("no whole answer within {} seconds", DEADLINE.as_secs()))
            }
        }
    }

    async fn exchange(
        &mut self,
        headers: &HeaderMap,
        body: &Bytes,
        reading: StreamReading,
        ends: &impl Fn(&[u8]) -> bool,
    ) -> Result<HttpAnswer, String> {
        let mut connection = self.connection.take().ok_or_else(|| "there is no connection".to_owned())?;
        let failed = |error: &dyn std::fmt::Display| format!("the connection broke ({error})");
        let mut request = Request::post(self.endpoint.target.as_str())
            .body(Full::new(body.clone()))
            .map_err(|error| failed(&error))?;
        let host = HeaderValue::try_from(self.endpoint.authority.as_str()).map_err(|error| failed(&error))?;
        request.headers_mut().extend(headers.clone());
        request.headers_mut().insert(HOST, host);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let agent = concat!("frontdesk-probe/", env!("CARGO_PKG_VERSION"));
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(agent));
        let started = Instant::now();
        let response = connection.send_request(request).await.map_err(|error| failed(&error))?;
        let (head, body) = response.into_parts();
        let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
        let read = if is_stream {
            stream_messages(body, started, reading, ends).await?
        } else {
            let messages = vec![whole_body(body).await?];
            StreamRead { messages, trailing: 0, end: StreamEnd::NoStream, took: started.elapsed() }
        };
        // What is left of a stream would be read as the next answer.
        self.connection = match read.end {
            StreamEnd::NoStream | StreamEnd::Ended => Some(connection),
            StreamEnd::NotReadOn | StreamEnd::KeptOpen => None,
        };
        let StreamRead { messages, trailing, end, took } = read;
        Ok(HttpAnswer { status: head.status.as_u16(), headers: head.headers, messages, trailing, stream: end, took })
    }

    /// Posts a message and closes the connection after this time, whatever was answered: a network that fails.
    pub(crate) async fn post_and_cut(&mut self, headers: &HeaderMap, body: &Bytes, after: Duration) {
        if self.connect().await.is_ok() {
            let never = |_: &[u8]| false;
            let exchange = self.exchange(headers, body, StreamReading::ToTheAnswer, &never);
            let _ = timeout(after, exchange).await;
        }
        self.connection = None;
    }
}

async fn whole_body(mut body: Incoming) -> Result<Vec<u8>, String> {
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| format!("the answer broke off ({error})"))?;
        if let Ok(data) = frame.into_data() {
            if read.len() + data.len() > MAX_ANSWER {
                return Err("the answer is larger than 4 MiB and was not read".to_owned());
            }
            read.extend_from_slice(&data);
        }
    }
    Ok(read)
}

struct StreamRead {
    messages: Vec<Vec<u8>>,
    trailing: usize,
    end: StreamEnd,
    took: Duration,
}

async fn stream_messages(
    mut body: Incoming,
    started: Instant,
    reading: StreamReading,
    ends: &impl Fn(&[u8]) -> bool,
) -> Result<StreamRead, String> {
    let mut stream = EventStream::default();
    let mut read = StreamRead { messages: Vec::new(), trailing: 0, end: StreamEnd::Ended, took: Duration::ZERO };
    let mut length = 0;
    let mut answered_at: Option<Instant> = None;
    loop {
        let frame = match answered_at {
            None => body.frame().await,
            Some(at) => match timeout_at((at + END_OF_STREAM).into(), body.frame()).await {
                Ok(frame) => frame,
                Err(_) => {
                    read.end = StreamEnd::KeptOpen;
                    return Ok(read);
                }
            },
        };
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|error| format!("the stream broke off ({error})"))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > MAX_ANSWER {
            return Err("the stream is larger than 4 MiB and was not read on".to_owned());
        }
        for message in stream.push(&data) {
            if answered_at.is_some() {
                read.trailing += 1;
                continue;
            }
            if ends(&message) {
                answered_at = Some(Instant::now());
                read.took = started.elapsed();
            }
            read.messages.push(message);
        }
        if answered_at.is_some() && reading == StreamReading::ToTheAnswer {
            read.end = StreamEnd::NotReadOn;
            return Ok(read);
        }
    }
    if answered_at.is_none() {
        read.took = started.elapsed();
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::Endpoint;

    /// What is found out about a server that answers an offer of TLS 1.1 with these bytes.
    async fn accepts_tls_1_1(answer: &'static [u8]) -> Option<bool> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = Endpoint::parse(&format!("https://{}/", listener.local_addr().unwrap())).unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut hello = [0; 11];
            stream.read_exact(&mut hello).await.unwrap();
            // A handshake record, a ClientHello, TLS 1.1.
            assert_eq!((hello[0], hello[5], &hello[9..11]), (22, 1, &[3, 2][..]));
            stream.write_all(answer).await.unwrap();
        });
        endpoint.accepts_tls_1_1().await
    }

    #[tokio::test]
    async fn a_server_that_takes_an_old_version_is_found() {
        // As OpenSSL begins its ServerHello of TLS 1.1, and its alert `protocol_version`.
        assert_eq!(accepts_tls_1_1(&[22, 3, 2, 0, 89, 2, 0, 0, 85, 3, 2]).await, Some(true));
        assert_eq!(accepts_tls_1_1(&[21, 3, 2, 0, 2, 2, 70]).await, Some(false));
        assert_eq!(accepts_tls_1_1(b"").await, Some(false));
    }

    #[test]
    fn only_https_addresses_are_checked() {
        let endpoint = Endpoint::parse("https://desk.example/mcp/x?y=1").unwrap();
        assert_eq!((endpoint.host.as_str(), endpoint.port), ("desk.example", 443));
        assert_eq!(endpoint.target, "/mcp/x?y=1");
        let ip = Endpoint::parse("https://[::1]:8443/mcp").unwrap();
        assert_eq!((ip.host.as_str(), ip.port, ip.authority.as_str()), ("::1", 8443, "[::1]:8443"));
        for (address, reason) in [
            (
                "http://desk.example/mcp",
                "\"http://desk.example/mcp\" is no address to check: it is not HTTPS. TOMO refuses endpoints without \
                 TLS, so nothing was sent",
            ),
            ("desk.example", "\"desk.example\" is no address to check: write it as https://host/path"),
            ("https://me:pw@desk.example/", "an address with a user or a password is not called; use --bearer-file"),
        ] {
            assert_eq!(Endpoint::parse(address), Err(reason.to_owned()));
        }
    }
}
