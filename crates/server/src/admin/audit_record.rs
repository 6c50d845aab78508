//! The audit records of admin requests. Names and secrets are left out: an id is enough to find the rest.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::installation_key::InstallationPublicKey;
use frontdesk_engine::{ClientId, TenantId};
use frontdesk_store::transfer::Manifest;

use super::exports::{ExportTask, PersonalData};
use super::maintenance::MaintenanceAction;

pub(crate) fn client_record(at: Millis, action: &str, client: &ClientId) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": action, "client": client.as_str(), "outcome": "ok"})
        .to_string()
}

pub(super) fn token_record(at: Millis, client: &ClientId, scopes: &[String], days: u32) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "token.issue", "client": client.as_str(), "scopes": scopes,
        "days": days, "outcome": "ok"})
    .to_string()
}

pub(super) fn token_revocation_record(at: Millis, token: &str) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "token.revoke", "token": token, "outcome": "ok"}).to_string()
}

pub(crate) fn tenant_record(at: Millis, tenant: &TenantId) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "tenant.add", "tenant": tenant.as_str(), "outcome": "ok"})
        .to_string()
}

/// Which fields were changed, not to what.
pub(crate) fn tenant_update_record(at: Millis, tenant: &TenantId, fields: &[&str]) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "tenant.update", "tenant": tenant.as_str(),
        "fields": fields, "outcome": "ok"})
    .to_string()
}

/// The store adds how the tenant's chain ended, and at the end what was removed.
pub(crate) fn erasure_record(at: Millis, tenant: &TenantId, outcome: &str) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "tenant.erase", "tenant": tenant.as_str(), "outcome": outcome})
        .to_string()
}

/// A backup without a MAC was restored because an operator vouched for it.
pub(crate) fn unverified_restore_record(at: Millis) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "restore.unverified", "outcome": "ok"}).to_string()
}

pub(crate) fn export_record(at: Millis, tenant: &TenantId) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "tenant.export", "tenant": tenant.as_str(), "outcome": "ok"})
        .to_string()
}

/// Records for people leave: before the first one, and how many it were when all of them were written.
pub(super) fn records_export_record(at: Millis, task: &ExportTask, tenant: &TenantId, rows: Option<u64>) -> String {
    let action = if rows.is_some() { "export.end" } else { "export.start" };
    let mut record = serde_json::json!({
        "at": at.to_rfc3339(),
        "operator": action,
        "tenant": tenant.as_str(),
        "resource": task.resource,
        "personal": task.personal == PersonalData::Included,
        "outcome": "ok",
    });
    if let (Some(rows), Some(record)) = (rows, record.as_object_mut()) {
        record.insert("count".to_owned(), rows.into());
    }
    record.to_string()
}

/// Mounts were closed for maintenance, or opened again.
pub(super) fn maintenance_record(at: Millis, action: MaintenanceAction, mounts: &[&str]) -> String {
    let action = match action {
        MaintenanceAction::On => "maintenance.on",
        MaintenanceAction::Off => "maintenance.off",
        MaintenanceAction::Status => "maintenance.status",
    };
    serde_json::json!({"at": at.to_rfc3339(), "operator": action, "mounts": mounts, "outcome": "ok"}).to_string()
}

/// Retention goes on after a pause.
pub(super) fn retention_record(at: Millis, reason: &str) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "retention.resume", "reason": reason, "outcome": "ok"})
        .to_string()
}

/// One delivery, or all dead letters, are sent again.
pub(super) fn delivery_record(at: Millis, id: Option<&str>) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": "delivery.replay", "id": id.unwrap_or("all"), "outcome": "ok"})
        .to_string()
}

/// The first record of an imported tenant names the last link of its old chain, and the installation that signed the
/// export: `unverified` if the operator chose not to ask.
pub(crate) fn import_record(at: Millis, manifest: &Manifest, sender: Option<&InstallationPublicKey>) -> String {
    let hash: String = manifest.chain.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    serde_json::json!({
        "at": at.to_rfc3339(),
        "operator": "tenant.import",
        "tenant": manifest.tenant.id.as_str(),
        "from": {"seq": manifest.chain.seq, "hash": hash},
        "sender": sender.map_or_else(|| "unverified".to_owned(), ToString::to_string),
        "outcome": "ok",
    })
    .to_string()
}

/// The master key was replaced, or an old one was retired.
pub(super) fn key_record(at: Millis, operation: &str) -> String {
    serde_json::json!({"at": at.to_rfc3339(), "operator": operation, "outcome": "ok"}).to_string()
}
