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

/// What came back, in whatever form.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Of a stream: the data of its events.
    pub(crate) messages: Vec<Vec<u8>>,
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
        ends: impl Fn(&[u8]) -> bool,
    ) -> Result<HttpAnswer, String> {
        let deadline = until.min(Instant::now() + DEADLINE);
        let attempt = async {
            // The server may have closed a kept connection meanwhile; that is no fault of its.
            if self.connection.as_ref().is_some_and(SendRequest::is_ready)
                && let Ok(answer) = self.exchange(headers, body, &ends).await
            {
                return Ok(answer);
            }
            self.connection = None;
            self.connect().await?;
            self.exchange(headers, body, &ends).await
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
        let agent = concat!("frontdesk-doctor/", env!("CARGO_PKG_VERSION"));
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(agent));
        let started = Instant::now();
        let response = connection.send_request(request).await.map_err(|error| failed(&error))?;
        let (head, body) = response.into_parts();
        let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let (messages, whole) = if kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
            stream_messages(body, ends).await?
        } else {
            (vec![whole_body(body).await?], true)
        };
        // What is left of a stream would be read as the next answer.
        self.connection = whole.then_some(connection);
        Ok(HttpAnswer { status: head.status.as_u16(), headers: head.headers, messages, took: started.elapsed() })
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

/// The messages of a stream, and whether it was read to its end.
async fn stream_messages(mut body: Incoming, ends: &impl Fn(&[u8]) -> bool) -> Result<(Vec<Vec<u8>>, bool), String> {
    let mut stream = EventStream::default();
    let mut messages = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| format!("the stream broke off ({error})"))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > MAX_ANSWER {
            return Err("the stream is larger than 4 MiB and was not read on".to_owned());
        }
        for message in stream.push(&data) {
            let is_last = ends(&message);
            messages.push(message);
            if is_last {
                return Ok((messages, false));
            }
        }
    }
    Ok((messages, true))
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
