//! The one error type. A fault's message is for a person and free of customer
//! data and internals; its cause goes to the log and is never sent.

use std::borrow::Cow;

use crate::model::caller::Scope;
use crate::model::incoming::VerbSet;

/// A stable, published error code, such as a contract declares for its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code(pub &'static str);

/// Every kind of fault there is. Closed on purpose, and matched without `_`: a new kind must fail to
/// compile in every dialect until somebody has decided how that contract says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The body is not strict JSON.
    Malformed,
    /// The body is JSON, but not a JSON-RPC message this version allows.
    InvalidRequest,
    /// Headers that must mirror the body do not.
    HeaderMismatch,
    /// The protocol version asked for is not served.
    UnsupportedVersion,
    UnknownMethod,
    UnknownTool,
    /// No server has the name in the address.
    UnknownServer,
    /// The operator does not let this server be used.
    ServerDenied,
    /// The operator does not let this tool be used, whether or not it exists.
    ToolDenied,
    InvalidArgument,
    /// A cursor that was not issued for this tenant, tool and filter, or has expired.
    InvalidCursor,
    Unauthenticated,
    /// A scope is missing.
    Forbidden,
    /// The caller may act for several tenants and named none.
    TenantRequired,
    /// The caller named a tenant it does not belong to.
    TenantForbidden,
    /// The caller's last login is too long ago, or nobody has logged in.
    StepUp,
    NotFound,
    /// The version the caller expected is no longer the current one.
    VersionConflict,
    KeyReused,
    KeyInFlight,
    /// What was dispatched is no message that could be run.
    BadDispatch,
    /// The queue of dispatched messages is full.
    QueueFull,
    RateLimited,
    /// The tenant or the client has stored as much as it may.
    QuotaExceeded,
    TooLarge,
    /// What was asked is fine, its answer is larger than the mount allows.
    AnswerTooLarge,
    UnsupportedMediaType,
    MethodNotAllowed,
    /// Host or Origin is not one this server answers to.
    HostNotAllowed,
    /// The caller cancelled the request before it was answered.
    Cancelled,
    /// Try again later: nothing was done.
    Unavailable,
    /// Handed over without a key, and not known to have happened or not: the same call again may do it twice.
    OutcomeUnknown,
    Internal,
    /// A rule of the business, by the code its contract published.
    Domain(Code),
}

/// One thing wrong with an argument: where, and which rule it breaks. Never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON Pointer into the arguments.
    pub pointer: String,
    /// The rule that does not hold, as a JSON Schema keyword.
    pub keyword: &'static str,
    /// What would be right, in words.
    pub expected: String,
}

/// Boxed in a fault, because faults are part of the future of every call.
#[derive(Debug, Clone)]
pub enum ProtocolDetail {
    /// JSON-RPC's `data`, as JSON text.
    RpcData(String),
    /// HTTP's `Allow`, at a route.
    Allow(VerbSet),
    /// How many seconds ago a login may have been, for `StepUp`.
    MaxLoginAge(u32),
}

#[derive(Debug, Clone)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: Cow<'static, str>,
    pub problems: Vec<Problem>,
    /// Whole seconds after which the same call can succeed.
    pub retry_after: Option<u64>,
    /// The scopes that would have been enough, for `Forbidden`.
    pub needed: Vec<Scope>,
    /// What a protocol itself says about the fault.
    pub detail: Option<Box<ProtocolDetail>>,
    /// Logged, never sent.
    pub cause: Option<String>,
}

impl Fault {
    pub fn new(kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Fault {
        Fault {
            kind,
            message: message.into(),
            problems: Vec::new(),
            retry_after: None,
            needed: Vec::new(),
            detail: None,
            cause: None,
        }
    }

    pub fn rpc_data(&self) -> Option<&str> {
        match self.detail.as_deref()? {
            ProtocolDetail::RpcData(data) => Some(data),
            ProtocolDetail::Allow(_) | ProtocolDetail::MaxLoginAge(_) => None,
        }
    }

    pub fn allowed_verbs(&self) -> Option<VerbSet> {
        match self.detail.as_deref()? {
            ProtocolDetail::Allow(verbs) => Some(*verbs),
            ProtocolDetail::RpcData(_) | ProtocolDetail::MaxLoginAge(_) => None,
        }
    }

    pub fn max_login_age(&self) -> Option<u32> {
        match self.detail.as_deref()? {
            ProtocolDetail::MaxLoginAge(seconds) => Some(*seconds),
            ProtocolDetail::RpcData(_) | ProtocolDetail::Allow(_) => None,
        }
    }

    pub fn domain(code: Code, message: impl Into<Cow<'static, str>>) -> Fault {
        Fault::new(FaultKind::Domain(code), message)
    }

    pub fn invalid(problems: Vec<Problem>) -> Fault {
        let message = match problems.as_slice() {
            [only] if only.pointer.is_empty() => format!("The arguments are not valid: {}", only.reason()),
            [only] => format!("The argument at {} is not valid: {}", only.pointer, only.reason()),
            several => format!("The arguments are not valid. {}", reasons(several)),
        };
        Fault { problems, ..Fault::new(FaultKind::InvalidArgument, message) }
    }

    /// One argument that is wrong for a reason a schema cannot say.
    pub fn invalid_argument(pointer: &str, keyword: &'static str, expected: impl Into<String>) -> Fault {
        Fault::invalid(vec![Problem { pointer: pointer.to_owned(), keyword, expected: expected.into() }])
    }

    pub fn missing_scope(scope: &Scope) -> Fault {
        Fault {
            needed: vec![scope.clone()],
            ..Fault::new(FaultKind::Forbidden, "The token does not carry the scope this needs.")
        }
    }

    /// The token is good, but nobody has logged in for it, or too long ago.
    pub fn step_up(max_login_age: u32) -> Fault {
        let message = format!(
            "This needs a token for which a person has logged in within the last {max_login_age} seconds. Have them log in \
             again, and repeat the call with the new token."
        );
        let detail = Some(Box::new(ProtocolDetail::MaxLoginAge(max_login_age)));
        Fault { detail, ..Fault::new(FaultKind::StepUp, message) }
    }

    pub fn not_found() -> Fault {
        Fault::new(FaultKind::NotFound, "Nothing with this id exists here.")
    }

    /// Nothing was done; the caller may repeat the call after a moment.
    pub fn unavailable(cause: impl Into<String>) -> Fault {
        Fault {
            retry_after: Some(1),
            ..Fault::new(
                FaultKind::Unavailable,
                "The service cannot do this right now; nothing was changed. Try again.",
            )
        }
        .caused_by(cause)
    }

    /// The operator has closed the business for a while.
    pub fn maintenance() -> Fault {
        let message = "The business is closed for maintenance; nothing was changed. Try again later.";
        Fault::new(FaultKind::Unavailable, message).retry_after(MAINTENANCE_SECONDS)
    }

    /// A write without an idempotency key that may have happened.
    pub fn outcome_unknown() -> Fault {
        Fault::new(
            FaultKind::OutcomeUnknown,
            "It is not known yet whether this was done. Look before you repeat it, and send an idempotency key next time.",
        )
    }

    pub fn internal(cause: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Internal, "Something went wrong on our side.").caused_by(cause)
    }

    pub fn caused_by(mut self, cause: impl Into<String>) -> Fault {
        self.cause = Some(cause.into());
        self
    }

    pub fn retry_after(mut self, seconds: u64) -> Fault {
        self.retry_after = Some(seconds);
        self
    }
}

/// What is wrong, each place with its reason: many clients show the message and nothing else.
fn reasons(problems: &[Problem]) -> String {
    let spelled = problems.iter().take(MAX_REASONS).map(|problem| match (problem.pointer.as_str(), problem.keyword) {
        ("", "additionalProperties") => format!("Unknown name: {}", problem.reason()),
        ("", _) => format!("As a whole: {}", problem.reason()),
        (pointer, _) => format!("{pointer}: {}", problem.reason()),
    });
    let mut text = spelled.collect::<Vec<String>>().join(" ");
    match problems.len().saturating_sub(MAX_REASONS) {
        0 => {}
        more => text.push_str(&format!(" And {more} more.")),
    }
    text
}

/// When to ask again while the business is closed.
const MAINTENANCE_SECONDS: u64 = 16;

/// More reasons than this are not spelled out in a message.
const MAX_REASONS: usize = 3;

/// So many characters of a reason stand in a message; its problem has all of them.
const MAX_REASON: usize = 500;

impl Problem {
    pub fn new(pointer: &str, keyword: &'static str, expected: impl Into<String>) -> Problem {
        Problem { pointer: pointer.to_owned(), keyword, expected: expected.into() }
    }

    /// What would be right, as a sentence of a message. A question ends with its own mark.
    pub fn reason(&self) -> String {
        match self.expected.char_indices().nth(MAX_REASON) {
            Some((end, _)) => format!("{}...", self.expected.get(..end).unwrap_or_default()),
            None if self.expected.ends_with('?') => self.expected.clone(),
            None => format!("{}.", self.expected),
        }
    }
}

impl FaultKind {
    /// Whether the same call can succeed later without being changed.
    pub fn retryable(self) -> bool {
        match self {
            FaultKind::RateLimited
            | FaultKind::Unavailable
            | FaultKind::KeyInFlight
            | FaultKind::QueueFull
            | FaultKind::Cancelled => true,
            FaultKind::Malformed
            | FaultKind::InvalidRequest
            | FaultKind::HeaderMismatch
            | FaultKind::UnsupportedVersion
            | FaultKind::UnknownMethod
            | FaultKind::UnknownTool
            | FaultKind::InvalidArgument
            | FaultKind::InvalidCursor
            | FaultKind::Unauthenticated
            | FaultKind::Forbidden
            | FaultKind::TenantRequired
            | FaultKind::TenantForbidden
            | FaultKind::StepUp
            | FaultKind::NotFound
            | FaultKind::VersionConflict
            | FaultKind::KeyReused
            | FaultKind::BadDispatch
            | FaultKind::QuotaExceeded
            | FaultKind::TooLarge
            | FaultKind::AnswerTooLarge
            | FaultKind::UnknownServer
            | FaultKind::ServerDenied
            | FaultKind::ToolDenied
            | FaultKind::UnsupportedMediaType
            | FaultKind::MethodNotAllowed
            | FaultKind::HostNotAllowed
            // It can succeed, and that is the danger: the caller must look first.
            | FaultKind::OutcomeUnknown
            | FaultKind::Internal
            | FaultKind::Domain(_) => false,
        }
    }

    /// As logs, metrics and audit records name it.
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Malformed => "malformed",
            FaultKind::InvalidRequest => "not_rpc",
            FaultKind::HeaderMismatch => "header_mismatch",
            FaultKind::UnsupportedVersion => "wrong_version",
            FaultKind::UnknownMethod => "unknown_method",
            FaultKind::UnknownTool => "unknown_tool",
            FaultKind::InvalidArgument => "invalid_argument",
            FaultKind::InvalidCursor => "invalid_cursor",
            FaultKind::Unauthenticated => "unauthenticated",
            FaultKind::Forbidden => "forbidden",
            FaultKind::TenantRequired => "tenant_required",
            FaultKind::TenantForbidden => "cross_tenant_denied",
            FaultKind::StepUp => "step_up",
            FaultKind::NotFound => "not_found",
            FaultKind::VersionConflict => "stale",
            FaultKind::KeyReused => "key_reused",
            FaultKind::KeyInFlight => "key_in_flight",
            FaultKind::BadDispatch => "bad_dispatch",
            FaultKind::QueueFull => "no_room",
            FaultKind::RateLimited => "rate_limited",
            FaultKind::QuotaExceeded => "quota_exceeded",
            FaultKind::TooLarge => "too_large",
            FaultKind::AnswerTooLarge => "answer_too_large",
            FaultKind::UnknownServer => "unknown_server",
            FaultKind::ServerDenied => "server_denied",
            FaultKind::ToolDenied => "tool_denied",
            FaultKind::UnsupportedMediaType => "wrong_media",
            FaultKind::MethodNotAllowed => "wrong_verb",
            FaultKind::HostNotAllowed => "wrong_host",
            FaultKind::Cancelled => "cancelled",
            FaultKind::Unavailable => "unavailable",
            FaultKind::OutcomeUnknown => "outcome_unknown",
            FaultKind::Internal => "internal",
            FaultKind::Domain(code) => code.0,
        }
    }
}
