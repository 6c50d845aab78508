//! Answers to faults. What is wrong with the token or the transport is said in HTTP, what is wrong
//! with the message in JSON-RPC, and what a tool could not do in its result: clients lose the body of
//! an HTTP error, and an agent should read why it failed. The same error object stands in all three.

use frontdesk_engine::model::contract::{CredentialPresence, ReplyContext, RequestTarget};
use frontdesk_engine::{Fault, FaultKind, Reply};
use frontdesk_wire::answer::{ToolResult, code, error, error_without_id, success, tool_result};
use frontdesk_wire::version::{Era, Version};

use super::super::codes;
use super::spoken;
pub(super) use body::schema;
use body::{body, code as code_of, message};

mod body;

/// How recent a login must be where one is asked for.
const MAX_AGE_SECONDS: u32 = 300;

pub(super) fn failure(fault: &Fault, at: &ReplyContext<'_>) -> Reply {
    let reply = match way(fault, at) {
        Way::Http { status, header: None } => Reply::plain(status, body(fault, at)),
        Way::Http { status, header: Some((name, value)) } => Reply::plain(status, body(fault, at)).header(name, value),
        Way::Rpc { status, code } => rpc(fault, at, code).status(status),
        Way::Result => match at.id {
            Some(id) => Reply::rpc(success(id, &tool_result(&body(fault, at), ToolResult::Error, &spoken(at)))),
            None => Reply::empty(202),
        },
    };
    let reply = reply.code(code_of(fault.kind, at.target).0);
    match fault.retry_after {
        Some(seconds) => reply.header("Retry-After", seconds.to_string()),
        None => reply,
    }
}

enum Way {
    /// The plain error object under this status, with the header that belongs to it.
    Http { status: u16, header: Option<(&'static str, String)> },
    /// A JSON-RPC error, under this status.
    Rpc { status: u16, code: i64 },
    /// A tool result that says it is an error.
    Result,
}

fn way(fault: &Fault, at: &ReplyContext<'_>) -> Way {
    let refused = |status, code| Way::Rpc { status, code };
    match fault.kind {
        FaultKind::Unauthenticated => challenged(401, unknown_caller(at)),
        FaultKind::StepUp => challenged(401, step_up(at)),
        FaultKind::Forbidden => challenged(403, more_scope(fault, at)),
        FaultKind::MethodNotAllowed => Way::Http { status: 405, header: Some(("Allow", "POST, DELETE".to_owned())) },
        FaultKind::HostNotAllowed | FaultKind::ServerDenied | FaultKind::ToolDenied => plain(403),
        FaultKind::UnsupportedMediaType => plain(415),
        FaultKind::Malformed => refused(400, code::PARSE_ERROR),
        FaultKind::InvalidRequest | FaultKind::BadDispatch => refused(400, code::INVALID_REQUEST),
        FaultKind::HeaderMismatch => refused(400, code::HEADER_MISMATCH),
        FaultKind::UnsupportedVersion => refused(400, code::UNSUPPORTED_VERSION),
        FaultKind::UnknownMethod => match spoken(at) {
            Era::Modern => refused(404, code::METHOD_NOT_FOUND),
            Era::Legacy(_) => refused(200, code::METHOD_NOT_FOUND),
        },
        FaultKind::UnknownTool => refused(200, code::INVALID_PARAMS),
        // Without an era the fault is about `_meta` itself, which the modern era answers with 400.
        FaultKind::InvalidArgument if at.target == RequestTarget::Method && at.era.is_none() => {
            refused(400, code::INVALID_PARAMS)
        }
        FaultKind::InvalidArgument | FaultKind::InvalidCursor | FaultKind::TenantRequired => {
            by_place(at, 400, code::INVALID_PARAMS)
        }
        FaultKind::NotFound => match spoken(at) {
            Era::Modern => by_place(at, 404, code::INVALID_PARAMS),
            Era::Legacy(_) => by_place(at, 404, code::RESOURCE_NOT_FOUND),
        },
        FaultKind::TenantForbidden => by_place(at, 403, application(403)),
        FaultKind::KeyReused | FaultKind::KeyInFlight => by_place(at, 409, application(409)),
        FaultKind::VersionConflict => by_place(at, 412, application(412)),
        FaultKind::TooLarge | FaultKind::AnswerTooLarge => by_place(at, 413, application(413)),
        FaultKind::UnknownServer => plain(404),
        FaultKind::Domain(_) => by_place(at, 422, application(422)),
        FaultKind::RateLimited => by_place(at, 429, application(429)),
        FaultKind::Cancelled => by_place(at, 499, application(499)),
        FaultKind::Unavailable | FaultKind::QueueFull => by_place(at, 503, application(503)),
        FaultKind::OutcomeUnknown => by_place(at, 504, application(504)),
        FaultKind::Internal => by_place(at, 500, code::INTERNAL_ERROR),
    }
}

/// Once a message has been understood the HTTP status stays 200.
fn by_place(at: &ReplyContext<'_>, status: u16, code: i64) -> Way {
    match at.target {
        RequestTarget::Tool(_) => Way::Result,
        RequestTarget::Resource(_) | RequestTarget::Method => Way::Rpc { status: 200, code },
        RequestTarget::Transport => plain(status),
    }
}

/// JSON-RPC has no number for most of what an application refuses, and MCP reserves -32768 to
/// -32000. Ours are ten times the HTTP status of the same meaning, so that 4290 explains itself.
fn application(status: i64) -> i64 {
    status * 10
}

/// The contract's error object is the `data`, except where the protocol defines `data` itself.
fn rpc(fault: &Fault, at: &ReplyContext<'_>, code: i64) -> Reply {
    let data = fault.data.clone().unwrap_or_else(|| body(fault, at));
    // Versions from 2025-11-25 on have no null id; an id that could not be read is left out.
    let knows_null = at.header_version.is_none_or(|version| version < Version::V2025_11_25);
    Reply::rpc(match at.id {
        None if !knows_null => error_without_id(code, &message(fault), Some(&data)),
        id => error(id, code, &message(fault), Some(&data)),
    })
}

fn plain(status: u16) -> Way {
    Way::Http { status, header: None }
}

/// What a client must do to get in (RFC 6750, RFC 9728).
fn challenged(status: u16, challenge: String) -> Way {
    Way::Http { status, header: Some(("WWW-Authenticate", challenge)) }
}

/// Who sent no credential made no mistake yet, so no error is named.
fn unknown_caller(at: &ReplyContext<'_>) -> String {
    let error = match at.credential {
        CredentialPresence::Absent => "",
        CredentialPresence::Present => "error=\"invalid_token\", ",
    };
    format!("Bearer {error}resource_metadata=\"{}\", scope=\"{}\"", at.metadata_url, at.default_scope.as_str())
}

/// Clients ask for exactly these scopes next, so those they have must stand here too.
fn more_scope(fault: &Fault, at: &ReplyContext<'_>) -> String {
    let scopes = at.granted_scopes.cloned().unwrap_or_default().with(&fault.needed);
    format!("Bearer error=\"insufficient_scope\", scope=\"{scopes}\", resource_metadata=\"{}\"", at.metadata_url)
}

/// The person must log in again (RFC 9470).
fn step_up(at: &ReplyContext<'_>) -> String {
    format!(
        "Bearer error=\"insufficient_user_authentication\", max_age=\"{MAX_AGE_SECONDS}\", resource_metadata=\"{}\"",
        at.metadata_url
    )
}
