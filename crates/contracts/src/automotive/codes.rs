//! All error codes of this contract. A code is never renamed and never reused: agents branch on it (A3-24).

pub mod descriptions;

use frontdesk_engine::Code;

pub const UNAUTHORIZED: Code = Code("auth.unauthorized");
pub const INSUFFICIENT_SCOPE: Code = Code("auth.insufficient_scope");
pub const STEP_UP_REQUIRED: Code = Code("auth.step_up_required");

/// Without a namespace, as in the published specification.
pub const RATE_LIMITED: Code = Code("rate_limited");

pub const MALFORMED: Code = Code("request.malformed");
pub const NOT_RPC: Code = Code("request.not_rpc");
pub const HEADER_MISMATCH: Code = Code("request.header_mismatch");
pub const WRONG_VERSION: Code = Code("request.wrong_version");
pub const UNKNOWN_METHOD: Code = Code("request.unknown_method");
pub const UNKNOWN_TOOL: Code = Code("request.unknown_tool");
pub const INVALID: Code = Code("request.invalid");
pub const INVALID_CURSOR: Code = Code("request.invalid_cursor");
pub const IDEMPOTENCY_CONFLICT: Code = Code("request.idempotency_conflict");
pub const IN_PROGRESS: Code = Code("request.in_progress");
pub const VERSION_CONFLICT: Code = Code("request.version_conflict");
pub const TOO_LARGE: Code = Code("request.too_large");
pub const WRONG_MEDIA: Code = Code("request.wrong_media");
pub const WRONG_VERB: Code = Code("request.wrong_verb");
pub const WRONG_HOST: Code = Code("request.wrong_host");
pub const CANCELLED: Code = Code("request.cancelled");
/// A URI that matches no template.
pub const NOT_FOUND: Code = Code("request.not_found");

pub const DEALERSHIP_REQUIRED: Code = Code("dealership.required");
pub const DEALERSHIP_FORBIDDEN: Code = Code("dealership.forbidden");

pub const INVENTORY_NOT_FOUND: Code = Code("inventory.not_found");
pub const LEADS_NOT_FOUND: Code = Code("leads.not_found");
pub const CUSTOMERS_NOT_FOUND: Code = Code("customers.not_found");
pub const LOST_REASON_REQUIRED: Code = Code("leads.lost_reason_required");
pub const CONSENT_REQUIRED: Code = Code("consent.required");
pub const CONSENT_INVALID: Code = Code("consent.invalid");

pub const UNAVAILABLE: Code = Code("internal.unavailable");
/// A write without an idempotency key that may have been committed.
pub const OUTCOME_UNKNOWN: Code = Code("internal.outcome_unknown");
pub const INTERNAL: Code = Code("internal.error");

pub const ALL: &[Code] = &[
    UNAUTHORIZED,
    INSUFFICIENT_SCOPE,
    STEP_UP_REQUIRED,
    RATE_LIMITED,
    MALFORMED,
    NOT_RPC,
    HEADER_MISMATCH,
    WRONG_VERSION,
    UNKNOWN_METHOD,
    UNKNOWN_TOOL,
    INVALID,
    INVALID_CURSOR,
    IDEMPOTENCY_CONFLICT,
    IN_PROGRESS,
    VERSION_CONFLICT,
    TOO_LARGE,
    WRONG_MEDIA,
    WRONG_VERB,
    WRONG_HOST,
    CANCELLED,
    NOT_FOUND,
    DEALERSHIP_REQUIRED,
    DEALERSHIP_FORBIDDEN,
    INVENTORY_NOT_FOUND,
    LEADS_NOT_FOUND,
    CUSTOMERS_NOT_FOUND,
    LOST_REASON_REQUIRED,
    CONSENT_REQUIRED,
    CONSENT_INVALID,
    UNAVAILABLE,
    OUTCOME_UNKNOWN,
    INTERNAL,
];
