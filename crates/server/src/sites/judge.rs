//! Who calls a site. Whoever does not belong to the site's tenant is nobody here, whatever else the credential is
//! good for.

use std::sync::Arc;

use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::{Caller, ClientId, Fault, FaultKind, Scopes, TenantId};

/// Those with a token: of this server, or signed by the site.
pub(crate) struct Members {
    pub(crate) own: Option<Arc<dyn Identity>>,
    pub(crate) jwt: Option<Arc<dyn Identity>>,
    pub(crate) tenant: TenantId,
    /// A token for any of these addresses is good here.
    pub(crate) resources: Vec<String>,
}

impl Members {
    async fn judge(&self, credential: &Credential) -> Result<Arc<Caller>, Fault> {
        if matches!(credential, Credential::Missing) {
            let message = "An access token is required: send it as `Authorization: Bearer`.";
            return Err(Fault::new(FaultKind::Unauthenticated, message));
        }
        let mut refusal = self.refused();
        for judge in self.jwt.iter().chain(&self.own) {
            for resource in &self.resources {
                match judge.identify(credential, resource).await {
                    Ok(caller) if caller.tenants.contains(&self.tenant) => {
                        return Ok(match caller.tenants.as_slice() {
                            [_] => caller,
                            [] | [_, _, ..] => {
                                Arc::new(Caller { tenants: vec![self.tenant.clone()], ..Caller::clone(&caller) })
                            }
                        });
                    }
                    Ok(_) => return Err(self.refused().caused_by("the caller does not belong to this site")),
                    // The first judge who says why has looked at the token; the others may not know its kind.
                    Err(fault) if fault.kind == FaultKind::Unauthenticated && refusal.cause.is_none() => {
                        refusal.cause = fault.cause;
                    }
                    Err(fault) if fault.kind == FaultKind::Unauthenticated => {}
                    // A store that cannot answer is no judgement.
                    Err(fault) => return Err(fault),
                }
            }
        }
        Err(refusal)
    }

    /// The same for every reason. It sends nobody to a token endpoint that has nothing for this mount.
    fn refused(&self) -> Fault {
        let message = match self.own {
            Some(_) => "The access token is not valid here, or not any more. Get a new one from the token endpoint.",
            None => {
                "The access token is not valid here, or not any more. Get a new one from the site, which signs them."
            }
        };
        Fault::new(FaultKind::Unauthenticated, message)
    }
}

impl Identity for Members {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(self.judge(credential))
    }
}

/// Whoever is on this machine, with all that can be done here. That nobody else comes is seen to before.
pub(crate) struct Everyone {
    pub(crate) tenant: TenantId,
    pub(crate) scopes: Scopes,
}

impl Everyone {
    /// Whoever calls one site has nothing in common with whoever calls another.
    fn name(&self) -> String {
        format!("local:{}", self.tenant)
    }
}

impl Identity for Everyone {
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
