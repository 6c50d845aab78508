//! Says whose a token is. Every reason for refusing one looks the same from outside; a store that
//! cannot answer is never mistaken for a bad token.

use std::sync::Arc;

use frontdesk_engine::model::caller::Caller;
use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::ports::registry::Token;

use crate::cache::Known;
use crate::secret::token_hash;
use crate::server::EmbeddedServer;

impl Identity for EmbeddedServer {
    fn identify<'a>(&'a self, credential: &'a Credential, resource: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(async move {
            let known = match credential {
                Credential::Bearer(text) => self.known(text).await?,
                Credential::Missing | Credential::Unusable => None,
            };
            // Asked again after the look-up, which may have taken longer than the token had left.
            let now = self.clock.now();
            match known {
                Some(known) if now < known.token.expires_at && known.token.resource == resource => {
                    Ok(Arc::clone(&known.caller))
                }
                Some(_) | None => Err(refused()),
            }
        })
    }
}

impl EmbeddedServer {
    /// A token that exists. Whether it is good now and here is judged by each use.
    async fn known(&self, text: &str) -> Result<Option<Arc<Known>>, Fault> {
        let Some(hash) = token_hash(text) else {
            return Ok(None);
        };
        let asked_at = self.clock.now();
        if let Some(known) = self.cache.get(&hash, asked_at) {
            return Ok(Some(known));
        }
        let Some(token) = self.registry.token(hash).await? else {
            return Ok(None);
        };
        let known = Arc::new(Known { caller: Arc::new(caller(&token)), token });
        self.cache.put(&known, asked_at);
        Ok(Some(known))
    }
}

/// A service acts for itself: the client is the subject, and nobody has logged in.
fn caller(token: &Token) -> Caller {
    Caller {
        client: token.client.clone(),
        subject: token.client.itself(),
        tenants: token.tenants.clone(),
        scopes: token.scopes.clone(),
        authenticated_at: None,
    }
}

/// What every judge of tokens answers, whatever is wrong: which of them refused tells nobody anything.
pub(crate) fn refused() -> Fault {
    Fault::new(
        FaultKind::Unauthenticated,
        "The access token is not valid here, or not any more. Get a new one from the token endpoint.",
    )
}
