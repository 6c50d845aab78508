//! Error responses of the authorization server (RFC 6749 §5.2). A description says what to do next and never repeats what
//! was sent.

use std::borrow::Cow;

use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::reply::Reply;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OAuthErrorKind {
    InvalidRequest,
    UnsupportedMediaType,
    /// The allowed methods.
    MethodNotAllowed(&'static str),
    InvalidClient,
    UnauthorizedClient,
    UnsupportedGrantType,
    UnsupportedResponseType,
    InvalidScope,
    InvalidTarget,
    InvalidGrant,
    AccessDenied,
    LoginRequired,
    ConsentRequired,
    InvalidRedirectUri,
    InvalidClientMetadata,
    /// Seconds to wait.
    RateLimited(u64),
    /// Seconds to wait.
    Unavailable(u64),
    Internal,
}

#[derive(Debug)]
pub(crate) struct OAuthError {
    pub(crate) kind: OAuthErrorKind,
    description: Cow<'static, str>,
    /// Logged, never sent.
    pub(crate) cause: Option<String>,
}

impl OAuthError {
    pub(crate) fn new(kind: OAuthErrorKind, description: impl Into<Cow<'static, str>>) -> OAuthError {
        OAuthError { kind, description: description.into(), cause: None }
    }

    /// The same answer for every way in which authentication can fail.
    pub(crate) fn invalid_client() -> OAuthError {
        OAuthError::new(
            OAuthErrorKind::InvalidClient,
            "Send the client id and its current secret, with HTTP Basic or as client_id and client_secret in the form; or \
             authenticate as the client was registered.",
        )
    }

    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    pub(crate) fn reply(&self) -> Reply {
        let body = ErrorResponse { error: self.kind.code(), error_description: &self.description };
        let reply = json(self.kind.status(), &body).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        match self.kind {
            // Every 401 must name an accepted scheme (RFC 9110).
            OAuthErrorKind::InvalidClient => {
                reply.header("WWW-Authenticate", "Basic realm=\"frontdesk\", charset=\"UTF-8\"")
            }
            OAuthErrorKind::RateLimited(seconds) | OAuthErrorKind::Unavailable(seconds) => {
                reply.header("Retry-After", seconds.to_string())
            }
            OAuthErrorKind::MethodNotAllowed(allowed) => reply.header("Allow", allowed),
            OAuthErrorKind::InvalidRequest
            | OAuthErrorKind::UnsupportedMediaType
            | OAuthErrorKind::UnauthorizedClient
            | OAuthErrorKind::UnsupportedGrantType
            | OAuthErrorKind::UnsupportedResponseType
            | OAuthErrorKind::InvalidScope
            | OAuthErrorKind::InvalidTarget
            | OAuthErrorKind::InvalidGrant
            | OAuthErrorKind::AccessDenied
            | OAuthErrorKind::LoginRequired
            | OAuthErrorKind::ConsentRequired
            | OAuthErrorKind::InvalidRedirectUri
            | OAuthErrorKind::InvalidClientMetadata
            | OAuthErrorKind::Internal => reply,
        }
    }
}

impl From<Fault> for OAuthError {
    /// A fault of the store, not of the client.
    fn from(fault: Fault) -> OAuthError {
        let kind = if fault.kind.retryable() {
            OAuthErrorKind::Unavailable(fault.retry_after.unwrap_or(1))
        } else {
            OAuthErrorKind::Internal
        };
        OAuthError { cause: fault.cause, ..OAuthError::new(kind, fault.message) }
    }
}

impl OAuthErrorKind {
    fn status(self) -> u16 {
        match self {
            OAuthErrorKind::InvalidClient => 401,
            OAuthErrorKind::MethodNotAllowed(_) => 405,
            OAuthErrorKind::UnsupportedMediaType => 415,
            OAuthErrorKind::RateLimited(_) => 429,
            OAuthErrorKind::Internal => 500,
            OAuthErrorKind::Unavailable(_) => 503,
            OAuthErrorKind::InvalidRequest
            | OAuthErrorKind::UnauthorizedClient
            | OAuthErrorKind::UnsupportedGrantType
            | OAuthErrorKind::UnsupportedResponseType
            | OAuthErrorKind::InvalidScope
            | OAuthErrorKind::InvalidTarget
            | OAuthErrorKind::InvalidGrant
            | OAuthErrorKind::AccessDenied
            | OAuthErrorKind::LoginRequired
            | OAuthErrorKind::ConsentRequired
            | OAuthErrorKind::InvalidRedirectUri
            | OAuthErrorKind::InvalidClientMetadata => 400,
        }
    }

    /// The registered error code. `temporarily_unavailable` and `server_error` are registered for the authorization
    /// endpoint; the token endpoint has no codes of its own for these cases.
    pub(crate) fn code(self) -> &'static str {
        match self {
            OAuthErrorKind::InvalidRequest
            | OAuthErrorKind::UnsupportedMediaType
            | OAuthErrorKind::MethodNotAllowed(_) => "invalid_request",
            OAuthErrorKind::InvalidClient => "invalid_client",
            OAuthErrorKind::UnauthorizedClient => "unauthorized_client",
            OAuthErrorKind::UnsupportedGrantType => "unsupported_grant_type",
            OAuthErrorKind::UnsupportedResponseType => "unsupported_response_type",
            OAuthErrorKind::InvalidScope => "invalid_scope",
            OAuthErrorKind::InvalidTarget => "invalid_target",
            OAuthErrorKind::InvalidGrant => "invalid_grant",
            OAuthErrorKind::AccessDenied => "access_denied",
            OAuthErrorKind::LoginRequired => "login_required",
            OAuthErrorKind::ConsentRequired => "consent_required",
            OAuthErrorKind::InvalidRedirectUri => "invalid_redirect_uri",
            OAuthErrorKind::InvalidClientMetadata => "invalid_client_metadata",
            OAuthErrorKind::RateLimited(_) | OAuthErrorKind::Unavailable(_) => "temporarily_unavailable",
            OAuthErrorKind::Internal => "server_error",
        }
    }
}

#[derive(Serialize)]
struct ErrorResponse<'a> {
    error: &'static str,
    error_description: &'a str,
}

/// Serialization of plain structs cannot fail; if it did, the body would be empty.
pub(crate) fn json(status: u16, body: &impl Serialize) -> Reply {
    Reply::plain(status, serde_json::to_vec(body).unwrap_or_default()).header("Content-Type", "application/json")
}
