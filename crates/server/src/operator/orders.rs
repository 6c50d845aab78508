//! What an operator can order, and carrying it out. The same code runs inside a server that was asked
//! over its socket and in a command that holds the data folder itself.

use std::collections::HashSet;
use std::sync::Arc;

use frontdesk_engine::ports::registry::{Changed, Client, Tenant};
use frontdesk_engine::ports::{Clock, Durability, Random};
use frontdesk_engine::{ClientId, Fault, Scope, Scopes, TenantId};
use frontdesk_identity::{new_client, new_secret};
use frontdesk_store::Backend;
use serde::{Deserialize, Serialize};

use super::record::{client_record, export_record, tenant_record};
use crate::house::Vaults;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    AddClient {
        name: String,
        tenants: Vec<String>,
        scopes: Vec<String>,
        unknown_tenants: UnknownTenants,
    },
    ListClients,
    RotateClient {
        id: String,
    },
    RevokeClient {
        id: String,
    },
    /// A tenant is about to be exported; what is read then is not read by the server.
    NoteExport {
        tenant: String,
    },
}

/// What happens to a tenant nobody has heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownTenants {
    Refused,
    Made,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The secret is said here and nowhere else, ever again.
    Secret {
        client: ClientView,
        secret: String,
        new_tenants: Vec<String>,
    },
    Clients(Vec<ClientView>),
    Revoked {
        id: String,
    },
    Noted,
}

/// A client as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientView {
    pub id: String,
    pub name: String,
    pub tenants: Vec<String>,
    pub scopes: Vec<String>,
    pub created_at: String,
    pub revoked_at: Option<String>,
}

/// Whoever carries out orders.
pub struct Registrar {
    store: Arc<dyn Backend>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// Every scope that any contract of this build knows.
    scopes: Vec<Scope>,
}

impl Registrar {
    pub fn new(vaults: &Vaults) -> Registrar {
        let known = frontdesk_contracts::all();
        Registrar {
            store: Arc::clone(&vaults.store),
            clock: Arc::clone(&vaults.clock),
            random: Arc::clone(&vaults.random),
            scopes: known.into_iter().flat_map(|contract| contract.scopes).collect(),
        }
    }

    /// A refusal is a sentence for the operator.
    pub async fn carry_out(&self, order: Order) -> Result<Answer, String> {
        match order {
            Order::AddClient { name, tenants, scopes, unknown_tenants } => {
                self.add(name, &tenants, &scopes, unknown_tenants).await
            }
            Order::ListClients => {
                let clients = self.store.clients().await.map_err(explain)?;
                Ok(Answer::Clients(clients.iter().map(view).collect()))
            }
            Order::RotateClient { id } => self.rotate(ClientId::new(id)).await,
            Order::RevokeClient { id } => self.revoke(ClientId::new(id)).await,
            Order::NoteExport { tenant } => self.note_export(&tenant).await,
        }
    }

    async fn add(
        &self,
        name: String,
        tenants: &[String],
        scopes: &[String],
        unknown_tenants: UnknownTenants,
    ) -> Result<Answer, String> {
        let (name, scopes) = (checked_name(name)?, self.checked_scopes(scopes)?);
        let parsed: Option<Vec<TenantId>> = tenants.iter().map(|tenant| TenantId::parse(tenant)).collect();
        let Some(mut tenants) = parsed.filter(|tenants| !tenants.is_empty()) else {
            return Err("a tenant id has 1 to 64 letters, digits, `_` or `-`".to_owned());
        };
        // Said twice, it is still one tenant.
        let mut seen = HashSet::new();
        tenants.retain(|tenant| seen.insert(tenant.as_str().to_owned()));
        if unknown_tenants == UnknownTenants::Refused {
            self.all_known(&tenants).await?;
        }
        let mut new_tenants = Vec::new();
        for id in &tenants {
            let tenant = Tenant { id: id.clone(), name: id.as_str().to_owned() };
            let record = tenant_record(self.clock.now(), id);
            if self.store.add_tenant(tenant, record).await.map_err(explain)? == Changed::Done {
                new_tenants.push(id.as_str().to_owned());
            }
        }
        let (client, secret) = new_client(name, tenants, scopes, self.clock.as_ref(), self.random.as_ref());
        let record = client_record(client.created_at, "client.add", &client.id);
        match self.store.add_client(client.clone(), record).await.map_err(explain)? {
            Changed::Nothing => Err("the new client's id is taken; give the order again".to_owned()),
            Changed::Done => {
                Ok(Answer::Secret { client: view(&client), secret: secret.expose().to_owned(), new_tenants })
            }
        }
    }

    /// A slip of the finger must not make a tenant.
    async fn all_known(&self, tenants: &[TenantId]) -> Result<(), String> {
        let known: Vec<TenantId> =
            self.store.tenants().await.map_err(explain)?.into_iter().map(|tenant| tenant.id).collect();
        match tenants.iter().find(|tenant| !known.contains(tenant)) {
            None => Ok(()),
            Some(unknown) if known.is_empty() => {
                Err(format!("there is no tenant yet; add --new-tenant to make `{unknown}`"))
            }
            Some(unknown) => {
                let ids: Vec<&str> = known.iter().map(TenantId::as_str).collect();
                Err(format!(
                    "there is no tenant `{unknown}`; there are: {}. Add --new-tenant to make it",
                    ids.join(", ")
                ))
            }
        }
    }

    async fn rotate(&self, id: ClientId) -> Result<Answer, String> {
        let (secret, hash) = new_secret(self.random.as_ref());
        let record = client_record(self.clock.now(), "client.rotate", &id);
        match self.store.rotate_client(&id, hash, record).await.map_err(explain)? {
            Changed::Nothing => Err(unknown(&id)),
            Changed::Done => {
                let client = self.store.client(&id).await.map_err(explain)?.ok_or_else(|| unknown(&id))?;
                Ok(Answer::Secret {
                    client: view(&client),
                    secret: secret.expose().to_owned(),
                    new_tenants: Vec::new(),
                })
            }
        }
    }

    async fn revoke(&self, id: ClientId) -> Result<Answer, String> {
        let now = self.clock.now();
        let record = client_record(now, "client.revoke", &id);
        match self.store.revoke_client(&id, now, record).await.map_err(explain)? {
            Changed::Nothing => Err(unknown(&id)),
            Changed::Done => Ok(Answer::Revoked { id: id.as_str().to_owned() }),
        }
    }

    async fn note_export(&self, tenant: &str) -> Result<Answer, String> {
        let known = self.store.tenants().await.map_err(explain)?;
        let Some(tenant) = known.iter().find(|known| known.id.as_str() == tenant) else {
            let ids: Vec<&str> = known.iter().map(|known| known.id.as_str()).collect();
            return Err(format!("there is no dealership `{tenant}`; there are: {}", ids.join(", ")));
        };
        let record = export_record(self.clock.now(), &tenant.id);
        self.store.append_audit(record, Durability::Awaited).await.map_err(explain)?;
        Ok(Answer::Noted)
    }

    fn checked_scopes(&self, scopes: &[String]) -> Result<Scopes, String> {
        let known = |scope: &&String| self.scopes.iter().any(|known| known.as_str() == scope.as_str());
        match scopes.iter().find(|scope| !known(scope)) {
            Some(unknown) => {
                let all: Vec<&str> = self.scopes.iter().map(Scope::as_str).collect();
                Err(format!("there is no scope `{unknown}`; there are: {}", all.join(", ")))
            }
            None if scopes.is_empty() => {
                Err("a client without scopes could do nothing; name some with --scope".to_owned())
            }
            None => Ok(Scopes::new(scopes.iter().map(|scope| Scope::new(scope.as_str())))),
        }
    }
}

fn checked_name(name: String) -> Result<String, String> {
    let fits = (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    match fits {
        true => Ok(name),
        false => Err("a client's name has 1 to 100 characters, none of them a control character".to_owned()),
    }
}

fn explain(fault: Fault) -> String {
    fault.cause.unwrap_or_else(|| fault.message.into_owned())
}

fn unknown(id: &ClientId) -> String {
    format!("there is no active client `{}`; `frontdesk client list` names them", id.as_str())
}

fn view(client: &Client) -> ClientView {
    ClientView {
        id: client.id.as_str().to_owned(),
        name: client.name.clone(),
        tenants: client.tenants.iter().map(|tenant| tenant.as_str().to_owned()).collect(),
        scopes: client.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        created_at: client.created_at.to_rfc3339(),
        revoked_at: client.revoked_at.map(|at| at.to_rfc3339()),
    }
}
