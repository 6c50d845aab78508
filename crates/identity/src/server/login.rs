//! The login. An unknown name, a wrong password and a disabled user take the same time and get the same answer; guesses
//! are limited by name and by address.

use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::caller::Scopes;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;

use super::EmbeddedServer;
use super::authorize::{AuthorizeError, without_login_prompt};
use super::page_endpoint::{PageError, PageOutcome, address_key, caller};
use super::pages::{self, LoginPage};
use super::redirect;
use super::request::OAuthRequest;
use super::session::Browser;
use crate::people::records::{StoredCredential, User};
use crate::people::stored::StoredRecord;
use crate::people::users::name_id;

/// Attempts for one name, from wherever they come.
const PER_NAME: Budget = Budget { per_minute: 5, burst: 10 };
/// Attempts from one address, for whatever names. A dealership may share one.
const PER_ADDRESS: Budget = Budget { per_minute: 20, burst: 40 };

/// The page to go to after a login that no client has asked for.
pub(crate) const ACCOUNT: &str = "account";

const WRONG: &str = "The name or the password is not right.";

/// How somebody proves who they are. A passkey would be another way, with a credential of its own.
enum LoginProof<'a> {
    Password { name: &'a str, password: &'a str },
}

impl EmbeddedServer {
    /// `next` is the query of an authorization request, or `ACCOUNT`.
    pub(crate) fn login_page(
        &self,
        browser: &Browser,
        next: &str,
        client: Option<(&str, &str)>,
        problem: Option<&str>,
        status: u16,
    ) -> Reply {
        let targets: Vec<String> = client.iter().map(|(_, uri)| redirect::policy_source(uri)).collect();
        let page = pages::login(&LoginPage {
            status,
            form_token: &browser.form_token(),
            next,
            client: client.map(|(name, _)| name),
            problem,
            targets: &targets,
        });
        browser.remember(page)
    }

    pub(crate) async fn login(
        &self,
        request: &OAuthRequest<'_>,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        let (browser, form) = self.own_form(request).await?;
        let next = form.get("next").unwrap_or(ACCOUNT);
        let (name, password) = (form.get("name").unwrap_or_default(), form.get("password").unwrap_or_default());
        self.limit_logins(request, name)?;
        let proof = LoginProof::Password { name, password };
        let Some(user) = self.prove(&proof).await? else {
            let client = self.asking_client(next).await?;
            let client = client.as_ref().map(|(name, uri)| (name.as_str(), uri.as_str()));
            let page = self.login_page(&browser, next, client, Some(WRONG), 400);
            return Ok(PageOutcome::refused(page, "login_failed"));
        };
        observation.caller = Some(caller("browser", user.id(), None, Scopes::default()));
        let fresh = self.log_in(&browser, &user, observation.to_line()).await?;
        // Never another site: what was sent is a query for our own page.
        let location =
            if next == ACCOUNT { "/account".to_owned() } else { format!("/authorize?{}", without_login_prompt(next)) };
        Ok(PageOutcome::committed(fresh.remember(pages::see_other(location))))
    }

    /// Before the password is looked at, so that guessing is limited whoever guesses.
    fn limit_logins(&self, request: &OAuthRequest<'_>, name: &str) -> Result<(), PageError> {
        let now = self.clock.monotonic();
        let taken = self.rates.take(&["login address", &address_key(request)], PER_ADDRESS, now);
        taken.map_err(PageError::RateLimited)?;
        self.rates.take(&["login name", &name_id(name.trim())], PER_NAME, now).map_err(PageError::RateLimited)
    }

    async fn prove(&self, proof: &LoginProof<'_>) -> Result<Option<StoredRecord<User>>, Fault> {
        match proof {
            LoginProof::Password { name, password } => {
                let found = self.users.named(name).await?;
                let active = found.filter(|user| user.content.disabled_at.is_none());
                let hash = active.as_ref().and_then(|user| {
                    user.content.credentials.iter().map(|StoredCredential::Password(hash)| hash).next()
                });
                let is_right = self.users.passwords.verify(hash, password).await?;
                Ok(active.filter(|_| is_right))
            }
        }
    }

    /// Name and redirect URI of the client that a login is for.
    async fn asking_client(&self, next: &str) -> Result<Option<(String, String)>, PageError> {
        if next == ACCOUNT {
            return Ok(None);
        }
        match self.read_authorization(next).await {
            Ok(asked) => Ok(Some((asked.client.name, asked.redirect_uri))),
            Err(AuthorizeError::Page(error)) => Err(error),
            Err(AuthorizeError::Redirect { .. }) => Ok(None),
        }
    }
}
