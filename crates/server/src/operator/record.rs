//! What the audit says of an operator's order. Names and secrets are left out: an id is enough to find
//! the rest.

use frontdesk_engine::timestamp::Millis;
use frontdesk_engine::{ClientId, TenantId};

pub(crate) fn client_record(at: Millis, order: &str, client: &ClientId) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": order, "client": client.as_str(), "outcome": "ok"})
        .to_string()
}

pub(crate) fn tenant_record(at: Millis, tenant: &TenantId) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "tenant.add", "tenant": tenant.as_str(), "outcome": "ok"})
        .to_string()
}
