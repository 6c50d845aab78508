//! Tenants, clients and tokens on PostgreSQL.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::registry::{Changed, Client, Registry, Tenant, Token};
use frontdesk_engine::{ClientId, Fault, Scopes, TenantId};
use tokio::sync::oneshot;
use tokio_postgres::{Error, Row};

use super::PostgresStore;
use super::lanes::Seeing;
use super::live::{Live, Values};
use super::node::Change;
use crate::StoreError;
use crate::vault::Vault;

const CLIENT: &str = "SELECT client, name, secret_hash, tenants, scopes, created_at, revoked_at FROM fd_client";

pub(crate) async fn unlock_tenants(live: &Live, vault: &Vault) -> Result<(), StoreError> {
    for row in live.query("SELECT tenant, sealed_key FROM fd_tenant", &[]).await? {
        let (tenant, sealed): (String, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
        vault.unlock(&tenant, &sealed).ok_or(StoreError::WrongKey)?;
    }
    Ok(())
}

impl Registry for PostgresStore {
    fn tenants(&self) -> Future<'_, Result<Vec<Tenant>, Fault>> {
        Box::pin(async move {
            let rows = self.look("SELECT tenant, name FROM fd_tenant ORDER BY tenant", &[]).await?;
            let mut tenants = Vec::new();
            for row in rows {
                let (id, name): (String, String) = both(&row)?;
                tenants.extend(TenantId::parse(&id).map(|id| Tenant { id, name }));
            }
            Ok(tenants)
        })
    }

    fn add_tenant(&self, tenant: Tenant, record: String) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(async move {
            let sealed_key = self.shared.vault.create(tenant.id.as_str()).ok_or(StoreError::WrongKey)?;
            self.change(Change::AddTenant { tenant, sealed_key }, record).await
        })
    }

    fn clients(&self) -> Future<'_, Result<Vec<Client>, Fault>> {
        Box::pin(async move {
            let rows = self.look(&format!("{CLIENT} ORDER BY created_at, client"), &[]).await?;
            Ok(rows.iter().map(client).collect::<Result<_, _>>()?)
        })
    }

    fn client<'a>(&'a self, id: &'a ClientId) -> Future<'a, Result<Option<Client>, Fault>> {
        Box::pin(async move {
            // A name that cannot be kept is nobody's.
            if id.as_str().contains('\0') {
                return Ok(None);
            }
            let rows = self.look(&format!("{CLIENT} WHERE client = $1"), &[&id.as_str()]).await?;
            Ok(rows.first().map(client).transpose()?)
        })
    }

    fn add_client(&self, client: Client, record: String) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(self.change(Change::AddClient(client), record))
    }

    fn rotate_client<'a>(
        &'a self,
        id: &'a ClientId,
        secret: [u8; 32],
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(self.change(Change::RotateClient { id: id.clone(), secret }, record))
    }

    fn revoke_client<'a>(&'a self, id: &'a ClientId, at: Millis, record: String) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(self.change(Change::RevokeClient { id: id.clone(), at }, record))
    }

    fn token(&self, hash: [u8; 32]) -> Future<'_, Result<Option<Token>, Fault>> {
        Box::pin(async move {
            let text = "SELECT token_hash, client, tenants, scopes, resource, expires_at FROM fd_token \
                        WHERE token_hash = $1";
            let rows = self.look(text, &[&hash.as_slice()]).await?;
            Ok(rows.first().map(token).transpose()?)
        })
    }

    fn add_token(&self, token: Token, now: Millis, record: String) -> Future<'_, Result<(), Fault>> {
        Box::pin(async move { self.change(Change::AddToken { token, now }, record).await.map(|_| ()) })
    }

    fn revoke_token<'a>(
        &'a self,
        hash: [u8; 32],
        client: &'a ClientId,
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(self.change(Change::RevokeToken { hash, client: client.clone() }, record))
    }
}

impl PostgresStore {
    async fn look(&self, text: &str, values: Values<'_>) -> Result<Vec<Row>, StoreError> {
        self.short.read(Seeing::Nobodys, text, values).await
    }

    /// Has the change made together with its record, and waits until both are durable.
    pub(super) async fn change(&self, change: Change, record: String) -> Result<Changed, Fault> {
        let (answer, waiting) = oneshot::channel();
        self.writers.change(change, record, answer)?;
        Ok(self.settled(waiting).await?)
    }
}

fn both(row: &Row) -> Result<(String, String), StoreError> {
    Ok((row.try_get(0)?, row.try_get(1)?))
}

fn client(row: &Row) -> Result<Client, StoreError> {
    Ok(Client {
        id: ClientId::new(text(row, 0)?),
        name: row.try_get(1)?,
        secret: hash(row, 2)?,
        tenants: split(&text(row, 3)?),
        scopes: Scopes::parse(&text(row, 4)?).unwrap_or_default(),
        created_at: Millis(row.try_get(5)?),
        revoked_at: row.try_get::<_, Option<i64>>(6)?.map(Millis),
    })
}

fn token(row: &Row) -> Result<Token, StoreError> {
    Ok(Token {
        hash: hash(row, 0)?,
        client: ClientId::new(text(row, 1)?),
        tenants: split(&text(row, 2)?),
        scopes: Scopes::parse(&text(row, 3)?).unwrap_or_default(),
        resource: row.try_get(4)?,
        expires_at: Millis(row.try_get(5)?),
    })
}

fn text(row: &Row, place: usize) -> Result<String, Error> {
    row.try_get(place)
}

fn hash(row: &Row, place: usize) -> Result<[u8; 32], StoreError> {
    let bytes: Vec<u8> = row.try_get(place)?;
    bytes.try_into().map_err(|_| StoreError::WrongKey)
}

fn split(text: &str) -> Vec<TenantId> {
    text.split(' ').filter_map(TenantId::parse).collect()
}
