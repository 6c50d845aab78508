//! The consent page: who asks, for which dealership, for what and for how long, in words; and what follows the decision.

use frontdesk_engine::model::caller::{Scope, Scopes, TenantId};
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, RecordChange};
use frontdesk_engine::ports::registry::{Changed, Tenant};
use frontdesk_engine::seal::sha256;

use super::authorize::{AuthorizeRequest, no_tenant};
use super::error::{OAuthError, OAuthErrorKind};
use super::interactive_client::ClientOrigin;
use super::login::ACCOUNT;
use super::page_endpoint::{PageError, PageOutcome, caller};
use super::pages::{self, ConsentPage, ScopeChoice};
use super::redirect::{self, RedirectPlace};
use super::request::OAuthRequest;
use super::session::{Browser, LoggedIn};
use super::{EmbeddedServer, ScopeAccess};
use crate::people::records::{AuthorizationCode, RememberedConsent};
use crate::people::stored::{find, new_record};
use crate::people::users::hex;
use crate::secret::{CODE_PREFIX, PlaintextSecret};

/// What was allowed the last time: for which tenant, and what.
pub(crate) type Remembered = (TenantId, Scopes);

impl EmbeddedServer {
    /// If the user still belongs to that tenant.
    pub(crate) async fn remembered(
        &self,
        asked: &AuthorizeRequest<'_>,
        login: &LoggedIn,
        tenants: &[Tenant],
    ) -> Result<Option<Remembered>, Fault> {
        let found = find::<RememberedConsent>(self.records(), &consent_id(asked, login)).await?;
        let remembered = found.and_then(|found| {
            let RememberedConsent { tenant, scopes } = found.content;
            Some((tenants.iter().find(|known| known.id.as_str() == tenant)?.id.clone(), Scopes::parse(&scopes)?))
        });
        Ok(remembered)
    }

    #[expect(clippy::too_many_arguments, reason = "a page shows all of these")]
    pub(crate) fn consent_page(
        &self,
        asked: &AuthorizeRequest<'_>,
        login: &LoggedIn,
        browser: &Browser,
        tenants: &[Tenant],
        allowed: &Scopes,
        remembered: Option<&Remembered>,
        problem: Option<&str>,
    ) -> Reply {
        let redirect_host = redirect::host(&asked.redirect_uri);
        let origin = match &asked.client.identity {
            ClientOrigin::Operator => "(registered by the operator of this server)".to_owned(),
            ClientOrigin::Itself => "(it has registered itself; nobody has checked this name)".to_owned(),
            ClientOrigin::Document(host) => format!("({host})"),
        };
        let warning = match redirect::place(&asked.redirect_uri) {
            RedirectPlace::ThisMachine => Some(
                "The answer goes to a program on your own computer. Only go on if you have just started this yourself: \
                 another program there could pretend to be this one.",
            ),
            RedirectPlace::Web => None,
        };
        let tenants: Vec<(String, String, bool)> = tenants
            .iter()
            .map(|tenant| {
                let is_chosen = remembered.is_some_and(|(chosen, _)| *chosen == tenant.id);
                (tenant.id.as_str().to_owned(), tenant.name.clone(), is_chosen)
            })
            .collect();
        let choice = |scope: &Scope| ScopeChoice {
            scope: scope.as_str().to_owned(),
            words: asked.resource.words(scope),
            is_chosen: true,
            is_sensitive: asked.resource.access(scope) == ScopeAccess::Sensitive,
        };
        let (reads, changes): (Vec<&Scope>, Vec<&Scope>) =
            allowed.iter().partition(|scope| asked.resource.is_reading(scope));
        let (reads, changes): (Vec<ScopeChoice>, Vec<ScopeChoice>) =
            (reads.into_iter().map(choice).collect(), changes.into_iter().map(choice).collect());
        let login_settings = &self.settings.login;
        let duration = format!(
            "Until you disconnect it. It ends by itself after {} days, or {} days after it was last used.",
            login_settings.grant_days, login_settings.idle_days
        );
        pages::consent(&ConsentPage {
            status: if problem.is_some() { 400 } else { 200 },
            form_token: &browser.form_token(),
            request: &asked.query,
            user: &login.user.content.name,
            client: &asked.client.name,
            origin: &origin,
            redirect_host: &redirect_host,
            warning,
            resource: &asked.resource.name,
            tenants: &tenants,
            reads: &reads,
            changes: &changes,
            duration: &duration,
            problem,
            targets: &[redirect::policy_source(&asked.redirect_uri)],
        })
    }

    /// The decision. Everything is checked again: the form says nothing but what was chosen.
    pub(crate) async fn decide(
        &self,
        request: &OAuthRequest<'_>,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        let (browser, form) = self.own_form(request).await?;
        let asked = match self.read_authorization(form.get("request").unwrap_or_default()).await {
            Ok(asked) => asked,
            Err(error) => return self.authorize_error(error),
        };
        let Some(login) = &browser.login else {
            let client = (asked.client.name.as_str(), asked.redirect_uri.as_str());
            return Ok(PageOutcome::shown(self.login_page(&browser, &asked.query, Some(client), None, 200)));
        };
        observation.caller = Some(caller(asked.client.id.as_str(), login.user.id(), None, Scopes::default()));
        if form.get("decision") != Some("allow") {
            let text = "The user has not allowed this.";
            return Ok(self.answer_error(&asked, OAuthError::new(OAuthErrorKind::AccessDenied, text)));
        }
        let allowed = match self.allowed_scopes(&asked, login) {
            Ok(allowed) => allowed,
            Err(error) => return Ok(self.answer_error(&asked, error)),
        };
        let tenants = self.users.tenants_of(login.user.id()).await?;
        if tenants.is_empty() {
            return Err(no_tenant());
        }
        let is_ticked = |scope: &&Scope| form.get(&format!("scope:{}", scope.as_str())).is_some();
        let chosen = Scopes::new(allowed.iter().filter(is_ticked).cloned());
        let tenant = form.get("dealership").and_then(|id| tenants.iter().find(|tenant| tenant.id.as_str() == id));
        let problem = match (&tenant, chosen.is_empty()) {
            (None, _) => Some("Choose a dealership."),
            (Some(_), true) => Some("Tick at least one thing, or choose “Do not allow”."),
            (Some(_), false) => None,
        };
        match (tenant, problem) {
            (Some(tenant), None) => self.issue_code(&asked, login, &tenant.id, &chosen, observation).await,
            (_, problem) => {
                let page = self.consent_page(&asked, login, &browser, &tenants, &allowed, None, problem);
                Ok(PageOutcome::shown(page))
            }
        }
    }

    /// Stores the code and what was allowed, and sends the browser back to the client.
    pub(crate) async fn issue_code(
        &self,
        asked: &AuthorizeRequest<'_>,
        login: &LoggedIn,
        tenant: &TenantId,
        scopes: &Scopes,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        let now = self.clock.now();
        let user = login.user.id();
        observation.caller = Some(caller(asked.client.id.as_str(), user, Some(tenant), scopes.clone()));
        observation.tenant = Some(tenant.clone());
        let secret = PlaintextSecret::random(CODE_PREFIX, self.random.as_ref());
        let code = AuthorizationCode {
            client: asked.client.id.as_str().to_owned(),
            client_name: asked.client.name.clone(),
            redirect_uri: asked.redirect_uri.clone(),
            challenge: asked.challenge.clone(),
            resource: asked.resource.url.clone(),
            scopes: scopes.to_string(),
            user: user.to_owned(),
            tenant: tenant.as_str().to_owned(),
            authenticated_at: login.session.content.authenticated_at,
            grant: None,
        };
        let consent = RememberedConsent { tenant: tenant.as_str().to_owned(), scopes: scopes.to_string() };
        let before = find::<RememberedConsent>(self.records(), &consent_id(asked, login)).await?;
        let ends_with = |record: LoginRecord| LoginRecord { tenant: Some(tenant.clone()), ..record };
        let expires_at = Some(now.plus_seconds(self.settings.login.code_seconds.into()));
        let stored = LoginRecord { expires_at, ..new_record(hex(&secret.hash()), user, &code) };
        let mut steps = vec![RecordChange::Add(ends_with(stored))];
        steps.push(match &before {
            Some(before) => RecordChange::Replace(ends_with(LoginRecord {
                version: before.record.version,
                ..new_record(before.id(), user, &consent)
            })),
            None => RecordChange::Add(ends_with(new_record(consent_id(asked, login), user, &consent))),
        });
        steps.extend(asked.client.keep(now));
        let audit = LoginAudit::Administration(observation.to_line());
        if self.records().change_login_records(steps, now, audit).await? == Changed::Nothing {
            let text = "Somebody has answered this at the same time. Start again from the client.";
            return Err(PageError::Refused(409, "conflict", "Answered twice", text));
        }
        let mut parameters = vec![("code", secret.expose())];
        parameters.extend(asked.state.as_deref().map(|state| ("state", state)));
        parameters.push(("iss", self.settings.issuer.as_str()));
        let reply = pages::see_other(redirect::with_parameters(&asked.redirect_uri, &parameters));
        Ok(PageOutcome::committed(reply))
    }

    /// The login page for a page of our own.
    pub(crate) fn login_for_account(&self, browser: &Browser) -> PageOutcome {
        PageOutcome::shown(self.login_page(browser, ACCOUNT, None, None, 200))
    }
}

fn consent_id(asked: &AuthorizeRequest<'_>, login: &LoggedIn) -> String {
    let parts = [login.user.id(), asked.client.id.as_str(), &asked.resource.url];
    hex(&sha256(parts.join("\n").as_bytes()))
}
