//! Tenants, clients and tokens on SQLite.

use std::sync::{Arc, Mutex};

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::registry::{Changed, Client, Registry, Tenant, Token};
use frontdesk_engine::{ClientId, Fault, Scopes, TenantId};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use tokio::sync::oneshot;

use super::SqliteStore;
use super::apply::Scribe;
use super::writer::Job;
use crate::StoreError;
use crate::vault::Vault;

pub(crate) fn unlock_tenants(connection: &Connection, vault: &Vault) -> Result<(), StoreError> {
    let mut statement = connection.prepare("SELECT tenant, sealed_key FROM fd_tenant")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let tenant: String = row.get(0)?;
        let sealed: Vec<u8> = row.get(1)?;
        vault.unlock(&tenant, &sealed).ok_or(StoreError::WrongKey)?;
    }
    Ok(())
}

const CLIENT: &str = "SELECT client, name, secret_hash, tenants, scopes, created_at, revoked_at FROM fd_client";

impl Registry for SqliteStore {
    fn tenants(&self) -> Future<'_, Result<Vec<Tenant>, Fault>> {
        Box::pin(async move {
            let tenants = self.pool.with(|connection| {
                let mut statement = connection.prepare_cached("SELECT tenant, name FROM fd_tenant ORDER BY tenant")?;
                let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
                Ok(rows.collect::<Result<Vec<_>, _>>()?)
            })?;
            let known = tenants.into_iter().filter_map(|(id, name)| Some(Tenant { id: TenantId::parse(&id)?, name }));
            Ok(known.collect())
        })
    }

    fn add_tenant(&self, tenant: Tenant, record: String) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(async move {
            let key = self.shared.vault.create(tenant.id.as_str()).ok_or(StoreError::WrongKey)?;
            self.change(record, move |scribe| {
                let text =
                    "INSERT INTO fd_tenant (tenant, name, sealed_key) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
                execute(scribe, text, params![tenant.id.as_str(), tenant.name, key])
            })
            .await
        })
    }

    fn clients(&self) -> Future<'_, Result<Vec<Client>, Fault>> {
        Box::pin(async move {
            Ok(self.pool.with(|connection| {
                let mut statement = connection.prepare_cached(&format!("{CLIENT} ORDER BY created_at, client"))?;
                let rows = statement.query_map([], client)?;
                Ok(rows.collect::<Result<Vec<_>, _>>()?)
            })?)
        })
    }

    fn client<'a>(&'a self, id: &'a ClientId) -> Future<'a, Result<Option<Client>, Fault>> {
        Box::pin(async move {
            Ok(self.pool.with(|connection| {
                let mut statement = connection.prepare_cached(&format!("{CLIENT} WHERE client = ?1"))?;
                Ok(statement.query_row([id.as_str()], client).optional()?)
            })?)
        })
    }

    fn add_client(&self, client: Client, record: String) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(self.change(record, move |scribe| {
            let text = "INSERT INTO fd_client (client, name, secret_hash, tenants, scopes, created_at, revoked_at) \
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
            let values = params![
                client.id.as_str(),
                client.name,
                client.secret,
                join(&client.tenants),
                client.scopes.to_string(),
                client.created_at.0,
                client.revoked_at.map(|at| at.0),
            ];
            execute(scribe, text, values)
        }))
    }

    fn rotate_client<'a>(
        &'a self,
        id: &'a ClientId,
        secret: [u8; 32],
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        let id = id.as_str().to_owned();
        Box::pin(self.change(record, move |scribe| {
            let text = "UPDATE fd_client SET secret_hash = ?2 WHERE client = ?1 AND revoked_at IS NULL";
            end_tokens(scribe, execute(scribe, text, params![id, secret])?, &id)
        }))
    }

    fn revoke_client<'a>(&'a self, id: &'a ClientId, at: Millis, record: String) -> Future<'a, Result<Changed, Fault>> {
        let id = id.as_str().to_owned();
        Box::pin(self.change(record, move |scribe| {
            let text = "UPDATE fd_client SET revoked_at = ?2 WHERE client = ?1 AND revoked_at IS NULL";
            end_tokens(scribe, execute(scribe, text, params![id, at.0])?, &id)
        }))
    }

    fn token(&self, hash: [u8; 32]) -> Future<'_, Result<Option<Token>, Fault>> {
        Box::pin(async move {
            Ok(self.pool.with(|connection| {
                let text = "SELECT token_hash, client, tenants, scopes, resource, expires_at FROM fd_token WHERE token_hash = ?1";
                Ok(connection.prepare_cached(text)?.query_row([hash], token).optional()?)
            })?)
        })
    }

    fn add_token(&self, token: Token, now: Millis, record: String) -> Future<'_, Result<(), Fault>> {
        Box::pin(async move {
            let added = self.change(record, move |scribe| {
                execute(scribe, "DELETE FROM fd_token WHERE expires_at <= ?1", params![now.0])?;
                let text = "INSERT INTO fd_token (token_hash, client, tenants, scopes, resource, expires_at) \
                            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                let values = params![
                    token.hash,
                    token.client.as_str(),
                    join(&token.tenants),
                    token.scopes.to_string(),
                    token.resource,
                    token.expires_at.0,
                ];
                execute(scribe, text, values)
            });
            added.await.map(|_| ())
        })
    }

    fn revoke_token<'a>(
        &'a self,
        hash: [u8; 32],
        client: &'a ClientId,
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        let client = client.as_str().to_owned();
        Box::pin(self.change(record, move |scribe| {
            let text = "DELETE FROM fd_token WHERE token_hash = ?1 AND client = ?2";
            execute(scribe, text, params![hash, client])
        }))
    }
}

impl SqliteStore {
    /// Has the writer make a change together with its record, and waits until both are durable.
    async fn change(
        &self,
        record: String,
        work: impl FnOnce(&mut Scribe<'_>) -> Result<Changed, StoreError> + Send + 'static,
    ) -> Result<Changed, Fault> {
        let (answer, waiting) = oneshot::channel();
        let changed = Arc::new(Mutex::new(Changed::Nothing));
        let noted = Arc::clone(&changed);
        let task = Box::new(move |scribe: &mut Scribe<'_>| {
            let outcome = work(scribe)?;
            match outcome {
                Changed::Done => scribe.note(&record)?,
                Changed::Nothing => {}
            }
            if let Ok(mut noted) = noted.lock() {
                *noted = outcome;
            }
            Ok(())
        });
        self.writer.send(Job::Task(task, answer))?;
        self.settled(waiting).await?;
        Ok(changed.lock().map_or(Changed::Nothing, |changed| *changed))
    }
}

fn execute(scribe: &Scribe<'_>, text: &str, values: &[&dyn ToSql]) -> Result<Changed, StoreError> {
    Ok(match scribe.connection.prepare_cached(text)?.execute(values)? {
        0 => Changed::Nothing,
        _ => Changed::Done,
    })
}

fn end_tokens(scribe: &Scribe<'_>, changed: Changed, client: &str) -> Result<Changed, StoreError> {
    if changed == Changed::Done {
        execute(scribe, "DELETE FROM fd_token WHERE client = ?1", params![client])?;
    }
    Ok(changed)
}

fn client(row: &Row<'_>) -> rusqlite::Result<Client> {
    Ok(Client {
        id: ClientId::new(row.get::<_, String>(0)?),
        name: row.get(1)?,
        secret: row.get(2)?,
        tenants: split(&row.get::<_, String>(3)?),
        scopes: Scopes::parse(&row.get::<_, String>(4)?).unwrap_or_default(),
        created_at: Millis(row.get(5)?),
        revoked_at: row.get::<_, Option<i64>>(6)?.map(Millis),
    })
}

fn token(row: &Row<'_>) -> rusqlite::Result<Token> {
    Ok(Token {
        hash: row.get(0)?,
        client: ClientId::new(row.get::<_, String>(1)?),
        tenants: split(&row.get::<_, String>(2)?),
        scopes: Scopes::parse(&row.get::<_, String>(3)?).unwrap_or_default(),
        resource: row.get(4)?,
        expires_at: Millis(row.get(5)?),
    })
}

fn join(tenants: &[TenantId]) -> String {
    let ids: Vec<&str> = tenants.iter().map(TenantId::as_str).collect();
    ids.join(" ")
}

fn split(text: &str) -> Vec<TenantId> {
    text.split(' ').filter_map(TenantId::parse).collect()
}
