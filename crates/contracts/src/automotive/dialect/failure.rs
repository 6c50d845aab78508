//! Answers to faults. Faults of the token or the transport are HTTP errors, faults of the message are JSON-RPC errors,
//! and faults of a tool are tool results: clients drop the body of an HTTP error, and an agent should read why a call
//! failed. All three contain the same error object.

use frontdesk_engine::model::contract::{CredentialPresence, ReplyContext, RequestTarget};
use frontdesk_engine::{Code, Fault, FaultKind, Reply};
use frontdesk_wire::answer::{ToolResult, code, error, error_without_id, success, tool_result};
use frontdesk_wire::version::{Era, Version};

use super::super::{codes, domains};
use super::era_or_default;
pub(super) use body::{NotFoundCodes, schema};
use body::{body, code as code_of, message};

mod body;

pub(super) fn failure(fault: &Fault, context: &ReplyContext<'_>, not_found: &NotFoundCodes) -> Reply {
    let error_code = code_of(fault.kind, context.target, not_found);
    let reply = match error_shape(fault, context) {
        ErrorShape::Http { status, header: None } => Reply::plain(status, body(fault, error_code)),
        ErrorShape::Http { status, header: Some((name, value)) } => {
            Reply::plain(status, body(fault, error_code)).header(name, value)
        }
        ErrorShape::Rpc { status, code } => rpc(fault, context, code, error_code).status(status),
        ErrorShape::Result => match context.id {
            Some(id) => Reply::rpc(success(
                id,
                &tool_result(&body(fault, error_code), ToolResult::Error, &era_or_default(context)),
            )),
            None => Reply::empty(202),
        },
    };
    let reply = reply.code(error_code.0);
    match fault.retry_after {
        Some(seconds) => reply.header("Retry-After", seconds.to_string()),
        None => reply,
    }
}

/// The code of a fault of this tool, for an answer that tells of several calls.
pub(in crate::automotive) fn error_code(fault: &Fault, tool: &str) -> Code {
    code_of(fault.kind, RequestTarget::Tool(tool), &NotFoundCodes(Vec::new()))
}

enum ErrorShape {
    /// The error object as the body of an HTTP error.
    Http { status: u16, header: Option<(&'static str, String)> },
    /// A JSON-RPC error with this HTTP status.
    Rpc { status: u16, code: i64 },
    /// A tool result with `isError`.
    Result,
}

fn error_shape(fault: &Fault, context: &ReplyContext<'_>) -> ErrorShape {
    let is_route = matches!(context.target, RequestTarget::Route { .. });
    let rpc_error = |status, code| if is_route { plain(status) } else { ErrorShape::Rpc { status, code } };
    match fault.kind {
        FaultKind::Unauthenticated => challenge(401, invalid_token(context)),
        FaultKind::StepUp => challenge(401, step_up(fault, context)),
        FaultKind::Forbidden => challenge(403, insufficient_scope(fault, context)),
        FaultKind::MethodNotAllowed => {
            let allowed = fault.allowed_verbs().map_or("POST, DELETE".to_owned(), |verbs| verbs.to_string());
            ErrorShape::Http { status: 405, header: Some(("Allow", allowed)) }
        }
        FaultKind::HostNotAllowed | FaultKind::ServerDenied | FaultKind::ToolDenied => plain(403),
        FaultKind::UnsupportedMediaType => plain(415),
        FaultKind::Malformed => rpc_error(400, code::PARSE_ERROR),
        FaultKind::InvalidRequest | FaultKind::BadDispatch => rpc_error(400, code::INVALID_REQUEST),
        FaultKind::HeaderMismatch => rpc_error(400, code::HEADER_MISMATCH),
        FaultKind::UnsupportedVersion => rpc_error(400, code::UNSUPPORTED_VERSION),
        FaultKind::UnknownMethod | FaultKind::UnknownTool if is_route => plain(404),
        FaultKind::UnknownMethod => match era_or_default(context) {
            Era::Modern => rpc_error(404, code::METHOD_NOT_FOUND),
            Era::Legacy(_) => rpc_error(200, code::METHOD_NOT_FOUND),
        },
        FaultKind::UnknownTool => rpc_error(200, code::INVALID_PARAMS),
        // Without an era the fault is in `_meta` itself, which the modern era answers with 400.
        FaultKind::InvalidArgument if context.target == RequestTarget::Method && context.era.is_none() => {
            rpc_error(400, code::INVALID_PARAMS)
        }
        FaultKind::InvalidArgument | FaultKind::InvalidCursor | FaultKind::TenantRequired => {
            by_target(context, 400, code::INVALID_PARAMS)
        }
        FaultKind::NotFound => match era_or_default(context) {
            Era::Modern => by_target(context, 404, code::INVALID_PARAMS),
            Era::Legacy(_) => by_target(context, 404, code::RESOURCE_NOT_FOUND),
        },
        FaultKind::TenantForbidden => by_target(context, 403, application_code(403)),
        FaultKind::KeyReused | FaultKind::KeyInFlight => by_target(context, 409, application_code(409)),
        FaultKind::VersionConflict => by_target(context, 412, application_code(412)),
        FaultKind::TooLarge | FaultKind::AnswerTooLarge => by_target(context, 413, application_code(413)),
        FaultKind::UnknownServer => plain(404),
        FaultKind::Domain(_) => by_target(context, 422, application_code(422)),
        FaultKind::QuotaExceeded => by_target(context, 507, application_code(507)),
        FaultKind::RateLimited => by_target(context, 429, application_code(429)),
        FaultKind::Cancelled => by_target(context, 499, application_code(499)),
        FaultKind::Unavailable | FaultKind::QueueFull => by_target(context, 503, application_code(503)),
        FaultKind::OutcomeUnknown => by_target(context, 504, application_code(504)),
        FaultKind::Internal => by_target(context, 500, code::INTERNAL_ERROR),
    }
}

/// Once a message has been parsed the HTTP status is 200. A route has no message.
fn by_target(context: &ReplyContext<'_>, status: u16, code: i64) -> ErrorShape {
    match context.target {
        RequestTarget::Tool(_) => ErrorShape::Result,
        RequestTarget::Resource(_) | RequestTarget::Method => ErrorShape::Rpc { status: 200, code },
        RequestTarget::Route { .. } | RequestTarget::Transport => plain(status),
    }
}

/// JSON-RPC defines no codes for application errors, and MCP reserves -32768 to -32000. Ours are ten times the HTTP
/// status of the same meaning: 4290 means 429.
fn application_code(status: i64) -> i64 {
    status * 10
}

/// `data` is the error object, except where the protocol defines `data` itself.
fn rpc(fault: &Fault, context: &ReplyContext<'_>, code: i64, error_code: Code) -> Reply {
    let data = fault.rpc_data().map_or_else(|| body(fault, error_code), str::to_owned);
    // Versions from 2025-11-25 on have no null id; an unreadable id is omitted.
    let allows_null_id = context.header_version.is_none_or(|version| version < Version::V2025_11_25);
    Reply::rpc(match context.id {
        None if !allows_null_id => error_without_id(code, &message(fault), Some(&data)),
        id => error(id, code, &message(fault), Some(&data)),
    })
}

fn plain(status: u16) -> ErrorShape {
    ErrorShape::Http { status, header: None }
}

/// An authentication challenge (RFC 6750, RFC 9728).
fn challenge(status: u16, challenge: String) -> ErrorShape {
    ErrorShape::Http { status, header: Some(("WWW-Authenticate", challenge)) }
}

/// A request without a credential made no error yet, so none is named (RFC 6750 §3.1).
fn invalid_token(context: &ReplyContext<'_>) -> String {
    let error = match context.credential {
        CredentialPresence::Absent => "",
        CredentialPresence::Present => "error=\"invalid_token\", ",
    };
    format!("Bearer {error}resource_metadata=\"{}\", scope=\"{}\"", context.metadata_url, context.ordinary_scopes)
}

/// Clients request exactly these scopes next, so the scopes they have must be included.
fn insufficient_scope(fault: &Fault, context: &ReplyContext<'_>) -> String {
    let scopes = context.granted_scopes.cloned().unwrap_or_default().with(&fault.needed);
    format!("Bearer error=\"insufficient_scope\", scope=\"{scopes}\", resource_metadata=\"{}\"", context.metadata_url)
}

/// The person must log in again (RFC 9470).
fn step_up(fault: &Fault, context: &ReplyContext<'_>) -> String {
    let max_age = fault.max_login_age().unwrap_or(domains::MAX_LOGIN_AGE);
    format!(
        "Bearer error=\"insufficient_user_authentication\", max_age=\"{max_age}\", resource_metadata=\"{}\"",
        context.metadata_url
    )
}
