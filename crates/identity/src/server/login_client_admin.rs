//! Clients with redirect URIs, as the operator registers and sees them.

use frontdesk_engine::model::caller::Scopes;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginAudit, RecordChange};
use frontdesk_engine::ports::registry::Changed;

use super::{EmbeddedServer, redirect};
use crate::people::records::{ClientSource, LoginClient};
use crate::people::stored::{StoredRecord, find, find_all, new_record};
use crate::people::users::hex;
use crate::secret::{CLIENT_SECRET_PREFIX, PlaintextSecret};

const MAX_LISTED: u32 = 10_000;

/// A client to register.
#[derive(Debug, Clone)]
pub struct NewLoginClient {
    pub name: String,
    pub redirect_uris: Vec<String>,
    /// The most that its tokens can have; everything if absent.
    pub scopes: Option<Scopes>,
    /// Whether it gets a secret, which only a server can keep.
    pub has_secret: bool,
}

/// A client as the operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginClientView {
    pub id: String,
    pub name: String,
    pub redirect_uris: Vec<String>,
    pub scopes: Option<Scopes>,
    pub created_at: Millis,
    /// Whether the client has registered itself.
    pub is_self_registered: bool,
}

/// Why a redirect URI cannot be registered, as a sentence for the operator.
pub fn check_redirect_uri(uri: &str) -> Result<(), &'static str> {
    if redirect::may_register(uri) { Ok(()) } else { Err(redirect::RULES) }
}

impl EmbeddedServer {
    /// The client and its secret, to show once. The redirect URIs have been checked. `record` makes the audit record.
    pub async fn add_login_client(
        &self,
        new: NewLoginClient,
        record: impl FnOnce(&str) -> String,
    ) -> Result<(LoginClientView, Option<PlaintextSecret>), Fault> {
        let id = self.users.new_id("cli_");
        let secret = new.has_secret.then(|| PlaintextSecret::random(CLIENT_SECRET_PREFIX, self.random.as_ref()));
        let now = self.clock.now();
        let content = LoginClient {
            name: new.name,
            redirect_uris: new.redirect_uris,
            secret: secret.as_ref().map(|secret| hex(&secret.hash())),
            jwks: None,
            scopes: new.scopes.map(|scopes| scopes.to_string()),
            source: ClientSource::Operator,
            created_at: now.0,
        };
        let stored = StoredRecord { record: new_record(id.as_str(), "", &content), content };
        let steps = vec![RecordChange::Add(stored.record.clone())];
        self.records().change_login_records(steps, now, LoginAudit::Administration(record(&id))).await?;
        Ok((view(&stored), secret))
    }

    pub async fn login_clients(&self) -> Result<Vec<LoginClientView>, Fault> {
        let now = self.clock.now();
        let found = find_all::<LoginClient>(self.records(), MAX_LISTED).await?;
        Ok(found.iter().filter(|client| !client.is_expired(now)).map(view).collect())
    }

    /// Removes the client; its tokens end within a second.
    pub async fn remove_login_client(&self, id: &str, record: String) -> Result<Changed, Fault> {
        match find::<LoginClient>(self.records(), id).await? {
            Some(client) => {
                let audit = LoginAudit::Administration(record);
                self.records().change_login_records(vec![client.remove()], self.clock.now(), audit).await
            }
            None => Ok(Changed::Nothing),
        }
    }
}

fn view(client: &StoredRecord<LoginClient>) -> LoginClientView {
    let LoginClient { name, redirect_uris, scopes, source, created_at, .. } = &client.content;
    LoginClientView {
        id: client.id().to_owned(),
        name: name.clone(),
        redirect_uris: redirect_uris.clone(),
        scopes: scopes.as_deref().and_then(Scopes::parse),
        created_at: Millis(*created_at),
        is_self_registered: *source == ClientSource::Registration,
    }
}
