//! Tokens that the operator issues for a person who is known to them, until there is an interactive login. Only these count
//! as a login; a client cannot get one from the token endpoint.

use std::fmt;

use frontdesk_engine::model::caller::{ClientId, Scopes};
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Client, Token};

use super::grant::{AddedToken, NewToken};
use super::{EmbeddedServer, ProtectedResource};
use crate::secret::PlaintextSecret;

/// Five minutes: the token ends when its login is no longer recent.
const LIFETIME_SECONDS: u32 = 300;

/// Whom the token is for, and for what.
#[derive(Debug, Clone)]
pub struct LoginTokenRequest<'a> {
    pub client: &'a ClientId,
    pub scopes: &'a Scopes,
    /// The path of a mount; the first one that has the scopes if absent.
    pub path: Option<&'a str>,
    /// The audit records of the token, and of its revocation should the client end meanwhile.
    pub record: String,
    pub revocation: String,
}

/// A token that was issued, to show once.
#[derive(Debug, Clone)]
pub struct LoginToken {
    pub secret: PlaintextSecret,
    pub resource: String,
    pub scopes: Scopes,
    pub expires_at: Millis,
}

/// Why no token was issued. Displays as a sentence for the operator.
#[derive(Debug)]
pub enum LoginTokenError {
    UnknownClient,
    /// The scopes that the client was registered for.
    ScopeNotAllowed(Scopes),
    /// The paths that there are.
    UnknownMount(Vec<String>),
    /// No mount has all of the scopes.
    NoMount,
    NoTenant,
    Store(Fault),
}

impl fmt::Display for LoginTokenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoginTokenError::UnknownClient => {
                out.write_str("there is no active client with this id; `frontdesk client list` shows them")
            }
            LoginTokenError::ScopeNotAllowed(allowed) => {
                write!(out, "the client was not registered for all of these scopes; it has: {allowed}")
            }
            LoginTokenError::UnknownMount(paths) => {
                write!(out, "no tokens are issued for a mount at this path; there are: {}", paths.join(", "))
            }
            LoginTokenError::NoMount => out.write_str("no mount has all of these scopes; ask for those of one mount"),
            LoginTokenError::NoTenant => out.write_str("the client belongs to no tenant"),
            LoginTokenError::Store(fault) => out.write_str(fault.cause.as_deref().unwrap_or(&fault.message)),
        }
    }
}

impl std::error::Error for LoginTokenError {}

impl EmbeddedServer {
    /// Issues a token that counts as a login of now. It has exactly these scopes, for which the client must be registered.
    pub async fn issue_login_token(&self, request: LoginTokenRequest<'_>) -> Result<LoginToken, LoginTokenError> {
        let LoginTokenRequest { client, scopes, path, record, revocation } = request;
        let client = self.active_client(client).await?;
        if scopes.is_empty() || !client.scopes.covers(scopes) {
            return Err(LoginTokenError::ScopeNotAllowed(client.scopes));
        }
        let resource = self.resource_with(scopes, path)?;
        let NewToken { secret, stored } = self.new_token(&client, resource, scopes, LIFETIME_SECONDS);
        let expires_at = stored.expires_at;
        let stored = Token { authenticated_at: Some(self.clock.now().seconds()), ..stored };
        match self.add_token(stored, &client, record, revocation).await.map_err(LoginTokenError::Store)? {
            AddedToken::Stored => {
                let (resource, scopes) = (resource.url.clone(), scopes.clone());
                Ok(LoginToken { secret, resource, scopes, expires_at })
            }
            AddedToken::NoTenant => Err(LoginTokenError::NoTenant),
            AddedToken::ClientEnded => Err(LoginTokenError::UnknownClient),
        }
    }

    async fn active_client(&self, id: &ClientId) -> Result<Client, LoginTokenError> {
        let found = self.registry.client(id).await.map_err(LoginTokenError::Store)?;
        found.filter(|client| client.revoked_at.is_none()).ok_or(LoginTokenError::UnknownClient)
    }

    fn resource_with(&self, scopes: &Scopes, path: Option<&str>) -> Result<&ProtectedResource, LoginTokenError> {
        let paths = || self.resources.iter().map(|resource| resource.path.clone()).collect();
        if path.is_some_and(|path| !self.resources.iter().any(|resource| resource.path == path)) {
            return Err(LoginTokenError::UnknownMount(paths()));
        }
        let mut named = self.resources.iter().filter(|resource| path.is_none_or(|path| resource.path == path));
        named
            .find(|resource| scopes.iter().all(|scope| resource.scopes.contains(scope)))
            .ok_or(LoginTokenError::NoMount)
    }
}
