//! Changes of tenants, clients and tokens, each in the open transaction of a writer of either database.

mod changed_rows;

use std::collections::HashSet;

use frontdesk_engine::model::tenant::{FieldUpdate, GroupId, TenantUpdate};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::RecordChange;
use frontdesk_engine::ports::registry::{Changed, Client, Tenant, Token};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{ClientId, TenantId};

use super::erasure;
use super::login_records;
use super::registry::read_tenant;
use super::word_list::{has_word, join, lists, remove};
use crate::StoreError;
use crate::audit::row_versions::with_registry_rows;
use crate::audit::{AuditClass, summary};
use crate::reindex::IndexSession;
use crate::sql::registry_rows::{Assignment, CLIENTS, RegistryKey, RegistryRow, TENANTS, TOKENS};
use crate::sql::session::{SqlSession, StoredValue};

/// A change of tables that belong to no tenant.
pub(crate) enum RegistryChange {
    AddTenant {
        tenant: Box<Tenant>,
        sealed_key: Vec<u8>,
    },
    UpdateTenant {
        id: TenantId,
        update: Box<TenantUpdate>,
    },
    BeginErasure {
        tenant: TenantId,
        at: Millis,
        /// The tables whose rows are erased.
        known_tables: Vec<String>,
    },
    FinishErasure {
        tenant: TenantId,
        at: Millis,
    },
    AddClient(Client),
    RotateClient {
        id: ClientId,
        secret: [u8; 32],
    },
    RevokeClient {
        id: ClientId,
        at: Millis,
    },
    AddToken {
        token: Token,
        groups: Vec<GroupId>,
        now: Millis,
    },
    RevokeToken {
        hash: [u8; 32],
        client: ClientId,
    },
    /// Counts a restored backup in the summary of the audit chains.
    CountRestore {
        audit_key: SealKey,
        at: Millis,
    },
    LoginRecords {
        changes: Vec<RecordChange>,
        now: Millis,
        /// Without one, no record is written.
        class: Option<AuditClass>,
    },
    /// Changes nothing; only the record is written.
    Record,
    /// Changes nothing, but writes to the disk.
    WriteProbe,
}

/// What a change has done, and the audit record to write with it.
pub(crate) enum Applied {
    Nothing,
    /// Done, and no record is written.
    Unrecorded,
    Done(AuditClass, String),
}

impl Applied {
    pub(crate) fn changed(&self) -> Changed {
        match self {
            Applied::Nothing => Changed::Nothing,
            Applied::Unrecorded | Applied::Done(..) => Changed::Done,
        }
    }
}

impl RegistryChange {
    /// Whether keys that are in memory may no longer be valid afterwards.
    pub(crate) fn ends_keys(&self) -> bool {
        matches!(self, RegistryChange::BeginErasure { .. } | RegistryChange::FinishErasure { .. })
    }

    /// The record names the rows that were changed, with their versions.
    pub(crate) async fn apply<S: IndexSession>(
        &self,
        session: &S,
        key: &RegistryKey,
        record: &str,
    ) -> Result<Applied, StoreError> {
        let mut rows = self.removed_rows(session, key).await?;
        Ok(match self.make(session, key, record).await? {
            Applied::Nothing => Applied::Nothing,
            Applied::Unrecorded => Applied::Unrecorded,
            Applied::Done(class, record) => {
                rows.extend(self.written_row(session, key).await?);
                Applied::Done(class, with_registry_rows(&record, &rows))
            }
        })
    }

    async fn make<S: IndexSession>(&self, session: &S, key: &RegistryKey, record: &str) -> Result<Applied, StoreError> {
        let mut class = AuditClass::Administration;
        let changed = match self {
            RegistryChange::AddTenant { tenant, sealed_key } => {
                TENANTS.insert(session, key, tenant_columns(tenant, sealed_key)?).await?
            }
            RegistryChange::UpdateTenant { id, update } => update_tenant(session, key, id, update).await?,
            RegistryChange::BeginErasure { tenant, at, known_tables } => {
                return erasure::begin(session, key, tenant.as_str(), *at, known_tables, record).await;
            }
            RegistryChange::FinishErasure { tenant, at } => {
                return erasure::finish(session, key, tenant.as_str(), *at, record).await;
            }
            RegistryChange::AddClient(client) => CLIENTS.insert(session, key, client_columns(client)).await?,
            RegistryChange::RotateClient { id, secret } => {
                end_secret(session, key, id, ("secret_hash", secret.as_slice().into())).await?
            }
            RegistryChange::RevokeClient { id, at } => {
                end_secret(session, key, id, ("revoked_at", at.0.into())).await?
            }
            RegistryChange::AddToken { token, groups, now } => {
                // One with a login is issued by the operator.
                if token.authenticated_at.is_none() {
                    class = AuditClass::Reads;
                }
                add_token(session, key, token, groups, *now).await?
            }
            RegistryChange::RevokeToken { hash, client } => {
                let params = [hash.as_slice().into(), client.as_str().into()];
                TOKENS.delete(session, "token_hash = $1 AND client = $2", &params).await?
            }
            RegistryChange::CountRestore { audit_key, at } => summary::count_restore(session, audit_key, *at).await?,
            RegistryChange::LoginRecords { changes, now, class } => {
                login_records::apply(session, key, changes, *now).await?;
                return Ok(match class {
                    Some(class) => Applied::Done(*class, record.to_owned()),
                    None => Applied::Unrecorded,
                });
            }
            RegistryChange::Record => 1,
            RegistryChange::WriteProbe => {
                session.write_probe().await?;
                0
            }
        };
        Ok(if changed == 0 { Applied::Nothing } else { Applied::Done(class, record.to_owned()) })
    }
}

/// Of a new tenant, which is not being erased.
pub(crate) fn tenant_columns(tenant: &Tenant, sealed_key: &[u8]) -> Result<Vec<Assignment>, StoreError> {
    let mut columns = profile_columns(tenant)?;
    columns.extend([("tenant", tenant.id.as_str().into()), ("sealed_key", sealed_key.into())]);
    Ok(columns)
}

/// What an operator may change.
fn profile_columns(tenant: &Tenant) -> Result<Vec<Assignment>, StoreError> {
    let profile =
        serde_json::to_string(&tenant.profile).map_err(|error| StoreError::NotCommitted(error.to_string()))?;
    Ok(vec![
        ("name", tenant.name.as_str().into()),
        ("profile", profile.into()),
        ("tenant_group", tenant.group.as_ref().map(GroupId::as_str).into()),
    ])
}

/// Reads and writes in one transaction, so that of two operators none undoes what the other has changed.
async fn update_tenant<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    id: &TenantId,
    update: &TenantUpdate,
) -> Result<u64, StoreError> {
    // Before the tenant's row, as an erasure does: two nodes that lock both never wait for each other.
    if update.group != FieldUpdate::Keep {
        session.lock_tokens().await?;
    }
    let rest = format!("WHERE tenant = $1 AND erasing_at IS NULL{}", S::FOR_UPDATE);
    let Some(row) = TENANTS.find(session, key, &rest, &[id.as_str().into()]).await?.pop() else {
        return Ok(0);
    };
    let Some(mut tenant) = read_tenant(&row)? else {
        return Ok(0);
    };
    let before = tenant.group.clone();
    update.apply(&mut tenant);
    let changed = TENANTS.update(session, key, row, profile_columns(&tenant)?).await?;
    if let Some(left) = before.filter(|before| tenant.group.as_ref() != Some(before)) {
        for token in tokens_for(session, key, id.as_str()).await? {
            let client = [token.value("client")?.clone()];
            let client = CLIENTS.find(session, key, "WHERE client = $1", &client).await?.pop();
            let is_by_group = match &client {
                Some(client) => {
                    !lists(client.text("tenants")?, id.as_str()) && lists(client.text("tenant_groups")?, left.as_str())
                }
                None => false,
            };
            if is_by_group {
                remove_tenant(session, key, token, id.as_str()).await?;
            }
        }
    }
    Ok(changed)
}

/// The tokens for a tenant.
pub(super) async fn tokens_for<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    tenant: &str,
) -> Result<Vec<RegistryRow>, StoreError> {
    TOKENS.find(session, key, &format!("WHERE {}", has_word("tenants", 1)), &[tenant.into()]).await
}

/// The token loses the tenant, and ends if it was for it alone.
pub(super) async fn remove_tenant<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    token: RegistryRow,
    tenant: &str,
) -> Result<(), StoreError> {
    let left = remove(token.text("tenants")?, tenant);
    if left.is_empty() {
        let hash = [token.value("token_hash")?.clone()];
        TOKENS.delete(session, "token_hash = $1", &hash).await?;
    } else {
        TOKENS.update(session, key, token, vec![("tenants", left.into())]).await?;
    }
    Ok(())
}

fn client_columns(client: &Client) -> Vec<Assignment> {
    vec![
        ("client", client.id.as_str().into()),
        ("name", client.name.as_str().into()),
        ("secret_hash", client.secret.as_slice().into()),
        ("tenants", join(client.tenants.iter().map(TenantId::as_str)).into()),
        ("tenant_groups", join(client.groups.iter().map(GroupId::as_str)).into()),
        ("scopes", client.scopes.to_string().into()),
        ("created_at", client.created_at.0.into()),
        ("revoked_at", client.revoked_at.map(|at| at.0).into()),
    ]
}

/// Changes a client that is not revoked, and ends its tokens.
async fn end_secret<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    id: &ClientId,
    change: Assignment,
) -> Result<u64, StoreError> {
    let rest = format!("WHERE client = $1 AND revoked_at IS NULL{}", S::FOR_UPDATE);
    let Some(client) = CLIENTS.find(session, key, &rest, &[id.as_str().into()]).await?.pop() else {
        return Ok(0);
    };
    let changed = CLIENTS.update(session, key, client, vec![change]).await?;
    if changed > 0 {
        TOKENS.delete(session, "client = $1", &[id.as_str().into()]).await?;
    }
    Ok(changed)
}

async fn add_token<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    token: &Token,
    groups: &[GroupId],
    now: Millis,
) -> Result<u64, StoreError> {
    // First, because it waits for a change of groups or an erasure on another node: what follows then sees that.
    TOKENS.delete_unlocked(session, "expires_at <= $1", &[now.0.into()]).await?;
    // Against a revocation on another node: either it waits and then deletes this token too, or this waits and the
    // caller then finds the client revoked.
    let lock = format!("WHERE client = $1{}", S::FOR_SHARE);
    CLIENTS.find(session, key, &lock, &[token.client.as_str().into()]).await?;
    let tenants = existing_tenants(session, key, &token.tenants, groups).await?;
    if tenants.is_empty() {
        return Ok(0);
    }
    let columns = vec![
        ("token_hash", token.hash.as_slice().into()),
        ("client", token.client.as_str().into()),
        ("tenants", join(tenants.iter().map(String::as_str)).into()),
        ("scopes", token.scopes.to_string().into()),
        ("resource", token.resource.as_str().into()),
        ("expires_at", token.expires_at.0.into()),
        ("authenticated_at", token.authenticated_at.into()),
    ];
    TOKENS.insert(session, key, columns).await
}

/// Those that are named, in their order, then the others of the groups. Without the ones that are being erased.
async fn existing_tenants<S: SqlSession>(
    session: &S,
    key: &RegistryKey,
    named: &[TenantId],
    groups: &[GroupId],
) -> Result<Vec<String>, StoreError> {
    let mut params: Vec<StoredValue> = Vec::new();
    let own = placeholders(&mut params, named.iter().map(TenantId::as_str));
    let of_groups = placeholders(&mut params, groups.iter().map(GroupId::as_str));
    let rest =
        format!("WHERE erasing_at IS NULL AND (tenant IN ({own}) OR tenant_group IN ({of_groups})) ORDER BY tenant");
    let mut found: Vec<String> = Vec::new();
    for row in TENANTS.find(session, key, &rest, &params).await? {
        found.push(row.text("tenant")?.to_owned());
    }
    let known: HashSet<&str> = found.iter().map(String::as_str).collect();
    let mut ordered: Vec<String> = Vec::new();
    let in_order = named.iter().map(TenantId::as_str).filter(|tenant| known.contains(tenant));
    for tenant in in_order.chain(found.iter().map(String::as_str)) {
        if !ordered.iter().any(|other| other == tenant) {
            ordered.push(tenant.to_owned());
        }
    }
    Ok(ordered)
}

/// A list for `IN`. It is filled up with NULL to a power of two, so that there are few different statements to prepare.
fn placeholders<'a>(params: &mut Vec<StoredValue>, values: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = values.len().next_power_of_two();
    let first = params.len() + 1;
    params.extend(values.map(StoredValue::from));
    params.resize(first - 1 + count, StoredValue::Null);
    let numbers: Vec<String> = (first..first + count).map(|number| format!("CAST(${number} AS TEXT)")).collect();
    numbers.join(", ")
}
