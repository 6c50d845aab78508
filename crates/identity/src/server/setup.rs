//! One-time links: the first user, and users who choose their password. A link works until it is used, and only for a day;
//! opening it changes nothing, so that a program that looks at links in messages does not use it up.

use frontdesk_engine::model::caller::Scopes;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::login_records::LoginAudit;
use frontdesk_engine::ports::registry::Changed;
use frontdesk_engine::seal::sha256;

use super::EmbeddedServer;
use super::form::FormParameters;
use super::page_endpoint::{PageError, PageOutcome, address_key, caller};
use super::pages;
use super::request::OAuthRequest;
use crate::people::records::{OneTimeLink, User};
use crate::people::stored::{StoredRecord, find_valid};
use crate::people::users::hex;
use crate::people::{MembershipScope, NewUser, UserError, UserRole};
use crate::secret::is_encoded_secret;
use frontdesk_engine::limits::rate::Budget;

pub(crate) const PREFIX: &str = "/setup/";

/// A link has 256 random bits; this limits load.
const PER_ADDRESS: Budget = Budget { per_minute: 20, burst: 20 };

impl EmbeddedServer {
    pub(crate) async fn setup(
        &self,
        request: &OAuthRequest<'_>,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        let now = self.clock.now();
        self.rates
            .take(&["setup", &address_key(request)], PER_ADDRESS, self.clock.monotonic())
            .map_err(PageError::RateLimited)?;
        let secret = request.path.strip_prefix(PREFIX).filter(|secret| is_encoded_secret(secret));
        let secret = secret.ok_or_else(used_up)?;
        let link = find_valid::<OneTimeLink>(self.records(), &hex(&sha256(secret.as_bytes())), now).await?;
        let link = link.ok_or_else(used_up)?;
        let user = match &link.content {
            OneTimeLink::FirstUser => None,
            OneTimeLink::ChoosePassword { user } => Some(self.users.active(user).await?.ok_or_else(used_up)?),
        };
        let name = user.as_ref().map(|user| user.content.name.as_str());
        if request.method != "POST" {
            let browser = self.browser(request).await?;
            let page = pages::setup(200, &browser.form_token(), request.path, name, None);
            return Ok(PageOutcome::shown(browser.remember(page)));
        }
        let (browser, form) = self.own_form(request).await?;
        let done = match &user {
            None => self.make_first_user(&link, &form, observation).await?,
            Some(user) => self.choose_password(&link, user, &form, observation).await?,
        };
        match done {
            Ok(()) => Ok(PageOutcome::committed(pages::see_other("/account".to_owned()))),
            Err(problem) => {
                let page = pages::setup(400, &browser.form_token(), request.path, name, Some(&problem));
                Ok(PageOutcome::shown(page))
            }
        }
    }

    /// An inner error is for the person at the page.
    async fn make_first_user(
        &self,
        link: &StoredRecord<OneTimeLink>,
        form: &FormParameters,
        observation: &mut Observation,
    ) -> Result<Result<(), String>, PageError> {
        if self.users.has_users().await? {
            return Err(used_up());
        }
        let password = match chosen(form) {
            Ok(password) => password,
            Err(problem) => return Ok(Err(problem)),
        };
        let new = NewUser {
            name: form.get("name").unwrap_or_default().to_owned(),
            role: UserRole::Manager,
            memberships: MembershipScope::All,
            password: Some(password),
        };
        let (id, mut steps) = match self.users.additions(new).await {
            Ok(made) => made,
            Err(error) => return explain(error),
        };
        steps.push(link.remove());
        observation.caller = Some(caller("browser", &id, None, Scopes::default()));
        let audit = LoginAudit::Administration(observation.to_line());
        match self.records().change_login_records(steps, self.clock.now(), audit).await? {
            Changed::Done => Ok(Ok(())),
            Changed::Nothing => Err(used_up()),
        }
    }

    async fn choose_password(
        &self,
        link: &StoredRecord<OneTimeLink>,
        user: &StoredRecord<User>,
        form: &FormParameters,
        observation: &mut Observation,
    ) -> Result<Result<(), String>, PageError> {
        let password = match chosen(form) {
            Ok(password) => password,
            Err(problem) => return Ok(Err(problem)),
        };
        let credential = match self.users.credential(&password, &user.content.name).await {
            Ok(credential) => credential,
            Err(error) => return explain(error),
        };
        let with_password = User { credentials: vec![credential], ..user.content.clone() };
        observation.caller = Some(caller("browser", user.id(), None, Scopes::default()));
        let audit = LoginAudit::Administration(observation.to_line());
        let steps = vec![link.remove(), user.replace(&with_password)];
        match self.records().change_login_records(steps, self.clock.now(), audit).await? {
            Changed::Done => Ok(Ok(())),
            Changed::Nothing => Err(used_up()),
        }
    }
}

fn chosen(form: &FormParameters) -> Result<String, String> {
    let password = form.get("password").unwrap_or_default();
    if form.get("repeated") == Some(password) {
        Ok(password.to_owned())
    } else {
        Err("The two passwords are not the same.".to_owned())
    }
}

fn explain(error: UserError) -> Result<Result<(), String>, PageError> {
    match error {
        UserError::Store(fault) => Err(PageError::Store(fault)),
        UserError::Name => {
            Ok(Err("A name has 1 to 100 characters and no space, such as an e-mail address.".to_owned()))
        }
        UserError::Password(problem) => Ok(Err(problem.to_owned())),
        UserError::Taken | UserError::Unknown | UserError::NoTenant => Err(used_up()),
    }
}

/// Whatever is wrong with a link, it is not said.
fn used_up() -> PageError {
    PageError::Refused(
        404,
        "not_found",
        "This link has been used or is too old",
        "Ask the operator of this server for a new one: `frontdesk user reset`, or a new start if there is no user yet.",
    )
}
