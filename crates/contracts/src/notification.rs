//! What a business's own systems say of bookings that were made here, whichever contract the bookings belong to: how a
//! notification is verified, which tool it calls, and what an answer to it means. The server sends and receives; it knows
//! no contract.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::signing_key::SigningKey;
use frontdesk_engine::{Fault, FaultKind};

use crate::tomo;
use crate::tomo::codes::NOT_FOUND;

/// The headers of a signed notification.
pub const TIMESTAMP_HEADER: &str = "x-frontdesk-timestamp";
pub const SIGNATURE_HEADER: &str = "x-frontdesk-signature";

/// The tool of the operator that records a stage. It takes `booking_ref`, `stage`, `at` and `details`.
pub const ADVANCE_TOOL: &str = tomo::lifecycle::ADVANCE;

/// The tool of the operator that lists the bookings which a clock would move: objects with `booking_ref` and `stage`.
pub const DUE_TOOL: &str = tomo::due::DUE;

/// The scope that the tools of the operator need.
pub const MANAGE_SCOPE: &str = tomo::MANAGE;

/// Whether one of these keys has signed this body, and lately.
pub fn verify(keys: &[SigningKey], timestamp: &str, signature: &str, body: &[u8], now: Millis) -> bool {
    tomo::signature::verify(keys, timestamp, signature, body, now)
}

/// What a refused notification is answered with: an HTTP status and a word.
pub fn refusal(kind: FaultKind) -> (u16, &'static str) {
    match kind {
        FaultKind::NotFound | FaultKind::Domain(NOT_FOUND) => (404, "not_found"),
        FaultKind::Domain(_) => (409, "closed"),
        FaultKind::KeyReused => (409, "conflict"),
        FaultKind::InvalidArgument => (422, "invalid"),
        FaultKind::RateLimited => (429, "rate_limited"),
        FaultKind::QuotaExceeded => (507, "quota_exceeded"),
        FaultKind::TooLarge => (413, "too_large"),
        FaultKind::Unauthenticated | FaultKind::Forbidden | FaultKind::StepUp => (401, "unauthenticated"),
        FaultKind::KeyInFlight
        | FaultKind::VersionConflict
        | FaultKind::Unavailable
        | FaultKind::QueueFull
        | FaultKind::OutcomeUnknown
        | FaultKind::Cancelled => (503, "unavailable"),
        FaultKind::Malformed
        | FaultKind::InvalidRequest
        | FaultKind::BadDispatch
        | FaultKind::HeaderMismatch
        | FaultKind::UnsupportedVersion
        | FaultKind::UnknownMethod
        | FaultKind::UnknownTool
        | FaultKind::InvalidCursor
        | FaultKind::TenantRequired
        | FaultKind::TenantForbidden
        | FaultKind::UnknownServer
        | FaultKind::ServerDenied
        | FaultKind::ToolDenied
        | FaultKind::HostNotAllowed
        | FaultKind::UnsupportedMediaType
        | FaultKind::MethodNotAllowed
        | FaultKind::Internal
        | FaultKind::AnswerTooLarge => (500, "internal"),
    }
}

/// The field that is wrong, with points between its parts; none if it is all of them.
pub fn field_of(fault: &Fault) -> Option<String> {
    let pointer = &fault.problems.first()?.pointer;
    Some(pointer.trim_start_matches('/').replace('/', ".")).filter(|field| !field.is_empty())
}

/// What is wrong, without any value that was sent.
pub fn message_of(fault: &Fault) -> String {
    match fault.problems.first() {
        Some(problem) => problem.reason(),
        None => fault.message.to_string(),
    }
}
