//! Stage 1's product: a request with its transport facts, before anybody looked inside.
//! Faults of the transport are held here until the caller is known, so that a stranger learns
//! nothing but that a credential is missing.

use std::net::IpAddr;

use bytes::Bytes;

use crate::fault::Fault;

/// What the request asks the endpoint to do, as far as the transport can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Post,
    Get,
    Delete,
    Other,
}

/// A credential as presented; checked by nobody yet.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    Missing,
    Bearer(String),
    /// Two headers, another scheme, a token where none belongs: never evaluated.
    Unusable,
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Credential::Missing => "Missing",
            Credential::Bearer(_) => "Bearer(***)",
            Credential::Unusable => "Unusable",
        })
    }
}

#[derive(Debug, Clone)]
pub struct Incoming {
    pub verb: Verb,
    pub credential: Credential,
    /// `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` as received.
    pub protocol_version: Option<String>,
    pub method_header: Option<String>,
    pub name_header: Option<String>,
    /// `Idempotency-Key` as received.
    pub idempotency_key: Option<String>,
    /// The whole body, or why there is none.
    pub body: Result<Bytes, Fault>,
    pub address: IpAddr,
    pub trace: String,
}
