//! What a request's body and headers decide together, and what is refused when they disagree.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod headers;
mod versions;

use frontdesk_wire::frame::{Frame, FrameBody, Request, read};
use frontdesk_wire::version::{Era, EraError, McpHeaders};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn request(method: &str, params: &str) -> Request {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
    match read(text.as_bytes()).unwrap() {
        FrameBody::One(Frame::Request(request)) => request,
        other @ (FrameBody::One(_) | FrameBody::Batch(_)) => panic!("{other:?}"),
    }
}

fn headers<'a>(version: &'a str, method: &'a str, name: Option<&'a str>) -> McpHeaders<'a> {
    McpHeaders { protocol_version: Some(version), method: Some(method), name }
}

fn version_only(version: Option<&str>) -> McpHeaders<'_> {
    McpHeaders { protocol_version: version, method: None, name: None }
}

fn mismatch(what: &'static str) -> Result<Era, EraError> {
    Err(EraError::HeaderMismatch { what })
}

fn unsupported(asked: &str) -> Result<Era, EraError> {
    Err(EraError::Unsupported { asked: asked.to_owned() })
}

fn bad_meta(why: &'static str) -> Result<Era, EraError> {
    Err(EraError::BadMeta { why })
}

const NO_META: &str = "A request of this protocol version must carry it in _meta, with the client capabilities.";
