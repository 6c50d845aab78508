//! Tenants, clients and tokens in memory.

use frontdesk_engine::Fault;
use frontdesk_engine::model::caller::{ClientId, TenantId};
use frontdesk_engine::model::tenant::{GroupId, TenantUpdate};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Durability;
use frontdesk_engine::ports::registry::{
    Changed, Client, ErasureProgress, ErasureRecords, ErasureReport, Registry, Tenant, Token,
};
use serde_json::{Value, json};

use super::faults::ClientChange;
use super::{MemoryState, MemoryStore};

impl MemoryStore {
    pub(super) async fn registry<T>(
        &self,
        call: &'static str,
        work: impl FnOnce(&mut MemoryState) -> T,
    ) -> Result<T, Fault> {
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
                state.administration.push(record);
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

    /// The tenants that a token is stored for: those that are named, in their order, then the others of the groups.
    fn existing_tenants(&self, named: &[TenantId], groups: &[GroupId]) -> Vec<TenantId> {
        let active = || self.tenants.iter().filter(|tenant| tenant.erasing_since.is_none());
        let mut tenants: Vec<TenantId> =
            named.iter().filter(|id| active().any(|tenant| tenant.id == **id)).cloned().collect();
        let mut of_groups: Vec<&Tenant> =
            active().filter(|tenant| tenant.group.as_ref().is_some_and(|group| groups.contains(group))).collect();
        of_groups.sort_by(|one, other| one.id.cmp(&other.id));
        for tenant in of_groups {
            if !tenants.contains(&tenant.id) {
                tenants.push(tenant.id.clone());
            }
        }
        tenants
    }

    fn update(&mut self, id: &TenantId, update: &TenantUpdate) -> Changed {
        let Some(tenant) = self.tenants.iter_mut().find(|tenant| tenant.id == *id && tenant.erasing_since.is_none())
        else {
            return Changed::Nothing;
        };
        let before = tenant.group.clone();
        update.apply(tenant);
        if let Some(left) = before.filter(|before| tenant.group.as_ref() != Some(before)) {
            let clients = &self.clients;
            let had_it_by_group = |token: &Token| {
                clients.iter().any(|client| {
                    client.id == token.client && client.groups.contains(&left) && !client.tenants.contains(id)
                })
            };
            for token in self.tokens.iter_mut().filter(|token| had_it_by_group(token)) {
                token.tenants.retain(|tenant| tenant != id);
            }
            self.tokens.retain(|token| !token.tenants.is_empty());
        }
        Changed::Done
    }

    /// The first call marks, the next one removes everything.
    fn erase(&mut self, id: &TenantId, at: Millis, records: &ErasureRecords) -> ErasureProgress {
        let Some(tenant) = self.tenants.iter_mut().find(|tenant| tenant.id == *id) else {
            return ErasureProgress::UnknownTenant;
        };
        let name = id.as_str();
        if tenant.erasing_since.is_none() {
            tenant.erasing_since = Some(at);
            for token in &mut self.tokens {
                token.tenants.retain(|tenant| tenant != id);
            }
            self.tokens.retain(|token| !token.tenants.is_empty());
            self.login_records.retain(|_, record| record.tenant.as_ref() != Some(id));
            let links = self.audit.iter().filter(|(tenant, _)| tenant == name).count();
            let mut report = ErasureReport::default();
            report.chain.seq = i64::try_from(links).unwrap();
            report.chain.links = links as u64;
            report.chain.intact = true;
            self.administration.push(with(&records.begin, &[("erased_chain", json!(report.chain))]));
            self.erasures.insert(name.to_owned(), report.clone());
            return ErasureProgress::More(report);
        }
        let mut report = self.erasures.remove(name).unwrap_or_default();
        for key in self.rows.keys().filter(|key| key.0 == name) {
            *report.rows.entry(key.1.to_owned()).or_default() += 1;
        }
        self.rows.retain(|key, _| key.0 != name);
        self.claims.retain(|[tenant, ..], _| tenant != name);
        self.events.retain(|event| event.tenant != name);
        self.audit.retain(|(tenant, _)| tenant != name);
        let is_own = |client: &Client| client.tenants == [id.clone()] && client.groups.is_empty();
        report.clients = self.clients.iter().filter(|client| is_own(client)).count() as u64;
        self.clients.retain(|client| !is_own(client));
        for client in &mut self.clients {
            client.tenants.retain(|tenant| tenant != id);
        }
        self.login_records.retain(|_, record| record.tenant.as_ref() != Some(id));
        self.tenants.retain(|tenant| tenant.id != *id);
        let removed = json!({"rows": report.rows, "clients": report.clients});
        let end = with(&records.end, &[("removed", removed), ("erased_chain", json!(report.chain))]);
        self.administration.push(end);
        ErasureProgress::Done(report)
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

    fn tenant<'a>(&'a self, id: &'a TenantId) -> Future<'a, Result<Option<Tenant>, Fault>> {
        Box::pin(self.registry("tenant", |state| state.tenants.iter().find(|tenant| tenant.id == *id).cloned()))
    }

    fn update_tenant<'a>(
        &'a self,
        id: &'a TenantId,
        update: TenantUpdate,
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(self.change("update_tenant", record, move |state| state.update(id, &update)))
    }

    fn erase_tenant<'a>(
        &'a self,
        id: &'a TenantId,
        at: Millis,
        records: ErasureRecords,
    ) -> Future<'a, Result<ErasureProgress, Fault>> {
        Box::pin(self.registry("erase_tenant", move |state| state.erase(id, at, &records)))
    }

    fn record_administration(&self, record: String) -> Future<'_, Result<(), Fault>> {
        Box::pin(self.registry("record_administration", move |state| state.administration.push(record)))
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

    fn add_token(
        &self,
        token: Token,
        groups: Vec<GroupId>,
        now: Millis,
        record: String,
    ) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(async move {
            let meanwhile = self.faults().before_token;
            self.registry("add_token", |state| {
                match meanwhile {
                    Some(ClientChange::Revoked) => state.revoke(&token.client, now),
                    Some(ClientChange::Rotated(secret)) => state.rotate(&token.client, secret),
                    None => Changed::Nothing,
                };
                state.tokens.retain(|known| known.expires_at.0 > now.0);
                let tenants = state.existing_tenants(&token.tenants, &groups);
                if tenants.is_empty() {
                    return Changed::Nothing;
                }
                state.tokens.push(Token { tenants, ..token });
                state.records.push((record, Durability::Awaited));
                Changed::Done
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

/// The record with more members.
fn with(record: &str, more: &[(&str, Value)]) -> String {
    let mut record: Value = serde_json::from_str(record).unwrap();
    for (name, value) in more {
        record[*name] = value.clone();
    }
    record.to_string()
}
