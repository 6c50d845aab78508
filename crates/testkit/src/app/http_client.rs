//! A small HTTP/1.1 client over TLS that shows everything and hides nothing: no retries, no redirects, no defaults.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Longer than any reply takes on a machine that has much else to do.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Keeps one connection and opens a new one when the server closed it.
pub struct HttpClient {
    address: SocketAddr,
    config: Arc<ClientConfig>,
    connection: Option<HttpConnection>,
    /// Connections opened so far.
    pub opened: usize,
}

/// One TLS connection, for tests that send bytes of their own.
pub struct HttpConnection {
    stream: TlsStream<TcpStream>,
    unread: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpClient {
    /// A client that trusts the certificate authority in `ca_file` alone.
    pub fn new(address: SocketAddr, ca_file: &Path) -> Self {
        Self { address, config: Arc::new(trusting(ca_file, rustls::ALL_VERSIONS)), connection: None, opened: 0 }
    }

    /// The same with a certificate of its own, as DER, and a key that need not be its key.
    pub fn with_certificate(address: SocketAddr, ca_file: &Path, certificate: Vec<u8>, key: Vec<u8>) -> Self {
        let provider = rustls::crypto::ring::default_provider();
        let key = provider.key_provider.load_private_key(PrivateKeyDer::try_from(key).unwrap()).unwrap();
        let certified = CertifiedKey::new(vec![CertificateDer::from(certificate)], key);
        let config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots(ca_file))
            .with_client_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        Self { address, config: Arc::new(config), connection: None, opened: 0 }
    }

    /// Sends a request and reads its reply. `host` and `content-length` are added unless given.
    /// Panics with the cause when there is none; see [`HttpClient::try_request`].
    pub async fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> HttpResponse {
        self.try_request(method, path, headers, body).await.unwrap_or_else(|cause| panic!("{method} {path}: {cause}"))
    }

    pub async fn get(&mut self, path: &str) -> HttpResponse {
        self.request("GET", path, &[], "").await
    }

    pub async fn try_request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> io::Result<HttpResponse> {
        let body = body.as_ref();
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                self.opened += 1;
                HttpConnection::open(self.address, Arc::clone(&self.config), "localhost").await?
            }
        };
        connection.send(head(self.address, method, path, headers, body).as_bytes()).await?;
        connection.send(body).await?;
        let response = connection.receive_reply_to(method).await?;
        if response.header("connection") != Some("close") {
            self.connection = Some(connection);
        }
        Ok(response)
    }
}

fn head(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> String {
    let given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    if !given("host") {
        head += &format!("host: localhost:{}\r\n", address.port());
    }
    let framed = given("content-length") || given("transfer-encoding");
    if !framed && (!body.is_empty() || method == "POST") {
        head += &format!("content-length: {}\r\n", body.len());
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head + "\r\n"
}

/// A TLS configuration that trusts `ca_file` alone and speaks these versions.
pub fn trusting(ca_file: &Path, versions: &[&'static SupportedProtocolVersion]) -> ClientConfig {
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots(ca_file))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

fn roots(ca_file: &Path) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(ca_file).unwrap()).unwrap();
    roots
}

impl HttpConnection {
    pub async fn open(address: SocketAddr, config: Arc<ClientConfig>, name: &'static str) -> io::Result<Self> {
        let socket = TcpStream::connect(address).await?;
        // Head and body are two writes; without this the second waits 40 ms for the first to be acknowledged.
        socket.set_nodelay(true)?;
        Self::over(socket, config, name).await
    }

    /// Opens over a socket that the test has prepared.
    pub async fn over(socket: TcpStream, config: Arc<ClientConfig>, name: &'static str) -> io::Result<Self> {
        let name = ServerName::try_from(name).unwrap();
        let stream = with_timeout(TlsConnector::from(config).connect(name, socket)).await?;
        Ok(Self { stream, unread: Vec::new() })
    }

    pub fn version(&self) -> Option<ProtocolVersion> {
        self.stream.get_ref().1.protocol_version()
    }

    /// The certificate of the server.
    pub fn certificate(&self) -> Vec<u8> {
        self.stream.get_ref().1.peer_certificates().unwrap().first().unwrap().to_vec()
    }

    pub fn application_protocol(&self) -> Option<&[u8]> {
        self.stream.get_ref().1.alpn_protocol()
    }

    /// Exactly these bytes, flushed.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// The socket beneath TLS, for bytes that are no TLS at all.
    pub fn socket(&mut self) -> &mut TcpStream {
        self.stream.get_mut().0
    }

    /// The next reply, to anything but a HEAD request.
    pub async fn receive(&mut self) -> io::Result<HttpResponse> {
        self.receive_reply_to("GET").await
    }

    pub async fn receive_reply_to(&mut self, method: &str) -> io::Result<HttpResponse> {
        with_timeout(self.read_reply(method)).await
    }

    /// The head of a reply whose body comes bit by bit.
    pub async fn receive_head(&mut self) -> io::Result<HttpResponse> {
        parse_head(&with_timeout(self.take_head()).await?)
    }

    /// The next chunk of such a body; empty at its end.
    pub async fn receive_event(&mut self) -> String {
        let chunk = with_timeout(self.take_chunk()).await.unwrap_or_else(|cause| panic!("no chunk: {cause}"));
        String::from_utf8(chunk).unwrap()
    }

    /// Waits for `100 Continue`, after which the server reads the body.
    pub async fn receive_continue(&mut self) {
        let head = with_timeout(self.take_head()).await.unwrap();
        assert_eq!(parse_head(&head).unwrap().status, 100, "{head}");
    }

    /// How long the server took to close, discarding whatever it sent before.
    pub async fn closed_after(&mut self) -> Duration {
        let start = Instant::now();
        let closed = async {
            let mut scratch = vec![0; 64 * 1024];
            while !matches!(self.stream.read(&mut scratch).await, Ok(0) | Err(_)) {}
            Ok(())
        };
        with_timeout(closed).await.unwrap();
        start.elapsed()
    }

    async fn read_reply(&mut self, method: &str) -> io::Result<HttpResponse> {
        loop {
            let head = self.take_head().await?;
            let mut response = parse_head(&head)?;
            // An interim response such as `100 Continue` is not the reply.
            if response.status < 200 {
                continue;
            }
            let bodiless = method == "HEAD" || response.status == 204 || response.status == 304;
            if !bodiless {
                response.body = self.take_body(&response).await?;
            }
            return Ok(response);
        }
    }

    async fn take_head(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                let head: Vec<u8> = self.unread.drain(..end + 4).collect();
                return String::from_utf8(head).map_err(io::Error::other);
            }
            self.read_more().await?;
        }
    }

    async fn take_body(&mut self, response: &HttpResponse) -> io::Result<Vec<u8>> {
        if response.header("transfer-encoding") == Some("chunked") {
            return self.take_chunks().await;
        }
        if let Some(length) = response.header("content-length") {
            return self.take(length.parse().map_err(io::Error::other)?).await;
        }
        while self.read_more().await.is_ok() {}
        Ok(std::mem::take(&mut self.unread))
    }

    async fn take_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let chunk = self.take_chunk().await?;
            if chunk.is_empty() {
                return Ok(body);
            }
            body.extend(chunk);
        }
    }

    async fn take_chunk(&mut self) -> io::Result<Vec<u8>> {
        let line = self.take_line().await?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        let chunk = self.take(length).await?;
        self.take_line().await?;
        Ok(chunk)
    }

    async fn take_line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return String::from_utf8(line).map_err(io::Error::other);
            }
            self.read_more().await?;
        }
    }

    async fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.unread.len() < length {
            self.read_more().await?;
        }
        Ok(self.unread.drain(..length).collect())
    }

    async fn read_more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.unread).await? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection")),
            _ => Ok(()),
        }
    }
}

fn parse_head(head: &str) -> io::Result<HttpResponse> {
    let mut lines = head.trim_end().split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("not an HTTP response: {head:?}")))?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Ok(HttpResponse { status, headers, body: Vec::new() })
}

impl HttpResponse {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|cause| panic!("{cause}: {:?}", self.text()))
    }
}

async fn with_timeout<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(TIMEOUT, work).await.unwrap_or_else(|_| Err(io::Error::other("no reply in a minute")))
}
