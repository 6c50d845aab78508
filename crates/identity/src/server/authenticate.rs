//! Client authentication. An unknown client, a wrong secret and a revoked client take the same path and get the same
//! answer; a secret is accepted from exactly one place in the request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::caller::ClientId;
use frontdesk_engine::ports::registry::Client;
use frontdesk_engine::seal::sha256;
use subtle::{Choice, ConstantTimeEq};

use super::client_assertion::{ASSERTION_TYPE, UncheckedAssertion};
use super::error::{OAuthError, OAuthErrorKind};
use super::form::{FormParameters, decode};
use super::interactive_client::{ClientAuthentication, InteractiveClient};
use super::request::OAuthRequest;
use super::{EmbeddedServer, OAuthEndpoint};
use crate::people::users::hex;

/// A request of an authenticated client.
pub(crate) struct ClientRequest {
    pub(crate) client: AuthenticatedClient,
    pub(crate) form: FormParameters,
}

pub(crate) enum AuthenticatedClient {
    /// Acts for itself.
    Service(Client),
    /// Acts for people.
    Login(Box<InteractiveClient>),
}

impl AuthenticatedClient {
    fn of_people(client: InteractiveClient) -> AuthenticatedClient {
        AuthenticatedClient::Login(Box::new(client))
    }

    pub(crate) fn id(&self) -> &ClientId {
        match self {
            AuthenticatedClient::Service(client) => &client.id,
            AuthenticatedClient::Login(client) => &client.id,
        }
    }
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
    pub(crate) fn check_client_rate(
        &self,
        endpoint: OAuthEndpoint,
        client: &AuthenticatedClient,
    ) -> Result<(), OAuthError> {
        self.check_rate(&["client", endpoint.as_str(), client.id().as_str()], 1)
    }

    /// Each client authenticates in one way: a secret, a signature, or nothing.
    pub(crate) async fn authenticate(
        &self,
        credentials: ClientCredentials<'_>,
    ) -> Result<AuthenticatedClient, OAuthError> {
        match credentials {
            ClientCredentials::Secret { id, hash } => self.by_secret(&id, hash).await,
            ClientCredentials::Public { id } => {
                let client = self.interactive_client(id).await?;
                let public = client.filter(|client| client.authentication == ClientAuthentication::None);
                public.map(AuthenticatedClient::of_people).ok_or_else(OAuthError::invalid_client)
            }
            ClientCredentials::Assertion { id, assertion } => self.by_assertion(id, assertion).await,
        }
    }

    async fn by_secret(&self, id: &ClientId, hash: [u8; 32]) -> Result<AuthenticatedClient, OAuthError> {
        let found = self.registry.client(id).await?;
        // Always both, so that the time does not say where an id is known.
        let login = self.interactive_client(id.as_str()).await?;
        if let (None, Some(client)) = (&found, login) {
            let stored = match &client.authentication {
                ClientAuthentication::Secret(stored) => stored.as_str(),
                ClientAuthentication::None | ClientAuthentication::Keys(_) => "",
            };
            let is_right = bool::from(hex(&hash).as_bytes().ct_eq(stored.as_bytes()));
            return if is_right {
                Ok(AuthenticatedClient::of_people(client))
            } else {
                Err(OAuthError::invalid_client())
            };
        }
        let stored = found.as_ref().map_or([0; 32], |client| client.secret);
        let active = found.as_ref().is_some_and(|client| client.revoked_at.is_none());
        let authenticated = hash.ct_eq(&stored) & Choice::from(u8::from(active));
        let client = found.filter(|_| authenticated.into()).ok_or_else(OAuthError::invalid_client)?;
        Ok(AuthenticatedClient::Service(client))
    }

    async fn by_assertion(&self, id: Option<&str>, assertion: &str) -> Result<AuthenticatedClient, OAuthError> {
        let assertion = UncheckedAssertion::parse(assertion).ok_or_else(OAuthError::invalid_client)?;
        let claimed = assertion.client().ok_or_else(OAuthError::invalid_client)?;
        if id.is_some_and(|id| id != claimed) {
            return Err(OAuthError::invalid_client());
        }
        let client = self.interactive_client(claimed).await?.ok_or_else(OAuthError::invalid_client)?;
        let keys = match &client.authentication {
            ClientAuthentication::Keys(keys) => keys,
            ClientAuthentication::None | ClientAuthentication::Secret(_) => return Err(OAuthError::invalid_client()),
        };
        if self.accept_assertion(&assertion, claimed, keys).await? {
            Ok(AuthenticatedClient::of_people(client))
        } else {
            Err(OAuthError::invalid_client())
        }
    }

    /// An error is the seconds to wait.
    pub(crate) fn take_rate(&self, key: &[&str], factor: u32) -> Result<(), u64> {
        let per_minute = self.settings.token_requests_per_minute.saturating_mul(factor);
        let budget = Budget { per_minute, burst: per_minute };
        self.rates.take(key, budget, self.clock.monotonic())
    }

    pub(crate) fn check_rate(&self, key: &[&str], factor: u32) -> Result<(), OAuthError> {
        self.take_rate(key, factor).map_err(|seconds| {
            OAuthError::new(
                OAuthErrorKind::RateLimited(seconds),
                "Too many requests. Retry after the seconds in Retry-After, and reuse a token until it expires.",
            )
        })
    }
}

/// How a client says who it is.
pub(crate) enum ClientCredentials<'a> {
    Secret {
        id: ClientId,
        /// Of the secret that was sent.
        hash: [u8; 32],
    },
    Public {
        id: &'a str,
    },
    Assertion {
        id: Option<&'a str>,
        assertion: &'a str,
    },
}

impl ClientCredentials<'_> {
    /// Whether finding the client may mean fetching its metadata document, which costs more than a look-up.
    pub(crate) fn may_need_a_document(&self) -> bool {
        match self {
            ClientCredentials::Secret { id, .. } => id.as_str().starts_with("https://"),
            ClientCredentials::Public { id } => id.starts_with("https://"),
            // The client is named inside.
            ClientCredentials::Assertion { .. } => true,
        }
    }

    fn read<'a>(authorization: &[&str], form: &'a FormParameters) -> Result<ClientCredentials<'a>, OAuthError> {
        let in_form = form.get("client_secret").is_some() || form.get("client_assertion").is_some();
        match authorization {
            [] => ClientCredentials::from_form(form),
            [_] if in_form => Err(several_credentials()),
            [header] => ClientCredentials::from_basic(header, form),
            [_, _, ..] => Err(several_credentials()),
        }
    }

    fn from_form(form: &FormParameters) -> Result<ClientCredentials<'_>, OAuthError> {
        match (form.get("client_id"), form.get("client_secret"), form.get("client_assertion")) {
            (_, Some(_), Some(_)) => Err(several_credentials()),
            (Some(id), Some(secret), None) => Ok(ClientCredentials::new(id, secret)),
            (id, None, Some(assertion)) if form.get("client_assertion_type") == Some(ASSERTION_TYPE) => {
                Ok(ClientCredentials::Assertion { id, assertion })
            }
            (Some(id), None, None) => Ok(ClientCredentials::Public { id }),
            (_, None, Some(_)) | (None, _, None) => Err(OAuthError::invalid_client()),
        }
    }

    /// Id and secret are escaped as in a form before they are joined (RFC 6749 §2.3.1).
    fn from_basic<'a>(header: &str, form: &'a FormParameters) -> Result<ClientCredentials<'a>, OAuthError> {
        let (id, secret) = basic(header).ok_or_else(OAuthError::invalid_client)?;
        match form.get("client_id") {
            Some(other) if other != id => Err(OAuthError::new(
                OAuthErrorKind::InvalidRequest,
                "Omit client_id from the form, or send the same one as in HTTP Basic.",
            )),
            Some(_) | None => Ok(ClientCredentials::new(&id, &secret)),
        }
    }

    fn new(id: &str, secret: &str) -> ClientCredentials<'static> {
        ClientCredentials::Secret { id: ClientId::new(id), hash: sha256(secret.as_bytes()) }
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
