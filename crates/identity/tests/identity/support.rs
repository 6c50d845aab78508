//! A server with a registry in memory, a settable clock and fixed random bytes.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use frontdesk_engine::limits::tally::Tally;
use frontdesk_engine::model::caller::{Caller, ClientId, Scope, Scopes, TenantId};
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::registry::{Changed, Client, Registry, Tenant, Token};
use frontdesk_engine::ports::{Clock, Identity, Observer, Random};
use frontdesk_engine::seal::sha256;
use frontdesk_identity::{Dependencies, EmbeddedServer, OAuthRequest, OAuthSettings, ProtectedResource};

use crate::audit_store::AuditStore;

pub(crate) const START: i64 = 1_790_000_000_000;
pub(crate) const ID: &str = "cli_north";
pub(crate) const SECRET: &str = "fds_north";
pub(crate) const OTHER_ID: &str = "cli_south";
pub(crate) const OTHER_SECRET: &str = "fds_south";
pub(crate) const RESOURCE: &str = "https://desk.example/mcp/automotive";
pub(crate) const SECOND_RESOURCE: &str = "https://desk.example/mcp/second";
pub(crate) const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// The first token from the fixed random bytes.
pub(crate) const FIRST_TOKEN: &str = "fdt_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";

/// The form that gets a token for `amcp:inventory:read`.
pub(crate) const GRANT: &str = "grant_type=client_credentials&scope=amcp%3Ainventory%3Aread";

#[derive(Default)]
pub(crate) struct State {
    pub(crate) clients: Vec<Client>,
    pub(crate) tokens: Vec<Token>,
    /// The calls of the registry, in order.
    pub(crate) calls: Vec<&'static str>,
    /// The audit records of changes, in order.
    pub(crate) records: Vec<String>,
    pub(crate) down: bool,
    /// A concurrent change of the client just before its token is stored.
    pub(crate) meanwhile: Option<Meanwhile>,
}

pub(crate) enum Meanwhile {
    Revoked,
    Rotated,
}

#[derive(Default)]
pub(crate) struct MemoryRegistry(Mutex<State>);

impl MemoryRegistry {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn open(&self, call: &'static str) -> Option<MutexGuard<'_, State>> {
        let mut state = self.state();
        state.calls.push(call);
        (!state.down).then_some(state)
    }
}

fn down() -> Fault {
    Fault::unavailable("disk on fire")
}

fn end_client(state: &mut State, id: &ClientId, at: Millis) {
    for client in state.clients.iter_mut().filter(|client| client.id == *id) {
        client.revoked_at = Some(at);
    }
    state.tokens.retain(|token| token.client != *id);
}

fn change_secret(state: &mut State, id: &ClientId, secret: [u8; 32]) {
    for client in state.clients.iter_mut().filter(|client| client.id == *id) {
        client.secret = secret;
    }
    state.tokens.retain(|token| token.client != *id);
}

impl Registry for MemoryRegistry {
    fn tenants(&self) -> Future<'_, Result<Vec<Tenant>, Fault>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn add_tenant(&self, _tenant: Tenant, _record: String) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(async { Ok(Changed::Nothing) })
    }

    fn clients(&self) -> Future<'_, Result<Vec<Client>, Fault>> {
        Box::pin(async { Ok(self.open("clients").ok_or_else(down)?.clients.clone()) })
    }

    fn client<'a>(&'a self, id: &'a ClientId) -> Future<'a, Result<Option<Client>, Fault>> {
        Box::pin(async {
            Ok(self.open("client").ok_or_else(down)?.clients.iter().find(|client| client.id == *id).cloned())
        })
    }

    fn add_client(&self, client: Client, record: String) -> Future<'_, Result<Changed, Fault>> {
        Box::pin(async {
            let mut state = self.open("add_client").ok_or_else(down)?;
            state.clients.push(client);
            state.records.push(record);
            Ok(Changed::Done)
        })
    }

    fn rotate_client<'a>(
        &'a self,
        id: &'a ClientId,
        secret: [u8; 32],
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(async move {
            let mut state = self.open("rotate_client").ok_or_else(down)?;
            state.records.push(record);
            change_secret(&mut state, id, secret);
            Ok(Changed::Done)
        })
    }

    fn revoke_client<'a>(&'a self, id: &'a ClientId, at: Millis, record: String) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(async move {
            let mut state = self.open("revoke_client").ok_or_else(down)?;
            end_client(&mut state, id, at);
            state.records.push(record);
            Ok(Changed::Done)
        })
    }

    fn token(&self, hash: [u8; 32]) -> Future<'_, Result<Option<Token>, Fault>> {
        Box::pin(async move {
            Ok(self.open("token").ok_or_else(down)?.tokens.iter().find(|token| token.hash == hash).cloned())
        })
    }

    fn add_token(&self, token: Token, now: Millis, record: String) -> Future<'_, Result<(), Fault>> {
        Box::pin(async move {
            let mut state = self.open("add_token").ok_or_else(down)?;
            match state.meanwhile {
                Some(Meanwhile::Revoked) => end_client(&mut state, &token.client, now),
                Some(Meanwhile::Rotated) => change_secret(&mut state, &token.client, sha256(b"fds_new")),
                None => {}
            }
            state.tokens.push(token);
            state.records.push(record);
            Ok(())
        })
    }

    fn revoke_token<'a>(
        &'a self,
        hash: [u8; 32],
        client: &'a ClientId,
        record: String,
    ) -> Future<'a, Result<Changed, Fault>> {
        Box::pin(async move {
            let mut state = self.open("revoke_token").ok_or_else(down)?;
            let before = state.tokens.len();
            state.tokens.retain(|token| token.hash != hash || token.client != *client);
            if state.tokens.len() == before {
                return Ok(Changed::Nothing);
            }
            state.records.push(record);
            Ok(Changed::Done)
        })
    }
}

pub(crate) struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

/// Fills with 1, then with 2, and so on.
#[derive(Default)]
pub(crate) struct Counting(AtomicU8);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::SeqCst).wrapping_add(1));
    }
}

/// Collects the log lines.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Mutex<Vec<String>>);

impl Observer for Log {
    fn on_call(&self, observation: &Observation, cause: Option<&str>) {
        self.0.lock().unwrap().push(format!("{} {}", observation.to_line(), cause.unwrap_or("-")));
    }
}

pub(crate) struct Bench {
    pub(crate) server: EmbeddedServer,
    pub(crate) registry: Arc<MemoryRegistry>,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) log: Arc<Log>,
    pub(crate) records: Arc<AuditStore>,
    pub(crate) tally: Arc<Tally>,
}

pub(crate) fn bench() -> Bench {
    bench_with(1000, 60)
}

pub(crate) fn bench_with(cache_milliseconds: u64, token_requests_per_minute: u32) -> Bench {
    let registry = Arc::new(MemoryRegistry::default());
    let clock = Arc::new(SetClock(AtomicI64::new(START)));
    let log = Arc::new(Log::default());
    let records = Arc::new(AuditStore::default());
    let tally = Arc::new(Tally::default());
    registry.state().clients = vec![
        client(ID, SECRET, "north", "amcp:inventory:read amcp:leads:read amcp:leads:write"),
        client(OTHER_ID, OTHER_SECRET, "south", "amcp:leads:read"),
    ];
    let parts = Dependencies {
        registry: registry.clone(),
        clock: clock.clone(),
        random: Arc::new(Counting::default()),
        observer: log.clone(),
        store: records.clone(),
        tally: tally.clone(),
    };
    let settings = OAuthSettings {
        issuer: "https://desk.example".into(),
        lifetime_seconds: 300,
        cache_ttl: Duration::from_millis(cache_milliseconds),
        token_requests_per_minute,
    };
    let first =
        resource("/mcp/automotive", "Automotive", &["amcp:inventory:read", "amcp:leads:read", "amcp:leads:write"]);
    let second = resource("/mcp/second", "Second", &["amcp:leads:read", "other:read"]);
    let server = EmbeddedServer::new(parts, settings, vec![first, second]);
    Bench { server, registry, clock, log, records, tally }
}

pub(crate) fn client(id: &str, secret: &str, tenant: &str, scopes: &str) -> Client {
    Client {
        id: ClientId::new(id),
        name: id.to_owned(),
        secret: sha256(secret.as_bytes()),
        tenants: vec![TenantId::parse(tenant).unwrap()],
        scopes: Scopes::parse(scopes).unwrap(),
        created_at: Millis(START),
        revoked_at: None,
    }
}

fn resource(path: &str, name: &str, scopes: &[&str]) -> ProtectedResource {
    ProtectedResource {
        path: path.to_owned(),
        url: format!("https://desk.example{path}"),
        scopes: scopes.iter().map(|scope| Scope::new(*scope)).collect(),
        default_scope: Scope::new(scopes[0]),
        name: name.to_owned(),
    }
}

impl Bench {
    pub(crate) fn advance(&self, millis: i64) {
        self.clock.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sends a form as the first client, with HTTP Basic.
    pub(crate) async fn form(&self, path: &str, body: &str) -> Reply {
        self.form_as(ID, SECRET, path, body).await
    }

    pub(crate) async fn form_as(&self, id: &str, secret: &str, path: &str, body: &str) -> Reply {
        self.send(OAuthRequest { authorization: &[&basic(id, secret)], ..asked(path, body) }).await
    }

    pub(crate) async fn send(&self, asked: OAuthRequest<'_>) -> Reply {
        self.server.answer(asked).await.unwrap()
    }

    /// The first client's token with these parameters.
    pub(crate) async fn token(&self, body: &str) -> String {
        let reply = self.form("/token", body).await;
        let answer: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        answer["access_token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn identify(&self, token: &str, resource: &str) -> Result<Arc<Caller>, Fault> {
        self.server.identify(&Credential::Bearer(token.to_owned()), resource).await
    }
}

static TRACE: LazyLock<Trace> = LazyLock::new(|| Trace::new("trace-1"));

pub(crate) fn asked<'a>(path: &'a str, body: &'a str) -> OAuthRequest<'a> {
    OAuthRequest {
        method: "POST",
        path,
        query: None,
        content_type: Some("application/x-www-form-urlencoded"),
        authorization: &[],
        body: body.as_bytes(),
        address: ADDRESS,
        trace: &TRACE,
    }
}

pub(crate) fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")))
}

pub(crate) fn text(reply: &Reply) -> (u16, &str) {
    (reply.status, std::str::from_utf8(&reply.body).unwrap())
}

pub(crate) fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    let mut values = reply.headers.iter().filter(|(known, _)| *known == name);
    let value = values.next().map(|(_, value)| value.as_ref());
    assert!(values.next().is_none(), "{name} is sent twice");
    value
}

/// The OAuth error code of a response with this status.
pub(crate) fn error(reply: &Reply, status: u16) -> String {
    let answer: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(reply.status, status, "{answer}");
    answer["error"].as_str().unwrap().to_owned()
}
