//! Changes of tenants, clients and tokens, each in the open transaction of a writer of either database.

use std::collections::HashSet;

use frontdesk_engine::model::tenant::{FieldUpdate, GroupId, TenantUpdate};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Client, Tenant, Token};
use frontdesk_engine::{ClientId, TenantId};

use super::erasure;
use super::login_records::{self, SealedChange};
use super::registry::{GET_TENANT, read_tenant};
use super::word_list::{has_word, join, without_word};
use crate::StoreError;
use crate::audit::AuditClass;
use crate::reindex::IndexSession;
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
    LoginRecords {
        changes: Vec<SealedChange>,
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

    pub(crate) async fn apply<S: IndexSession>(&self, session: &S, record: &str) -> Result<Applied, StoreError> {
        let mut class = AuditClass::Administration;
        let changed = match self {
            RegistryChange::AddTenant { tenant, sealed_key } => add_tenant(session, tenant, sealed_key).await?,
            RegistryChange::UpdateTenant { id, update } => update_tenant(session, id, update).await?,
            RegistryChange::BeginErasure { tenant, at, known_tables } => {
                return erasure::begin(session, tenant.as_str(), *at, known_tables, record).await;
            }
            RegistryChange::FinishErasure { tenant, at } => {
                return erasure::finish(session, tenant.as_str(), *at, record).await;
            }
            RegistryChange::AddClient(client) => add_client(session, client).await?,
            RegistryChange::RotateClient { id, secret } => {
                let text = "UPDATE fd_client SET secret_hash = $2 WHERE client = $1 AND revoked_at IS NULL";
                let changed = session.execute(text, &[id.as_str().into(), secret.as_slice().into()]).await?;
                delete_tokens(session, changed, id).await?
            }
            RegistryChange::RevokeClient { id, at } => {
                let text = "UPDATE fd_client SET revoked_at = $2 WHERE client = $1 AND revoked_at IS NULL";
                let changed = session.execute(text, &[id.as_str().into(), at.0.into()]).await?;
                delete_tokens(session, changed, id).await?
            }
            RegistryChange::AddToken { token, groups, now } => {
                // One with a login is issued by the operator.
                if token.authenticated_at.is_none() {
                    class = AuditClass::Reads;
                }
                add_token(session, token, groups, *now).await?
            }
            RegistryChange::RevokeToken { hash, client } => {
                let text = "DELETE FROM fd_token WHERE token_hash = $1 AND client = $2";
                session.execute(text, &[hash.as_slice().into(), client.as_str().into()]).await?
            }
            RegistryChange::LoginRecords { changes, now, class } => {
                login_records::apply(session, changes, *now).await?;
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

async fn add_tenant<S: SqlSession>(session: &S, tenant: &Tenant, sealed_key: &[u8]) -> Result<u64, StoreError> {
    let text = "INSERT INTO fd_tenant (tenant, name, sealed_key, profile, tenant_group) VALUES ($1, $2, $3, $4, $5) \
                ON CONFLICT DO NOTHING";
    let params = [
        tenant.id.as_str().into(),
        tenant.name.as_str().into(),
        sealed_key.into(),
        profile_text(tenant)?.into(),
        tenant.group.as_ref().map(GroupId::as_str).into(),
    ];
    session.execute(text, &params).await
}

/// Reads and writes in one transaction, so that of two operators none undoes what the other has changed.
async fn update_tenant<S: SqlSession>(session: &S, id: &TenantId, update: &TenantUpdate) -> Result<u64, StoreError> {
    // Before the tenant's row, as an erasure does: two nodes that lock both never wait for each other.
    if update.group != FieldUpdate::Keep {
        session.lock_tokens().await?;
    }
    let text = format!("{GET_TENANT} WHERE tenant = $1 AND erasing_at IS NULL{}", S::FOR_UPDATE);
    let rows = session.query(&text, &[id.as_str().into()]).await?;
    let Some(mut tenant) = rows.first().map(read_tenant).transpose()?.flatten() else {
        return Ok(0);
    };
    let before = tenant.group.clone();
    update.apply(&mut tenant);
    let text = "UPDATE fd_tenant SET name = $2, profile = $3, tenant_group = $4 WHERE tenant = $1";
    let params = [
        id.as_str().into(),
        tenant.name.as_str().into(),
        profile_text(&tenant)?.into(),
        tenant.group.as_ref().map(GroupId::as_str).into(),
    ];
    let changed = session.execute(text, &params).await?;
    if let Some(left) = before.filter(|before| tenant.group.as_ref() != Some(before)) {
        let text = format!(
            "UPDATE fd_token SET tenants = {} WHERE {} AND client IN \
             (SELECT client FROM fd_client WHERE NOT ({}) AND {})",
            without_word("tenants", 1),
            has_word("tenants", 1),
            has_word("tenants", 1),
            has_word("tenant_groups", 2),
        );
        session.execute(&text, &[id.as_str().into(), left.as_str().into()]).await?;
        session.execute("DELETE FROM fd_token WHERE tenants = ''", &[]).await?;
    }
    Ok(changed)
}

fn profile_text(tenant: &Tenant) -> Result<String, StoreError> {
    serde_json::to_string(&tenant.profile).map_err(|error| StoreError::NotCommitted(error.to_string()))
}

async fn add_client<S: SqlSession>(session: &S, client: &Client) -> Result<u64, StoreError> {
    let text = "INSERT INTO fd_client (client, name, secret_hash, tenants, tenant_groups, scopes, created_at, revoked_at) \
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let params = [
        client.id.as_str().into(),
        client.name.as_str().into(),
        client.secret.as_slice().into(),
        join(client.tenants.iter().map(TenantId::as_str)).into(),
        join(client.groups.iter().map(GroupId::as_str)).into(),
        client.scopes.to_string().into(),
        client.created_at.0.into(),
        client.revoked_at.map(|at| at.0).into(),
    ];
    session.execute(text, &params).await
}

async fn add_token<S: SqlSession>(
    session: &S,
    token: &Token,
    groups: &[GroupId],
    now: Millis,
) -> Result<u64, StoreError> {
    // First, because it waits for a change of groups or an erasure on another node: what follows then sees that.
    // Expired tokens that another node is deleting at the same time are left to it.
    let expired = format!(
        "DELETE FROM fd_token WHERE token_hash IN (SELECT token_hash FROM fd_token WHERE expires_at <= $1{})",
        S::SKIP_LOCKED
    );
    session.execute(&expired, &[now.0.into()]).await?;
    // Against a revocation on another node: either it waits and then deletes this token too, or this waits and the
    // caller then finds the client revoked.
    let lock = format!("SELECT 1 FROM fd_client WHERE client = $1{}", S::FOR_SHARE);
    session.query(&lock, &[token.client.as_str().into()]).await?;
    let tenants = existing_tenants(session, &token.tenants, groups).await?;
    if tenants.is_empty() {
        return Ok(0);
    }
    let text = "INSERT INTO fd_token (token_hash, client, tenants, scopes, resource, expires_at, authenticated_at) \
                VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let params = [
        token.hash.as_slice().into(),
        token.client.as_str().into(),
        join(tenants.iter().map(String::as_str)).into(),
        token.scopes.to_string().into(),
        token.resource.as_str().into(),
        token.expires_at.0.into(),
        token.authenticated_at.map_or(StoredValue::Null, StoredValue::from),
    ];
    session.execute(text, &params).await
}

/// Those that are named, in their order, then the others of the groups. Without the ones that are being erased.
async fn existing_tenants<S: SqlSession>(
    session: &S,
    named: &[TenantId],
    groups: &[GroupId],
) -> Result<Vec<String>, StoreError> {
    let mut params: Vec<StoredValue> = Vec::new();
    let own = placeholders(&mut params, named.iter().map(TenantId::as_str));
    let of_groups = placeholders(&mut params, groups.iter().map(GroupId::as_str));
    let text = format!(
        "SELECT tenant FROM fd_tenant WHERE erasing_at IS NULL AND (tenant IN ({own}) OR tenant_group IN ({of_groups})) \
         ORDER BY tenant"
    );
    let mut found: Vec<String> = Vec::new();
    for row in session.query(&text, &params).await? {
        found.push(row.text(0)?.to_owned());
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

async fn delete_tokens<S: SqlSession>(session: &S, changed: u64, client: &ClientId) -> Result<u64, StoreError> {
    if changed > 0 {
        session.execute("DELETE FROM fd_token WHERE client = $1", &[client.as_str().into()]).await?;
    }
    Ok(changed)
}
