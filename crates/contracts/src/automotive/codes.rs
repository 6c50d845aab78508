//! The error codes of this contract that concern every call. Those of a resource and its rules stand beside it. A code is
//! never renamed and never reused: agents branch on it (A3-24).

pub mod descriptions;

use frontdesk_engine::Code;

/// A code with its meaning and what the caller can do; docs/errors.md is made from these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeSpec {
    pub code: Code,
    pub means: &'static str,
    pub next: &'static str,
}

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
pub const QUOTA_EXCEEDED: Code = Code("quota.exceeded");
pub const TOO_LARGE: Code = Code("request.too_large");
pub const WRONG_MEDIA: Code = Code("request.wrong_media");
pub const WRONG_VERB: Code = Code("request.wrong_verb");
pub const WRONG_HOST: Code = Code("request.wrong_host");
pub const CANCELLED: Code = Code("request.cancelled");
/// A value that another record has; resources may have codes of their own for it.
pub const DUPLICATE_VALUE: Code = Code("request.duplicate");
/// A URI that matches no template.
pub const NOT_FOUND: Code = Code("request.not_found");

pub const DEALERSHIP_REQUIRED: Code = Code("dealership.required");
pub const DEALERSHIP_FORBIDDEN: Code = Code("dealership.forbidden");

pub const UNAVAILABLE: Code = Code("internal.unavailable");
/// A write without an idempotency key that may have been committed.
pub const OUTCOME_UNKNOWN: Code = Code("internal.outcome_unknown");
pub const INTERNAL: Code = Code("internal.error");
