//! The headers of a request that calls need, collected in one pass: a dozen lookups in the map cost every call more. No
//! value is checked here.

use ::http::header::GetAll;
use ::http::{HeaderMap, HeaderValue};

use super::cleartext::says_cleartext;

/// The headers that are read for every call.
pub(super) struct RequestHeaders<'a> {
    map: &'a HeaderMap,
    pub(super) accept: Occurrence<'a>,
    pub(super) authorization: Occurrence<'a>,
    pub(super) content_encoding: Occurrence<'a>,
    pub(super) content_type: Occurrence<'a>,
    pub(super) host: Occurrence<'a>,
    pub(super) idempotency_key: Occurrence<'a>,
    pub(super) method: Occurrence<'a>,
    pub(super) name: Occurrence<'a>,
    pub(super) origin: Occurrence<'a>,
    pub(super) partner_auth: Occurrence<'a>,
    pub(super) protocol_version: Occurrence<'a>,
    pub(super) trace_id: Occurrence<'a>,
    pub(super) traceparent: Occurrence<'a>,
    pub(super) transfer_encoding: Occurrence<'a>,
    /// Whether a proxy has forwarded the request. There are many `X-Forwarded-` headers.
    pub(super) forwarded: bool,
    /// Whether one says that the request crossed a network without TLS.
    pub(super) cleartext: bool,
}

/// How often a header occurs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Occurrence<'a> {
    Absent,
    Once(&'a HeaderValue),
    /// With the name of the header.
    Many(&'a str),
}

impl<'a> RequestHeaders<'a> {
    pub(super) fn new(map: &'a HeaderMap) -> RequestHeaders<'a> {
        let mut headers = RequestHeaders::absent(map);
        for (name, value) in map {
            let name = name.as_str();
            let occurrence = match name {
                "accept" => &mut headers.accept,
                "authorization" => &mut headers.authorization,
                "content-encoding" => &mut headers.content_encoding,
                "content-type" => &mut headers.content_type,
                "host" => &mut headers.host,
                "idempotency-key" => &mut headers.idempotency_key,
                "mcp-method" => &mut headers.method,
                "mcp-name" => &mut headers.name,
                "mcp-protocol-version" => &mut headers.protocol_version,
                "origin" => &mut headers.origin,
                "traceparent" => &mut headers.traceparent,
                "transfer-encoding" => &mut headers.transfer_encoding,
                "x-partner-auth" => &mut headers.partner_auth,
                "x-trace-id" => &mut headers.trace_id,
                _ => {
                    headers.forwarded |= matches!(name, "forwarded" | "via" | "x-real-ip");
                    headers.forwarded |= name.starts_with("x-forwarded-");
                    headers.cleartext |= says_cleartext(name, value.as_bytes());
                    continue;
                }
            };
            *occurrence = match occurrence {
                Occurrence::Absent => Occurrence::Once(value),
                Occurrence::Once(_) | Occurrence::Many(_) => Occurrence::Many(name),
            };
        }
        headers
    }

    /// Every value of a header.
    pub(super) fn all(&self, occurrence: Occurrence<'a>) -> impl Iterator<Item = &'a HeaderValue> {
        let (once, many) = match occurrence {
            Occurrence::Absent => (None, None),
            Occurrence::Once(value) => (Some(value), None),
            Occurrence::Many(name) => (None, Some(self.map.get_all(name))),
        };
        once.into_iter().chain(many.into_iter().flat_map(|all: GetAll<'a, HeaderValue>| all))
    }

    fn absent(map: &'a HeaderMap) -> RequestHeaders<'a> {
        RequestHeaders {
            map,
            accept: Occurrence::Absent,
            authorization: Occurrence::Absent,
            content_encoding: Occurrence::Absent,
            content_type: Occurrence::Absent,
            host: Occurrence::Absent,
            idempotency_key: Occurrence::Absent,
            method: Occurrence::Absent,
            name: Occurrence::Absent,
            origin: Occurrence::Absent,
            partner_auth: Occurrence::Absent,
            protocol_version: Occurrence::Absent,
            trace_id: Occurrence::Absent,
            traceparent: Occurrence::Absent,
            transfer_encoding: Occurrence::Absent,
            forwarded: false,
            cleartext: false,
        }
    }
}

impl<'a> Occurrence<'a> {
    /// The value of a header that occurs exactly once.
    pub(super) fn single(self) -> Option<&'a HeaderValue> {
        match self {
            Occurrence::Once(value) => Some(value),
            Occurrence::Absent | Occurrence::Many(_) => None,
        }
    }
}
