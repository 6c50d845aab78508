//! What the mount of a partner has below its path, besides the contract itself: where its own systems report what becomes
//! of bookings, and as whom the server then calls the contract's tools. Such a caller can be made here only.

use std::sync::Arc;

use frontdesk_contracts::notification::MANAGE_SCOPE;
use frontdesk_engine::seal::signing_key::SigningKey;
use frontdesk_engine::{Caller, ClientId, Scope, Scopes, TenantId};

use super::PartnerSecrets;
use crate::config::{BookingClock, PartnerConfig};

pub(crate) struct PartnerEndpoint {
    /// The path of the mount.
    pub(crate) path: String,
    partner_id: String,
    tenant: TenantId,
    /// What notifications are signed with; none are accepted without any.
    pub(crate) notification_keys: Vec<SigningKey>,
    pub(crate) clock: BookingClock,
}

impl PartnerEndpoint {
    pub(in crate::app) fn new(path: &str, partner: &PartnerConfig, secrets: &PartnerSecrets) -> PartnerEndpoint {
        PartnerEndpoint {
            path: path.to_owned(),
            partner_id: partner.settings.partner_id.clone(),
            tenant: partner.tenant.clone(),
            notification_keys: secrets.notification_keys.clone(),
            clock: partner.clock,
        }
    }

    /// The caller under whom such a task of the server calls tools of the operator.
    pub(crate) fn caller(&self, task: &str) -> Arc<Caller> {
        let name = format!("{}:{task}", self.partner_id);
        Arc::new(Caller {
            client: ClientId::new(name.clone()),
            subject: name.into(),
            tenants: vec![self.tenant.clone()],
            scopes: Scopes::new([Scope::new(MANAGE_SCOPE)]),
            authenticated_at: None,
        })
    }
}
