//! The revocation endpoint (RFC 7009). It revokes only the client's own tokens, and answers the same whether there was
//! one or not.

use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::ports::registry::Changed;

use super::authenticate::ClientRequest;
use super::error::{OAuthError, OAuthErrorKind};
use super::{AuditStatus, EmbeddedServer, EndpointOutcome};
use crate::secret::token_hash;

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
        let mut audit = AuditStatus::Pending;
        if let Some(hash) = token_hash(text) {
            match self.registry.revoke_token(hash, &request.client.id, observation.to_line()).await? {
                Changed::Done => {
                    self.cache.remove(&hash);
                    audit = AuditStatus::Committed;
                }
                Changed::Nothing => {}
            }
        }
        let reply = Reply::empty(200).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        Ok(EndpointOutcome { reply, audit })
    }
}
