//! Tenants, clients and tokens, on either database.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Client, Registry, Tenant, Token};
use frontdesk_engine::{ClientId, Fault, Scopes, TenantId};

use super::{BoxFuture, SqlStore, StoreDriver};
use crate::StoreError;
use crate::keyring::Keyring;
use crate::sql::session::{SqlRow, SqlSession};

const GET_CLIENT: &str = "SELECT client, name, secret_hash, tenants, scopes, created_at, revoked_at FROM fd_client";
const GET_TOKEN: &str =
    "SELECT token_hash, client, tenants, scopes, resource, expires_at FROM fd_token WHERE token_hash = $1";

/// A change of tables that belong to no tenant.
pub(crate) enum RegistryChange {
    AddTenant {
        tenant: Tenant,
        sealed_key: Vec<u8>,
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
        now: Millis,
    },
    RevokeToken {
        hash: [u8; 32],
        client: ClientId,
    },
    /// Changes nothing, but writes to the disk.
    WriteProbe,
}

impl RegistryChange {
    pub(crate) async fn apply<S: SqlSession>(&self, session: &S) -> Result<Changed, StoreError> {
        let changed = match self {
            RegistryChange::AddTenant { tenant, sealed_key } => {
                let text =
                    "INSERT INTO fd_tenant (tenant, name, sealed_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
                let params = [tenant.id.as_str().into(), tenant.name.as_str().into(), sealed_key.as_slice().into()];
                session.execute(text, &params).await?
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
            RegistryChange::AddToken { token, now } => add_token(session, token, *now).await?,
            RegistryChange::RevokeToken { hash, client } => {
                let text = "DELETE FROM fd_token WHERE token_hash = $1 AND client = $2";
                session.execute(text, &[hash.as_slice().into(), client.as_str().into()]).await?
            }
            RegistryChange::WriteProbe => {
                session.write_probe().await?;
                0
            }
        };
        Ok(if changed == 0 { Changed::Nothing } else { Changed::Done })
    }
}

async fn add_client<S: SqlSession>(session: &S, client: &Client) -> Result<u64, StoreError> {
    let text = "INSERT INTO fd_client (client, name, secret_hash, tenants, scopes, created_at, revoked_at) \
                VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    let params = [
        client.id.as_str().into(),
        client.name.as_str().into(),
        client.secret.as_slice().into(),
        join(&client.tenants).into(),
        client.scopes.to_string().into(),
        client.created_at.0.into(),
        client.revoked_at.map(|at| at.0).into(),
    ];
    session.execute(text, &params).await
}

async fn add_token<S: SqlSession>(session: &S, token: &Token, now: Millis) -> Result<u64, StoreError> {
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
    let text = "INSERT INTO fd_token (token_hash, client, tenants, scopes, resource, expires_at) \
                VALUES ($1, $2, $3, $4, $5, $6)";
    let params = [
        token.hash.as_slice().into(),
        token.client.as_str().into(),
        join(&token.tenants).into(),
        token.scopes.to_string().into(),
        token.resource.as_str().into(),
        token.expires_at.0.into(),
    ];
    session.execute(text, &params).await
}

async fn delete_tokens<S: SqlSession>(session: &S, changed: u64, client: &ClientId) -> Result<u64, StoreError> {
    if changed > 0 {
        session.execute("DELETE FROM fd_token WHERE client = $1", &[client.as_str().into()]).await?;
    }
    Ok(changed)
}

impl<D: StoreDriver> Registry for SqlStore<D> {
    fn tenants(&self) -> BoxFuture<'_, Result<Vec<Tenant>, Fault>> {
        Box::pin(async move {
            let mut tenants = Vec::new();
            for row in self.driver.read("SELECT tenant, name FROM fd_tenant ORDER BY tenant", &[]).await? {
                let name = row.text(1)?.to_owned();
                tenants.extend(TenantId::parse(row.text(0)?).map(|id| Tenant { id, name }));
            }
            Ok(tenants)
        })
    }

    fn add_tenant(&self, tenant: Tenant, record: String) -> BoxFuture<'_, Result<Changed, Fault>> {
        Box::pin(async move {
            let sealed_key = self.driver.keyring().create(tenant.id.as_str()).ok_or(StoreError::WrongKey)?;
            Ok(self.driver.change(RegistryChange::AddTenant { tenant, sealed_key }, record).await?)
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

    fn add_token(&self, token: Token, now: Millis, record: String) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async move {
            self.driver.change(RegistryChange::AddToken { token, now }, record).await?;
            Ok(())
        })
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

/// Adds the keys of all tenants to the keyring; fails if the master key is another one.
pub(crate) async fn load_tenant_keys<S: SqlSession>(session: &S, keyring: &Keyring) -> Result<(), StoreError> {
    for row in session.query("SELECT tenant, sealed_key FROM fd_tenant", &[]).await? {
        keyring.unwrap(row.text(0)?, row.bytes(1)?)?;
    }
    Ok(())
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
    })
}

fn read_hash(row: &SqlRow, column: usize) -> Result<[u8; 32], StoreError> {
    row.bytes(column)?.try_into().map_err(|_| StoreError::UnexpectedValue { column })
}

fn join(tenants: &[TenantId]) -> String {
    let ids: Vec<&str> = tenants.iter().map(TenantId::as_str).collect();
    ids.join(" ")
}

fn split(text: &str) -> Vec<TenantId> {
    text.split(' ').filter_map(TenantId::parse).collect()
}
