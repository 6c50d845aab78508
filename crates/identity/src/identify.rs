//! Says whose a token is. Every reason for refusing one looks the same from outside; a store that
//! cannot answer is never mistaken for a bad token.

use std::sync::Arc;

use frontdesk_engine::caller::Caller;
use frontdesk_engine::fault::{Fault, FaultKind};
use frontdesk_engine::incoming::Credential;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::registry::Token;
use frontdesk_engine::tool::Future;

use crate::secret::token_hash;
use crate::server::EmbeddedServer;

impl Identity for EmbeddedServer {
    fn identify<'a>(&'a self, credential: &'a Credential, resource: &'a str) -> Future<'a, Result<Caller, Fault>> {
        Box::pin(async move {
            let token = match credential {
                Credential::Bearer(text) => self.token(text).await?,
                Credential::Missing | Credential::Unusable => None,
            };
            // Asked again after the look-up, which may have taken longer than the token had left.
            let now = self.clock.now();
            match token {
                Some(token) if now < token.expires_at && token.resource == resource => Ok(caller(&token)),
                Some(_) | None => Err(refused()),
            }
        })
    }
}

impl EmbeddedServer {
    /// A token that exists. Whether it is good now and here is judged by each use.
    async fn token(&self, text: &str) -> Result<Option<Arc<Token>>, Fault> {
        let Some(hash) = token_hash(text) else {
            return Ok(None);
        };
        let asked_at = self.clock.now();
        if let Some(token) = self.cache.get(&hash, asked_at) {
            return Ok(Some(token));
        }
        let found = self.registry.token(hash).await?.map(Arc::new);
        if let Some(token) = &found {
            self.cache.put(token, asked_at);
        }
        Ok(found)
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
