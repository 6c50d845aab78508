//! The embedded authorization server: what it is made of and which of its paths answers what.
//! It stores nothing itself and trusts nothing about a request but its credentials.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frontdesk_engine::limits::rate::Rates;
use frontdesk_engine::limits::tally::{Tally, TallyKey};
use frontdesk_engine::model::caller::{Caller, Scope, Scopes};
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::ports::registry::{Client, Registry};
use frontdesk_engine::ports::{Clock, Durability, Observer, Random, Store};

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
    store: Arc<dyn Store>,
    tally: Arc<Tally>,
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
    /// Keeps the audit records of what clients were refused, or asked for in vain.
    pub store: Arc<dyn Store>,
    /// Counts what strangers were refused, and clients that ask too often.
    pub tally: Arc<Tally>,
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
            store: parts.store,
            tally: parts.tally,
            documents: Documents::new(&settings.issuer, &resources),
            cache: Cache::new(settings.cache),
            rates: Rates::default(),
            settings,
            resources,
        }
    }

    /// The same server under other settings. Budgets that are used up stay used up.
    pub fn renewed(&self, settings: Settings, resources: Vec<ProtectedResource>) -> EmbeddedServer {
        let parts = Parts {
            registry: Arc::clone(&self.registry),
            clock: Arc::clone(&self.clock),
            random: Arc::clone(&self.random),
            observer: Arc::clone(&self.observer),
            store: Arc::clone(&self.store),
            tally: Arc::clone(&self.tally),
        };
        EmbeddedServer { rates: self.rates.clone(), ..EmbeddedServer::new(parts, settings, resources) }
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
        let mut seen = self.sighting(asked, endpoint);
        let outcome = match self.admit(asked, endpoint).await {
            Ok(admitted) => {
                seen.caller = Some(Arc::new(caller(&admitted.client)));
                self.attend(endpoint, &admitted, &seen).await
            }
            Err(refusal) => {
                self.tally.count(TallyKey::of_address(asked.address), refusal.reason.error());
                Err(refusal)
            }
        };
        let cause = outcome.as_ref().err().and_then(|refusal| refusal.cause.as_deref());
        seen.outcome = word(&outcome);
        let reply = match &outcome {
            Ok(done) => done.reply.clone(),
            Err(refusal) => refusal.reply().code(refusal.reason.error()),
        };
        seen.status = Some(reply.status);
        seen.code = reply.code;
        seen.micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.observer.on_call(&seen, cause);
        reply
    }

    /// A client that has proven itself. What it asks for is on record however it ends: together with the
    /// change, by itself when nothing changed, and counted when it comes too often to be written each time.
    async fn attend(&self, endpoint: Endpoint, admitted: &Admitted, seen: &Observation) -> Result<Done, Refusal> {
        if let Err(refusal) = self.afford_client(endpoint, &admitted.client) {
            self.tally.count(TallyKey::Client(admitted.client.id.clone()), refusal.reason.error());
            return Err(refusal);
        }
        let outcome = match endpoint {
            Endpoint::Token => self.grant(admitted, seen).await,
            Endpoint::Revoke => self.revoke(admitted, seen).await,
        };
        if !matches!(outcome, Ok(Done { recorded: Recorded::WithTheChange, .. })) {
            let record = Observation { outcome: word(&outcome), ..seen.clone() }.to_line();
            // A store too busy to take it down is not made busier; the log has the line all the same.
            let _ = self.store.append_audit(record, Durability::Grouped).await;
        }
        outcome
    }

    fn sighting(&self, asked: &Asked<'_>, endpoint: Endpoint) -> Observation {
        Observation {
            method: Some(endpoint.word()),
            ..Observation::new(self.clock.now(), asked.trace.clone(), "identity", asked.address)
        }
    }
}

/// A request that was answered as asked.
pub(crate) struct Done {
    pub(crate) reply: Reply,
    pub(crate) recorded: Recorded,
}

/// Where the audit record of a request is.
pub(crate) enum Recorded {
    /// Committed in one transaction with what the request changed.
    WithTheChange,
    /// Nothing changed that it could have gone with.
    NotYet,
}

/// How a request ended, for the log and the audit.
fn word(outcome: &Result<Done, Refusal>) -> &'static str {
    match outcome {
        Ok(Done { recorded: Recorded::WithTheChange, .. }) => "ok",
        Ok(Done { recorded: Recorded::NotYet, .. }) => "not_found",
        Err(refusal) => refusal.reason.error(),
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
