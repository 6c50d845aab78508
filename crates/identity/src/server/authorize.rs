//! The authorization endpoint (RFC 6749 §4.1, RFC 7636, RFC 8707, RFC 9207). Nothing is redirected before the client and
//! its redirect URI are known; from then on every answer goes there, with `state` and `iss`.

use frontdesk_engine::model::caller::Scopes;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::observation::Observation;

use super::error::{OAuthError, OAuthErrorKind};
use super::form::FormParameters;
use super::interactive_client::InteractiveClient;
use super::page_endpoint::{PageError, PageOutcome, caller};
use super::request::OAuthRequest;
use super::session::LoggedIn;
use super::{EmbeddedServer, ProtectedResource, ScopeAccess, pages, redirect};
use crate::secret::is_encoded_secret;

/// A valid request to authorize a client.
pub(crate) struct AuthorizeRequest<'s> {
    pub(crate) client: InteractiveClient,
    pub(crate) redirect_uri: String,
    pub(crate) state: Option<String>,
    pub(crate) resource: &'s ProtectedResource,
    pub(crate) scope: Option<String>,
    pub(crate) challenge: String,
    prompt: Prompt,
    max_age: Option<u32>,
    /// As it was sent.
    pub(crate) query: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Prompt {
    none: bool,
    login: bool,
    consent: bool,
}

pub(crate) enum AuthorizeError {
    /// The client or where to send the browser is not known.
    Page(PageError),
    Redirect {
        uri: String,
        state: Option<String>,
        error: OAuthError,
    },
}

impl From<Fault> for AuthorizeError {
    fn from(fault: Fault) -> AuthorizeError {
        AuthorizeError::Page(PageError::Store(fault))
    }
}

impl EmbeddedServer {
    pub(crate) async fn authorize(
        &self,
        request: &OAuthRequest<'_>,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        let asked = match self.read_authorization(request.query.unwrap_or_default()).await {
            Ok(asked) => asked,
            Err(error) => return self.authorize_error(error),
        };
        observation.caller = Some(caller(asked.client.id.as_str(), "browser", None, Scopes::default()));
        let browser = self.browser(request).await?;
        let fresh = browser.login.as_ref().filter(|login| self.is_fresh_enough(&asked, login));
        let Some(login) = fresh else {
            if asked.prompt.none {
                return Ok(self.answer_error(&asked, login_required()));
            }
            let client = (asked.client.name.as_str(), asked.redirect_uri.as_str());
            let problem = browser.login.as_ref().map(|_| "Log in again: this needs a recent login.");
            return Ok(PageOutcome::shown(self.login_page(&browser, &asked.query, Some(client), problem, 200)));
        };
        observation.caller = Some(caller(asked.client.id.as_str(), login.user.id(), None, Scopes::default()));
        let allowed = match self.allowed_scopes(&asked, login) {
            Ok(allowed) => allowed,
            Err(error) => return Ok(self.answer_error(&asked, error)),
        };
        let tenants = self.users.tenants_of(login.user.id()).await?;
        if tenants.is_empty() {
            return Err(no_tenant());
        }
        let remembered = self.remembered(&asked, login, &tenants).await?;
        let may_skip = !asked.prompt.consent && redirect::place(&asked.redirect_uri) == redirect::RedirectPlace::Web;
        match remembered {
            Some((tenant, scopes)) if may_skip && scopes.covers(&allowed) => {
                self.issue_code(&asked, login, &tenant, &allowed, observation).await
            }
            remembered => {
                if asked.prompt.none {
                    return Ok(self.answer_error(&asked, consent_required()));
                }
                let page = self.consent_page(&asked, login, &browser, &tenants, &allowed, remembered.as_ref(), None);
                Ok(PageOutcome::shown(page))
            }
        }
    }

    /// The checks that need nobody's login.
    pub(crate) async fn read_authorization(&self, query: &str) -> Result<AuthorizeRequest<'_>, AuthorizeError> {
        let page = |text| AuthorizeError::Page(PageError::bad_request(text));
        let sent = FormParameters::parse(query.as_bytes())
            .map_err(|_| page("Each parameter must be sent once, percent-encoded. Start again from the client."))?;
        let id = sent
            .get("client_id")
            .ok_or_else(|| page("The parameter client_id is missing. Start again from the client."))?;
        let client = self.interactive_client(id).await?.ok_or_else(|| {
            page("This client is not known here. Register it with `frontdesk client add --redirect-uri`, or let it register itself.")
        })?;
        let uri = sent.get("redirect_uri").ok_or_else(|| page("The parameter redirect_uri is missing."))?;
        if !redirect::matches(&client.redirect_uris, uri) {
            return Err(page("This redirect URI is not registered for this client, so nobody is sent there."));
        }
        let (uri, state) = (uri.to_owned(), sent.get("state").map(str::to_owned));
        match self.check_authorization(&sent) {
            Ok((resource, challenge, prompt, max_age)) => Ok(AuthorizeRequest {
                client,
                redirect_uri: uri,
                state,
                resource,
                scope: sent.get("scope").map(str::to_owned),
                challenge,
                prompt,
                max_age,
                query: query.to_owned(),
            }),
            Err(error) => Err(AuthorizeError::Redirect { uri, state, error }),
        }
    }

    fn check_authorization(
        &self,
        sent: &FormParameters,
    ) -> Result<(&ProtectedResource, String, Prompt, Option<u32>), OAuthError> {
        let invalid = |text| OAuthError::new(OAuthErrorKind::InvalidRequest, text);
        if sent.get("response_type") != Some("code") {
            return Err(OAuthError::new(OAuthErrorKind::UnsupportedResponseType, "Send response_type=code."));
        }
        if !matches!(sent.get("response_mode"), None | Some("query")) {
            return Err(invalid("The answer is sent in the query. Omit response_mode."));
        }
        if sent.get("request").is_some() || sent.get("request_uri").is_some() {
            return Err(invalid("Send the parameters themselves: request objects are not supported."));
        }
        if sent.get("client_secret").is_some() || sent.get("client_assertion").is_some() {
            return Err(invalid("Send no secret through a browser, and replace the one that was sent."));
        }
        let resource = self.target(sent.get("resource"))?;
        let challenge = sent.get("code_challenge").ok_or_else(|| invalid("Send code_challenge (PKCE)."))?;
        if sent.get("code_challenge_method") != Some("S256") || !is_encoded_secret(challenge) {
            return Err(invalid("Send code_challenge_method=S256 and the challenge that belongs to it."));
        }
        let prompt = read_prompt(sent.get("prompt")).ok_or_else(|| invalid("prompt is none, login or consent."))?;
        let max_age = match sent.get("max_age") {
            Some(text) => Some(text.parse().map_err(|_| invalid("max_age is a number of seconds."))?),
            None => None,
        };
        Ok((resource, challenge.to_owned(), prompt, max_age))
    }

    /// A new login is asked for by the client, or because sensitive data needs one that is recent.
    fn is_fresh_enough(&self, asked: &AuthorizeRequest<'_>, login: &LoggedIn) -> bool {
        let age = self.clock.now().seconds().saturating_sub(login.session.content.authenticated_at);
        let needed = match self.allowed_scopes(asked, login) {
            Ok(allowed) if allowed.iter().any(|scope| asked.resource.access(scope) == ScopeAccess::Sensitive) => {
                Some(SENSITIVE_LOGIN_SECONDS)
            }
            Ok(_) | Err(_) => None,
        };
        let within = |limit: Option<u32>| limit.is_none_or(|limit| age <= i64::from(limit));
        !asked.prompt.login && within(asked.max_age) && within(needed)
    }

    /// What the client asks for, as far as it and the user may have it (A6-08). Without a request: the least.
    pub(crate) fn allowed_scopes(&self, asked: &AuthorizeRequest<'_>, login: &LoggedIn) -> Result<Scopes, OAuthError> {
        let may = login.user.content.role.scopes(asked.resource);
        let requested = match asked.scope.as_deref() {
            Some(text) => Scopes::parse(text).unwrap_or_default(),
            None => Scopes::new([asked.resource.default_scope.clone()]),
        };
        let in_reach = |scope: &&_| may.has(scope) && asked.client.scopes.as_ref().is_none_or(|most| most.has(scope));
        let allowed = Scopes::new(requested.iter().filter(in_reach).cloned());
        if allowed.is_empty() {
            let text = "Nothing of what was asked for may be given by this user to this client.";
            return Err(OAuthError::new(OAuthErrorKind::InvalidScope, text));
        }
        Ok(allowed)
    }

    pub(crate) fn authorize_error(&self, error: AuthorizeError) -> Result<PageOutcome, PageError> {
        match error {
            AuthorizeError::Page(error) => Err(error),
            AuthorizeError::Redirect { uri, state, error } => Ok(self.redirect_error(&uri, state.as_deref(), &error)),
        }
    }

    pub(crate) fn answer_error(&self, asked: &AuthorizeRequest<'_>, error: OAuthError) -> PageOutcome {
        self.redirect_error(&asked.redirect_uri, asked.state.as_deref(), &error)
    }

    fn redirect_error(&self, uri: &str, state: Option<&str>, error: &OAuthError) -> PageOutcome {
        let mut parameters = vec![("error", error.kind.code()), ("error_description", error.description())];
        parameters.extend(state.map(|state| ("state", state)));
        parameters.push(("iss", self.settings.issuer.as_str()));
        let reply = pages::see_other(redirect::with_parameters(uri, &parameters));
        PageOutcome::refused(reply, error.kind.code())
    }
}

/// A login must be this recent when sensitive data is asked for: its tokens end five minutes after the login.
const SENSITIVE_LOGIN_SECONDS: u32 = 120;

fn read_prompt(text: Option<&str>) -> Option<Prompt> {
    let mut prompt = Prompt::default();
    for word in text.unwrap_or_default().split(' ').filter(|word| !word.is_empty()) {
        match word {
            "none" => prompt.none = true,
            "login" => prompt.login = true,
            "consent" => prompt.consent = true,
            // There is one account at a time.
            "select_account" => {}
            _ => return None,
        }
    }
    (!(prompt.none && (prompt.login || prompt.consent))).then_some(prompt)
}

/// The query of a request whose user has just logged in.
pub(crate) fn without_login_prompt(query: &str) -> String {
    let Ok(sent) = FormParameters::parse(query.as_bytes()) else {
        return query.to_owned();
    };
    let mut rest = form_urlencoded::Serializer::new(String::new());
    for (name, value) in sent.iter() {
        match name {
            "max_age" => {}
            "prompt" => {
                let words: Vec<&str> = value.split(' ').filter(|word| *word != "login").collect();
                if !words.is_empty() {
                    rest.append_pair(name, &words.join(" "));
                }
            }
            _ => {
                rest.append_pair(name, value);
            }
        }
    }
    rest.finish()
}

fn login_required() -> OAuthError {
    OAuthError::new(OAuthErrorKind::LoginRequired, "The user has to log in. Send the request without prompt=none.")
}

fn consent_required() -> OAuthError {
    OAuthError::new(OAuthErrorKind::ConsentRequired, "The user has to be asked. Send the request without prompt=none.")
}

pub(crate) fn no_tenant() -> PageError {
    PageError::Refused(
        403,
        "no_tenant",
        "You belong to no dealership",
        "Ask the operator of this server to add you to one.",
    )
}
