//! Answers to faults: JSON-RPC errors with TOMO's code in `data` (§4). The HTTP status is 200 except for a missing or
//! wrong credential, because the client that TOMO names loses the body of any other; the equivalents are a setting.

use frontdesk_engine::model::contract::{ReplyContext, RequestTarget};
use frontdesk_engine::{Code, Fault, FaultKind, Reply};
use frontdesk_wire::answer::{code, error};
use frontdesk_wire::version::Era;
use serde_json::{Map, Value};

use super::Tomo;
use crate::partner::ErrorStatus;
use crate::tomo::codes::{
    IDEMPOTENCY_CONFLICT, INTERNAL_ERROR, INVALID_AUTH, INVALID_REQUEST, METHOD_NOT_FOUND, NOT_FOUND,
    PARTNER_MAINTENANCE, RATE_LIMITED,
};

/// §4 gives these meanings of its own.
const AUTH: i64 = -32000;
const LIMITED: i64 = -32001;
const MAINTENANCE: i64 = -32002;

/// TOMO waits 1, 4 and 16 seconds (§8): a longer wait would never be kept.
const MAX_RETRY_AFTER: u64 = 16;

pub(super) fn failure(dialect: &Tomo, fault: &Fault, context: &ReplyContext<'_>) -> Reply {
    let meaning = meaning(fault.kind);
    let tool = match context.target {
        RequestTarget::Tool(tool) => Some(tool),
        RequestTarget::Resource(_) | RequestTarget::Route { .. } | RequestTarget::Method | RequestTarget::Transport => {
            None
        }
    };
    // A code of its own must be in the list of the intent.
    let is_of_intent = matches!(fault.kind, FaultKind::Domain(_) | FaultKind::NotFound);
    let is_listed = !is_of_intent || dialect.has_code(tool, meaning.code.0);
    let code = if is_listed { meaning.code } else { INVALID_REQUEST };
    let rpc_code = match context.era_or_default() {
        Era::Legacy(_) => meaning.rpc,
        Era::Modern => modern(meaning.rpc, meaning.status),
    };
    let mut data = Map::from_iter([("tomo_error_code".to_owned(), Value::from(code.0))]);
    // A problem of the arguments as a whole has no path.
    if let Some(problem) = fault.problems.first().filter(|problem| !problem.pointer.is_empty()) {
        data.insert("tomo_field".to_owned(), Value::from(dotted(&problem.pointer)));
    }
    let data = match fault.rpc_data() {
        // The protocol itself says what these hold; ours stands beside it.
        Some(own) => beside(own, data),
        None => Value::Object(data).to_string(),
    };
    let reply = Reply::rpc(error(context.id, rpc_code, &message(fault), Some(&data)))
        .status(status(dialect, fault.kind, meaning.status, context))
        .header("Cache-Control", "no-store")
        .code(code.0);
    let reply = if fault.kind == FaultKind::MethodNotAllowed {
        reply.header("Allow", "POST, DELETE")
    } else if matches!(fault.kind, FaultKind::Unauthenticated | FaultKind::Forbidden) {
        reply.header("WWW-Authenticate", "Bearer realm=\"tomo\"")
    } else {
        reply
    };
    match fault.retry_after {
        Some(seconds) => reply.header("Retry-After", seconds.min(MAX_RETRY_AFTER).to_string()),
        None => reply,
    }
}

struct Meaning {
    rpc: i64,
    status: u16,
    code: Code,
}

fn meaning(kind: FaultKind) -> Meaning {
    let of = |rpc, status, code| Meaning { rpc, status, code };
    match kind {
        FaultKind::Malformed => of(code::PARSE_ERROR, 400, INVALID_REQUEST),
        FaultKind::InvalidRequest | FaultKind::BadDispatch => of(code::INVALID_REQUEST, 400, INVALID_REQUEST),
        FaultKind::HeaderMismatch => of(code::HEADER_MISMATCH, 400, INVALID_REQUEST),
        FaultKind::UnsupportedVersion => of(code::UNSUPPORTED_VERSION, 400, INVALID_REQUEST),
        FaultKind::UnknownMethod => of(code::METHOD_NOT_FOUND, 404, METHOD_NOT_FOUND),
        FaultKind::UnknownTool
        | FaultKind::InvalidArgument
        | FaultKind::InvalidCursor
        | FaultKind::TenantRequired
        | FaultKind::TenantForbidden => of(code::INVALID_PARAMS, 400, INVALID_REQUEST),
        FaultKind::NotFound => of(code::INVALID_PARAMS, 404, NOT_FOUND),
        FaultKind::UnknownServer => of(code::INVALID_REQUEST, 404, INVALID_REQUEST),
        FaultKind::ServerDenied | FaultKind::ToolDenied | FaultKind::HostNotAllowed => {
            of(code::INVALID_REQUEST, 403, INVALID_REQUEST)
        }
        FaultKind::UnsupportedMediaType => of(code::INVALID_REQUEST, 415, INVALID_REQUEST),
        FaultKind::MethodNotAllowed => of(code::INVALID_REQUEST, 405, INVALID_REQUEST),
        FaultKind::TooLarge => of(code::INVALID_REQUEST, 413, INVALID_REQUEST),
        FaultKind::Unauthenticated | FaultKind::Forbidden | FaultKind::StepUp => of(AUTH, 401, INVALID_AUTH),
        FaultKind::KeyReused => of(code::INVALID_PARAMS, 409, IDEMPOTENCY_CONFLICT),
        FaultKind::VersionConflict => of(code::INVALID_PARAMS, 409, INVALID_REQUEST),
        // The same call again gets its answer.
        FaultKind::KeyInFlight | FaultKind::RateLimited => of(LIMITED, 429, RATE_LIMITED),
        // The contract has no code for it; for its caller the business takes no orders until the operator has made room.
        FaultKind::Unavailable | FaultKind::QueueFull | FaultKind::QuotaExceeded => {
            of(MAINTENANCE, 503, PARTNER_MAINTENANCE)
        }
        FaultKind::OutcomeUnknown | FaultKind::Internal | FaultKind::AnswerTooLarge | FaultKind::Cancelled => {
            of(code::INTERNAL_ERROR, 500, INTERNAL_ERROR)
        }
        FaultKind::Domain(NOT_FOUND) => of(code::INVALID_PARAMS, 404, NOT_FOUND),
        FaultKind::Domain(code_of_intent) => of(code::INVALID_PARAMS, 409, code_of_intent),
    }
}

/// 2026-07-28 keeps -32000 to -32099 for itself; ours are then ten times the HTTP status of the same meaning.
fn modern(rpc: i64, status: u16) -> i64 {
    if matches!(rpc, AUTH | LIMITED | MAINTENANCE) { i64::from(status) * 10 } else { rpc }
}

fn status(dialect: &Tomo, kind: FaultKind, equivalent: u16, context: &ReplyContext<'_>) -> u16 {
    // Faults of HTTP itself, before there is a message, and those for which 2026-07-28 demands a status.
    let is_fixed = matches!(
        kind,
        FaultKind::HostNotAllowed
            | FaultKind::UnsupportedMediaType
            | FaultKind::MethodNotAllowed
            | FaultKind::TooLarge
            | FaultKind::ServerDenied
            | FaultKind::UnknownServer
            | FaultKind::HeaderMismatch
            | FaultKind::UnsupportedVersion
    );
    let is_modern = kind == FaultKind::UnknownMethod && context.era == Some(Era::Modern);
    if matches!(kind, FaultKind::Unauthenticated | FaultKind::Forbidden | FaultKind::StepUp) {
        return 401;
    }
    match dialect.error_status {
        ErrorStatus::Ok if !is_fixed && !is_modern => 200,
        ErrorStatus::Ok | ErrorStatus::Equivalent => equivalent,
    }
}

/// `/destination/country_code` as `destination.country_code`.
fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

fn message(fault: &Fault) -> String {
    match fault.problems.first() {
        Some(problem) if fault.kind == FaultKind::InvalidArgument => {
            let field = dotted(&problem.pointer);
            let place = if field.is_empty() { "arguments".to_owned() } else { field };
            format!("Invalid params: {place}: {}", problem.reason())
        }
        Some(_) | None => fault.message.to_string(),
    }
}

fn beside(own: &str, ours: Map<String, Value>) -> String {
    match serde_json::from_str::<Value>(own) {
        Ok(Value::Object(mut members)) => {
            members.extend(ours);
            Value::Object(members).to_string()
        }
        Ok(_) | Err(_) => Value::Object(ours).to_string(),
    }
}
