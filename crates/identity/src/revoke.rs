//! The revocation endpoint (RFC 7009). It ends only the asking client's own tokens, and answers the
//! same whether there was one or not.

use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::ports::registry::Changed;

use crate::authenticate::Admitted;
use crate::refusal::{Reason, Refusal};
use crate::secret::token_hash;
use crate::server::{Done, EmbeddedServer, Recorded};

impl EmbeddedServer {
    pub(crate) async fn revoke(&self, admitted: &Admitted, seen: &Observation) -> Result<Done, Refusal> {
        let Some(text) = admitted.form.get("token") else {
            return Err(Refusal::new(Reason::InvalidRequest, "Send the token to be revoked as token."));
        };
        let mut recorded = Recorded::NotYet;
        if let Some(hash) = token_hash(text) {
            match self.registry.revoke_token(hash, &admitted.client.id, seen.to_line()).await? {
                Changed::Done => {
                    self.cache.forget(&hash);
                    recorded = Recorded::WithTheChange;
                }
                Changed::Nothing => {}
            }
        }
        let reply = Reply::empty(200).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        Ok(Done { reply, recorded })
    }
}
