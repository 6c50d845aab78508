//! The embedded authorization server: its settings, its dependencies and the dispatch of its paths. It stores nothing
//! itself, and trusts nothing in a request but its credentials.

mod account;
mod authenticate;
mod authorize;
mod client_assertion;
mod client_document;
mod code_grant;
mod consent;
mod error;
mod form;
mod grant;
mod grants;
mod identify;
mod interactive_client;
mod login;
mod login_client_admin;
mod login_limit;
mod metadata;
mod operator_token;
mod page_endpoint;
mod pages;
mod redirect;
mod refresh;
mod registration;
mod request;
mod revoke;
mod session;
mod settings;
mod setup;
mod token_cache;

use std::sync::Arc;
use std::time::Instant;

use frontdesk_engine::limits::address_locks::AddressLocks;
use frontdesk_engine::limits::rate::Rates;
use frontdesk_engine::limits::tally::{Tally, TallyKey};
use frontdesk_engine::model::caller::{Caller, ClientId, Scopes};
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::ports::http_client::HttpClient;
use frontdesk_engine::ports::login_records::LoginRecords;
use frontdesk_engine::ports::registry::Registry;
use frontdesk_engine::ports::{Clock, Durability, Observer, Random, Store};

pub use client_document::ClientDocuments;
pub(crate) use identify::invalid_token;
pub use login_client_admin::{LoginClientView, NewLoginClient, check_redirect_uri};
pub use operator_token::{IssuedToken, ListedToken, OperatorTokenError, OperatorTokenRequest};
pub use request::OAuthRequest;
pub use settings::{LoginSettings, OAuthSettings, ProtectedResource, Registration, ScopeAccess, ScopeInfo};

use authenticate::ClientRequest;
use client_document::DocumentCache;
use error::{OAuthError, OAuthErrorKind};
use metadata::MetadataDocuments;
use page_endpoint::PageEndpoint;
use token_cache::TokenCache;

use crate::people::UserDirectory;

pub(crate) const TOKEN: &str = "/token";
pub(crate) const REVOKE: &str = "/revoke";
pub(crate) const AUTHORIZE: &str = "/authorize";
pub(crate) const REGISTER: &str = "/register";

/// Lets people log in and decide, issues tokens to clients, and identifies the caller of a token (`engine::ports::Identity`).
pub struct EmbeddedServer {
    pub(crate) registry: Arc<dyn Registry>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    http_client: Arc<dyn HttpClient>,
    observer: Arc<dyn Observer>,
    store: Arc<dyn Store>,
    tally: Arc<Tally>,
    users: UserDirectory,
    documents: Arc<DocumentCache>,
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
    /// People and what they have allowed.
    pub login_records: Arc<dyn LoginRecords>,
    /// Fetches documents that describe clients.
    pub http_client: Arc<dyn HttpClient>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// Gets every token or revocation request, with the cause of an internal error.
    pub observer: Arc<dyn Observer>,
    /// Stores the audit records of requests that failed or changed nothing.
    pub store: Arc<dyn Store>,
    /// Counts failed authentications and rate-limited clients.
    pub tally: Arc<Tally>,
}

impl EmbeddedServer {
    /// The first resource is the default for clients that name none.
    pub fn new(
        dependencies: Dependencies,
        settings: OAuthSettings,
        resources: Vec<ProtectedResource>,
    ) -> EmbeddedServer {
        let users = UserDirectory::new(
            dependencies.login_records,
            Arc::clone(&dependencies.registry),
            Arc::clone(&dependencies.clock),
            Arc::clone(&dependencies.random),
        );
        EmbeddedServer {
            users,
            documents: Arc::default(),
            http_client: dependencies.http_client,
            registry: dependencies.registry,
            clock: dependencies.clock,
            random: dependencies.random,
            observer: dependencies.observer,
            store: dependencies.store,
            tally: dependencies.tally,
            metadata: MetadataDocuments::new(&settings, &resources),
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
            login_records: Arc::clone(&self.users.records),
            http_client: Arc::clone(&self.http_client),
            clock: Arc::clone(&self.clock),
            random: Arc::clone(&self.random),
            observer: Arc::clone(&self.observer),
            store: Arc::clone(&self.store),
            tally: Arc::clone(&self.tally),
        };
        EmbeddedServer {
            rates: self.rates.clone(),
            turns: self.turns.clone(),
            users: self.users.clone(),
            documents: Arc::clone(&self.documents),
            ..EmbeddedServer::new(dependencies, settings, resources)
        }
    }

    /// The same with another HTTP client.
    pub fn with_http_client(self, http_client: Arc<dyn HttpClient>) -> EmbeddedServer {
        EmbeddedServer { http_client, ..self }
    }

    pub fn users(&self) -> &UserDirectory {
        &self.users
    }

    pub(crate) fn records(&self) -> &Arc<dyn LoginRecords> {
        &self.users.records
    }

    /// Answers a request to one of this server's paths; `None` for any other path. HEAD is answered like GET: the
    /// transport drops the body.
    pub async fn answer(&self, request: OAuthRequest<'_>) -> Option<Reply> {
        match request.path {
            TOKEN => Some(self.serve(&request, OAuthEndpoint::Token).await),
            REVOKE => Some(self.serve(&request, OAuthEndpoint::Revoke).await),
            REGISTER if self.settings.login.registration == Registration::On => {
                Some(self.serve(&request, OAuthEndpoint::Register).await)
            }
            pages::STYLE_PATH if matches!(request.method, "GET" | "HEAD") => Some(pages::style()),
            path => match PageEndpoint::at(path) {
                Some(endpoint) => Some(self.serve_page(&request, endpoint).await),
                None => self.metadata.answer(request.method, path),
            },
        }
    }

    async fn serve(&self, request: &OAuthRequest<'_>, endpoint: OAuthEndpoint) -> Reply {
        if request.method == "OPTIONS" {
            // No CORS headers: a client secret must not be used from a web page.
            return Reply::empty(204).header("Allow", "POST, OPTIONS");
        }
        let started = Instant::now();
        let mut observation = self.observation(request, endpoint);
        let outcome = match endpoint {
            OAuthEndpoint::Register => self.handle_registration(request, &observation).await,
            OAuthEndpoint::Token | OAuthEndpoint::Revoke => match self.validate_request(request, endpoint).await {
                Ok(validated) => {
                    observation.caller = Some(Arc::new(caller(validated.client.id())));
                    self.handle(endpoint, &validated, &observation).await
                }
                Err(error) => Err(self.counted(request, error)),
            },
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

    /// Failed requests of nobody in particular are counted by address instead of recorded.
    fn counted(&self, request: &OAuthRequest<'_>, error: OAuthError) -> OAuthError {
        self.tally.count(TallyKey::of_address(request.address), error.kind.code());
        error
    }

    async fn handle_registration(
        &self,
        request: &OAuthRequest<'_>,
        observation: &Observation,
    ) -> Result<EndpointOutcome, OAuthError> {
        if request.method != "POST" {
            let error = OAuthErrorKind::MethodNotAllowed("POST, OPTIONS");
            return Err(OAuthError::new(error, "Send the metadata of the client in a POST request."));
        }
        self.register(request, observation).await.map_err(|error| self.counted(request, error))
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
            self.tally.count(TallyKey::Client(request.client.id().clone()), error.kind.code());
            return Err(error);
        }
        let outcome = match endpoint {
            OAuthEndpoint::Token => self.grant(request, observation).await,
            OAuthEndpoint::Revoke => self.revoke(request, observation).await,
            OAuthEndpoint::Register => Err(OAuthError::invalid_client()),
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
    /// At which a client does not authenticate.
    Register,
}

impl OAuthEndpoint {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            OAuthEndpoint::Token => "token",
            OAuthEndpoint::Revoke => "revoke",
            OAuthEndpoint::Register => "register",
        }
    }
}

fn caller(client: &ClientId) -> Caller {
    Caller {
        client: client.clone(),
        subject: client.itself(),
        tenants: Vec::new(),
        scopes: Scopes::default(),
        authenticated_at: None,
    }
}
