//! What the headers of a request say, found in one pass over them: asking the map for a dozen names one by one costs
//! every call more than all of them together do here. It judges nothing.

use ::http::header::GetAll;
use ::http::{HeaderMap, HeaderValue};

/// The headers that are looked at for every call.
pub(super) struct Told<'a> {
    headers: &'a HeaderMap,
    pub(super) authorization: Given<'a>,
    pub(super) content_encoding: Given<'a>,
    pub(super) content_type: Given<'a>,
    pub(super) forwarded_proto: Given<'a>,
    pub(super) host: Given<'a>,
    pub(super) idempotency_key: Given<'a>,
    pub(super) method: Given<'a>,
    pub(super) name: Given<'a>,
    pub(super) origin: Given<'a>,
    pub(super) protocol_version: Given<'a>,
    pub(super) trace_id: Given<'a>,
    pub(super) traceparent: Given<'a>,
    pub(super) transfer_encoding: Given<'a>,
    /// Whether a proxy says that it passed the request on for somebody else. There is an `X-Forwarded-` header for
    /// nearly everything.
    pub(super) forwarded: bool,
}

/// How often a header was given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'a> {
    Nothing,
    Once(&'a HeaderValue),
    /// The header of this name.
    Often(&'a str),
}

impl<'a> Told<'a> {
    pub(super) fn by(headers: &'a HeaderMap) -> Told<'a> {
        let mut told = Told::nothing(headers);
        for (name, value) in headers {
            let name = name.as_str();
            let place = match name {
                "authorization" => &mut told.authorization,
                "content-encoding" => &mut told.content_encoding,
                "content-type" => &mut told.content_type,
                "host" => &mut told.host,
                "idempotency-key" => &mut told.idempotency_key,
                "mcp-method" => &mut told.method,
                "mcp-name" => &mut told.name,
                "mcp-protocol-version" => &mut told.protocol_version,
                "origin" => &mut told.origin,
                "traceparent" => &mut told.traceparent,
                "transfer-encoding" => &mut told.transfer_encoding,
                "x-trace-id" => &mut told.trace_id,
                "x-forwarded-proto" => {
                    told.forwarded = true;
                    &mut told.forwarded_proto
                }
                "forwarded" | "via" | "x-real-ip" => {
                    told.forwarded = true;
                    continue;
                }
                _ => {
                    told.forwarded |= name.starts_with("x-forwarded-");
                    continue;
                }
            };
            *place = match place {
                Given::Nothing => Given::Once(value),
                Given::Once(_) | Given::Often(_) => Given::Often(name),
            };
        }
        told
    }

    /// Every value of a header.
    pub(super) fn all(&self, given: Given<'a>) -> impl Iterator<Item = &'a HeaderValue> {
        let (once, often) = match given {
            Given::Nothing => (None, None),
            Given::Once(value) => (Some(value), None),
            Given::Often(name) => (None, Some(self.headers.get_all(name))),
        };
        once.into_iter().chain(often.into_iter().flat_map(|all: GetAll<'a, HeaderValue>| all))
    }

    fn nothing(headers: &'a HeaderMap) -> Told<'a> {
        Told {
            headers,
            authorization: Given::Nothing,
            content_encoding: Given::Nothing,
            content_type: Given::Nothing,
            forwarded_proto: Given::Nothing,
            host: Given::Nothing,
            idempotency_key: Given::Nothing,
            method: Given::Nothing,
            name: Given::Nothing,
            origin: Given::Nothing,
            protocol_version: Given::Nothing,
            trace_id: Given::Nothing,
            traceparent: Given::Nothing,
            transfer_encoding: Given::Nothing,
            forwarded: false,
        }
    }
}

impl<'a> Given<'a> {
    /// The value of a header that was given once: two of them are none.
    pub(super) fn only(self) -> Option<&'a HeaderValue> {
        match self {
            Given::Once(value) => Some(value),
            Given::Nothing | Given::Often(_) => None,
        }
    }
}
