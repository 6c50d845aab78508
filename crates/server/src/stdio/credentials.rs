//! The caller's access token, requested from the own token endpoint and renewed before it expires. A secret is only passed
//! on, never shown.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use arc_swap::ArcSwap;
use frontdesk_engine::ClientId;
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_identity::OAuthRequest;
use serde::Deserialize;
use url::form_urlencoded;

use crate::app::App;
use crate::config::StdioLogin;

pub struct StdioCredentials {
    current: Arc<ArcSwap<App>>,
    endpoint: String,
    /// None for a mount that needs no token.
    login: Option<StdioLogin>,
    token: String,
    /// After half of its lifetime; none for a fixed token.
    renew_at: Option<Millis>,
}

/// What the token endpoint has granted.
#[derive(Deserialize)]
pub(crate) struct GrantedToken {
    pub(crate) access_token: String,
    pub(crate) expires_in: i64,
}

#[derive(Deserialize)]
struct TokenError {
    error: String,
    error_description: Option<String>,
}

impl StdioCredentials {
    /// Fails if the caller gets no token.
    pub async fn new(
        current: Arc<ArcSwap<App>>,
        endpoint: String,
        login: Option<StdioLogin>,
    ) -> Result<StdioCredentials, String> {
        let mut credentials = StdioCredentials { current, endpoint, login, token: String::new(), renew_at: None };
        match &credentials.login {
            None => {}
            Some(StdioLogin::Token(token)) => credentials.token.clone_from(token),
            Some(StdioLogin::Client { .. }) => credentials.renew().await?,
        }
        Ok(credentials)
    }

    pub(super) async fn credential(&mut self) -> Credential {
        if self.renew_at.is_some_and(|at| self.current.load().desk.now() >= at) {
            // If that fails the old one is used, and the call is answered accordingly.
            let _ = self.renew().await;
        }
        match self.login {
            Some(_) => Credential::Bearer(self.token.clone()),
            None => Credential::Missing,
        }
    }

    async fn renew(&mut self) -> Result<(), String> {
        let Some(StdioLogin::Client { id, secret }) = &self.login else {
            return Ok(());
        };
        let app = self.current.load_full();
        let now = app.desk.now();
        let granted = request_token(&app, &self.endpoint, id, secret).await?;
        self.renew_at = Some(now.plus_seconds(granted.expires_in / 2));
        self.token = granted.access_token;
        Ok(())
    }
}

/// A token from the own token endpoint, with every scope that the client may have at this mount: a local program has no
/// way to choose.
pub(crate) async fn request_token(app: &App, endpoint: &str, id: &str, secret: &str) -> Result<GrantedToken, String> {
    let form = form(app, endpoint, id, secret).await;
    let trace = app.desk.new_trace();
    let request = OAuthRequest {
        method: "POST",
        path: "/token",
        query: None,
        content_type: Some("application/x-www-form-urlencoded"),
        authorization: &[],
        body: form.as_bytes(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        trace: &trace,
    };
    let reply = app.identity.answer(request).await.ok_or("there is no token endpoint")?;
    if let Ok(granted) = serde_json::from_slice::<GrantedToken>(&reply.body) {
        return Ok(granted);
    }
    Err(match serde_json::from_slice::<TokenError>(&reply.body) {
        Ok(refused) => format!(
            "the caller in FRONTDESK_CLIENT_ID gets no access: {} ({})",
            refused.error_description.unwrap_or_default(),
            refused.error
        ),
        Err(_) => "the caller in FRONTDESK_CLIENT_ID gets no access".to_owned(),
    })
}

async fn form(app: &App, endpoint: &str, id: &str, secret: &str) -> String {
    let mount = app.mounts.find(endpoint);
    let client = app.backend.store.client(&ClientId::new(id)).await.ok().flatten();
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    form.append_pair("client_id", id).append_pair("client_secret", secret);
    form.extend_pairs(mount.map(|mount| ("resource", &mount.resource)));
    if let (Some(mount), Some(client)) = (mount, client) {
        let known = client.scopes.iter().filter(|scope| mount.contract.scopes.contains(scope));
        let scopes: Vec<&str> = known.map(|scope| scope.as_str()).collect();
        form.extend_pairs((!scopes.is_empty()).then(|| ("scope", scopes.join(" "))));
    }
    form.finish()
}
