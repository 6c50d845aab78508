//! The embedded authorization server: its settings, its dependencies and the dispatch of its paths. It stores nothing
//! itself, and trusts nothing in a request but its credentials.

mod authenticate;
mod error;
mod form;
mod grant;
mod identify;
mod login_limit;
mod metadata;
mod request;
mod revoke;
mod step_up;
mod token_cache;

use std::sync::Arc;
use std::time::{Duration, Instant};

use frontdesk_engine::limits::address_locks::AddressLocks;
use frontdesk_engine::limits::rate::Rates;
use frontdesk_engine::limits::tally::{Tally, TallyKey};
use frontdesk_engine::model::caller::{Caller, Scope, Scopes};
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::ports::registry::{Client, Registry};
use frontdesk_engine::ports::{Clock, Durability, Observer, Random, Store};

pub(crate) use identify::invalid_token;
pub use request::OAuthRequest;
pub use step_up::{LoginToken, LoginTokenError, LoginTokenRequest};

use authenticate::ClientRequest;
use error::{OAuthError, OAuthErrorKind};
use metadata::MetadataDocuments;
use token_cache::TokenCache;

pub(crate) const TOKEN: &str = "/token";
pub(crate) const REVOKE: &str = "/revoke";
pub(crate) const AUTHORIZE: &str = "/authorize";

/// Issues tokens to registered clients, and identifies the caller of a token (`engine::ports::Identity`).
pub struct EmbeddedServer {
    pub(crate) registry: Arc<dyn Registry>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    observer: Arc<dyn Observer>,
    store: Arc<dyn Store>,
    tally: Arc<Tally>,
    pub(crate) settings: OAuthSettings,
    pub(crate) resources: Vec<ProtectedResource>,
    metadata: MetadataDocuments,
    pub(crate) cache: TokenCache,
    pub(crate) rates: Rates,
    /// Of addresses that have failed too often.
    pub(crate) turns: AddressLocks,
}

/// The ports that the server uses.
pub struct Dependencies {
    pub registry: Arc<dyn Registry>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// Gets every token or revocation request, with the cause of an internal error.
    pub observer: Arc<dyn Observer>,
    /// Stores the audit records of requests that failed or changed nothing.
    pub store: Arc<dyn Store>,
    /// Counts failed authentications and rate-limited clients.
    pub tally: Arc<Tally>,
}

#[derive(Debug, Clone)]
pub struct OAuthSettings {
    /// The public URL, without a trailing slash. Every published URL starts with it.
    pub issuer: String,
    /// How long a token is valid.
    pub lifetime_seconds: u32,
    /// How long a token lookup is cached, which delays a revocation by as much. Capped at one second.
    pub cache_ttl: Duration,
    /// The rate limit and burst of a client; an IP address may fail ten times as often.
    pub token_requests_per_minute: u32,
}

/// A mount, as OAuth sees it.
#[derive(Debug, Clone)]
pub struct ProtectedResource {
    /// Begins with a slash.
    pub path: String,
    /// The full URL, to which tokens are bound byte for byte.
    pub url: String,
    /// Every scope of the mount.
    pub scopes: Vec<Scope>,
    /// The scope of a token whose request names none.
    pub default_scope: Scope,
    /// A name for people.
    pub name: String,
}

impl EmbeddedServer {
    /// The first resource is the default for clients that name none.
    pub fn new(
        dependencies: Dependencies,
        settings: OAuthSettings,
        resources: Vec<ProtectedResource>,
    ) -> EmbeddedServer {
        EmbeddedServer {
            registry: dependencies.registry,
            clock: dependencies.clock,
            random: dependencies.random,
            observer: dependencies.observer,
            store: dependencies.store,
            tally: dependencies.tally,
            metadata: MetadataDocuments::new(&settings.issuer, &resources),
            cache: TokenCache::new(settings.cache_ttl),
            rates: Rates::default(),
            turns: AddressLocks::default(),
            settings,
            resources,
        }
    }

    /// The same server with other settings. Rate limits keep their state.
    pub fn reconfigured(&self, settings: OAuthSettings, resources: Vec<ProtectedResource>) -> EmbeddedServer {
        let dependencies = Dependencies {
            registry: Arc::clone(&self.registry),
            clock: Arc::clone(&self.clock),
            random: Arc::clone(&self.random),
            observer: Arc::clone(&self.observer),
            store: Arc::clone(&self.store),
            tally: Arc::clone(&self.tally),
        };
        EmbeddedServer {
            rates: self.rates.clone(),
            turns: self.turns.clone(),
            ..EmbeddedServer::new(dependencies, settings, resources)
        }
    }

    /// Answers a request to one of this server's paths; `None` for any other path. HEAD is answered like GET: the
    /// transport drops the body.
    pub async fn answer(&self, request: OAuthRequest<'_>) -> Option<Reply> {
        match request.path {
            TOKEN => Some(self.serve(&request, OAuthEndpoint::Token).await),
            REVOKE => Some(self.serve(&request, OAuthEndpoint::Revoke).await),
            AUTHORIZE => Some(authorize(request.method)),
            path => self.metadata.answer(request.method, path),
        }
    }

    async fn serve(&self, request: &OAuthRequest<'_>, endpoint: OAuthEndpoint) -> Reply {
        if request.method == "OPTIONS" {
            // No CORS headers: a client secret must not be used from a web page.
            return Reply::empty(204).header("Allow", "POST, OPTIONS");
        }
        let started = Instant::now();
        let mut observation = self.observation(request, endpoint);
        let outcome = match self.validate_request(request, endpoint).await {
            Ok(validated) => {
                observation.caller = Some(Arc::new(caller(&validated.client)));
                self.handle(endpoint, &validated, &observation).await
            }
            Err(error) => {
                self.tally.count(TallyKey::of_address(request.address), error.kind.code());
                Err(error)
            }
        };
        let cause = outcome.as_ref().err().and_then(|error| error.cause.as_deref());
        observation.outcome = outcome_label(&outcome);
        let reply = match &outcome {
            Ok(outcome) => outcome.reply.clone(),
            Err(error) => error.reply().code(error.kind.code()),
        };
        observation.status = Some(reply.status);
        observation.code = reply.code;
        observation.micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.observer.on_call(&observation, cause);
        reply
    }

    /// Handles the request of an authenticated client. Every request is audited: in the transaction of its change, in a
    /// record of its own if nothing changed, and as a count if the client is rate limited.
    async fn handle(
        &self,
        endpoint: OAuthEndpoint,
        request: &ClientRequest,
        observation: &Observation,
    ) -> Result<EndpointOutcome, OAuthError> {
        if let Err(error) = self.check_client_rate(endpoint, &request.client) {
            self.tally.count(TallyKey::Client(request.client.id.clone()), error.kind.code());
            return Err(error);
        }
        let outcome = match endpoint {
            OAuthEndpoint::Token => self.grant(request, observation).await,
            OAuthEndpoint::Revoke => self.revoke(request, observation).await,
        };
        if !matches!(outcome, Ok(EndpointOutcome { audit: AuditStatus::Committed, .. })) {
            let record = Observation { outcome: outcome_label(&outcome), ..observation.clone() }.to_line();
            // Best effort: the log has the line even if the store is too busy for the record.
            let _ = self.store.append_audit(record, Durability::Grouped).await;
        }
        outcome
    }

    fn observation(&self, request: &OAuthRequest<'_>, endpoint: OAuthEndpoint) -> Observation {
        Observation {
            method: Some(endpoint.as_str()),
            ..Observation::new(self.clock.now(), request.trace.clone(), "identity", request.address)
        }
    }
}

/// A successful request.
pub(crate) struct EndpointOutcome {
    pub(crate) reply: Reply,
    pub(crate) audit: AuditStatus,
}

/// Where the audit record of a request is.
pub(crate) enum AuditStatus {
    /// Committed in one transaction with the change.
    Committed,
    /// Not written yet, because nothing changed.
    Pending,
}

/// The outcome for the log and the audit.
fn outcome_label(outcome: &Result<EndpointOutcome, OAuthError>) -> &'static str {
    match outcome {
        Ok(EndpointOutcome { audit: AuditStatus::Committed, .. }) => "ok",
        Ok(EndpointOutcome { audit: AuditStatus::Pending, .. }) => "not_found",
        Err(error) => error.kind.code(),
    }
}

/// The endpoints at which a client authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OAuthEndpoint {
    Token,
    Revoke,
}

impl OAuthEndpoint {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            OAuthEndpoint::Token => "token",
            OAuthEndpoint::Revoke => "revoke",
        }
    }
}

/// No interactive flow is supported. The error is never sent by redirect, because clients have no registered redirect
/// URI (A6-02).
fn authorize(method: &str) -> Reply {
    let error = match method {
        "GET" | "HEAD" | "POST" => OAuthError::new(
            OAuthErrorKind::UnsupportedResponseType,
            "Interactive login is not supported. Request a token from the token endpoint with grant_type=client_credentials.",
        ),
        _ => OAuthError::new(OAuthErrorKind::MethodNotAllowed("GET, HEAD, POST"), "Send a GET or POST request."),
    };
    error.reply()
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
