//! Requests as the transport hands them over.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use frontdesk_engine::Fault;
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::model::trace::Trace;

pub(crate) fn post(who: &str, body: &str) -> Incoming {
    Incoming {
        verb: Verb::Post,
        credential: Credential::Bearer(who.to_owned()),
        protocol_version: None,
        method_header: None,
        route: None,
        name_header: None,
        idempotency_key: None,
        listening: Listening::No,
        import_id: None,
        transport_fault: None,
        body: RequestBody::from_bytes(Bytes::copy_from_slice(body.as_bytes())),
        address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        trace: Trace::new("t1"),
    }
}

pub(crate) fn presenting(credential: Credential, body: &str) -> Incoming {
    Incoming { credential, ..post("", body) }
}

pub(crate) fn with_verb(verb: Verb, who: &str) -> Incoming {
    Incoming { verb, ..post(who, "") }
}

pub(crate) fn held(who: &str, fault: Fault) -> Incoming {
    Incoming { transport_fault: Some(fault), ..post(who, "") }
}

pub(crate) fn versioned(version: &str, incoming: Incoming) -> Incoming {
    Incoming { protocol_version: Some(version.to_owned()), ..incoming }
}

pub(crate) fn keyed(key: &str, incoming: Incoming) -> Incoming {
    Incoming { idempotency_key: Some(key.to_owned()), ..incoming }
}

pub(crate) fn rpc(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

pub(crate) fn call(id: &str, tool: &str, arguments: &str) -> String {
    rpc(id, "tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#))
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A complete request of the modern era; `members` are those of its params, without braces.
pub(crate) fn modern(who: &str, method: &str, name: Option<&str>, members: &str) -> Incoming {
    let comma = if members.is_empty() { "" } else { "," };
    Incoming {
        protocol_version: Some("2026-07-28".to_owned()),
        method_header: Some(method.to_owned()),
        route: None,
        name_header: name.map(str::to_owned),
        ..post(who, &rpc("1", method, &format!("{{{members}{comma}{META}}}")))
    }
}
