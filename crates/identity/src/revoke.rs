//! The revocation endpoint (RFC 7009). It ends only the asking client's own tokens, and answers the
//! same whether there was one or not.

use frontdesk_engine::registry::Changed;
use frontdesk_engine::reply::Reply;

use crate::authenticate::Admitted;
use crate::refusal::{Reason, Refusal};
use crate::secret::token_hash;
use crate::server::EmbeddedServer;

impl EmbeddedServer {
    pub(crate) async fn revoke(&self, admitted: &Admitted) -> Result<Reply, Refusal> {
        let Some(text) = admitted.form.get("token") else {
            return Err(Refusal::new(Reason::InvalidRequest, "Send the token to be revoked as token."));
        };
        if let Some(hash) = token_hash(text) {
            match self.registry.revoke_token(hash, &admitted.client.id).await? {
                Changed::Done => self.cache.forget(&hash),
                Changed::Nothing => {}
            }
        }
        Ok(Reply::empty(200).header("Cache-Control", "no-store").header("Pragma", "no-cache"))
    }
}
