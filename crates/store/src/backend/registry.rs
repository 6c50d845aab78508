//! Tenants, clients and tokens, on either database.

use frontdesk_engine::model::tenant::{GroupId, TenantUpdate};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{
    Changed, Client, ErasureProgress, ErasureRecords, RefusedRows, Registry, Tenant, Token,
};
use frontdesk_engine::{ClientId, Fault, Scopes, TenantId};

use super::registry_change::RegistryChange;
use super::{BoxFuture, SqlStore, StoreDriver, erasure};
use crate::StoreError;
use crate::keyring::Keyring;
use crate::sql::registry_rows::{AUTHENTICATED, CLIENTS, RegistryRow, TENANTS, TOKENS, VerifiedRows};
use crate::sql::session::{SqlRow, SqlSession};

impl<D: StoreDriver> Registry for SqlStore<D> {
    fn tenants(&self) -> BoxFuture<'_, Result<Vec<Tenant>, Fault>> {
        Box::pin(async move {
            let mut tenants = Vec::new();
            for row in self.driver.find(&TENANTS, "ORDER BY tenant", &[]).await? {
                tenants.extend(read_tenant(&row)?);
            }
            Ok(tenants)
        })
    }

    fn tenant<'a>(&'a self, id: &'a TenantId) -> BoxFuture<'a, Result<Option<Tenant>, Fault>> {
        Box::pin(async move {
            let rows = self.driver.find(&TENANTS, "WHERE tenant = $1", &[id.as_str().into()]).await?;
            Ok(rows.first().map(read_tenant).transpose()?.flatten())
        })
    }

    fn add_tenant(&self, tenant: Tenant, record: String) -> BoxFuture<'_, Result<Changed, Fault>> {
        Box::pin(async move {
            let sealed_key = self.driver.keyring().create(tenant.id.as_str()).ok_or(StoreError::WrongKey)?;
            Ok(self.driver.change(RegistryChange::AddTenant { tenant: Box::new(tenant), sealed_key }, record).await?)
        })
    }

    fn update_tenant<'a>(
        &'a self,
        id: &'a TenantId,
        update: TenantUpdate,
        record: String,
    ) -> BoxFuture<'a, Result<Changed, Fault>> {
        make_change(self, RegistryChange::UpdateTenant { id: id.clone(), update: Box::new(update) }, record)
    }

    fn erase_tenant<'a>(
        &'a self,
        id: &'a TenantId,
        at: Millis,
        records: ErasureRecords,
    ) -> BoxFuture<'a, Result<ErasureProgress, Fault>> {
        Box::pin(async move { Ok(erasure::erase(&self.driver, id, at, records).await?) })
    }

    fn record_administration(&self, record: String) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async move {
            self.driver.change(RegistryChange::Record, record).await?;
            Ok(())
        })
    }

    fn refused_rows(&self) -> BoxFuture<'_, Result<Vec<RefusedRows>, Fault>> {
        Box::pin(async move {
            let mut refused = Vec::new();
            for table in AUTHENTICATED {
                let found = self.driver.read(&table.select(""), &[]).await?;
                let rows = table.verify(self.driver.keyring().registry(), found).refused.len();
                if rows > 0 {
                    refused.push(RefusedRows { table: table.name, rows });
                }
            }
            Ok(refused)
        })
    }

    fn clients(&self) -> BoxFuture<'_, Result<Vec<Client>, Fault>> {
        Box::pin(async move {
            let rows = self.driver.find(&CLIENTS, "ORDER BY created_at, client", &[]).await?;
            Ok(rows.iter().map(read_client).collect::<Result<_, _>>()?)
        })
    }

    fn client<'a>(&'a self, id: &'a ClientId) -> BoxFuture<'a, Result<Option<Client>, Fault>> {
        Box::pin(async move {
            // PostgreSQL refuses NUL in a text, so no client has such an id.
            if id.as_str().contains('\0') {
                return Ok(None);
            }
            let rows = self.driver.find(&CLIENTS, "WHERE client = $1", &[id.as_str().into()]).await?;
            Ok(rows.first().map(read_client).transpose()?)
        })
    }

    fn add_client(&self, client: Client, record: String) -> BoxFuture<'_, Result<Changed, Fault>> {
        make_change(self, RegistryChange::AddClient(client), record)
    }

    fn rotate_client<'a>(
        &'a self,
        id: &'a ClientId,
        secret: [u8; 32],
        record: String,
    ) -> BoxFuture<'a, Result<Changed, Fault>> {
        make_change(self, RegistryChange::RotateClient { id: id.clone(), secret }, record)
    }

    fn revoke_client<'a>(
        &'a self,
        id: &'a ClientId,
        at: Millis,
        record: String,
    ) -> BoxFuture<'a, Result<Changed, Fault>> {
        make_change(self, RegistryChange::RevokeClient { id: id.clone(), at }, record)
    }

    fn token(&self, hash: [u8; 32]) -> BoxFuture<'_, Result<Option<Token>, Fault>> {
        Box::pin(async move {
            let rows = self.driver.find(&TOKENS, "WHERE token_hash = $1", &[hash.as_slice().into()]).await?;
            Ok(rows.first().map(read_token).transpose()?)
        })
    }

    fn add_token(
        &self,
        token: Token,
        groups: Vec<GroupId>,
        now: Millis,
        record: String,
    ) -> BoxFuture<'_, Result<Changed, Fault>> {
        make_change(self, RegistryChange::AddToken { token, groups, now }, record)
    }

    fn revoke_token<'a>(
        &'a self,
        hash: [u8; 32],
        client: &'a ClientId,
        record: String,
    ) -> BoxFuture<'a, Result<Changed, Fault>> {
        make_change(self, RegistryChange::RevokeToken { hash, client: client.clone() }, record)
    }
}

fn make_change<D: StoreDriver>(
    store: &SqlStore<D>,
    change: RegistryChange,
    record: String,
) -> BoxFuture<'_, Result<Changed, Fault>> {
    Box::pin(async move { Ok(store.driver.change(change, record).await?) })
}

/// Adds the keys of all tenants that are not being erased to the keyring; fails if the master key is another one.
pub(crate) async fn load_tenant_keys<S: SqlSession>(session: &S, keyring: &Keyring) -> Result<(), StoreError> {
    let found = session.query(&TENANTS.select("WHERE erasing_at IS NULL"), &[]).await?;
    let VerifiedRows { rows, refused } = TENANTS.verify(keyring.registry(), found);
    for row in &rows {
        keyring.unwrap(row.text("tenant")?, row.bytes("sealed_key")?)?;
    }
    // With another master key no row is right. A changed row still has a key that this master key opens.
    let is_own = |row: &SqlRow| Ok::<_, StoreError>(keyring.opens(row.text(0)?, row.bytes(2)?));
    if rows.is_empty() && !refused.is_empty() && !refused.iter().any(|row| is_own(row).unwrap_or(false)) {
        return Err(StoreError::WrongKey);
    }
    Ok(())
}

/// `None` if its id is not one that Frontdesk gives.
pub(crate) fn read_tenant(row: &RegistryRow) -> Result<Option<Tenant>, StoreError> {
    let Some(id) = TenantId::parse(row.text("tenant")?) else {
        return Ok(None);
    };
    Ok(Some(Tenant {
        id,
        name: row.text("name")?.to_owned(),
        profile: serde_json::from_str(row.text("profile")?).map_err(|_| StoreError::UnexpectedValue { column: 3 })?,
        group: row.optional_text("tenant_group")?.and_then(GroupId::parse),
        erasing_since: row.optional_integer("erasing_at")?.map(Millis),
    }))
}

fn read_client(row: &RegistryRow) -> Result<Client, StoreError> {
    Ok(Client {
        id: ClientId::new(row.text("client")?),
        name: row.text("name")?.to_owned(),
        secret: read_hash(row, "secret_hash")?,
        tenants: split(row.text("tenants")?),
        scopes: Scopes::parse(row.text("scopes")?).unwrap_or_default(),
        created_at: Millis(row.integer("created_at")?),
        revoked_at: row.optional_integer("revoked_at")?.map(Millis),
        groups: row.text("tenant_groups")?.split(' ').filter_map(GroupId::parse).collect(),
    })
}

fn read_token(row: &RegistryRow) -> Result<Token, StoreError> {
    Ok(Token {
        hash: read_hash(row, "token_hash")?,
        client: ClientId::new(row.text("client")?),
        tenants: split(row.text("tenants")?),
        scopes: Scopes::parse(row.text("scopes")?).unwrap_or_default(),
        resource: row.text("resource")?.to_owned(),
        expires_at: Millis(row.integer("expires_at")?),
        authenticated_at: row.optional_integer("authenticated_at")?,
    })
}

fn read_hash(row: &RegistryRow, column: &str) -> Result<[u8; 32], StoreError> {
    row.bytes(column)?.try_into().map_err(|_| StoreError::UnexpectedValue { column: 0 })
}

fn split(text: &str) -> Vec<TenantId> {
    text.split(' ').filter_map(TenantId::parse).collect()
}
