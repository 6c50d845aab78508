//! Authentication of the callers of a site. A caller of another tenant is refused, whatever else its credential is valid
//! for.

use std::sync::Arc;

use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::{Caller, ClientId, Fault, FaultKind, Scopes, TenantId};

/// Accepts tokens of this server, or tokens that the site has signed.
pub(in crate::app) struct TokenAuth {
    pub(in crate::app) own: Option<Arc<dyn Identity>>,
    pub(in crate::app) jwt: Option<Arc<dyn Identity>>,
    pub(in crate::app) tenant: TenantId,
    /// A token for any of these resources is accepted.
    pub(in crate::app) resources: Vec<String>,
}

impl TokenAuth {
    async fn authenticate(&self, credential: &Credential) -> Result<Arc<Caller>, Fault> {
        if matches!(credential, Credential::Missing) {
            let message = "An access token is required: send it as `Authorization: Bearer`.";
            return Err(Fault::new(FaultKind::Unauthenticated, message));
        }
        let mut refusal = self.refused();
        for identity in self.jwt.iter().chain(&self.own) {
            for resource in &self.resources {
                match identity.identify(credential, resource).await {
                    Ok(caller) if caller.tenants.contains(&self.tenant) => {
                        return Ok(match caller.tenants.as_slice() {
                            [_] => caller,
                            [] | [_, _, ..] => {
                                Arc::new(Caller { tenants: vec![self.tenant.clone()], ..Caller::clone(&caller) })
                            }
                        });
                    }
                    Ok(_) => return Err(self.refused().caused_by("the caller does not belong to this site")),
                    // The first cause is kept: it comes from a verifier that could parse the token.
                    Err(fault) if fault.kind == FaultKind::Unauthenticated && refusal.cause.is_none() => {
                        refusal.cause = fault.cause;
                    }
                    Err(fault) if fault.kind == FaultKind::Unauthenticated => {}
                    // A store that does not answer says nothing about the token.
                    Err(fault) => return Err(fault),
                }
            }
        }
        Err(refusal)
    }

    /// The same for every reason. It names the token endpoint only if that issues tokens for this mount.
    fn refused(&self) -> Fault {
        let message = match self.own {
            Some(_) => {
                "The access token is invalid for this resource or has expired. Request a new one from the token endpoint."
            }
            None => {
                "The access token is invalid for this resource or has expired. Request a new one from the site, which signs them."
            }
        };
        Fault::new(FaultKind::Unauthenticated, message)
    }
}

impl Identity for TokenAuth {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(self.authenticate(credential))
    }
}

/// Accepts everybody, with every scope. That only callers on this machine get here is checked before.
pub(in crate::app) struct LoopbackAuth {
    pub(in crate::app) tenant: TenantId,
    pub(in crate::app) scopes: Scopes,
}

impl LoopbackAuth {
    /// Callers of different sites have different names.
    fn name(&self) -> String {
        format!("local:{}", self.tenant)
    }
}

impl Identity for LoopbackAuth {
    fn identify<'a>(&'a self, _: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        let caller = Arc::new(Caller {
            client: ClientId::new(self.name()),
            subject: self.name().into(),
            tenants: vec![self.tenant.clone()],
            scopes: self.scopes.clone(),
            authenticated_at: None,
        });
        Box::pin(std::future::ready(Ok(caller)))
    }
}
