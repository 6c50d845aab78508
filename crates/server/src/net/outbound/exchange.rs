//! One connection and one request on it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use frontdesk_engine::ports::http_client::{HttpError, HttpRequest, HttpResponse};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address_guard::AddressGuard;
use super::resolver::Resolver;
use super::target::{Target, TargetHost};

/// How long one address of several may take before the next is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_ADDRESSES: usize = 4;

pub(super) type Sender = SendRequest<Full<Bytes>>;

/// The request for a document.
pub(super) fn document_head(target: &Target, accept: &'static str) -> Option<Request<()>> {
    let mut head = Request::get(target.path.clone()).body(()).ok()?;
    let headers = head.headers_mut();
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    headers.insert(HOST, HeaderValue::try_from(&target.authority).ok()?);
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("frontdesk/", env!("CARGO_PKG_VERSION"))));
    Some(head)
}

/// The request without its body, or none if a header cannot be sent.
pub(super) fn head(target: &Target, request: &HttpRequest) -> Option<Request<()>> {
    let mut head = Request::post(target.path.clone()).body(()).ok()?;
    let headers = head.headers_mut();
    for (name, value) in &request.headers {
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        headers.insert(HeaderName::try_from(*name).ok()?, value);
    }
    headers.insert(HOST, HeaderValue::try_from(&target.authority).ok()?);
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("frontdesk/", env!("CARGO_PKG_VERSION"))));
    Some(head)
}

/// A new connection to an address that was checked. The name is resolved once, and nothing else is connected to.
pub(super) async fn connect(
    target: &Target,
    guard: &AddressGuard,
    resolver: &dyn Resolver,
    tls: &Arc<ClientConfig>,
) -> Result<Sender, HttpError> {
    let addresses: Vec<IpAddr> = match &target.host {
        TargetHost::Address(address) => vec![*address],
        TargetHost::Name(name) => resolver.resolve(name).await.map_err(|_| HttpError::Unreachable)?,
    };
    // One that must not be reached makes the whole name suspect.
    if addresses.iter().any(|address| !guard.allows(*address)) {
        return Err(HttpError::Refused);
    }
    for address in addresses.into_iter().take(MAX_ADDRESSES) {
        let to = SocketAddr::new(address, target.port);
        let Ok(Ok(stream)) = timeout(CONNECT_TIMEOUT, TcpStream::connect(to)).await else { continue };
        if stream.peer_addr().ok() != Some(to) {
            return Err(HttpError::Refused);
        }
        // A request is small, and its answer is waited for.
        let _ = stream.set_nodelay(true);
        let name = target.server_name.clone();
        let Ok(stream) = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await else { continue };
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|_| HttpError::Unreachable)?;
        // It ends when the sender is dropped or the other side closes.
        tokio::spawn(connection);
        return Ok(sender);
    }
    Err(HttpError::Unreachable)
}

/// What came of a request.
pub(super) enum Exchanged {
    /// With the connection, which can be used again.
    Answered(HttpResponse, Sender),
    Failed(HttpError),
    /// Nothing was sent; the request is given back.
    Unsent(Request<Bytes>),
}

/// Sends the request and reads the whole answer.
pub(super) async fn exchange(mut connection: Sender, message: Request<Bytes>, max_response: usize) -> Exchanged {
    if connection.ready().await.is_err() {
        return Exchanged::Unsent(message);
    }
    let (parts, body) = message.into_parts();
    let response = match connection.try_send_request(Request::from_parts(parts, Full::new(body.clone()))).await {
        Ok(response) => response,
        Err(mut error) => {
            return match error.take_message() {
                Some(unsent) => Exchanged::Unsent(unsent.map(|_| body)),
                None => Exchanged::Failed(HttpError::Broken),
            };
        }
    };
    let (head, body) = response.into_parts();
    let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > max_response) {
        return Exchanged::Failed(HttpError::TooLarge);
    }
    match Limited::new(body, max_response).collect().await {
        Ok(body) => {
            let text = |name| head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
            let response = HttpResponse {
                status: head.status.as_u16(),
                body: body.to_bytes(),
                content_type: text(CONTENT_TYPE).map(str::to_owned),
                max_age: text(CACHE_CONTROL).and_then(max_age),
            };
            Exchanged::Answered(response, connection)
        }
        Err(error) if error.is::<LengthLimitError>() => Exchanged::Failed(HttpError::TooLarge),
        Err(_) => Exchanged::Failed(HttpError::Broken),
    }
}

/// For how long an answer may be kept. One that must not be kept says 0.
fn max_age(cache_control: &str) -> Option<u32> {
    let mut words = cache_control.split(',').map(|word| word.trim().to_ascii_lowercase());
    if words.clone().any(|word| word == "no-store" || word == "no-cache") {
        return Some(0);
    }
    words.find_map(|word| word.strip_prefix("max-age=").and_then(|seconds| seconds.parse().ok()))
}
