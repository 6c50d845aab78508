//! Clients with redirect URIs, which act for people: registered by the operator here.

use frontdesk_engine::ClientId;
use frontdesk_engine::ports::registry::Changed;
use frontdesk_identity::{LoginClientView, NewLoginClient, check_redirect_uri};

use super::audit_record::client_record;
use super::client_view::ClientView;
use super::requests::{AdminResponse, AdminService, checked_name, explain};

impl AdminService {
    /// Without scopes it may ask for everything that its users may give.
    pub(super) async fn add_login_client(
        &self,
        name: String,
        redirect_uris: Vec<String>,
        scopes: &[String],
        has_secret: bool,
    ) -> Result<AdminResponse, String> {
        let name = checked_name("client", name)?;
        for uri in &redirect_uris {
            check_redirect_uri(uri).map_err(|rules| format!("`{uri}` cannot be registered. {rules}"))?;
        }
        let scopes = if scopes.is_empty() { None } else { Some(self.checked_scopes(scopes)?) };
        let now = self.clock.now();
        let record = |id: &str| client_record(now, "client.add", &ClientId::new(id));
        let new = NewLoginClient { name, redirect_uris, scopes, has_secret };
        let (client, secret) = self.app()?.identity.add_login_client(new, record).await.map_err(explain)?;
        tracing::info!(client = client.id, "client with redirect URIs added");
        Ok(AdminResponse::LoginClient { client: view(client), secret: secret.map(|secret| secret.expose().to_owned()) })
    }

    pub(super) async fn login_clients(&self) -> Result<Vec<ClientView>, String> {
        // Without an app there is no authorization server, and nothing to list.
        let Ok(app) = self.app() else {
            return Ok(Vec::new());
        };
        Ok(app.identity.login_clients().await.map_err(explain)?.into_iter().map(view).collect())
    }

    /// Whether there was one.
    pub(super) async fn remove_login_client(&self, id: &ClientId, record: String) -> Result<bool, String> {
        let Ok(app) = self.app() else {
            return Ok(false);
        };
        Ok(app.identity.remove_login_client(id.as_str(), record).await.map_err(explain)? == Changed::Done)
    }
}

fn view(client: LoginClientView) -> ClientView {
    ClientView {
        id: client.id,
        name: client.name,
        tenants: Vec::new(),
        groups: Vec::new(),
        scopes: client.scopes.iter().flat_map(|scopes| scopes.iter()).map(|scope| scope.as_str().to_owned()).collect(),
        created_at: client.created_at.to_rfc3339(),
        revoked_at: None,
        redirect_uris: client.redirect_uris,
    }
}
