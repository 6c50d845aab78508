//! Identifies the caller of a token. Every invalid token gets the same answer; an unavailable store is never reported as
//! an invalid token.

use std::sync::Arc;

use frontdesk_engine::model::caller::Caller;
use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::ports::registry::Token;

use super::EmbeddedServer;
use super::token_cache::CachedToken;
use crate::secret::token_hash;

impl Identity for EmbeddedServer {
    fn identify<'a>(&'a self, credential: &'a Credential, resource: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(async move {
            let cached = match credential {
                Credential::Bearer(text) => self.cached_token(text).await?,
                Credential::Missing | Credential::ApiKey(_) | Credential::Certificate(_) | Credential::Unusable => None,
            };
            // Read the clock after the lookup, during which the token may have expired.
            let now = self.clock.now();
            match cached {
                Some(cached) if now < cached.token.expires_at && cached.token.resource == resource => {
                    Ok(Arc::clone(&cached.caller))
                }
                Some(_) | None => Err(invalid_token()),
            }
        })
    }
}

impl EmbeddedServer {
    /// The token if it exists. The caller checks expiry and resource.
    async fn cached_token(&self, text: &str) -> Result<Option<Arc<CachedToken>>, Fault> {
        let Some(hash) = token_hash(text) else {
            return Ok(None);
        };
        let looked_up_at = self.clock.monotonic();
        if let Some(cached) = self.cache.get(&hash, looked_up_at) {
            return Ok(Some(cached));
        }
        let Some(token) = self.registry.token(hash).await? else {
            return Ok(None);
        };
        let cached = Arc::new(CachedToken { caller: Arc::new(caller(&token)), token });
        self.cache.insert(&cached, looked_up_at);
        Ok(Some(cached))
    }
}

/// The client itself is the subject. With client credentials nobody has logged in.
fn caller(token: &Token) -> Caller {
    Caller {
        client: token.client.clone(),
        subject: token.client.itself(),
        tenants: token.tenants.clone(),
        scopes: token.scopes.clone(),
        authenticated_at: token.authenticated_at,
    }
}

/// The answer of every verifier to every invalid token, so that it does not reveal what is wrong with it.
pub(crate) fn invalid_token() -> Fault {
    Fault::new(
        FaultKind::Unauthenticated,
        "The access token is invalid for this resource or has expired. Request a new one from the token endpoint.",
    )
}
