//! The audit records of admin requests. Names and secrets are left out: an id is enough to find the rest.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{ClientId, TenantId};
use frontdesk_store::transfer::Manifest;

pub(crate) fn client_record(at: Millis, action: &str, client: &ClientId) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": action, "client": client.as_str(), "outcome": "ok"})
        .to_string()
}

pub(crate) fn tenant_record(at: Millis, tenant: &TenantId) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "tenant.add", "tenant": tenant.as_str(), "outcome": "ok"})
        .to_string()
}

pub(crate) fn export_record(at: Millis, tenant: &TenantId) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "tenant.export", "tenant": tenant.as_str(), "outcome": "ok"})
        .to_string()
}

/// The first record of an imported tenant names the last link of its old chain.
pub(crate) fn import_record(at: Millis, manifest: &Manifest) -> String {
    let hash: String = manifest.chain.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    serde_json::json!({
        "at": at.to_rfc3339(),
        "operator": "tenant.import",
        "tenant": manifest.tenant.id.as_str(),
        "from": {"seq": manifest.chain.seq, "hash": hash},
        "outcome": "ok",
    })
    .to_string()
}
