//! The token endpoint, and client credentials (RFC 6749 §4.4) for one resource (RFC 8707). A token has
//! the requested scopes that the client is allowed, or the default scope: never one that was not requested (A6-04, A6-08).

use frontdesk_engine::model::caller::Scopes;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::registry::{Changed, Client, Token};
use serde::Serialize;

use super::authenticate::{AuthenticatedClient, ClientRequest};
use super::error::{OAuthError, OAuthErrorKind, json};
use super::{AuditStatus, EmbeddedServer, EndpointOutcome, ProtectedResource};
use crate::secret::{PlaintextSecret, TOKEN_PREFIX};

impl EmbeddedServer {
    pub(crate) async fn grant(
        &self,
        request: &ClientRequest,
        observation: &Observation,
    ) -> Result<EndpointOutcome, OAuthError> {
        let ClientRequest { client, form } = request;
        let client = match (client, GrantType::read(form.get("grant_type"))?) {
            (AuthenticatedClient::Service(client), GrantType::ClientCredentials) => client,
            (AuthenticatedClient::Login(client), GrantType::AuthorizationCode) => {
                return Box::pin(self.redeem_code(client, form, observation)).await;
            }
            (AuthenticatedClient::Login(client), GrantType::RefreshToken) => {
                return Box::pin(self.refresh(client, form, observation)).await;
            }
            (AuthenticatedClient::Service(_), GrantType::AuthorizationCode | GrantType::RefreshToken)
            | (AuthenticatedClient::Login(_), GrantType::ClientCredentials) => return Err(wrong_grant_type()),
        };
        let resource = self.target(form.get("resource"))?;
        let scopes = granted_scopes(form.get("scope"), client, resource)?;
        let token = self.new_token(client, resource, &scopes);
        self.store_token(token.stored, client, observation).await?;
        let secret = token.secret;
        let body = TokenResponse {
            access_token: secret.expose(),
            token_type: "Bearer",
            expires_in: self.settings.lifetime_seconds,
            scope: scopes.to_string(),
        };
        let reply = json(200, &body).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        Ok(EndpointOutcome { reply, audit: AuditStatus::Committed })
    }

    /// The resource must match byte for byte; the first one is the default (RFC 8707 leaves that to the server).
    pub(crate) fn target(&self, resource: Option<&str>) -> Result<&ProtectedResource, OAuthError> {
        let found = match resource {
            Some(url) => self.resources.iter().find(|resource| resource.url == url),
            None => self.resources.first(),
        };
        found.ok_or_else(|| {
            OAuthError::new(
                OAuthErrorKind::InvalidTarget,
                "Send as resource exactly the URL in the protected resource metadata.",
            )
        })
    }

    /// A token without a login, not stored yet.
    fn new_token(&self, client: &Client, resource: &ProtectedResource, scopes: &Scopes) -> NewToken {
        let secret = PlaintextSecret::random(TOKEN_PREFIX, self.random.as_ref());
        let stored = Token {
            hash: secret.hash(),
            client: client.id.clone(),
            tenants: client.tenants.clone(),
            scopes: scopes.clone(),
            resource: resource.url.clone(),
            expires_at: self.clock.now().plus_seconds(self.settings.lifetime_seconds.into()),
            authenticated_at: None,
        };
        NewToken { secret, stored }
    }

    async fn store_token(&self, token: Token, client: &Client, observation: &Observation) -> Result<(), OAuthError> {
        let revocation = Observation { method: Some("revoke"), ..observation.clone() };
        match self.add_token(token, client, observation.to_line(), revocation.to_line()).await? {
            AddedToken::Stored => Ok(()),
            AddedToken::NoTenant => Err(OAuthError::new(
                OAuthErrorKind::UnauthorizedClient,
                "This client belongs to no tenant. Ask the operator to register it for one.",
            )),
            AddedToken::ClientEnded => Err(OAuthError::invalid_client()),
        }
    }

    /// `record` goes to the audit log with the token, `revocation` if the token has to be revoked again.
    async fn add_token(
        &self,
        token: Token,
        client: &Client,
        record: String,
        revocation: String,
    ) -> Result<AddedToken, Fault> {
        let hash = token.hash;
        // Which tenants are in the client's groups is looked up when the token is stored, in the same transaction.
        let stored = self.registry.add_token(token, client.groups.clone(), self.clock.now(), record).await?;
        if stored == Changed::Nothing {
            return Ok(AddedToken::NoTenant);
        }
        // If the client was revoked or its secret rotated since it authenticated, its tokens were revoked before this
        // one was stored; revoke it too.
        let current = self.registry.client(&client.id).await?;
        if current.is_some_and(|current| current.revoked_at.is_none() && current.secret == client.secret) {
            return Ok(AddedToken::Stored);
        }
        self.registry.revoke_token(hash, &client.id, revocation).await?;
        Ok(AddedToken::ClientEnded)
    }
}

/// A token as its holder and as the store knows it.
struct NewToken {
    secret: PlaintextSecret,
    stored: Token,
}

/// What became of a new token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddedToken {
    Stored,
    /// The client belongs to no tenant.
    NoTenant,
    /// The client was revoked or got another secret meanwhile.
    ClientEnded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrantType {
    ClientCredentials,
    AuthorizationCode,
    RefreshToken,
}

impl GrantType {
    fn read(grant_type: Option<&str>) -> Result<GrantType, OAuthError> {
        match grant_type {
            Some("client_credentials") => Ok(GrantType::ClientCredentials),
            Some("authorization_code") => Ok(GrantType::AuthorizationCode),
            Some("refresh_token") => Ok(GrantType::RefreshToken),
            Some(_) => Err(OAuthError::new(
                OAuthErrorKind::UnsupportedGrantType,
                "The supported grant types are client_credentials, authorization_code and refresh_token.",
            )),
            None => Err(OAuthError::new(OAuthErrorKind::InvalidRequest, "Send the parameter grant_type.")),
        }
    }
}

fn wrong_grant_type() -> OAuthError {
    OAuthError::new(
        OAuthErrorKind::UnauthorizedClient,
        "A client with a secret of its own uses client_credentials; one that acts for people uses authorization_code.",
    )
}

fn granted_scopes(scope: Option<&str>, client: &Client, resource: &ProtectedResource) -> Result<Scopes, OAuthError> {
    let offered = Scopes::new(resource.scopes.iter().cloned());
    let allowed = Scopes::new(client.scopes.iter().filter(|scope| offered.has(scope)).cloned());
    let requested = match scope {
        Some(text) => Scopes::parse(text).unwrap_or_default(),
        None => Scopes::new([resource.default_scope.clone()]),
    };
    // RFC 6749 §3.3: other scopes, unknown ones too, are ignored, and the answer says what was granted.
    let granted = Scopes::new(requested.iter().filter(|scope| allowed.has(scope)).cloned());
    if granted.is_empty() { Err(invalid_scope(&allowed)) } else { Ok(granted) }
}

/// Lists the scopes that the client is allowed; never repeats what it sent.
fn invalid_scope(allowed: &Scopes) -> OAuthError {
    let description = if allowed.is_empty() {
        "This client has no scope for this resource. Ask the operator for one.".into()
    } else {
        format!("Send scope names separated by one space. This client is allowed: {allowed}")
    };
    OAuthError::new(OAuthErrorKind::InvalidScope, description)
}

#[derive(Serialize)]
struct TokenResponse<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: u32,
    scope: String,
}
