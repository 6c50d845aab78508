//! The revocation endpoint (RFC 7009). It revokes only the client's own tokens, and answers the same whether there was
//! one or not.

use frontdesk_engine::model::caller::ClientId;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::ports::registry::Changed;

use super::authenticate::{AuthenticatedClient, ClientRequest};
use super::error::{OAuthError, OAuthErrorKind};
use super::grants::RefreshParts;
use super::{AuditStatus, EmbeddedServer, EndpointOutcome};
use crate::people::records::{AccessToken, RefreshToken};
use crate::people::stored::find_valid;
use crate::people::users::hex;
use crate::secret::{TokenOrigin, token_hash};

impl EmbeddedServer {
    pub(crate) async fn revoke(
        &self,
        request: &ClientRequest,
        observation: &Observation,
    ) -> Result<EndpointOutcome, OAuthError> {
        let Some(text) = request.form.get("token") else {
            return Err(OAuthError::new(
                OAuthErrorKind::InvalidRequest,
                "Send the token to revoke in the parameter token.",
            ));
        };
        let audit = match &request.client {
            AuthenticatedClient::Service(client) => self.revoke_token(text, &client.id, observation).await?,
            AuthenticatedClient::Login(client) => self.revoke_grant(text, &client.id, observation).await?,
        };
        let reply = Reply::empty(200).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        Ok(EndpointOutcome { reply, audit })
    }

    async fn revoke_token(
        &self,
        text: &str,
        client: &ClientId,
        observation: &Observation,
    ) -> Result<AuditStatus, OAuthError> {
        let Some((TokenOrigin::Client, hash)) = token_hash(text) else {
            return Ok(AuditStatus::Pending);
        };
        match self.registry.revoke_token(hash, client, observation.to_line()).await? {
            Changed::Done => {
                self.cache.remove(&hash);
                Ok(AuditStatus::Committed)
            }
            Changed::Nothing => Ok(AuditStatus::Pending),
        }
    }

    /// Whichever token of a grant is revoked, the whole grant ends.
    async fn revoke_grant(
        &self,
        text: &str,
        client: &ClientId,
        observation: &Observation,
    ) -> Result<AuditStatus, OAuthError> {
        let now = self.clock.now();
        let grant = match (token_hash(text), RefreshParts::parse(text)) {
            (Some((TokenOrigin::User, hash)), _) => {
                self.cache.remove(&hash);
                find_valid::<AccessToken>(self.records(), &hex(&hash), now).await?.map(|token| token.content.grant)
            }
            (_, Some(parts)) => {
                let found = find_valid::<RefreshToken>(self.records(), &parts.family, now).await?;
                found.map(|token| token.content.grant)
            }
            (_, None) => None,
        };
        let Some(grant) = grant else {
            return Ok(AuditStatus::Pending);
        };
        // It may be refreshed at the same moment.
        for _ in 0..5 {
            let found = self.grant_record(&grant).await?.filter(|found| found.content.client == client.as_str());
            let Some(found) = found else {
                return Ok(AuditStatus::Pending);
            };
            let line = Observation { ids: vec![grant.clone()], ..observation.clone() }.to_line();
            if self.end_grant(&found, line).await? == Changed::Done {
                return Ok(AuditStatus::Committed);
            }
        }
        Err(OAuthError::new(OAuthErrorKind::Unavailable(1), "Try again."))
    }
}
