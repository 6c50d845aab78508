//! Dynamic client registration (RFC 7591), for clients that know no other way. Off unless the operator switches it on;
//! then it is limited by address and in number, and a client that nobody uses is deleted after a day.

use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, LoginRecordKind, RecordChange};
use frontdesk_engine::ports::registry::Changed;
use frontdesk_wire::json::{self as strict_json, Map, Value};
use serde_json::json;

use super::client_assertion::usable_keys;
use super::error::{OAuthError, OAuthErrorKind, json as json_reply};
use super::page_endpoint::{address_key, caller};
use super::redirect;
use super::request::OAuthRequest;
use super::{AuditStatus, EmbeddedServer, EndpointOutcome};
use crate::people::records::{ClientSource, LoginClient};
use crate::people::stored::new_record;
use crate::people::users::hex;
use crate::secret::{CLIENT_SECRET_PREFIX, PlaintextSecret};

/// One client a minute is more than anybody needs; a few at once while somebody tries things.
const PER_ADDRESS: Budget = Budget { per_minute: 10, burst: 20 };
const UNUSED_SECONDS: i64 = 24 * 60 * 60;
pub(crate) const MAX_REDIRECTS: usize = 20;
pub(crate) const MAX_NAME: usize = 100;

impl EmbeddedServer {
    pub(crate) async fn register(
        &self,
        request: &OAuthRequest<'_>,
        observation: &Observation,
    ) -> Result<EndpointOutcome, OAuthError> {
        let now = self.clock.now();
        self.rates.take(&["register", &address_key(request)], PER_ADDRESS, self.clock.monotonic()).map_err(
            |seconds| {
                OAuthError::new(
                    OAuthErrorKind::RateLimited(seconds),
                    "Too many registrations. Keep the client id you got.",
                )
            },
        )?;
        if self.records().count_login_records(LoginRecordKind::LoginClient).await?
            >= self.settings.login.max_clients.into()
        {
            let text = "There are too many registered clients. Unused ones are deleted within a day; try again then.";
            return Err(OAuthError::new(OAuthErrorKind::Unavailable(3600), text));
        }
        let Ok(Value::Object(sent)) = strict_json::parse(request.body) else {
            return Err(metadata("Send the metadata of the client as one JSON object."));
        };
        let (client, secret, method) = self.described(&sent)?;
        let id = self.users.new_id("dcr_");
        let expires_at = now.plus_seconds(UNUSED_SECONDS);
        let record = LoginRecord { expires_at: Some(expires_at), ..new_record(id.as_str(), "", &client) };
        let who = caller(&id, "browser", None, Default::default());
        let line = Observation { caller: Some(who), ..observation.clone() }.to_line();
        let steps = vec![RecordChange::Add(record)];
        if self.records().change_login_records(steps, now, LoginAudit::Administration(line)).await? == Changed::Nothing
        {
            return Err(OAuthError::new(OAuthErrorKind::Unavailable(1), "Try again."));
        }
        let mut answer = json!({
            "client_id": id,
            "client_id_issued_at": now.seconds(),
            "client_name": client.name,
            "redirect_uris": client.redirect_uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
        });
        if let (Some(secret), Some(answer)) = (secret, answer.as_object_mut()) {
            answer.insert("client_secret".to_owned(), secret.expose().into());
            // It ends with the client, which stays as long as it is used.
            answer.insert("client_secret_expires_at".to_owned(), 0.into());
        }
        let reply = json_reply(201, &answer).header("Cache-Control", "no-store").header("Pragma", "no-cache");
        Ok(EndpointOutcome { reply, audit: AuditStatus::Committed })
    }

    /// The client, its secret if it gets one, and how it authenticates. `scope` is no limit and is ignored, as is
    /// everything that is only for show; nothing is fetched.
    fn described(
        &self,
        sent: &Map<String, Value>,
    ) -> Result<(LoginClient, Option<PlaintextSecret>, &'static str), OAuthError> {
        let redirect_uris =
            redirect_uris(sent).ok_or_else(|| OAuthError::new(OAuthErrorKind::InvalidRedirectUri, redirect::RULES))?;
        let name = match sent.get("client_name") {
            None => "A client without a name".to_owned(),
            Some(name) => {
                client_name(name).ok_or_else(|| metadata("client_name is a text of at most 100 characters."))?
            }
        };
        let (method, secret, jwks) = match sent.get("token_endpoint_auth_method").map(Value::as_str) {
            None | Some(Some("client_secret_basic")) => ("client_secret_basic", Some(self.new_secret()), None),
            Some(Some("client_secret_post")) => ("client_secret_post", Some(self.new_secret()), None),
            Some(Some("none")) => ("none", None, None),
            Some(Some("private_key_jwt")) => match sent.get("jwks").filter(|jwks| usable_keys(jwks)) {
                Some(jwks) => ("private_key_jwt", None, Some(jwks.clone())),
                None => return Err(metadata("private_key_jwt needs jwks with a key for ES256, RS256 or EdDSA.")),
            },
            Some(_) => {
                return Err(metadata("token_endpoint_auth_method is not one of those in the metadata of this server."));
            }
        };
        let client = LoginClient {
            name,
            redirect_uris,
            secret: secret.as_ref().map(|secret| hex(&secret.hash())),
            jwks,
            scopes: None,
            source: ClientSource::Registration,
            created_at: self.clock.now().0,
        };
        Ok((client, secret, method))
    }

    fn new_secret(&self) -> PlaintextSecret {
        PlaintextSecret::random(CLIENT_SECRET_PREFIX, self.random.as_ref())
    }
}

/// The redirect URIs of a client, if all of them may be registered.
pub(crate) fn redirect_uris(sent: &Map<String, Value>) -> Option<Vec<String>> {
    let listed = sent.get("redirect_uris")?.as_array()?;
    let uris: Option<Vec<String>> = listed.iter().map(|uri| uri.as_str().map(str::to_owned)).collect();
    uris.filter(|uris| (1..=MAX_REDIRECTS).contains(&uris.len()) && uris.iter().all(|uri| redirect::may_register(uri)))
}

/// A name that can be shown: no control character, no change of direction.
pub(crate) fn client_name(value: &Value) -> Option<String> {
    let plain = |letter: char| {
        !letter.is_control()
            && !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let name = value.as_str()?.trim();
    ((1..=MAX_NAME).contains(&name.chars().count()) && name.chars().all(plain)).then(|| name.to_owned())
}

fn metadata(text: &'static str) -> OAuthError {
    OAuthError::new(OAuthErrorKind::InvalidClientMetadata, text)
}
