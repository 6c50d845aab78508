//! The endpoints for people in a browser: what they share, from the check of a form to the record of how it ended.

use std::sync::Arc;
use std::time::Instant;

use frontdesk_engine::limits::tally::TallyKey;
use frontdesk_engine::model::caller::{Caller, ClientId, Scopes, TenantId};
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::ports::Durability;

use super::EmbeddedServer;
use super::form::FormParameters;
use super::pages;
use super::request::OAuthRequest;
use super::session::Browser;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageEndpoint {
    Authorize,
    Login,
    Consent,
    Account,
    EndGrant,
    Logout,
    Setup,
}

impl PageEndpoint {
    /// The endpoint at a path.
    pub(crate) fn at(path: &str) -> Option<PageEndpoint> {
        match path {
            super::AUTHORIZE => Some(PageEndpoint::Authorize),
            "/login" => Some(PageEndpoint::Login),
            "/consent" => Some(PageEndpoint::Consent),
            "/account" => Some(PageEndpoint::Account),
            "/account/end" => Some(PageEndpoint::EndGrant),
            "/logout" => Some(PageEndpoint::Logout),
            path => path.strip_prefix(super::setup::PREFIX).map(|_| PageEndpoint::Setup),
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            PageEndpoint::Authorize => "authorize",
            PageEndpoint::Login => "login",
            PageEndpoint::Consent => "consent",
            PageEndpoint::Account => "account",
            PageEndpoint::EndGrant => "end_grant",
            PageEndpoint::Logout => "logout",
            PageEndpoint::Setup => "setup",
        }
    }

    fn methods(self) -> &'static str {
        match self {
            PageEndpoint::Authorize | PageEndpoint::Account => "GET, HEAD",
            PageEndpoint::Login | PageEndpoint::Consent | PageEndpoint::EndGrant | PageEndpoint::Logout => "POST",
            PageEndpoint::Setup => "GET, HEAD, POST",
        }
    }
}

/// What a page shows, and what is said about it in log and audit.
pub(crate) struct PageOutcome {
    pub(crate) reply: Reply,
    pub(crate) outcome: &'static str,
    pub(crate) audit: PageAudit,
}

/// What the audit log gets to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageAudit {
    /// Nothing: somebody looked at a page.
    None,
    /// It was written with the change.
    Committed,
    /// A record of its own.
    Pending,
}

impl PageOutcome {
    /// A page that changes nothing.
    pub(crate) fn shown(reply: Reply) -> PageOutcome {
        PageOutcome { reply, outcome: "ok", audit: PageAudit::None }
    }

    pub(crate) fn committed(reply: Reply) -> PageOutcome {
        PageOutcome { reply, outcome: "ok", audit: PageAudit::Committed }
    }

    pub(crate) fn refused(reply: Reply, outcome: &'static str) -> PageOutcome {
        PageOutcome { reply, outcome, audit: PageAudit::Pending }
    }
}

/// Why there is no page: never sent by redirect.
#[derive(Debug)]
pub(crate) enum PageError {
    /// Status, code, title and what to do.
    Refused(u16, &'static str, &'static str, &'static str),
    /// Seconds to wait.
    RateLimited(u64),
    Store(Fault),
}

impl From<Fault> for PageError {
    fn from(fault: Fault) -> PageError {
        PageError::Store(fault)
    }
}

impl PageError {
    pub(crate) fn bad_request(text: &'static str) -> PageError {
        PageError::Refused(400, "invalid_request", "This request cannot be answered", text)
    }

    /// A form that did not come from a page of ours, or from an old one.
    pub(crate) fn foreign_form() -> PageError {
        PageError::Refused(
            403,
            "form_token",
            "This form is out of date",
            "Go back, load the page again and repeat what you did. Cookies of this server must be allowed.",
        )
    }

    fn code(&self) -> &'static str {
        match self {
            PageError::Refused(_, code, _, _) => code,
            PageError::RateLimited(_) => "rate_limited",
            PageError::Store(fault) if fault.kind.retryable() => "unavailable",
            PageError::Store(_) => "internal",
        }
    }

    fn reply(&self) -> Reply {
        match self {
            PageError::Refused(status, _, title, text) => pages::message(*status, title, text),
            PageError::RateLimited(seconds) => {
                let text = "There were too many attempts. Wait a moment and try again.";
                pages::message(429, "Too many attempts", text).header("Retry-After", seconds.to_string())
            }
            PageError::Store(fault) if fault.kind.retryable() => {
                pages::message(503, "Not now", "This server is busy. Try again in a few seconds.")
                    .header("Retry-After", fault.retry_after.unwrap_or(1).to_string())
            }
            PageError::Store(_) => pages::message(
                500,
                "Something went wrong",
                "It is in the log of this server, with the trace id of this answer.",
            ),
        }
    }
}

impl EmbeddedServer {
    pub(crate) async fn serve_page(&self, request: &OAuthRequest<'_>, endpoint: PageEndpoint) -> Reply {
        if !endpoint.methods().split(", ").any(|method| method == request.method) {
            return pages::message(405, "Not possible here", "This address takes other requests.")
                .header("Allow", endpoint.methods());
        }
        let started = Instant::now();
        let mut observation = Observation {
            method: Some(endpoint.as_str()),
            ..Observation::new(self.clock.now(), request.trace.clone(), "identity", request.address)
        };
        let result = Box::pin(self.page(request, endpoint, &mut observation)).await;
        let mut cause = None;
        let reply = match result {
            Ok(PageOutcome { reply, outcome, audit }) => {
                observation.outcome = outcome;
                if audit == PageAudit::Pending {
                    // Best effort: the log has the line even if the store is too busy for the record.
                    let _ = self.store.append_audit(observation.to_line(), Durability::Grouped).await;
                }
                reply
            }
            Err(error) => {
                let (code, reply) = (error.code(), error.reply());
                observation.outcome = code;
                observation.code = Some(code);
                self.tally.count(TallyKey::of_address(request.address), code);
                if let PageError::Store(fault) = error {
                    cause = fault.cause;
                }
                reply
            }
        };
        observation.status = Some(reply.status);
        observation.micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.observer.on_call(&observation, cause.as_deref());
        reply
    }

    async fn page(
        &self,
        request: &OAuthRequest<'_>,
        endpoint: PageEndpoint,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        self.take_rate(&["address", "page", &address_key(request)], PAGES_PER_ADDRESS)
            .map_err(PageError::RateLimited)?;
        match endpoint {
            PageEndpoint::Authorize => self.authorize(request, observation).await,
            PageEndpoint::Login => self.login(request, observation).await,
            PageEndpoint::Consent => self.decide(request, observation).await,
            PageEndpoint::Account => self.account(request, observation).await,
            PageEndpoint::EndGrant => self.end_own_grant(request, observation).await,
            PageEndpoint::Logout => self.logout(request, observation).await,
            PageEndpoint::Setup => self.setup(request, observation).await,
        }
    }

    /// The form of a page of ours, sent by the browser that got the page.
    pub(crate) async fn own_form(&self, request: &OAuthRequest<'_>) -> Result<(Browser, FormParameters), PageError> {
        let form = Some(request).filter(|request| request.is_form() && request.query.is_none_or(str::is_empty));
        let form = form.and_then(|request| FormParameters::parse(request.body).ok());
        let Some(form) = form else {
            return Err(PageError::bad_request("Load the page again and repeat what you did."));
        };
        let browser = self.browser(request).await?;
        // A browser that says that another site has caused this is believed.
        let is_ours = matches!(request.fetch_site, None | Some("same-origin"));
        if !is_ours || !browser.accepts(form.get("form_token")) {
            return Err(PageError::foreign_form());
        }
        Ok((browser, form))
    }
}

/// A multiple of the token requests of a client.
const PAGES_PER_ADDRESS: u32 = 10;

pub(crate) fn address_key(request: &OAuthRequest<'_>) -> String {
    frontdesk_engine::limits::ip_prefix::ip_prefix(request.address).to_string()
}

/// Who is recorded: a client that acts for a user, or a user at a page of ours.
pub(crate) fn caller(client: &str, user: &str, tenant: Option<&TenantId>, scopes: Scopes) -> Arc<Caller> {
    Arc::new(Caller {
        client: ClientId::new(client),
        subject: user.into(),
        tenants: tenant.into_iter().cloned().collect(),
        scopes,
        authenticated_at: None,
    })
}
