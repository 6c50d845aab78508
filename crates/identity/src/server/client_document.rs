//! Client ID Metadata Documents: a client whose id is the URL of a document that describes it. The document is fetched by
//! the guarded HTTP client, is small, and must say its own URL; what was fetched is kept for a while.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::http_client::{DocumentRequest, HttpResponse};
use frontdesk_wire::json::{self, Map, Value};
use url::Url;

use super::EmbeddedServer;
use super::client_assertion::usable_keys;
use super::interactive_client::{ClientAuthentication, InteractiveClient};
use super::registration::{client_name, redirect_uris};

const MAX_URL: usize = 500;
const MAX_DOCUMENT: usize = 5 * 1024;
const TIMEOUT: Duration = Duration::from_secs(3);
/// How often a document is asked for at most, whoever causes it.
const PER_DOCUMENT: Budget = Budget { per_minute: 6, burst: 6 };
/// How long one is kept, whatever its server says.
const KEPT_SECONDS: std::ops::RangeInclusive<u32> = 60..=24 * 60 * 60;
const DEFAULT_SECONDS: u32 = 60 * 60;
const MAX_KEPT: usize = 500;

/// Whose documents are fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientDocuments {
    Off,
    Any,
    /// Those of these hosts.
    Hosts(Vec<String>),
}

/// Clients that were fetched, and until when they are kept.
#[derive(Default)]
pub(crate) struct DocumentCache(Mutex<HashMap<String, (InteractiveClient, Millis)>>);

impl DocumentCache {
    fn get(&self, id: &str, now: Millis) -> Option<InteractiveClient> {
        let kept = self.0.lock().ok()?;
        kept.get(id).filter(|(_, until)| *until > now).map(|(client, _)| client.clone())
    }

    fn put(&self, client: &InteractiveClient, until: Millis, now: Millis) {
        if let Ok(mut kept) = self.0.lock() {
            if kept.len() >= MAX_KEPT {
                kept.retain(|_, (_, until)| *until > now);
            }
            // They can be fetched again.
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
            kept.insert(client.id.as_str().to_owned(), (client.clone(), until));
        }
    }
}

impl EmbeddedServer {
    /// None if there is no such client, or not now.
    pub(crate) async fn documented_client(&self, id: &str) -> Result<Option<InteractiveClient>, Fault> {
        let Some(host) = document_host(id).filter(|host| self.settings.login.client_documents.allow(host)) else {
            return Ok(None);
        };
        let now = self.clock.now();
        if let Some(client) = self.documents.get(id, now) {
            return Ok(Some(client));
        }
        if self.rates.take(&["document", id], PER_DOCUMENT, self.clock.monotonic()).is_err() {
            return Ok(None);
        }
        let request = DocumentRequest {
            url: id.to_owned(),
            accept: "application/json",
            timeout: TIMEOUT,
            max_response: MAX_DOCUMENT,
        };
        let Ok(response) = self.http_client.get(request).await else {
            return Ok(None);
        };
        let Some(client) = read_document(id, host, &response) else {
            return Ok(None);
        };
        let seconds = response.max_age.unwrap_or(DEFAULT_SECONDS).clamp(*KEPT_SECONDS.start(), *KEPT_SECONDS.end());
        self.documents.put(&client, now.plus_seconds(seconds.into()), now);
        Ok(Some(client))
    }
}

impl ClientDocuments {
    fn allow(&self, host: &str) -> bool {
        match self {
            ClientDocuments::Off => false,
            ClientDocuments::Any => true,
            ClientDocuments::Hosts(hosts) => hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host)),
        }
    }
}

/// The host of a URL that can be the id of a client.
fn document_host(id: &str) -> Option<String> {
    let url = Url::parse(id).ok().filter(|_| id.len() <= MAX_URL)?;
    let is_plain = url.scheme() == "https"
        // In one spelling: no dot segments, no upper case in the host, no other form of an address.
        && url.as_str() == id
        && url.path() != "/"
        && url.username().is_empty()
        && url.password().is_none()
        && !id.contains(['#', '?', '@', '\\']);
    url.host_str().filter(|_| is_plain).map(str::to_owned)
}

fn read_document(id: &str, host: String, response: &HttpResponse) -> Option<InteractiveClient> {
    let essence = response.content_type.as_deref()?.split(';').next()?.trim().to_ascii_lowercase();
    let is_json = essence == "application/json" || essence.starts_with("application/") && essence.ends_with("+json");
    if response.status != 200 || !is_json {
        return None;
    }
    let Value::Object(document) = json::parse(&response.body).ok()? else {
        return None;
    };
    let says_id = document.get("client_id").and_then(Value::as_str) == Some(id);
    let has_secret = document.keys().any(|name| name.starts_with("client_secret"));
    if !says_id || has_secret {
        return None;
    }
    let name = client_name(document.get("client_name")?)?;
    let authentication = authentication(&document)?;
    Some(InteractiveClient::from_document(id, host, name, redirect_uris(&document)?, authentication))
}

fn authentication(document: &Map<String, Value>) -> Option<ClientAuthentication> {
    match document.get("token_endpoint_auth_method").map(Value::as_str) {
        None | Some(Some("none")) => Some(ClientAuthentication::None),
        Some(Some("private_key_jwt")) => {
            document.get("jwks").filter(|keys| usable_keys(keys)).cloned().map(ClientAuthentication::Keys)
        }
        Some(_) => None,
    }
}
