//! Stage 1: from an HTTP request to `Incoming`. An error of the transport is stored, and the body is not read yet, because
//! the caller is identified first.

use std::sync::Arc;

use ::http::header::{IF_MATCH, IF_NONE_MATCH};
use ::http::request::Parts;
use ::http::{HeaderName, Method};
use bytes::Bytes;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::limits::body_memory::BodyReservation;
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb, body_memory_full};
use frontdesk_engine::model::route::RouteRequest;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::{Fault, FaultKind};

use super::guard;
use super::headers::{Occurrence, RequestHeaders};
use crate::app::Router;
use crate::config::Config;
use crate::net::{BodyError, ConnectionLimits, IncomingBody, Peer};

pub(super) static TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

pub(super) fn receive(
    config: &Config,
    mount: &Mount,
    head: &Parts,
    headers: &RequestHeaders<'_>,
    body: RequestBody,
    peer: &Peer,
    trace: Trace,
) -> Incoming {
    let token_in_query = head.uri.query().is_some_and(has_token);
    Incoming {
        verb: match head.method {
            Method::POST => Verb::Post,
            Method::GET => Verb::Get,
            Method::PUT => Verb::Put,
            Method::DELETE => Verb::Delete,
            Method::HEAD => Verb::Head,
            _ => Verb::Other,
        },
        credential: if token_in_query { Credential::Unusable } else { credential(mount, headers, peer) },
        protocol_version: joined(headers, headers.protocol_version),
        method_header: joined(headers, headers.method),
        name_header: joined(headers, headers.name),
        route: None,
        idempotency_key: joined(headers, headers.idempotency_key),
        listening: Listening::No,
        import_id: None,
        transport_fault: match guard::refusal(config, &head.uri, headers) {
            Some(why) => Some(Fault::new(FaultKind::HostNotAllowed, why)),
            None if guard::has_ambiguous_framing(headers) => Some(Fault::new(
                FaultKind::Malformed,
                "Ambiguous framing: Transfer-Encoding must be exactly `chunked`.",
            )),
            None if ![Method::POST, Method::PUT].contains(&head.method) => None,
            None => content_type(headers).err(),
        },
        address: peer.address,
        trace,
        body,
    }
}

/// The body, to be read up to this limit.
pub(super) fn lazy_body(body: IncomingBody, limit: usize) -> RequestBody {
    // One that is too large is refused without being read, so it costs nothing.
    let length = body.length().filter(|length| *length <= limit);
    RequestBody::from_counted_reader(length, move |most, reservation| async move {
        collect(limit.min(most), body, reservation.as_deref()).await
    })
}

/// What a request to a route has besides. Repeated preconditions are joined, and then no entity tag of ours.
pub(super) fn route_request(
    head: &Parts,
    headers: &RequestHeaders<'_>,
    path: &str,
    prefix_length: usize,
) -> RouteRequest {
    let header = |name: HeaderName| {
        let values: Vec<String> = head
            .headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    };
    RouteRequest {
        path: path.to_owned(),
        prefix_length,
        query: head.uri.query().map(str::to_owned),
        if_match: header(IF_MATCH),
        if_none_match: header(IF_NONE_MATCH),
        media_type: media_type(headers),
    }
}

/// The trace that the caller has started. A repeated header is ignored.
pub(super) fn trace(headers: &RequestHeaders<'_>) -> Option<Trace> {
    Trace::parse_traceparent(headers.traceparent.single()?.to_str().ok()?)
}

/// The trace under the id that the caller gives it, where the contract allows that. A repeated header is ignored.
pub(super) fn with_trace_id(mount: &Mount, trace: Trace, headers: &RequestHeaders<'_>) -> Trace {
    if !mount.contract.dialect.compatibility().accepts_trace_id {
        return trace;
    }
    match headers.trace_id.single().map(|name| name.to_str()) {
        Some(Ok(name)) => trace.with_name(name),
        Some(Err(_)) | None => trace,
    }
}

/// The same where there is no mount: if any contract here allows it.
pub(super) fn with_any_trace_id(mounts: &Router, trace: Trace, headers: &RequestHeaders<'_>) -> Trace {
    let mut accepting = mounts.iter().filter(|(_, mount)| mount.contract.dialect.compatibility().accepts_trace_id);
    match accepting.next() {
        Some((_, mount)) => with_trace_id(mount, trace, headers),
        None => trace,
    }
}

/// How many bytes of a body are read. A mount with a smaller limit still parses a larger body, to report other errors
/// first; a mount with a larger limit raises it.
pub(crate) fn body_limit(config: &Config, mount: &Mount) -> usize {
    let of_mount = mount.policy.as_ref().map(|policy| policy.payload_bytes);
    config.limits.body_bytes.max(of_mount.unwrap_or_default())
}

/// The value of a header. Invalid UTF-8 and repeated headers give a text that is never a valid value, instead of none: an
/// idempotency key that was sent must not be ignored.
fn joined<'a>(headers: &RequestHeaders<'a>, occurrence: Occurrence<'a>) -> Option<String> {
    let mut values = headers.all(occurrence).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let mut text = values.next()?.into_owned();
    for value in values {
        text.push_str(", ");
        text.push_str(&value);
    }
    Some(text)
}

/// A token in a URL ends up in logs and browser histories, so it is never accepted there.
fn has_token(query: &str) -> bool {
    query.split('&').any(|pair| pair.split('=').next() == Some("access_token"))
}

/// The only credential of a request. Two of them are none: which one counts must not depend on who reads the request.
fn credential(mount: &Mount, headers: &RequestHeaders<'_>, peer: &Peer) -> Credential {
    let others = mount.identity.as_ref().map(|identity| identity.other_credentials()).unwrap_or_default();
    let key = if others.api_key { headers.partner_auth } else { Occurrence::Absent };
    match (bearer(headers.authorization), key) {
        (Credential::Missing, Occurrence::Absent) => match &peer.certificate {
            Some(digest) if others.certificate => Credential::Certificate(Arc::clone(digest)),
            Some(_) | None => Credential::Missing,
        },
        (bearer, Occurrence::Absent) => bearer,
        (Credential::Missing, Occurrence::Once(key)) => match key.to_str() {
            Ok(key) if !key.is_empty() => Credential::ApiKey(key.to_owned()),
            Ok(_) | Err(_) => Credential::Unusable,
        },
        (_, Occurrence::Once(_) | Occurrence::Many(_)) => Credential::Unusable,
    }
}

fn bearer(authorization: Occurrence<'_>) -> Credential {
    match authorization {
        Occurrence::Absent => Credential::Missing,
        Occurrence::Many(_) => Credential::Unusable,
        Occurrence::Once(only) => match only.to_str().ok().and_then(|text| text.split_once(' ')) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && is_token(token) => {
                Credential::Bearer(token.to_owned())
            }
            Some(_) | None => Credential::Unusable,
        },
    }
}

/// The characters of a token by RFC 6750.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte))
}

fn content_type(headers: &RequestHeaders<'_>) -> Result<(), Fault> {
    let error = || {
        Fault::new(
            FaultKind::UnsupportedMediaType,
            "Send the message as `Content-Type: application/json`, in UTF-8 and uncompressed.",
        )
    };
    let encoded =
        headers.all(headers.content_encoding).next().is_some_and(|encoding| encoding.as_bytes() != b"identity");
    let kind = match headers.content_type.single() {
        // The common case needs no parsing.
        Some(kind) if kind == "application/json" && !encoded => return Ok(()),
        Some(kind) => kind.to_str().map_err(|_| error())?.to_ascii_lowercase(),
        None => return Err(error()),
    };
    let (kind, parameters) = kind.split_once(';').unwrap_or((&kind, ""));
    let parameters = parameters.trim().replace('"', "");
    let plain = parameters.is_empty() || parameters == "charset=utf-8" || parameters == "charset=utf8";
    if kind.trim() == "application/json" && plain && !encoded { Ok(()) } else { Err(error()) }
}

/// The type of a body that is not compressed, without parameters.
fn media_type(headers: &RequestHeaders<'_>) -> Option<String> {
    let is_encoded = headers.all(headers.content_encoding).any(|encoding| encoding.as_bytes() != b"identity");
    let value = headers.content_type.single().filter(|_| !is_encoded)?.to_str().ok()?;
    let media_type = value.split(';').next().unwrap_or_default();
    Some(media_type.trim().to_ascii_lowercase())
}

async fn collect(limit: usize, body: IncomingBody, reservation: Option<&BodyReservation>) -> Result<Bytes, Fault> {
    let collected = body.collect_counted(limit, ConnectionLimits::default().body, reservation).await;
    collected.map_err(|error| match error {
        BodyError::NoMemory => body_memory_full(),
        BodyError::TooLarge => Fault::new(FaultKind::TooLarge, format!("The message is larger than {limit} bytes.")),
        BodyError::TooSlow | BodyError::Broken => {
            Fault::new(FaultKind::Malformed, "The message did not arrive completely and in time.")
        }
    })
}
