//! Clients with a secret, as the operator adds, rotates and revokes them.

use std::collections::HashSet;

use frontdesk_engine::ports::registry::{Changed, Client, Tenant};
use frontdesk_engine::{ClientId, TenantId};
use frontdesk_identity::{new_client, new_secret};

use super::audit_record::{client_record, tenant_record};
use super::client_view::view;
use super::requests::{AdminResponse, AdminService, UnknownTenants, checked_name, explain};

impl AdminService {
    pub(super) async fn add_client(
        &self,
        name: String,
        tenants: &[String],
        groups: &[String],
        scopes: &[String],
        unknown_tenants: UnknownTenants,
    ) -> Result<AdminResponse, String> {
        let (name, scopes) = (checked_name("client", name)?, self.checked_scopes(scopes)?);
        let groups = self.checked_groups(groups).await?;
        let parsed: Option<Vec<TenantId>> = tenants.iter().map(|tenant| TenantId::parse(tenant)).collect();
        let Some(mut tenants) = parsed.filter(|tenants| !tenants.is_empty() || !groups.is_empty()) else {
            return Err("a tenant id has 1 to 64 letters, digits, `_` or `-`".to_owned());
        };
        // A tenant that is given twice counts once.
        let mut seen = HashSet::new();
        tenants.retain(|tenant| seen.insert(tenant.as_str().to_owned()));
        self.refuse_erased(&tenants).await?;
        if unknown_tenants == UnknownTenants::Reject {
            self.require_known(&tenants).await?;
        }
        let mut new_tenants = Vec::new();
        for id in &tenants {
            let tenant = Tenant::new(id.clone(), id.as_str());
            let record = tenant_record(self.clock.now(), id);
            if self.store.add_tenant(tenant, record).await.map_err(explain)? == Changed::Done {
                new_tenants.push(id.as_str().to_owned());
            }
        }
        let (client, secret) = new_client(name, tenants, scopes, self.clock.as_ref(), self.random.as_ref());
        let client = Client { groups, ..client };
        let record = client_record(client.created_at, "client.add", &client.id);
        match self.store.add_client(client.clone(), record).await.map_err(explain)? {
            Changed::Nothing => Err("the new client's id is taken; try again".to_owned()),
            Changed::Done => {
                tracing::info!(client = client.id.as_str(), "client added");
                Ok(AdminResponse::Secret { client: view(&client), secret: secret.expose().to_owned(), new_tenants })
            }
        }
    }

    pub(super) async fn rotate_client(&self, id: ClientId) -> Result<AdminResponse, String> {
        let (secret, hash) = new_secret(self.random.as_ref());
        let record = client_record(self.clock.now(), "client.rotate", &id);
        match self.store.rotate_client(&id, hash, record).await.map_err(explain)? {
            Changed::Nothing => Err(unknown(&id)),
            Changed::Done => {
                tracing::info!(client = id.as_str(), "client secret rotated");
                let client = self.store.client(&id).await.map_err(explain)?.ok_or_else(|| unknown(&id))?;
                Ok(AdminResponse::Secret {
                    client: view(&client),
                    secret: secret.expose().to_owned(),
                    new_tenants: Vec::new(),
                })
            }
        }
    }

    pub(super) async fn revoke_client(&self, id: ClientId) -> Result<AdminResponse, String> {
        let now = self.clock.now();
        let record = client_record(now, "client.revoke", &id);
        match self.store.revoke_client(&id, now, record.clone()).await.map_err(explain)? {
            Changed::Nothing if self.remove_login_client(&id, record).await? => {
                Ok(AdminResponse::Revoked { id: id.as_str().to_owned() })
            }
            Changed::Nothing => Err(unknown(&id)),
            Changed::Done => {
                tracing::info!(client = id.as_str(), "client revoked");
                Ok(AdminResponse::Revoked { id: id.as_str().to_owned() })
            }
        }
    }
}

fn unknown(id: &ClientId) -> String {
    format!("there is no active client `{}`; `frontdesk client list` shows them", id.as_str())
}
