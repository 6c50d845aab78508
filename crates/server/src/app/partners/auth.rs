//! Authentication of the one party that calls a partner. What is presented is compared with all accepted credentials, by
//! their hashes and in constant time; every refusal is the same.

use std::sync::Arc;

use arc_swap::ArcSwap;
use frontdesk_contracts::partner::PARTNER_SCOPES;
use frontdesk_engine::model::incoming::{Credential, OtherCredentials};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::seal::sha256;
use frontdesk_engine::{Caller, ClientId, Fault, FaultKind, Scope, Scopes};
use subtle::{Choice, ConstantTimeEq as _};

use super::PartnerSecrets;
use crate::config::PartnerConfig;

pub(in crate::app) struct PartnerAuth {
    /// Those of the latest configuration, also for calls that began under an earlier one.
    secrets: Arc<ArcSwap<PartnerSecrets>>,
    live: Arc<Caller>,
    sandbox: Arc<Caller>,
}

impl PartnerAuth {
    pub(in crate::app) fn new(partner: &PartnerConfig, secrets: Arc<ArcSwap<PartnerSecrets>>) -> PartnerAuth {
        let caller = |mode: &str, scope: &str| {
            let name = format!("{}:{mode}", partner.settings.partner_id);
            Arc::new(Caller {
                client: ClientId::new(name.clone()),
                subject: name.into(),
                tenants: vec![partner.tenant.clone()],
                scopes: Scopes::new([Scope::new(scope)]),
                authenticated_at: None,
            })
        };
        PartnerAuth {
            secrets,
            live: caller("live", PARTNER_SCOPES.live),
            sandbox: caller("sandbox", PARTNER_SCOPES.sandbox),
        }
    }

    fn authenticate(&self, credential: &Credential) -> Result<Arc<Caller>, Fault> {
        let secrets = self.secrets.load();
        let PartnerSecrets { live, sandbox, .. } = &**secrets;
        let (presented, live, sandbox) = match credential {
            Credential::Bearer(token) => (sha256(token.as_bytes()), &live.tokens, &sandbox.tokens),
            Credential::ApiKey(key) => (sha256(key.as_bytes()), &live.keys, &sandbox.keys),
            Credential::Certificate(digest) => (**digest, &live.certificates, &sandbox.certificates),
            Credential::Missing => {
                let message = "A partner credential is required, such as `Authorization: Bearer`.";
                return Err(Fault::new(FaultKind::Unauthenticated, message));
            }
            Credential::Unusable => return Err(invalid()),
        };
        // Both are always compared.
        let (is_live, is_sandbox) = (contains(live, &presented), contains(sandbox, &presented));
        if bool::from(is_live) {
            Ok(Arc::clone(&self.live))
        } else if bool::from(is_sandbox) {
            Ok(Arc::clone(&self.sandbox))
        } else {
            Err(invalid())
        }
    }
}

impl Identity for PartnerAuth {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(std::future::ready(self.authenticate(credential)))
    }

    fn other_credentials(&self) -> OtherCredentials {
        let secrets = self.secrets.load();
        let PartnerSecrets { live, sandbox, .. } = &**secrets;
        OtherCredentials {
            api_key: !live.keys.is_empty() || !sandbox.keys.is_empty(),
            certificate: !live.certificates.is_empty() || !sandbox.certificates.is_empty(),
        }
    }
}

/// Looks at every one, whichever matches.
fn contains(accepted: &[[u8; 32]], presented: &[u8; 32]) -> Choice {
    accepted.iter().fold(Choice::from(0), |found, digest| found | digest.ct_eq(presented))
}

fn invalid() -> Fault {
    let message = "The partner credential is invalid. Send exactly one, and the one that was agreed for this endpoint.";
    Fault::new(FaultKind::Unauthenticated, message)
}
