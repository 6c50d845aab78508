//! Why the authorization server says no, in the form of RFC 6749 §5.2. A description says what to do
//! next and never repeats what was sent.

use std::borrow::Cow;

use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::reply::Reply;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    InvalidRequest,
    WrongMedia,
    /// The verbs that would do.
    WrongVerb(&'static str),
    InvalidClient,
    UnauthorizedClient,
    UnsupportedGrantType,
    UnsupportedResponseType,
    InvalidScope,
    InvalidTarget,
    /// How many seconds to wait.
    TooOften(u64),
    /// How many seconds to wait.
    Unavailable(u64),
    Internal,
}

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) reason: Reason,
    description: Cow<'static, str>,
    /// Logged, never sent.
    pub(crate) cause: Option<String>,
}

impl Refusal {
    pub(crate) fn new(reason: Reason, description: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal { reason, description: description.into(), cause: None }
    }

    /// One answer for every way in which a client fails to prove itself.
    pub(crate) fn invalid_client() -> Refusal {
        Refusal::new(
            Reason::InvalidClient,
            "Send the client id and its current secret, by HTTP Basic or as client_id and client_secret in the form.",
        )
    }

    pub(crate) fn reply(&self) -> Reply {
        let body = Body { error: self.reason.error(), error_description: &self.description };
        let reply = json(self.reason.status(), &body).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        match self.reason {
            // Every 401 must name a scheme that would do (RFC 9110), also when none was tried.
            Reason::InvalidClient => reply.header("WWW-Authenticate", "Basic realm=\"frontdesk\", charset=\"UTF-8\""),
            Reason::TooOften(seconds) | Reason::Unavailable(seconds) => {
                reply.header("Retry-After", seconds.to_string())
            }
            Reason::WrongVerb(allowed) => reply.header("Allow", allowed),
            Reason::InvalidRequest
            | Reason::WrongMedia
            | Reason::UnauthorizedClient
            | Reason::UnsupportedGrantType
            | Reason::UnsupportedResponseType
            | Reason::InvalidScope
            | Reason::InvalidTarget
            | Reason::Internal => reply,
        }
    }
}

impl From<Fault> for Refusal {
    /// The store could not answer; the client has done nothing wrong.
    fn from(fault: Fault) -> Refusal {
        let reason = match fault.kind.retryable() {
            true => Reason::Unavailable(fault.retry_after.unwrap_or(1)),
            false => Reason::Internal,
        };
        Refusal { cause: fault.cause, ..Refusal::new(reason, fault.message) }
    }
}

impl Reason {
    fn status(self) -> u16 {
        match self {
            Reason::InvalidClient => 401,
            Reason::WrongVerb(_) => 405,
            Reason::WrongMedia => 415,
            Reason::TooOften(_) => 429,
            Reason::Internal => 500,
            Reason::Unavailable(_) => 503,
            Reason::InvalidRequest
            | Reason::UnauthorizedClient
            | Reason::UnsupportedGrantType
            | Reason::UnsupportedResponseType
            | Reason::InvalidScope
            | Reason::InvalidTarget => 400,
        }
    }

    /// The registered error code. Two registered for the authorization endpoint also serve here,
    /// because the token endpoint has none of its own for a server that is busy or broken.
    pub(crate) fn error(self) -> &'static str {
        match self {
            Reason::InvalidRequest | Reason::WrongMedia | Reason::WrongVerb(_) => "invalid_request",
            Reason::InvalidClient => "invalid_client",
            Reason::UnauthorizedClient => "unauthorized_client",
            Reason::UnsupportedGrantType => "unsupported_grant_type",
            Reason::UnsupportedResponseType => "unsupported_response_type",
            Reason::InvalidScope => "invalid_scope",
            Reason::InvalidTarget => "invalid_target",
            Reason::TooOften(_) | Reason::Unavailable(_) => "temporarily_unavailable",
            Reason::Internal => "server_error",
        }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'static str,
    error_description: &'a str,
}

/// Plain structs of text and numbers cannot fail to become JSON; an empty body stands for the
/// impossible.
pub(crate) fn json(status: u16, body: &impl Serialize) -> Reply {
    Reply::plain(status, serde_json::to_vec(body).unwrap_or_default()).header("Content-Type", "application/json")
}
