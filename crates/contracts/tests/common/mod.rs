//! Shared by the tests of all contracts: an identity that trusts the token, and replies as text.

use std::sync::Arc;

use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::{Caller, ClientId, Fault, FaultKind, Reply, Scopes, TenantId};

/// A token is the tenants, a slash and the scopes.
pub(crate) struct TokenIdentity;

impl Identity for TokenIdentity {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(async move {
            let refused = || Fault::new(FaultKind::Unauthenticated, "no");
            let Credential::Bearer(token) = credential else {
                return Err(refused());
            };
            let (tenants, scopes) = token.split_once('/').ok_or_else(refused)?;
            Ok(Arc::new(Caller {
                client: ClientId::new("client"),
                subject: "client".into(),
                tenants: tenants.split(',').filter_map(TenantId::parse).collect(),
                scopes: Scopes::parse(scopes).unwrap(),
                authenticated_at: None,
            }))
        })
    }
}

/// `status, headers, body`, without the header that all answers have.
pub(crate) fn text(reply: &Reply) -> String {
    let (shared, own): (Vec<_>, Vec<_>) = reply.headers.iter().partition(|(name, _)| *name == "Cache-Control");
    assert_eq!(shared, [&("Cache-Control", "no-store".into())]);
    let own: String = own.iter().map(|(name, value)| format!(" [{name}: {value}]")).collect();
    format!("{}{own} {}", reply.status, String::from_utf8_lossy(&reply.body))
}
