//! The error object of the contract (A3-23): a stable code, a message for people, and details. It never repeats what the
//! caller sent.

use std::borrow::Cow;

use frontdesk_engine::model::contract::RequestTarget;
use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::schema::{Schema, TextFormat, optional, required};
use frontdesk_engine::{Code, Fault, FaultKind};
use serde::Serialize;

use super::codes;

/// `{"error":{..}}`, as JSON text.
pub(super) fn body(fault: &Fault, code: Code) -> String {
    let envelope = Envelope {
        error: ErrorBody {
            code: code.0,
            message: &message(fault),
            details: Details {
                retryable: fault.kind.retryable(),
                retry_after: fault.retry_after,
                errors: fault.problems.iter().map(ArgumentError::from).collect(),
            },
            retry_after: fault.retry_after,
        },
    };
    // Serialization of text and numbers cannot fail; the fallback keeps the code in any case.
    serde_json::to_string(&envelope).unwrap_or_else(|_| {
        "{\"error\":{\"code\":\"internal.error\",\"message\":\"Something went wrong on our side.\",\"details\":{\"retryable\":false}}}"
            .to_owned()
    })
}

/// The schema of the error object.
pub(in super::super) fn schema() -> Schema {
    const WAIT: &str = "Whole seconds after which the same call can succeed.";
    let wait = || optional("retry_after", Schema::integer(0, 86_400), WAIT);
    let argument_error = Schema::object([
        required(
            "pointer",
            Schema::Text(TextFormat::Free { min: 0, max: 1000 }),
            "Where, as a JSON Pointer into the arguments.",
        ),
        required("keyword", Schema::text(50), "The rule that does not hold."),
        required("expected", Schema::text(2000), "What would be right."),
    ]);
    let details = Schema::object([
        required("retryable", Schema::Boolean, "Whether the same call can succeed later."),
        wait(),
        optional("errors", Schema::list(argument_error, 32), "Everything that is wrong with the arguments."),
    ]);
    let error = Schema::object([
        required("code", Schema::text(100), "Stable code to branch on."),
        required("message", Schema::text(2000), "For a person."),
        required("details", details, "More, for a program."),
        wait(),
    ]);
    Schema::object([required("error", error, "Why nothing was done.")])
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: ErrorBody<'a>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    code: &'static str,
    message: &'a str,
    details: Details<'a>,
    /// Here and in the details, because the specification requires it without saying where.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

#[derive(Serialize)]
struct Details<'a> {
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ArgumentError<'a>>,
}

#[derive(Serialize)]
struct ArgumentError<'a> {
    pointer: &'a str,
    keyword: &'a str,
    expected: &'a str,
}

impl<'a> From<&'a Problem> for ArgumentError<'a> {
    fn from(problem: &'a Problem) -> ArgumentError<'a> {
        ArgumentError { pointer: &problem.pointer, keyword: problem.keyword, expected: &problem.expected }
    }
}

/// Says "dealership" where the engine says "tenant", and names the dealerships or the missing scope, because not every
/// agent sees the details or the `WWW-Authenticate` header.
pub(super) fn message(fault: &Fault) -> Cow<'_, str> {
    match (fault.kind, fault.needed.first()) {
        (FaultKind::TenantRequired, _) => {
            let reasons: String =
                fault.problems.iter().take(1).map(|problem| format!(": {}", problem.reason())).collect();
            let end = if reasons.is_empty() { "." } else { &reasons };
            format!("This token is valid for several dealerships. Send the one you mean as dealership_id{end}").into()
        }
        (FaultKind::TenantForbidden, _) => {
            "This token is not valid for this dealership. Send the dealership_id of one of the client's own.".into()
        }
        (FaultKind::Forbidden, Some(scope)) => {
            format!("This needs the scope {}. Request a token with it at the token endpoint.", scope.as_str()).into()
        }
        _ => fault.message.as_ref().into(),
    }
}

pub(super) fn code(kind: FaultKind, target: RequestTarget<'_>, not_found: &NotFoundCodes) -> Code {
    match kind {
        FaultKind::Malformed => codes::MALFORMED,
        FaultKind::InvalidRequest | FaultKind::BadDispatch => codes::NOT_RPC,
        FaultKind::HeaderMismatch => codes::HEADER_MISMATCH,
        FaultKind::UnsupportedVersion => codes::WRONG_VERSION,
        FaultKind::UnknownMethod => codes::UNKNOWN_METHOD,
        FaultKind::UnknownTool => codes::UNKNOWN_TOOL,
        FaultKind::InvalidArgument => codes::INVALID,
        FaultKind::InvalidCursor => codes::INVALID_CURSOR,
        FaultKind::Unauthenticated => codes::UNAUTHORIZED,
        FaultKind::Forbidden => codes::INSUFFICIENT_SCOPE,
        FaultKind::TenantRequired => codes::DEALERSHIP_REQUIRED,
        FaultKind::TenantForbidden => codes::DEALERSHIP_FORBIDDEN,
        FaultKind::StepUp => codes::STEP_UP_REQUIRED,
        FaultKind::NotFound => not_found.of(target),
        FaultKind::VersionConflict => codes::VERSION_CONFLICT,
        FaultKind::KeyReused => codes::IDEMPOTENCY_CONFLICT,
        FaultKind::KeyInFlight => codes::IN_PROGRESS,
        FaultKind::RateLimited => codes::RATE_LIMITED,
        FaultKind::QuotaExceeded => codes::QUOTA_EXCEEDED,
        FaultKind::TooLarge | FaultKind::AnswerTooLarge => codes::TOO_LARGE,
        FaultKind::UnknownServer => codes::NOT_FOUND,
        FaultKind::ServerDenied | FaultKind::ToolDenied => codes::INSUFFICIENT_SCOPE,
        FaultKind::UnsupportedMediaType => codes::WRONG_MEDIA,
        FaultKind::MethodNotAllowed => codes::WRONG_VERB,
        FaultKind::HostNotAllowed => codes::WRONG_HOST,
        FaultKind::Cancelled => codes::CANCELLED,
        FaultKind::Unavailable | FaultKind::QueueFull => codes::UNAVAILABLE,
        FaultKind::OutcomeUnknown => codes::OUTCOME_UNKNOWN,
        FaultKind::Internal => codes::INTERNAL,
        FaultKind::Domain(code) => code,
    }
}

/// The code for an id that does not exist, by the name of a tool or the first segment of a URI.
pub(in super::super) struct NotFoundCodes(pub(in super::super) Vec<(&'static str, Code)>);

impl NotFoundCodes {
    fn of(&self, target: RequestTarget<'_>) -> Code {
        let part = match target {
            RequestTarget::Tool(name) | RequestTarget::Route { tool: name, .. } => Some(name),
            RequestTarget::Resource(uri) => uri.split(['/', '?']).nth(3),
            RequestTarget::Method | RequestTarget::Transport => None,
        };
        let known = self.0.iter().find(|(name, _)| Some(*name) == part);
        known.map_or(codes::NOT_FOUND, |(_, code)| *code)
    }
}
