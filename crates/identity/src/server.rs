//! The embedded authorization server: what it is made of and which of its paths answers what.
//! It stores nothing itself and trusts nothing about a request but its credentials.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frontdesk_engine::audit::Observation;
use frontdesk_engine::caller::{Caller, Scope, Scopes};
use frontdesk_engine::ports::{Clock, Observer, Random};
use frontdesk_engine::rate::Rates;
use frontdesk_engine::registry::{Client, Registry};
use frontdesk_engine::reply::Reply;

use crate::asked::Asked;
use crate::authenticate::Admitted;
use crate::cache::Cache;
use crate::metadata::Documents;
use crate::refusal::{Reason, Refusal};

pub(crate) const TOKEN: &str = "/token";
pub(crate) const REVOKE: &str = "/revoke";
pub(crate) const AUTHORIZE: &str = "/authorize";

/// Gives tokens to registered clients, and says whose a token is (`engine::ports::Identity`).
pub struct EmbeddedServer {
    pub(crate) registry: Arc<dyn Registry>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    observer: Arc<dyn Observer>,
    pub(crate) settings: Settings,
    pub(crate) resources: Vec<ProtectedResource>,
    documents: Documents,
    pub(crate) cache: Cache,
    pub(crate) rates: Rates,
}

/// What the server needs from outside.
pub struct Parts {
    pub registry: Arc<dyn Registry>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// Sees every request for a token or a revocation, with the cause of a failure on our side.
    pub observer: Arc<dyn Observer>,
}

#[derive(Debug, Clone)]
pub struct Settings {
    /// The public URL, without a trailing slash. Every URL published starts with it.
    pub issuer: String,
    /// How long a token is good for.
    pub lifetime_seconds: u32,
    /// How long a look-up is remembered, and so how long a revocation may take to bite: one second
    /// at most, also if this says more.
    pub cache: Duration,
    /// For each client, and ten times as many for each address; as many at once after a pause.
    pub token_requests_per_minute: u32,
}

/// One contract at one address, as OAuth sees it.
#[derive(Debug, Clone)]
pub struct ProtectedResource {
    /// Begins with a slash.
    pub path: String,
    /// The whole URL: what tokens are bound to, byte for byte.
    pub url: String,
    /// Every scope there is here.
    pub scopes: Vec<Scope>,
    /// What a client gets that asks for none.
    pub least: Scope,
    /// For people.
    pub name: String,
}

impl EmbeddedServer {
    /// The first resource is the one meant by clients that name none.
    pub fn new(parts: Parts, settings: Settings, resources: Vec<ProtectedResource>) -> EmbeddedServer {
        EmbeddedServer {
            registry: parts.registry,
            clock: parts.clock,
            random: parts.random,
            observer: parts.observer,
            documents: Documents::new(&settings.issuer, &resources),
            cache: Cache::new(settings.cache),
            rates: Rates::default(),
            settings,
            resources,
        }
    }

    /// Answers a request for one of this server's paths; `None` for any other. The answer to HEAD is
    /// that to GET: the transport leaves its body out.
    pub async fn answer(&self, asked: Asked<'_>) -> Option<Reply> {
        match asked.path {
            TOKEN => Some(self.serve(&asked, Endpoint::Token).await),
            REVOKE => Some(self.serve(&asked, Endpoint::Revoke).await),
            AUTHORIZE => Some(authorize(asked.method)),
            path => self.documents.answer(asked.method, path),
        }
    }

    async fn serve(&self, asked: &Asked<'_>, endpoint: Endpoint) -> Reply {
        if asked.method == "OPTIONS" {
            // No permission for other origins: a secret has no business in a web page.
            return Reply::empty(204).header("Allow", "POST, OPTIONS");
        }
        let began = Instant::now();
        let (client, outcome) = match self.admit(asked, endpoint).await {
            Ok(admitted) => (Some(caller(&admitted.client)), self.perform(endpoint, &admitted).await),
            Err(refusal) => (None, Err(refusal)),
        };
        self.see(asked, endpoint, client, &outcome, began);
        outcome.unwrap_or_else(|refusal| refusal.reply())
    }

    async fn perform(&self, endpoint: Endpoint, admitted: &Admitted) -> Result<Reply, Refusal> {
        match endpoint {
            Endpoint::Token => self.grant(admitted).await,
            Endpoint::Revoke => self.revoke(admitted).await,
        }
    }

    fn see(
        &self,
        asked: &Asked<'_>,
        endpoint: Endpoint,
        caller: Option<Caller>,
        outcome: &Result<Reply, Refusal>,
        began: Instant,
    ) {
        let (word, cause) = match outcome {
            Ok(_) => ("ok", None),
            Err(refusal) => (refusal.reason.error(), refusal.cause.as_deref()),
        };
        let observation = Observation {
            at: self.clock.now(),
            trace: asked.trace.to_owned(),
            contract: "identity",
            address: asked.address,
            caller,
            method: Some(endpoint.word().to_owned()),
            tool: None,
            tenant: None,
            ids: Vec::new(),
            count: None,
            outcome: word,
            personal: false,
            recorded: false,
            micros: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        self.observer.seen(&observation, cause);
    }
}

/// The endpoints at which a client proves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Token,
    Revoke,
}

impl Endpoint {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Endpoint::Token => "token",
            Endpoint::Revoke => "revoke",
        }
    }
}

/// Nothing interactive is served yet. The refusal is shown and never redirected, because no redirect
/// address has been registered that could be trusted (A6-02).
fn authorize(method: &str) -> Reply {
    let refusal = match method {
        "GET" | "HEAD" | "POST" => Refusal::new(
            Reason::UnsupportedResponseType,
            "Nobody can log in here: get a token from the token endpoint with grant_type=client_credentials.",
        ),
        _ => Refusal::new(Reason::WrongVerb("GET, HEAD, POST"), "Send the request by GET or POST."),
    };
    refusal.reply()
}

fn caller(client: &Client) -> Caller {
    Caller {
        client: client.id.clone(),
        subject: client.id.as_str().into(),
        tenants: client.tenants.clone(),
        scopes: Scopes::default(),
        authenticated_at: None,
    }
}
