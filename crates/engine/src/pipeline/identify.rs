//! Stage 2: who is calling. The credential is checked before anything else of the request, so that an unauthenticated
//! caller learns nothing from the rest.

use std::sync::Arc;

use crate::desk::{Desk, Mount};
use crate::model::caller::Caller;
use crate::model::fault::{Fault, FaultKind};
use crate::model::incoming::{Credential, Incoming};

pub async fn identify(desk: &Desk, mount: &Mount, incoming: &Incoming) -> Result<Arc<Caller>, Fault> {
    if let Some(fault) = &incoming.transport_fault
        && fault.kind == FaultKind::HostNotAllowed
    {
        // A page from another origin must not learn whether its credential is valid.
        return Err(fault.clone());
    }
    let caller = check_credential(desk, mount, incoming).await?;
    Ok(match mount.policy.as_ref().and_then(|policy| policy.expand_scopes(&mount.contract, &caller.scopes)) {
        Some(scopes) => Arc::new(Caller { scopes, ..Caller::clone(&caller) }),
        None => caller,
    })
}

async fn check_credential(desk: &Desk, mount: &Mount, incoming: &Incoming) -> Result<Arc<Caller>, Fault> {
    if let Some(identity) = &mount.identity {
        // An identity of the mount's own may accept callers without a credential.
        return identity.identify(&incoming.credential, &mount.resource).await;
    }
    match &incoming.credential {
        Credential::Missing => Err(Fault::new(
            FaultKind::Unauthenticated,
            "An access token is required: send it as `Authorization: Bearer`.",
        )),
        Credential::ApiKey(_) | Credential::Certificate(_) | Credential::Unusable => Err(Fault::new(
            FaultKind::Unauthenticated,
            "The access token must be sent once, as `Authorization: Bearer`, and nowhere else.",
        )),
        Credential::Bearer(_) => desk.identity.identify(&incoming.credential, &mount.resource).await,
    }
}
