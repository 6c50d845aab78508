//! Which rows a change of the registry writes and removes, for its audit record.

use super::super::login_records;
use super::RegistryChange;
use crate::StoreError;
use crate::audit::row_versions::{RegistryVersion, hex};
use crate::sql::registry_rows::{CLIENTS, RegistryKey, TENANTS, TOKENS};
use crate::sql::session::SqlSession;
use crate::transfer::tables::RowOwner;

impl RegistryChange {
    /// The rows that the change will remove, and those of people that it will write.
    pub(super) async fn removed_rows<S: SqlSession>(
        &self,
        session: &S,
        key: &RegistryKey,
    ) -> Result<Vec<RegistryVersion>, StoreError> {
        let mut rows = Vec::new();
        match self {
            RegistryChange::RotateClient { id, .. } | RegistryChange::RevokeClient { id, .. } => {
                for token in TOKENS.find(session, key, "WHERE client = $1", &[id.as_str().into()]).await? {
                    rows.push((TOKENS.name, hex(token.bytes("token_hash")?), None));
                }
            }
            RegistryChange::RevokeToken { hash, .. } => rows.push((TOKENS.name, hex(hash), None)),
            RegistryChange::FinishErasure { tenant, .. } => {
                let own = format!("WHERE {}", RowOwner::Client.condition());
                for client in CLIENTS.find(session, key, &own, &[tenant.as_str().into()]).await? {
                    rows.push((CLIENTS.name, client.text("client")?.to_owned(), None));
                }
                rows.push((TENANTS.name, tenant.as_str().to_owned(), None));
            }
            RegistryChange::LoginRecords { class: Some(_), changes, .. } => {
                rows = login_records::versions(session, key, changes).await?;
            }
            RegistryChange::LoginRecords { class: None, .. }
            | RegistryChange::AddTenant { .. }
            | RegistryChange::UpdateTenant { .. }
            | RegistryChange::BeginErasure { .. }
            | RegistryChange::AddClient(_)
            | RegistryChange::AddToken { .. }
            | RegistryChange::CountRestore { .. }
            | RegistryChange::Record
            | RegistryChange::WriteProbe => {}
        }
        Ok(rows)
    }

    /// The row that the change has written. Tokens are short-lived and many: only their revocation is named.
    pub(super) async fn written_row<S: SqlSession>(
        &self,
        session: &S,
        key: &RegistryKey,
    ) -> Result<Option<RegistryVersion>, StoreError> {
        let (table, column, id) = match self {
            RegistryChange::AddTenant { tenant, .. } => (&TENANTS, "tenant", tenant.id.as_str()),
            RegistryChange::UpdateTenant { id, .. } | RegistryChange::BeginErasure { tenant: id, .. } => {
                (&TENANTS, "tenant", id.as_str())
            }
            RegistryChange::AddClient(client) => (&CLIENTS, "client", client.id.as_str()),
            RegistryChange::RotateClient { id, .. } | RegistryChange::RevokeClient { id, .. } => {
                (&CLIENTS, "client", id.as_str())
            }
            RegistryChange::FinishErasure { .. }
            | RegistryChange::AddToken { .. }
            | RegistryChange::RevokeToken { .. }
            | RegistryChange::LoginRecords { .. }
            | RegistryChange::CountRestore { .. }
            | RegistryChange::Record
            | RegistryChange::WriteProbe => return Ok(None),
        };
        let found = table.find(session, key, &format!("WHERE {column} = $1"), &[id.into()]).await?;
        Ok(found.first().map(|row| (table.name, id.to_owned(), Some(row.version()))))
    }
}
