//! The caller's access token, asked for at the desk's own token endpoint and renewed before it ends. A
//! secret is only ever passed on, never shown.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use frontdesk_engine::ClientId;
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_identity::OAuthRequest;
use serde::Deserialize;

use crate::config::Login;
use crate::house::House;

pub struct Pass {
    house: Arc<House>,
    mount: usize,
    /// None for a mount that asks for no token.
    login: Option<Login>,
    token: String,
    /// When half of its life is over, for a token that can be renewed.
    renew_at: Option<Millis>,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: i64,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
    error_description: Option<String>,
}

impl Pass {
    /// Fails with a sentence when the caller gets no token.
    pub async fn new(house: Arc<House>, mount: usize, login: Option<Login>) -> Result<Pass, String> {
        let mut pass = Pass { house, mount, login, token: String::new(), renew_at: None };
        match &pass.login {
            None => {}
            Some(Login::Token(token)) => pass.token.clone_from(token),
            Some(Login::Client { .. }) => pass.renew().await?,
        }
        Ok(pass)
    }

    pub(super) async fn credential(&mut self) -> Credential {
        if self.renew_at.is_some_and(|at| self.house.desk.now() >= at) {
            // Without a new one the old one is shown, and the desk says what it thinks of it.
            let _ = self.renew().await;
        }
        match self.login {
            Some(_) => Credential::Bearer(self.token.clone()),
            None => Credential::Missing,
        }
    }

    async fn renew(&mut self) -> Result<(), String> {
        let Some(Login::Client { id, secret }) = &self.login else {
            return Ok(());
        };
        let form = self.form(id, secret).await;
        let trace = self.house.desk.new_trace();
        let now = self.house.desk.now();
        let asked = OAuthRequest {
            method: "POST",
            path: "/token",
            query: None,
            content_type: Some("application/x-www-form-urlencoded"),
            authorization: &[],
            body: form.as_bytes(),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: &trace,
        };
        let reply = self.house.identity.answer(asked).await.ok_or("there is no token endpoint")?;
        if let Ok(granted) = serde_json::from_slice::<Granted>(&reply.body) {
            self.renew_at = Some(now.plus_seconds(granted.expires_in / 2));
            self.token = granted.access_token;
            return Ok(());
        }
        Err(match serde_json::from_slice::<Refused>(&reply.body) {
            Ok(refused) => format!(
                "the caller in FRONTDESK_CLIENT_ID gets no access: {} ({})",
                refused.error_description.unwrap_or_default(),
                refused.error
            ),
            Err(_) => "the caller in FRONTDESK_CLIENT_ID gets no access".to_owned(),
        })
    }

    /// Asks for everything the client may have here: a program on the operator's own machine cannot be asked which.
    async fn form(&self, id: &str, secret: &str) -> String {
        let mut form =
            format!("grant_type=client_credentials&client_id={}&client_secret={}", encoded(id), encoded(secret));
        let Some((_, mount)) = self.house.mounts.get(self.mount) else {
            return form;
        };
        form.push_str(&format!("&resource={}", encoded(&mount.resource)));
        if let Ok(Some(client)) = self.house.vaults.store.client(&ClientId::new(id)).await {
            let known = client.scopes.iter().filter(|scope| mount.contract.scopes.contains(scope));
            let scopes: Vec<&str> = known.map(|scope| scope.as_str()).collect();
            if !scopes.is_empty() {
                form.push_str(&format!("&scope={}", encoded(&scopes.join(" "))));
            }
        }
        form
    }
}

/// As a form has it: everything but letters and digits by its bytes.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}
