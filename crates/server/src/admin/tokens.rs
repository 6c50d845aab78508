//! Tokens that the operator issues for somebody they know, until there is an interactive login. The token itself is in the
//! answer only: neither the log nor the audit log has it.

use frontdesk_engine::ClientId;
use frontdesk_identity::LoginTokenRequest;
use serde::{Deserialize, Serialize};

use super::audit_record::token_record;
use super::requests::AdminService;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRequest {
    pub client: String,
    pub scopes: Vec<String>,
    /// The path of a mount; the first one that has the scopes if absent.
    pub mount: Option<String>,
}

/// A new token as the operator sees it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenView {
    pub token: String,
    pub client: String,
    pub resource: String,
    pub scopes: Vec<String>,
    pub expires_at: String,
}

/// Without the token.
impl std::fmt::Debug for TokenView {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("TokenView").field("client", &self.client).finish_non_exhaustive()
    }
}

impl AdminService {
    pub(super) async fn issue_token(&self, request: TokenRequest) -> Result<TokenView, String> {
        let TokenRequest { client, scopes, mount } = request;
        let app = self.app()?;
        let id = ClientId::new(client.as_str());
        let checked = self.checked_scopes(&scopes)?;
        let now = self.clock.now();
        let issued = app.identity.issue_login_token(LoginTokenRequest {
            client: &id,
            scopes: &checked,
            path: mount.as_deref(),
            record: token_record(now, "token.issue", &id, &scopes),
            revocation: token_record(now, "token.revoke", &id, &scopes),
        });
        let issued = issued.await.map_err(|error| error.to_string())?;
        tracing::info!(client = id.as_str(), "token with a login issued");
        Ok(TokenView {
            token: issued.secret.expose().to_owned(),
            client,
            resource: issued.resource,
            scopes: issued.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            expires_at: issued.expires_at.to_rfc3339(),
        })
    }
}
