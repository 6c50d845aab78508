//! Stage 1: from an HTTP request to `Incoming`. Whatever is wrong with the transport is written down
//! and held, and the body stays where it is, because the caller comes first.

use ::http::request::Parts;
use ::http::{HeaderName, Method};
use bytes::Bytes;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::model::incoming::{Credential, Incoming, RequestBody, Verb};
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::{Fault, FaultKind};

use super::guard;
use super::told::{Given, Told};
use crate::config::Config;
use crate::net::{Body, BodyError, Caps, Peer};

pub(super) static TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

pub(super) fn receive(
    config: &Config,
    mount: &Mount,
    head: &Parts,
    told: &Told<'_>,
    body: Body,
    peer: Peer,
    trace: Trace,
) -> Incoming {
    let in_query = head.uri.query().is_some_and(has_token);
    Incoming {
        verb: match head.method {
            Method::POST => Verb::Post,
            Method::GET => Verb::Get,
            Method::DELETE => Verb::Delete,
            _ => Verb::Other,
        },
        credential: if in_query { Credential::Unusable } else { credential(told.authorization) },
        protocol_version: one_text(told, told.protocol_version),
        method_header: one_text(told, told.method),
        name_header: one_text(told, told.name),
        idempotency_key: one_text(told, told.idempotency_key),
        transport_fault: match guard::refuse(config, &head.uri, told) {
            Some(why) => Some(Fault::new(FaultKind::HostNotAllowed, why)),
            None if guard::has_two_ends(told) => {
                Some(Fault::new(FaultKind::Malformed, "The message's end can be found in two ways."))
            }
            None if head.method != Method::POST => None,
            None => media(told).err(),
        },
        address: peer.address,
        trace,
        body: RequestBody::from_future(collect(most(config, mount), body)),
    }
}

/// The trace that the caller has begun; two of them are none.
pub(super) fn trace(told: &Told<'_>) -> Option<Trace> {
    Trace::parse_traceparent(told.traceparent.only()?.to_str().ok()?)
}

/// The same trace as the caller calls it, at mounts where it may; two names are none.
pub(super) fn named(mount: &Mount, trace: Trace, told: &Told<'_>) -> Trace {
    if !mount.contract.dialect.compatibility().accepts_trace_id {
        return trace;
    }
    match told.trace_id.only().map(|name| name.to_str()) {
        Some(Ok(name)) => trace.with_name(name),
        Some(Err(_)) | None => trace,
    }
}

/// How much of a body is read at all. A door looks into what is too large for it, to say first what else is wrong;
/// and where it takes more than others, that much is read.
pub(crate) fn most(config: &Config, mount: &Mount) -> usize {
    let door = mount.policy.as_ref().map(|door| door.payload_bytes);
    config.limits.body_bytes.max(door.unwrap_or_default())
}

/// What a header says. Bytes that are no text, or a second header of the name, are kept in a form that
/// no reader takes for a value: passed over, a key that was sent would protect nothing.
fn one_text<'a>(told: &Told<'a>, given: Given<'a>) -> Option<String> {
    let mut values = told.all(given).map(|value| String::from_utf8_lossy(value.as_bytes()));
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

fn credential(authorization: Given<'_>) -> Credential {
    match authorization {
        Given::Nothing => Credential::Missing,
        Given::Often(_) => Credential::Unusable,
        Given::Once(only) => match only.to_str().ok().and_then(|text| text.split_once(' ')) {
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

fn media(told: &Told<'_>) -> Result<(), Fault> {
    let wrong = || {
        Fault::new(
            FaultKind::UnsupportedMediaType,
            "Send the message as `Content-Type: application/json`, in UTF-8 and uncompressed.",
        )
    };
    let encoded = told.all(told.content_encoding).next().is_some_and(|encoding| encoding.as_bytes() != b"identity");
    let kind = match told.content_type.only() {
        // What nearly everybody sends, which needs no reading.
        Some(kind) if kind == "application/json" && !encoded => return Ok(()),
        Some(kind) => kind.to_str().map_err(|_| wrong())?.to_ascii_lowercase(),
        None => return Err(wrong()),
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
