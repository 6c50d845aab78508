//! Client authentication. An unknown client, a wrong secret and a revoked client take the same path and get the same
//! answer; a secret is accepted from exactly one place in the request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::caller::ClientId;
use frontdesk_engine::ports::registry::Client;
use frontdesk_engine::seal::sha256;
use subtle::{Choice, ConstantTimeEq};

use super::error::{OAuthError, OAuthErrorKind};
use super::form::{FormParameters, decode};
use super::request::OAuthRequest;
use super::{EmbeddedServer, OAuthEndpoint};

/// A request of an authenticated client.
pub(crate) struct ClientRequest {
    pub(crate) client: Client,
    pub(crate) form: FormParameters,
}

impl EmbeddedServer {
    /// The checks of the token and the revocation endpoint.
    pub(crate) async fn validate_request(
        &self,
        request: &OAuthRequest<'_>,
        endpoint: OAuthEndpoint,
    ) -> Result<ClientRequest, OAuthError> {
        if request.method != "POST" {
            return Err(OAuthError::new(
                OAuthErrorKind::MethodNotAllowed("POST, OPTIONS"),
                "Send the form in a POST request.",
            ));
        }
        if request.query.is_some_and(|query| !query.is_empty()) {
            // URLs are stored in logs and browser histories, so a secret in one is compromised.
            return Err(OAuthError::new(
                OAuthErrorKind::InvalidRequest,
                "Send parameters in the body, not in the URL. Replace a secret that was sent in a URL.",
            ));
        }
        if !request.is_form() {
            return Err(OAuthError::new(
                OAuthErrorKind::UnsupportedMediaType,
                "Send Content-Type: application/x-www-form-urlencoded.",
            ));
        }
        let form = FormParameters::parse(request.body)?;
        let credentials = ClientCredentials::read(request.authorization, &form)?;
        let client = self.authenticate_from(request.address, endpoint, credentials).await?;
        Ok(ClientRequest { client, form })
    }

    /// Called after authentication only: nobody can use up the rate limit of a client without its secret.
    pub(crate) fn check_client_rate(&self, endpoint: OAuthEndpoint, client: &Client) -> Result<(), OAuthError> {
        let per_minute = self.settings.token_requests_per_minute;
        let budget = Budget { per_minute, burst: per_minute };
        let key = ["client", endpoint.as_str(), client.id.as_str()];
        self.rates.take(&key, budget, self.clock.monotonic()).map_err(|seconds| {
            OAuthError::new(
                OAuthErrorKind::RateLimited(seconds),
                "Too many requests. Retry after the seconds in Retry-After, and reuse a token until it expires.",
            )
        })
    }

    /// One look-up and one comparison, whether the client is known, unknown or revoked.
    pub(crate) async fn authenticate(&self, credentials: ClientCredentials) -> Result<Client, OAuthError> {
        let found = self.registry.client(&credentials.id).await?;
        let stored = found.as_ref().map_or([0; 32], |client| client.secret);
        let active = found.as_ref().is_some_and(|client| client.revoked_at.is_none());
        let authenticated = credentials.hash.ct_eq(&stored) & Choice::from(u8::from(active));
        found.filter(|_| authenticated.into()).ok_or_else(OAuthError::invalid_client)
    }
}

/// A client id with the hash of the secret that was sent.
pub(crate) struct ClientCredentials {
    id: ClientId,
    hash: [u8; 32],
}

impl ClientCredentials {
    fn read(authorization: &[&str], form: &FormParameters) -> Result<ClientCredentials, OAuthError> {
        let in_form = form.get("client_secret").is_some() || form.get("client_assertion").is_some();
        match authorization {
            [] => ClientCredentials::from_form(form),
            [_] if in_form => Err(several_credentials()),
            [header] => ClientCredentials::from_basic(header, form),
            [_, _, ..] => Err(several_credentials()),
        }
    }

    fn from_form(form: &FormParameters) -> Result<ClientCredentials, OAuthError> {
        match (form.get("client_id"), form.get("client_secret"), form.get("client_assertion")) {
            (_, Some(_), Some(_)) => Err(several_credentials()),
            (Some(id), Some(secret), None) => Ok(ClientCredentials::new(id, secret)),
            (_, None, _) | (None, Some(_), None) => Err(OAuthError::invalid_client()),
        }
    }

    /// Id and secret are escaped as in a form before they are joined (RFC 6749 §2.3.1).
    fn from_basic(header: &str, form: &FormParameters) -> Result<ClientCredentials, OAuthError> {
        let (id, secret) = basic(header).ok_or_else(OAuthError::invalid_client)?;
        match form.get("client_id") {
            Some(other) if other != id => Err(OAuthError::new(
                OAuthErrorKind::InvalidRequest,
                "Omit client_id from the form, or send the same one as in HTTP Basic.",
            )),
            Some(_) | None => Ok(ClientCredentials::new(&id, &secret)),
        }
    }

    fn new(id: &str, secret: &str) -> ClientCredentials {
        ClientCredentials { id: ClientId::new(id), hash: sha256(secret.as_bytes()) }
    }
}

fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    let decoded = scheme.eq_ignore_ascii_case("Basic").then(|| STANDARD.decode(encoded).ok())??;
    let text = String::from_utf8(decoded).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((decode(id.as_bytes())?, decode(secret.as_bytes())?))
}

fn several_credentials() -> OAuthError {
    OAuthError::new(
        OAuthErrorKind::InvalidRequest,
        "Authenticate once: with HTTP Basic, or with client_secret in the form.",
    )
}
