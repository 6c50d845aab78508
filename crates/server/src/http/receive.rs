//! Stage 1: from an HTTP request to `Incoming`. Whatever is wrong with the transport is written down
//! and held, and the body stays where it is, because the caller comes first.

use ::http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use ::http::{HeaderMap, HeaderName, Method, Request};
use bytes::Bytes;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::incoming::{Arriving, Credential, Incoming, Verb};
use frontdesk_engine::trace::Trace;
use frontdesk_engine::{Fault, FaultKind};

use super::guard;
use crate::config::Config;
use crate::net::{Body, BodyError, Caps, Peer};

// Names that are read for every call, parsed once.
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");
static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(super) static TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");
static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

pub(super) fn receive(config: &Config, mount: &Mount, request: Request<Body>, peer: Peer, trace: Trace) -> Incoming {
    let (head, body) = request.into_parts();
    let headers = &head.headers;
    let in_query = head.uri.query().is_some_and(has_token);
    let text = |name: &HeaderName| one_text(headers, name);
    Incoming {
        verb: match head.method {
            Method::POST => Verb::Post,
            Method::GET => Verb::Get,
            Method::DELETE => Verb::Delete,
            _ => Verb::Other,
        },
        credential: if in_query { Credential::Unusable } else { credential(headers) },
        protocol_version: text(&PROTOCOL_VERSION),
        method_header: text(&METHOD),
        name_header: text(&NAME),
        idempotency_key: text(&IDEMPOTENCY_KEY),
        refused: match guard::refuse(config, &head.uri, headers) {
            Some(why) => Some(Fault::new(FaultKind::WrongHost, why)),
            None if guard::has_two_ends(headers) => {
                Some(Fault::new(FaultKind::Malformed, "The message's end can be found in two ways."))
            }
            None if head.method != Method::POST => None,
            None => media(headers).err(),
        },
        address: peer.address,
        trace,
        body: Arriving::later(collect(most(config, mount), body)),
    }
}

/// The trace that the caller has begun; two of them are none.
pub(super) fn trace(headers: &HeaderMap) -> Option<Trace> {
    let mut given = headers.get_all(&TRACEPARENT).iter();
    match (given.next(), given.next()) {
        (Some(only), None) => Trace::continued(only.to_str().ok()?),
        (Some(_), Some(_)) | (None, _) => None,
    }
}

/// The same trace as the caller calls it, at mounts where it may; two names are none.
pub(super) fn named(mount: &Mount, trace: Trace, headers: &HeaderMap) -> Trace {
    if !mount.contract.dialect.manners().takes_traces {
        return trace;
    }
    let mut given = headers.get_all(&TRACE_ID).iter();
    match (given.next().map(|name| name.to_str()), given.next()) {
        (Some(Ok(name)), None) => trace.called(name),
        (Some(Ok(_)), Some(_)) | (Some(Err(_)) | None, _) => trace,
    }
}

/// How much of a body is read at all. A door looks into what is too large for it, to say first what else is wrong;
/// and where it takes more than others, that much is read.
pub(crate) fn most(config: &Config, mount: &Mount) -> usize {
    let door = mount.door.as_ref().map(|door| door.payload_bytes);
    config.limits.body_bytes.max(door.unwrap_or_default())
}

/// What a header says. Bytes that are no text, or a second header of the name, are kept in a form that
/// no reader takes for a value: passed over, a key that was sent would protect nothing.
fn one_text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let mut text = values.next()?.into_owned();
    for value in values {
        text.push_str(", ");
        text.push_str(&value);
    }
    Some(text)
}

/// A token in an address ends up in logs and histories, so it is not evaluated there, ever.
fn has_token(query: &str) -> bool {
    query.split('&').any(|pair| pair.split('=').next() == Some("access_token"))
}

fn credential(headers: &HeaderMap) -> Credential {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (None, _) => Credential::Missing,
        (Some(_), Some(_)) => Credential::Unusable,
        (Some(only), None) => match only.to_str().ok().and_then(|text| text.split_once(' ')) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && is_token(token) => {
                Credential::Bearer(token.to_owned())
            }
            Some(_) | None => Credential::Unusable,
        },
    }
}

/// RFC 6750's alphabet; anything else cannot be one of anybody's tokens.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte))
}

fn media(headers: &HeaderMap) -> Result<(), Fault> {
    let wrong = || {
        Fault::new(
            FaultKind::WrongMedia,
            "Send the message as `Content-Type: application/json`, in UTF-8 and uncompressed.",
        )
    };
    let encoded = headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding.as_bytes() != b"identity");
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let kind = match (kinds.next(), kinds.next()) {
        // What nearly everybody sends, which needs no reading.
        (Some(kind), None) if kind == "application/json" && !encoded => return Ok(()),
        (Some(kind), None) => kind.to_str().map_err(|_| wrong())?.to_ascii_lowercase(),
        (Some(_), Some(_)) | (None, _) => return Err(wrong()),
    };
    let (kind, parameters) = kind.split_once(';').unwrap_or((&kind, ""));
    let parameters = parameters.trim().replace('"', "");
    let plain = parameters.is_empty() || parameters == "charset=utf-8" || parameters == "charset=utf8";
    match kind.trim() == "application/json" && plain && !encoded {
        true => Ok(()),
        false => Err(wrong()),
    }
}

async fn collect(most: usize, body: Body) -> Result<Bytes, Fault> {
    body.collect(most, Caps::default().body).await.map_err(|error| match error {
        BodyError::TooLarge => Fault::new(FaultKind::TooLarge, format!("The message is larger than {most} bytes.")),
        BodyError::TooSlow | BodyError::Broken => {
            Fault::new(FaultKind::Malformed, "The message did not arrive whole and in time.")
        }
    })
}
