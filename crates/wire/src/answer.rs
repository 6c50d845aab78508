//! The texts of answers, put together from pieces that are JSON text already. It must never read a
//! piece again: what a tool or the store has written goes out as it is.

use crate::frame::Id;
use crate::json::{splice, write_integer, write_quoted};
use crate::version::Era;

/// The codes of JSON-RPC and of MCP. A contract's own codes lie outside -32768..-32000.
pub mod code {
    pub const PARSE_ERROR: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL_ERROR: i64 = -32603;
    pub const HEADER_MISMATCH: i64 = -32020;
    pub const MISSING_CAPABILITY: i64 = -32021;
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// Legacy era only; the modern era says `INVALID_PARAMS` and forbids this one.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
}

/// `{"jsonrpc":"2.0","id":..,"result":..}` around a result that is JSON text.
pub fn success(id: &Id, result: &str) -> Vec<u8> {
    let mut out = String::with_capacity(result.len() + 64);
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    write_id(id, &mut out);
    out.push_str(",\"result\":");
    out.push_str(result);
    out.push('}');
    out.into_bytes()
}

/// An error answer; `data` is JSON text. JSON-RPC wants `null` where the id could not be read.
pub fn error(id: Option<&Id>, code: i64, message: &str, data: Option<&str>) -> Vec<u8> {
    let mut out = String::with_capacity(message.len() + data.map_or(0, str::len) + 96);
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    match id {
        Some(id) => write_id(id, &mut out),
        None => out.push_str("null"),
    }
    write_error(code, message, data, &mut out);
    out.into_bytes()
}

/// An error answer without any id, as the schemas of 2025-11-25 and later want it where the id
/// could not be read: they know no `null`.
pub fn error_without_id(code: i64, message: &str, data: Option<&str>) -> Vec<u8> {
    let mut out = String::from("{\"jsonrpc\":\"2.0\"");
    write_error(code, message, data, &mut out);
    out.into_bytes()
}

/// `text` as a JSON string literal.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_quoted(text, &mut out);
    out
}

/// How a tool ended, as its result says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolResult {
    Success,
    Error,
}

/// The result of a tool call, with the object both structured and as text. Versions before
/// 2025-06-18 do not define `structuredContent`, but their results are open to further members and
/// their clients pass over it, so one shape serves all.
pub fn tool_result(structured: &str, is_error: ToolResult, era: &Era) -> String {
    let mut out = String::with_capacity(room_for(structured));
    write_tool_result(structured, None, is_error, era, &mut out);
    out
}

/// The result of a tool call as one text and nothing else, for clients that expect exactly that.
pub fn text_result(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 5 / 4 + 64);
    out.push_str("{\"content\":[{\"type\":\"text\",\"text\":");
    write_quoted(text, &mut out);
    out.push_str("}]}");
    out
}

/// `success` around `tool_result`, written in one go: a page is too long to be copied once more.
pub fn tool_success(id: &Id, structured: &str, era: &Era) -> Vec<u8> {
    tool_success_with_note(id, structured, None, era)
}

/// As `tool_success`; the note is a second text beside the object.
pub fn tool_success_with_note(id: &Id, structured: &str, note: Option<&str>, era: &Era) -> Vec<u8> {
    let mut out = String::with_capacity(room_for(structured) + note.map_or(0, str::len) + 64);
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    write_id(id, &mut out);
    out.push_str(",\"result\":");
    write_tool_result(structured, note, ToolResult::Success, era, &mut out);
    out.push('}');
    out.into_bytes()
}

/// Quoting JSON adds about a byte for every quotation mark.
fn room_for(structured: &str) -> usize {
    structured.len() * 5 / 2 + 128
}

fn write_tool_result(structured: &str, note: Option<&str>, is_error: ToolResult, era: &Era, out: &mut String) {
    out.push_str("{\"content\":[{\"type\":\"text\",\"text\":");
    write_quoted(structured, out);
    if let Some(note) = note {
        out.push_str("},{\"type\":\"text\",\"text\":");
        write_quoted(note, out);
    }
    out.push_str("}],\"structuredContent\":");
    out.push_str(structured);
    out.push_str(match is_error {
        ToolResult::Success => ",\"isError\":false",
        ToolResult::Error => ",\"isError\":true",
    });
    out.push_str(match era {
        Era::Legacy(_) => "}",
        Era::Modern => ",\"resultType\":\"complete\"}",
    });
}

/// How long and for whom a client may keep a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheHint {
    pub ttl_ms: u64,
    pub scope: CacheScope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheScope {
    /// The same for every caller.
    Public,
    /// For this caller's eyes.
    Private,
}

/// A result object finished for its era: the modern one wants its type and, on lists and reads, its
/// freshness; the legacy one gets it as it is.
pub fn finished_result(object: &str, era: &Era, cache: Option<CacheHint>) -> String {
    match (era, cache) {
        (Era::Legacy(_), _) => object.to_owned(),
        (Era::Modern, None) => splice(object, "{\"resultType\":\"complete\"}"),
        (Era::Modern, Some(CacheHint { ttl_ms, scope })) => {
            let scope = match scope {
                CacheScope::Public => "public",
                CacheScope::Private => "private",
            };
            let seal = format!("{{\"resultType\":\"complete\",\"ttlMs\":{ttl_ms},\"cacheScope\":\"{scope}\"}}");
            splice(object, &seal)
        }
    }
}

pub(crate) fn write_id(id: &Id, out: &mut String) {
    match id {
        Id::Number(number) => write_integer(*number, out),
        Id::Large(number) => out.push_str(&number.to_string()),
        Id::Text(text) => write_quoted(text, out),
    }
}

fn write_error(code: i64, message: &str, data: Option<&str>, out: &mut String) {
    out.push_str(&format!(",\"error\":{{\"code\":{code},\"message\":"));
    write_quoted(message, out);
    if let Some(data) = data {
        out.push_str(",\"data\":");
        out.push_str(data);
    }
    out.push_str("}}");
}
