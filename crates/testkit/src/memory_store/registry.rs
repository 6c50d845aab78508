//! Tenants, clients and tokens in memory.

use frontdesk_engine::Fault;
use frontdesk_engine::model::caller::ClientId;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Durability;
use frontdesk_engine::ports::registry::{Changed, Client, Registry, Tenant, Token};

use super::faults::ClientChange;
use super::{MemoryState, MemoryStore};

impl MemoryStore {
    async fn registry<T>(&self, call: &'static str, work: impl FnOnce(&mut MemoryState) -> T) -> Result<T, Fault> {
        self.inspect(|state| state.registry_calls.push(call));
        self.faults().registry.happen().await?;
        Ok(self.inspect(work))
    }

    /// A change that is recorded if it found what it is about.
    async fn change(
        &self,
        call: &'static str,
        record: String,
        work: impl FnOnce(&mut MemoryState) -> Changed,
    ) -> Result<Changed, Fault> {
        let recorded = |state: &mut MemoryState| {
            let changed = work(state);
            if changed == Changed::Done {
                state.records.push((record, Durability::Awaited));
            }
            changed
        };
        self.registry(call, recorded).await
    }
}

impl MemoryState {
    /// Revokes a client that is not revoked yet.
    fn revoke(&mut self, id: &ClientId, at: Millis) -> Changed {
        self.change_client(id, |client| client.revoked_at = Some(at))
    }

    fn rotate(&mut self, id: &ClientId, secret: [u8; 32]) -> Changed {
        self.change_client(id, |client| client.secret = secret)
    }

    fn change_client(&mut self, id: &ClientId, change: impl FnOnce(&mut Client)) -> Changed {
        let Some(client) = self.clients.iter_mut().find(|client| client.id == *id && client.revoked_at.is_none())
        else {
            return Changed::Nothing;
        };
        change(client);
        self.tokens.retain(|token| token.client != *id);
        Changed::Done
    }
}

impl Registry for MemoryStore {
    fn tenants(&self) -> Future<'_, Result<Vec<Tenant>, Fault>> {
        Box::pin(self.registry("tenants", |state| state.tenants.clone()))
    }

    fn add_tenant(&self, tenant: Tenant, record: String) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(self.change("add_tenant", record, move |state| {
            if state.has_tenant(tenant.id.as_str()) {
                return Changed::Nothing;
            }
            state.tenants.push(tenant);
            Changed::Done
        }))
    }

    fn clients(&self) -> Future<'_, Result<Vec<Client>, Fault>> {
        Box::pin(self.registry("clients", |state| {
            let mut clients = state.clients.clone();
            clients.sort_by(|one, other| {
                (one.created_at.0, one.id.as_str()).cmp(&(other.created_at.0, other.id.as_str()))
            });
            clients
        }))
    }

    fn client<'a>(&'a self, id: &'a ClientId) -> Future<'a, Result<Option<Client>, Fault>> {
        Box::pin(self.registry("client", |state| state.clients.iter().find(|client| client.id == *id).cloned()))
    }

    fn add_client(&self, client: Client, record: String) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(self.change("add_client", record, move |state| {
            if state.clients.iter().any(|known| known.id == client.id) {
                return Changed::Nothing;
            }
            state.clients.push(client);
            Changed::Done
        }))
    }

    fn rotate_client<'a>(
        &'a self,
        id: &'a ClientId,
        secret: [u8; 32],
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(self.change("rotate_client", record, move |state| state.rotate(id, secret)))
    }

    fn revoke_client<'a>(&'a self, id: &'a ClientId, at: Millis, record: String) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(self.change("revoke_client", record, move |state| state.revoke(id, at)))
    }

    fn token(&self, hash: [u8; 32]) -> Future<'_, Result<Option<Token>, Fault>> {
        Box::pin(self.registry("token", move |state| state.tokens.iter().find(|token| token.hash == hash).cloned()))
    }

    fn add_token(&self, token: Token, now: Millis, record: String) -> Future<'_, Result<(), Fault>> {
        Box::pin(async move {
            let meanwhile = self.faults().before_token;
            self.registry("add_token", |state| {
                match meanwhile {
                    Some(ClientChange::Revoked) => state.revoke(&token.client, now),
                    Some(ClientChange::Rotated(secret)) => state.rotate(&token.client, secret),
                    None => Changed::Nothing,
                };
                state.tokens.retain(|known| known.expires_at.0 > now.0);
                state.tokens.push(token);
                state.records.push((record, Durability::Awaited));
            })
            .await
        })
    }

    fn revoke_token<'a>(
        &'a self,
        hash: [u8; 32],
        client: &'a ClientId,
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(self.change("revoke_token", record, move |state| {
            let before = state.tokens.len();
            state.tokens.retain(|token| token.hash != hash || token.client != *client);
            if state.tokens.len() < before { Changed::Done } else { Changed::Nothing }
        }))
    }
}
