//! The token endpoint: client credentials (RFC 6749 §4.4) for one resource (RFC 8707). A token carries
//! exactly the scopes asked for, or the least there is, never all a client may have (A6-04, A6-08).

use frontdesk_engine::model::caller::Scopes;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::registry::{Client, Token};
use serde::Serialize;

use crate::authenticate::Admitted;
use crate::refusal::{Reason, Refusal, json};
use crate::secret::{Secret, TOKEN};
use crate::server::{Done, EmbeddedServer, ProtectedResource, Recorded};

impl EmbeddedServer {
    pub(crate) async fn grant(&self, admitted: &Admitted, seen: &Observation) -> Result<Done, Refusal> {
        let Admitted { client, form } = admitted;
        check_grant(form.get("grant_type"))?;
        let resource = self.target(form.get("resource"))?;
        let scopes = granted(form.get("scope"), client, resource)?;
        if client.tenants.is_empty() {
            return Err(Refusal::new(
                Reason::UnauthorizedClient,
                "This client belongs to no business here. Ask the operator to register it for one.",
            ));
        }
        let secret = self.issue(client, resource, &scopes, seen).await?;
        let body = Granted {
            access_token: secret.expose(),
            token_type: "Bearer",
            expires_in: self.settings.lifetime_seconds,
            scope: scopes.to_string(),
        };
        let reply = json(200, &body).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        Ok(Done { reply, recorded: Recorded::WithTheChange })
    }

    /// Byte for byte one of ours; a client that names none gets the first (RFC 8707 leaves it to us).
    fn target(&self, asked: Option<&str>) -> Result<&ProtectedResource, Refusal> {
        let found = match asked {
            Some(url) => self.resources.iter().find(|resource| resource.url == url),
            None => self.resources.first(),
        };
        found.ok_or_else(|| {
            Refusal::new(
                Reason::InvalidTarget,
                "Send as resource exactly the URL that the protected resource metadata names.",
            )
        })
    }

    async fn issue(
        &self,
        client: &Client,
        resource: &ProtectedResource,
        scopes: &Scopes,
        seen: &Observation,
    ) -> Result<Secret, Refusal> {
        let secret = Secret::random(TOKEN, self.random.as_ref());
        let now = self.clock.now();
        let token = Token {
            hash: secret.hash(),
            client: client.id.clone(),
            tenants: client.tenants.clone(),
            scopes: scopes.clone(),
            resource: resource.url.clone(),
            expires_at: now.plus_seconds(self.settings.lifetime_seconds.into()),
        };
        let hash = token.hash;
        self.registry.add_token(token, now, seen.to_line()).await?;
        // A client revoked or rotated since it proved itself has had its tokens ended before this
        // one was kept; it must not outlive them.
        let still = self.registry.client(&client.id).await?;
        if still.is_some_and(|still| still.revoked_at.is_none() && still.secret == client.secret) {
            return Ok(secret);
        }
        let taken_back = Observation { method: Some("revoke"), ..seen.clone() };
        self.registry.revoke_token(hash, &client.id, taken_back.to_line()).await?;
        Err(Refusal::invalid_client())
    }
}

fn check_grant(asked: Option<&str>) -> Result<(), Refusal> {
    match asked {
        Some("client_credentials") => Ok(()),
        Some(_) => Err(Refusal::new(Reason::UnsupportedGrantType, "The only grant served here is client_credentials.")),
        None => Err(Refusal::new(Reason::InvalidRequest, "Send grant_type=client_credentials.")),
    }
}

fn granted(asked: Option<&str>, client: &Client, resource: &ProtectedResource) -> Result<Scopes, Refusal> {
    let served = Scopes::new(resource.scopes.iter().cloned());
    let possible = Scopes::new(client.scopes.iter().filter(|scope| served.has(scope)).cloned());
    let wanted = match asked {
        Some(text) => Scopes::parse(text),
        None => Some(Scopes::new([resource.least.clone()])),
    };
    wanted.filter(|wanted| possible.covers(wanted)).ok_or_else(|| out_of_reach(&possible))
}

/// Lists what the client may have, which it is entitled to know; never what it sent.
fn out_of_reach(possible: &Scopes) -> Refusal {
    let description = match possible.is_empty() {
        true => "This client may have no scope at this resource. Ask the operator for one.".into(),
        false => format!("Ask for scopes by name, one space between them. This client may have: {possible}"),
    };
    Refusal::new(Reason::InvalidScope, description)
}

#[derive(Serialize)]
struct Granted<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: u32,
    scope: String,
}
