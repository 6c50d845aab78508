//! Tokens that the operator issues for clients that can only send a header. A token is in the answer that issues it only:
//! neither the log nor the audit log has it.

use frontdesk_engine::ClientId;
use frontdesk_identity::{ListedToken, OperatorTokenRequest};
use serde::{Deserialize, Serialize};

use super::audit_record::{token_record, token_revocation_record};
use super::requests::AdminService;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenRequest {
    Issue {
        client: String,
        scopes: Vec<String>,
        /// The path of a mount; the first one that has the scopes if absent.
        mount: Option<String>,
        days: u32,
    },
    List,
    Revoke {
        id: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenResponse {
    Issued(TokenView),
    Listed(Vec<TokenView>),
    Revoked(String),
}

/// A token as the operator sees it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenView {
    pub id: String,
    /// Only when it was issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub client: String,
    pub resource: String,
    pub scopes: Vec<String>,
    pub created_at: String,
    pub expires_at: String,
}

/// Without the token.
impl std::fmt::Debug for TokenView {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("TokenView").field("id", &self.id).field("client", &self.client).finish_non_exhaustive()
    }
}

impl AdminService {
    pub(super) async fn handle_token(&self, request: TokenRequest) -> Result<TokenResponse, String> {
        let app = self.app()?;
        let now = self.clock.now();
        match request {
            TokenRequest::Issue { client, scopes, mount, days } => {
                let id = ClientId::new(client.as_str());
                let checked = self.checked_scopes(&scopes)?;
                let record = token_record(now, &id, &scopes, days);
                let request =
                    OperatorTokenRequest { client: &id, scopes: &checked, path: mount.as_deref(), days, record };
                let issued = app.identity.issue_operator_token(request).await.map_err(|error| error.to_string())?;
                tracing::info!(client = id.as_str(), days, "token issued by the operator");
                let token = Some(issued.secret.expose().to_owned());
                Ok(TokenResponse::Issued(TokenView { token, ..view(issued.token) }))
            }
            TokenRequest::List => {
                let tokens = app.identity.operator_tokens().await.map_err(|error| error.to_string())?;
                Ok(TokenResponse::Listed(tokens.into_iter().map(view).collect()))
            }
            TokenRequest::Revoke { id } => {
                let record = token_revocation_record(now, &id);
                app.identity.revoke_operator_token(&id, record).await.map_err(|error| error.to_string())?;
                tracing::info!(token = id, "token of the operator revoked");
                Ok(TokenResponse::Revoked(id))
            }
        }
    }
}

fn view(token: ListedToken) -> TokenView {
    TokenView {
        id: token.id,
        token: None,
        client: token.client,
        resource: token.resource,
        scopes: token.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        created_at: token.created_at.to_rfc3339(),
        expires_at: token.expires_at.to_rfc3339(),
    }
}
