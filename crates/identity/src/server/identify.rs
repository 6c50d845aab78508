//! Identifies the caller of a token. Every invalid token gets the same answer; an unavailable store is never reported as
//! an invalid token.

use std::sync::Arc;

use frontdesk_engine::model::caller::{Caller, ClientId, Scopes, TenantId};
use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::ports::registry::Token;

use super::EmbeddedServer;
use super::token_cache::CachedToken;
use crate::people::records::AccessToken;
use crate::people::stored::find_valid;
use crate::people::users::hex;
use crate::secret::{TokenOrigin, token_hash};

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
        let Some((origin, hash)) = token_hash(text) else {
            return Ok(None);
        };
        let looked_up_at = self.clock.monotonic();
        if let Some(cached) = self.cache.get(&hash, looked_up_at) {
            return Ok(Some(cached));
        }
        let found = match origin {
            TokenOrigin::Client => {
                let token = self.registry.token(hash).await?;
                token.map(|token| CachedToken { caller: Arc::new(caller(&token)), token })
            }
            TokenOrigin::User => self.user_token(hash).await?,
            TokenOrigin::Operator => self.operator_token(hash).await?,
        };
        let Some(found) = found else {
            return Ok(None);
        };
        let cached = Arc::new(found);
        self.cache.insert(&cached, looked_up_at);
        Ok(Some(cached))
    }

    /// A token of a user is looked up with everything that it depends on: its grant, the user, and whether the user may
    /// still act for the tenant. So whatever ends one of them ends the token.
    async fn user_token(&self, hash: [u8; 32]) -> Result<Option<CachedToken>, Fault> {
        let found = find_valid::<AccessToken>(self.records(), &hex(&hash), self.clock.now()).await?;
        let Some(stored) = found else {
            return Ok(None);
        };
        let AccessToken { grant, user, client, resource, scopes, tenant, authenticated_at } = stored.content;
        let Some(tenant) = TenantId::parse(&tenant) else {
            return Ok(None);
        };
        let is_valid = self.grant_record(&grant).await?.is_some()
            && self.is_known_client(&client).await?
            && self.users.active(&user).await?.is_some()
            && self.users.may_act_for(&user, &tenant).await?;
        if !is_valid {
            return Ok(None);
        }
        let token = Token {
            hash,
            client: ClientId::new(client),
            tenants: vec![tenant],
            scopes: Scopes::parse(&scopes).unwrap_or_default(),
            resource,
            expires_at: stored.record.expires_at.unwrap_or(Millis(0)),
            authenticated_at: Some(authenticated_at),
        };
        let caller = Caller { subject: user.into(), ..caller(&token) };
        Ok(Some(CachedToken { token, caller: Arc::new(caller) }))
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
