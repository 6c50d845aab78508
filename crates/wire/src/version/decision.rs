//! Which era a request belongs to, decided from that request alone. Where body and headers tell two
//! stories the request must never be served, because whoever routed it may have believed the other
//! one.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Era, Version, negotiate, supported_versions};
use crate::answer::{code, quote};
use crate::frame::Request;
use crate::json::Value;
use crate::method::Method;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// An unknown version is echoed to the client; this much of it is enough to recognise it.
const MAX_ASKED_CHARS: usize = 64;

/// `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` as received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McpHeaders<'a> {
    pub protocol_version: Option<&'a str>,
    pub method: Option<&'a str>,
    pub name: Option<&'a str>,
}

/// Finds the era of one request: the version in its `_meta` speaks first, then an `initialize`,
/// then the header.
pub fn decide(headers: &McpHeaders<'_>, request: &Request) -> Result<Era, EraError> {
    match stated_version(request)? {
        Some(version) => decide_by_meta(version, headers, request),
        // A handshake is legacy whatever version it names and whatever header came with it.
        None if request.method() == Method::Initialize => Ok(opened(request)),
        None => decide_by_header(headers, request),
    }
}

/// Why a request belongs to no era. Over HTTP each of them is a 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EraError {
    /// A version the desk does not speak, cut to 64 characters.
    Unsupported { asked: String },
    /// A header is missing, malformed or contradicts the body; `what` names it.
    HeaderMismatch { what: &'static str },
    /// `_meta` lacks what the modern era requires.
    BadMeta { why: &'static str },
}

impl EraError {
    pub fn code(&self) -> i64 {
        match self {
            Self::Unsupported { .. } => code::UNSUPPORTED_VERSION,
            Self::HeaderMismatch { .. } => code::HEADER_MISMATCH,
            Self::BadMeta { .. } => code::INVALID_PARAMS,
        }
    }

    /// The `data` of the error answer, as JSON text.
    pub fn data(&self) -> Option<String> {
        match self {
            Self::Unsupported { asked } => {
                Some(format!("{{\"supported\":{},\"requested\":{}}}", supported_versions(), quote(asked)))
            }
            Self::HeaderMismatch { .. } | Self::BadMeta { .. } => None,
        }
    }
}

impl fmt::Display for EraError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { .. } => f.write_str("Unsupported protocol version"),
            Self::HeaderMismatch { what } => {
                write!(f, "Header mismatch: {what} is missing, malformed or not the same as in the body")
            }
            Self::BadMeta { why } => f.write_str(why),
        }
    }
}

impl std::error::Error for EraError {}

/// The version that a request names itself, where it does.
pub fn named(request: &Request) -> Option<&str> {
    stated_version(request).ok().flatten()
}

fn stated_version(request: &Request) -> Result<Option<&str>, EraError> {
    match request.meta().and_then(|meta| meta.get(VERSION_KEY)) {
        None => Ok(None),
        Some(Value::String(version)) => Ok(Some(version)),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(EraError::BadMeta { why: "The protocol version in _meta must be a string." })
        }
    }
}

fn decide_by_meta(version: &str, headers: &McpHeaders<'_>, request: &Request) -> Result<Era, EraError> {
    // A contradiction outranks an unknown version; a missing header does not, since only the
    // version tells whether the header is due.
    if headers.protocol_version.is_some_and(|header| trimmed(header) != version) {
        return Err(EraError::HeaderMismatch { what: "MCP-Protocol-Version" });
    }
    match Version::parse(version).map(Version::era) {
        None => Err(unsupported(version)),
        Some(Era::Modern) => require_modern(headers, request).map(|()| Era::Modern),
        // The refusal of a version lists the legacy ones too, and a client may retry with one of
        // them right here. Since the desk serves those without a session, it can.
        Some(Era::Legacy(_)) if request.method() == Method::Initialize => Ok(opened(request)),
        Some(legacy @ Era::Legacy(_)) => Ok(legacy),
    }
}

fn decide_by_header(headers: &McpHeaders<'_>, request: &Request) -> Result<Era, EraError> {
    match headers.protocol_version.map(trimmed) {
        // Discovery exists in the modern era only, so a request for it without any version is a
        // modern one that forgot its `_meta`. To say so helps its author more than "method not
        // found".
        None if request.method() == Method::ServerDiscover => Err(meta_missing()),
        // The header came with 2025-06-18; who does not know it speaks the version before.
        None => Ok(Era::Legacy(Version::V2025_03_26)),
        Some(version) => match Version::parse(version).map(Version::era) {
            None => Err(unsupported(version)),
            // Nothing contradicts the header, the body is incomplete: hence invalid params and no
            // mismatch, for discovery as for every other method.
            Some(Era::Modern) => Err(meta_missing()),
            Some(legacy @ Era::Legacy(_)) => Ok(legacy),
        },
    }
}

/// An `initialize` without a readable version gets the newest; its own reader refuses it for what
/// it lacks.
fn opened(request: &Request) -> Era {
    let asked = request.params.get("protocolVersion").and_then(Value::as_str);
    Era::Legacy(asked.map_or(Version::NEWEST_LEGACY, negotiate))
}

fn require_modern(headers: &McpHeaders<'_>, request: &Request) -> Result<(), EraError> {
    // Whether it is equal has been checked already.
    if headers.protocol_version.is_none() {
        return Err(EraError::HeaderMismatch { what: "MCP-Protocol-Version" });
    }
    if headers.method.map(trimmed) != Some(request.method_name.as_str()) {
        return Err(EraError::HeaderMismatch { what: "Mcp-Method" });
    }
    require_name(headers, request)?;
    match request.meta().and_then(|meta| meta.get(CAPABILITIES_KEY)) {
        Some(Value::Object(_)) => Ok(()),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) | None => {
            Err(EraError::BadMeta { why: "The client capabilities in _meta are required and must be an object." })
        }
    }
}

fn require_name(headers: &McpHeaders<'_>, request: &Request) -> Result<(), EraError> {
    let Some(field) = request.method().name_param() else {
        return Ok(());
    };
    let body = request.params.get(field).and_then(Value::as_str);
    match (headers.name, body) {
        // A body without a name is for the method's own reader to refuse.
        (None, None) => Ok(()),
        (Some(header), Some(body)) if decoded(header).as_deref() == Some(body) => Ok(()),
        (Some(_) | None, Some(_) | None) => Err(EraError::HeaderMismatch { what: "Mcp-Name" }),
    }
}

/// The text that a header carries, plain or in Base64; none when it is neither visible ASCII nor
/// Base64 of UTF-8.
fn decoded(header: &str) -> Option<Cow<'_, str>> {
    let plain = trimmed(header);
    match plain.strip_prefix("=?base64?").and_then(|text| text.strip_suffix("?=")) {
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
        None => {
            let sendable = plain.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
            sendable.then_some(Cow::Borrowed(plain))
        }
    }
}

/// White space around a header's value is no part of it (RFC 9110, 5.5).
fn trimmed(header: &str) -> &str {
    header.trim_matches([' ', '\t'])
}

fn unsupported(version: &str) -> EraError {
    EraError::Unsupported { asked: version.chars().take(MAX_ASKED_CHARS).collect() }
}

fn meta_missing() -> EraError {
    EraError::BadMeta {
        why: "A request of this protocol version must carry it in _meta, with the client capabilities.",
    }
}
