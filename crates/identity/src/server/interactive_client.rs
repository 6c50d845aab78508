//! Clients that act for people: registered by the operator, by themselves, or described by a document at their own id.

use frontdesk_engine::model::caller::{ClientId, Scopes};
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::RecordChange;
use serde_json::Value;

use super::EmbeddedServer;
use crate::people::records::{ClientSource, LoginClient};
use crate::people::stored::{StoredRecord, find_valid};

#[derive(Clone)]
pub(crate) struct InteractiveClient {
    pub(crate) id: ClientId,
    pub(crate) name: String,
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) authentication: ClientAuthentication,
    /// The most that its tokens can have; everything if absent.
    pub(crate) scopes: Option<Scopes>,
    pub(crate) identity: ClientOrigin,
    /// As it is stored, if it is.
    stored: Option<StoredRecord<LoginClient>>,
}

/// How a client proves at the token endpoint who it is. Exactly this way is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientAuthentication {
    None,
    /// The hash of its secret, in hexadecimal.
    Secret(String),
    /// Its public keys.
    Keys(Value),
}

/// Who says what a client is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientOrigin {
    Operator,
    /// Nobody but itself.
    Itself,
    /// This host.
    Document(String),
}

/// A client that has registered itself and is used stays for so long.
const USED_CLIENT_SECONDS: i64 = 180 * 24 * 60 * 60;

impl InteractiveClient {
    /// A client that has registered itself would be deleted soon; one that somebody uses stays.
    pub(crate) fn keep(&self, now: Millis) -> Option<RecordChange> {
        let stored = self.stored.as_ref().filter(|stored| stored.record.expires_at.is_some())?;
        let until = now.plus_seconds(USED_CLIENT_SECONDS);
        // Not each time: it would collide with others that use the same client.
        let is_soon = stored.record.expires_at.is_some_and(|at| at < now.plus_seconds(USED_CLIENT_SECONDS / 2));
        is_soon.then(|| stored.replace_until(&stored.content, Some(until)))
    }

    /// One that a document describes.
    pub(crate) fn from_document(
        id: &str,
        host: String,
        name: String,
        redirect_uris: Vec<String>,
        authentication: ClientAuthentication,
    ) -> InteractiveClient {
        let identity = ClientOrigin::Document(host);
        InteractiveClient {
            id: ClientId::new(id),
            name,
            redirect_uris,
            authentication,
            scopes: None,
            identity,
            stored: None,
        }
    }

    fn from_stored(stored: StoredRecord<LoginClient>) -> InteractiveClient {
        let LoginClient { name, redirect_uris, secret, jwks, scopes, source, .. } = stored.content.clone();
        let authentication = match (secret, jwks) {
            (_, Some(keys)) => ClientAuthentication::Keys(keys),
            (Some(secret), None) => ClientAuthentication::Secret(secret),
            (None, None) => ClientAuthentication::None,
        };
        InteractiveClient {
            id: ClientId::new(stored.id()),
            name,
            redirect_uris,
            authentication,
            scopes: scopes.and_then(|scopes| Scopes::parse(&scopes)),
            identity: match source {
                ClientSource::Operator => ClientOrigin::Operator,
                ClientSource::Registration => ClientOrigin::Itself,
            },
            stored: Some(stored),
        }
    }
}

impl EmbeddedServer {
    pub(crate) async fn interactive_client(&self, id: &str) -> Result<Option<InteractiveClient>, Fault> {
        if id.starts_with("https://") {
            return self.documented_client(id).await;
        }
        let found = find_valid::<LoginClient>(self.records(), id, self.clock.now()).await?;
        Ok(found.map(InteractiveClient::from_stored))
    }

    /// Whether a client that is stored here is still there. One that is described elsewhere is asked when it refreshes.
    pub(crate) async fn is_known_client(&self, id: &str) -> Result<bool, Fault> {
        Ok(id.starts_with("https://")
            || find_valid::<LoginClient>(self.records(), id, self.clock.now()).await?.is_some())
    }
}
