//! Tenants, clients and tokens, on either database.

use frontdesk_engine::model::tenant::{GroupId, TenantUpdate};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Client, ErasureProgress, ErasureRecords, Registry, Tenant, Token};
use frontdesk_engine::{ClientId, Fault, Scopes, TenantId};

use super::registry_change::RegistryChange;
use super::{BoxFuture, SqlStore, StoreDriver, erasure};
use crate::StoreError;
use crate::keyring::Keyring;
use crate::sql::session::{SqlRow, SqlSession};

pub(crate) const GET_TENANT: &str = "SELECT tenant, name, profile, tenant_group, erasing_at FROM fd_tenant";
const GET_CLIENT: &str =
    "SELECT client, name, secret_hash, tenants, scopes, created_at, revoked_at, tenant_groups FROM fd_client";
const GET_TOKEN: &str = "SELECT token_hash, client, tenants, scopes, resource, expires_at, authenticated_at FROM fd_token WHERE token_hash = $1";

impl<D: StoreDriver> Registry for SqlStore<D> {
    fn tenants(&self) -> BoxFuture<'_, Result<Vec<Tenant>, Fault>> {
        Box::pin(async move {
            let mut tenants = Vec::new();
            for row in self.driver.read(&format!("{GET_TENANT} ORDER BY tenant"), &[]).await? {
                tenants.extend(read_tenant(&row)?);
            }
            Ok(tenants)
        })
    }

    fn tenant<'a>(&'a self, id: &'a TenantId) -> BoxFuture<'a, Result<Option<Tenant>, Fault>> {
        Box::pin(async move {
            let rows = self.driver.read(&format!("{GET_TENANT} WHERE tenant = $1"), &[id.as_str().into()]).await?;
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

    fn clients(&self) -> BoxFuture<'_, Result<Vec<Client>, Fault>> {
        Box::pin(async move {
            let rows = self.driver.read(&format!("{GET_CLIENT} ORDER BY created_at, client"), &[]).await?;
            Ok(rows.iter().map(read_client).collect::<Result<_, _>>()?)
        })
    }

    fn client<'a>(&'a self, id: &'a ClientId) -> BoxFuture<'a, Result<Option<Client>, Fault>> {
        Box::pin(async move {
            // PostgreSQL refuses NUL in a text, so no client has such an id.
            if id.as_str().contains('\0') {
                return Ok(None);
            }
            let rows = self.driver.read(&format!("{GET_CLIENT} WHERE client = $1"), &[id.as_str().into()]).await?;
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
            let rows = self.driver.read(GET_TOKEN, &[hash.as_slice().into()]).await?;
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
    for row in session.query("SELECT tenant, sealed_key FROM fd_tenant WHERE erasing_at IS NULL", &[]).await? {
        keyring.unwrap(row.text(0)?, row.bytes(1)?)?;
    }
    Ok(())
}

/// A row of `GET_TENANT`. `None` if its id is not one that Frontdesk gives.
pub(crate) fn read_tenant(row: &SqlRow) -> Result<Option<Tenant>, StoreError> {
    let Some(id) = TenantId::parse(row.text(0)?) else {
        return Ok(None);
    };
    Ok(Some(Tenant {
        id,
        name: row.text(1)?.to_owned(),
        profile: serde_json::from_str(row.text(2)?).map_err(|_| StoreError::UnexpectedValue { column: 2 })?,
        group: row.optional_text(3)?.and_then(GroupId::parse),
        erasing_since: row.optional_integer(4)?.map(Millis),
    }))
}

fn read_client(row: &SqlRow) -> Result<Client, StoreError> {
    Ok(Client {
        id: ClientId::new(row.text(0)?),
        name: row.text(1)?.to_owned(),
        secret: read_hash(row, 2)?,
        tenants: split(row.text(3)?),
        scopes: Scopes::parse(row.text(4)?).unwrap_or_default(),
        created_at: Millis(row.integer(5)?),
        revoked_at: row.optional_integer(6)?.map(Millis),
        groups: row.text(7)?.split(' ').filter_map(GroupId::parse).collect(),
    })
}

fn read_token(row: &SqlRow) -> Result<Token, StoreError> {
    Ok(Token {
        hash: read_hash(row, 0)?,
        client: ClientId::new(row.text(1)?),
        tenants: split(row.text(2)?),
        scopes: Scopes::parse(row.text(3)?).unwrap_or_default(),
        resource: row.text(4)?.to_owned(),
        expires_at: Millis(row.integer(5)?),
        authenticated_at: row.optional_integer(6)?,
    })
}

fn read_hash(row: &SqlRow, column: usize) -> Result<[u8; 32], StoreError> {
    row.bytes(column)?.try_into().map_err(|_| StoreError::UnexpectedValue { column })
}

fn split(text: &str) -> Vec<TenantId> {
    text.split(' ').filter_map(TenantId::parse).collect()
}
