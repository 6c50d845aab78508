//! Answers to faults. Faults of the caller or the transport are plain HTTP with a slug and the trace id (E-52 to E-57);
//! faults of a message or its arguments are JSON-RPC errors, with status 200 wherever the protocol allows it.

use frontdesk_engine::model::contract::{CredentialPresence, ReplyContext, RequestTarget};
use frontdesk_engine::{Fault, FaultKind, Reply};
use frontdesk_wire::answer::{code, error, error_without_id, quote};
use frontdesk_wire::version::{Era, Version};
use serde_json::{Value, json};

use super::era_or_default;

/// How recent a login must be for a step-up.
const MAX_AGE_SECONDS: u32 = 300;

pub(super) fn failure(fault: &Fault, context: &ReplyContext<'_>) -> Reply {
    let ErrorShape { status, slug, rpc } = error_shape(fault, context);
    let reply = match rpc {
        Some(code) if matches!(context.target, RequestTarget::Route { .. }) => {
            Reply::plain(route_status(status, code), body(slug, &message(fault), context.trace_id))
        }
        Some(code) => answer(fault, context, code).status(status),
        None => Reply::plain(status, body(slug, &message(fault), context.trace_id)),
    };
    let reply = reply.code(slug);
    let reply = match header(fault, context) {
        Some((name, value)) => reply.header(name, value),
        None => reply,
    };
    match fault.retry_after {
        Some(seconds) => reply.header("Retry-After", seconds.to_string()),
        None => reply,
    }
}

/// The HTTP status and slug of a fault, and its code where the answer is a JSON-RPC error.
struct ErrorShape {
    status: u16,
    slug: &'static str,
    rpc: Option<i64>,
}

/// A route has no JSON-RPC envelope that could say more than its HTTP status.
fn route_status(status: u16, code: i64) -> u16 {
    match (status, code) {
        (200, code::METHOD_NOT_FOUND | code::RESOURCE_NOT_FOUND) => 404,
        (200, code::INTERNAL_ERROR) => 500,
        (200, _) => 400,
        (status, _) => status,
    }
}

fn plain(status: u16, slug: &'static str) -> ErrorShape {
    ErrorShape { status, slug, rpc: None }
}

fn rpc(status: u16, slug: &'static str, code: i64) -> ErrorShape {
    ErrorShape { status, slug, rpc: Some(code) }
}

fn error_shape(fault: &Fault, context: &ReplyContext<'_>) -> ErrorShape {
    match fault.kind {
        FaultKind::Malformed => rpc(200, "parse_error", code::PARSE_ERROR),
        FaultKind::InvalidRequest => rpc(200, "invalid_request", code::INVALID_REQUEST),
        FaultKind::HeaderMismatch => rpc(400, "header_mismatch", code::HEADER_MISMATCH),
        FaultKind::UnsupportedVersion => rpc(400, "unsupported_version", code::UNSUPPORTED_VERSION),
        FaultKind::UnknownMethod => match era_or_default(context) {
            Era::Modern => rpc(404, "method_not_found", code::METHOD_NOT_FOUND),
            Era::Legacy(_) => rpc(200, "method_not_found", code::METHOD_NOT_FOUND),
        },
        FaultKind::UnknownTool => rpc(200, "tool_not_found", code::METHOD_NOT_FOUND),
        FaultKind::UnknownServer => rpc(404, "server_not_found", code::METHOD_NOT_FOUND),
        FaultKind::ServerDenied => plain(403, "server_denied"),
        FaultKind::ToolDenied => plain(403, "tool_denied"),
        FaultKind::InvalidArgument if is_unknown_model(fault, context) => {
            rpc(200, "model_not_found", code::METHOD_NOT_FOUND)
        }
        // Without an era the fault is in `_meta` itself, which the modern era answers with 400.
        FaultKind::InvalidArgument if context.target == RequestTarget::Method && context.era.is_none() => {
            rpc(400, "invalid_params", code::INVALID_PARAMS)
        }
        FaultKind::InvalidArgument | FaultKind::InvalidCursor => rpc(200, "invalid_params", code::INVALID_PARAMS),
        FaultKind::Unauthenticated | FaultKind::StepUp => plain(401, "unauthenticated"),
        FaultKind::Forbidden => plain(403, "scope_denied"),
        FaultKind::TenantRequired | FaultKind::TenantForbidden | FaultKind::HostNotAllowed => plain(403, "forbidden"),
        FaultKind::NotFound => match era_or_default(context) {
            Era::Modern => rpc(200, "not_found", code::INVALID_PARAMS),
            Era::Legacy(_) => rpc(200, "not_found", code::RESOURCE_NOT_FOUND),
        },
        FaultKind::VersionConflict => plain(409, "conflict"),
        FaultKind::KeyReused => plain(409, "idempotency_conflict"),
        FaultKind::KeyInFlight => plain(409, "in_progress"),
        FaultKind::BadDispatch => plain(400, "invalid_payload"),
        FaultKind::QueueFull => plain(503, "async_unavailable"),
        FaultKind::RateLimited => plain(429, "rate_limited"),
        FaultKind::QuotaExceeded => plain(507, "quota_exceeded"),
        FaultKind::TooLarge => plain(413, "payload_too_large"),
        FaultKind::AnswerTooLarge => plain(413, "result_too_large"),
        FaultKind::UnsupportedMediaType => plain(415, "unsupported_media_type"),
        FaultKind::MethodNotAllowed => plain(405, "method_not_allowed"),
        FaultKind::Cancelled => plain(499, "cancelled"),
        FaultKind::Unavailable => plain(503, "unavailable"),
        FaultKind::OutcomeUnknown => plain(504, "outcome_unknown"),
        FaultKind::Internal => match context.id {
            Some(_) => rpc(200, "internal_error", code::INTERNAL_ERROR),
            None => plain(500, "internal_error"),
        },
        FaultKind::Domain(code) => plain(422, code.0),
    }
}

/// An unlisted model is answered as not found, not as an invalid argument (E-30, E-51).
fn is_unknown_model(fault: &Fault, context: &ReplyContext<'_>) -> bool {
    let place = match context.target {
        RequestTarget::Tool(_) | RequestTarget::Resource(_) | RequestTarget::Route { .. } => true,
        RequestTarget::Method | RequestTarget::Transport => false,
    };
    place && fault.problems.iter().any(|problem| problem.pointer == "/model" && problem.keyword == "enum")
}

/// `data` lists the problems, except where the protocol defines `data` itself.
fn answer(fault: &Fault, context: &ReplyContext<'_>, code: i64) -> Reply {
    let data = fault.rpc_data().map(str::to_owned).or_else(|| problems(fault)).or_else(|| trace(fault, context));
    let message = message(fault);
    // Versions from 2025-11-25 on have no null id; an unreadable id is omitted, as in the original.
    let allows_null_id = context.header_version.is_some_and(|version| version < Version::V2025_11_25);
    Reply::rpc(match context.id {
        None if !allows_null_id => error_without_id(code, &message, data.as_deref()),
        id => error(id, code, &message, data.as_deref()),
    })
}

/// With status 404 a client may not read the message as JSON-RPC, but it can search for the trace (E-56).
fn trace(fault: &Fault, context: &ReplyContext<'_>) -> Option<String> {
    (fault.kind == FaultKind::UnknownServer).then(|| json!({"trace_id": context.trace_id}).to_string())
}

fn problems(fault: &Fault) -> Option<String> {
    let each = fault
        .problems
        .iter()
        .map(|problem| json!({"pointer": problem.pointer, "keyword": problem.keyword, "expected": problem.expected}));
    let errors: Vec<Value> = each.collect();
    (!errors.is_empty()).then(|| json!({"errors": errors}).to_string())
}

/// `{"error":{"code","message","trace_id"}}` (E-56).
fn body(slug: &str, message: &str, trace: &str) -> String {
    format!("{{\"error\":{{\"code\":{},\"message\":{},\"trace_id\":{}}}}}", quote(slug), quote(message), quote(trace))
}

/// Says "site" where the engine says "tenant", and names a missing scope, because not every agent sees the
/// `WWW-Authenticate` header.
fn message(fault: &Fault) -> String {
    match fault.kind {
        FaultKind::TenantRequired => {
            "This token belongs to several sites. Use a token that belongs to this site only.".to_owned()
        }
        FaultKind::TenantForbidden => "This token does not belong to this site. Use a token of this site.".to_owned(),
        FaultKind::Forbidden if !fault.needed.is_empty() => {
            let needed: Vec<&str> = fault.needed.iter().map(|scope| scope.as_str()).collect();
            format!("The token does not carry the scope this needs: {}.", needed.join(" "))
        }
        FaultKind::Malformed
        | FaultKind::InvalidRequest
        | FaultKind::HeaderMismatch
        | FaultKind::UnsupportedVersion
        | FaultKind::UnknownMethod
        | FaultKind::UnknownTool
        | FaultKind::UnknownServer
        | FaultKind::ServerDenied
        | FaultKind::ToolDenied
        | FaultKind::InvalidArgument
        | FaultKind::InvalidCursor
        | FaultKind::Unauthenticated
        | FaultKind::Forbidden
        | FaultKind::StepUp
        | FaultKind::NotFound
        | FaultKind::VersionConflict
        | FaultKind::KeyReused
        | FaultKind::KeyInFlight
        | FaultKind::BadDispatch
        | FaultKind::QueueFull
        | FaultKind::RateLimited
        | FaultKind::QuotaExceeded
        | FaultKind::TooLarge
        | FaultKind::AnswerTooLarge
        | FaultKind::UnsupportedMediaType
        | FaultKind::MethodNotAllowed
        | FaultKind::HostNotAllowed
        | FaultKind::Cancelled
        | FaultKind::Unavailable
        | FaultKind::OutcomeUnknown
        | FaultKind::Internal
        | FaultKind::Domain(_) => fault.message.clone().into_owned(),
    }
}

/// The authentication challenge (RFC 6750, RFC 9470, RFC 9728), or the allowed methods.
fn header(fault: &Fault, context: &ReplyContext<'_>) -> Option<(&'static str, String)> {
    let challenge = |parts: Vec<String>| Some(("WWW-Authenticate", format!("Bearer {}", parts.join(", "))));
    // Empty where another issuer signs the tokens: there is no authorization server to describe.
    let metadata =
        (!context.metadata_url.is_empty()).then(|| format!("resource_metadata=\"{}\"", context.metadata_url));
    if fault.kind == FaultKind::Unauthenticated {
        let error = match context.credential {
            // A request without a credential made no error yet (RFC 6750 §3.1).
            CredentialPresence::Absent => None,
            CredentialPresence::Present => Some("error=\"invalid_token\"".to_owned()),
        };
        let scope = format!("scope=\"{}\"", context.ordinary_scopes);
        challenge(error.into_iter().chain(metadata).chain([scope]).collect())
    } else if fault.kind == FaultKind::StepUp {
        let error = format!("error=\"insufficient_user_authentication\", max_age=\"{MAX_AGE_SECONDS}\"");
        challenge([error].into_iter().chain(metadata).collect())
    } else if fault.kind == FaultKind::Forbidden {
        // Clients request exactly these scopes next, so the scopes they have must be included.
        let scopes = context.granted_scopes.cloned().unwrap_or_default().with(&fault.needed);
        let error = format!("error=\"insufficient_scope\", scope=\"{scopes}\"");
        challenge([error].into_iter().chain(metadata).collect())
    } else if fault.kind == FaultKind::MethodNotAllowed {
        Some(("Allow", "POST, DELETE".to_owned()))
    } else {
        None
    }
}
