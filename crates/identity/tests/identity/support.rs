//! A server with a registry in memory, a settable clock and fixed random bytes.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use frontdesk_engine::limits::tally::Tally;
use frontdesk_engine::model::caller::{Caller, ClientId, Scope, Scopes, TenantId};
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::http_client::{HttpClient, NoHttpClient};
use frontdesk_engine::ports::registry::Client;
use frontdesk_engine::ports::{Identity, Random};
use frontdesk_engine::seal::sha256;
use frontdesk_identity::{
    Dependencies, EmbeddedServer, LoginSettings, OAuthRequest, OAuthSettings, ProtectedResource, ScopeAccess, ScopeInfo,
};
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock};

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

/// Fills with 1, then with 2, and so on.
#[derive(Default)]
pub(crate) struct Counting(AtomicU8);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::SeqCst).wrapping_add(1));
    }
}

pub(crate) struct Bench {
    pub(crate) server: EmbeddedServer,
    pub(crate) registry: Arc<MemoryStore>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) log: Arc<ObservedCalls>,
    pub(crate) records: Arc<MemoryStore>,
    pub(crate) tally: Arc<Tally>,
}

pub(crate) fn bench() -> Bench {
    bench_with(1000, 60)
}

pub(crate) fn bench_with(cache_milliseconds: u64, token_requests_per_minute: u32) -> Bench {
    let random = Arc::new(Counting::default());
    bench_of(cache_milliseconds, token_requests_per_minute, LoginSettings::default(), random, Arc::new(NoHttpClient))
}

pub(crate) fn bench_of(
    cache_milliseconds: u64,
    token_requests_per_minute: u32,
    login: LoginSettings,
    random: Arc<dyn Random>,
    http_client: Arc<dyn HttpClient>,
) -> Bench {
    let registry = Arc::new(MemoryStore::with_tenants(["north", "south"]));
    let clock = Arc::new(TestClock::at(START));
    let log = Arc::new(ObservedCalls::default());
    let records = Arc::new(MemoryStore::default());
    let tally = Arc::new(Tally::default());
    registry.state().clients = vec![
        client(ID, SECRET, "north", "amcp:inventory:read amcp:leads:read amcp:leads:write"),
        client(OTHER_ID, OTHER_SECRET, "south", "amcp:leads:read"),
    ];
    let parts = Dependencies {
        registry: registry.clone(),
        login_records: registry.clone(),
        http_client,
        clock: clock.clone(),
        random,
        observer: log.clone(),
        store: records.clone(),
        tally: tally.clone(),
    };
    let settings = OAuthSettings {
        issuer: "https://desk.example".into(),
        lifetime_seconds: 300,
        cache_ttl: Duration::from_millis(cache_milliseconds),
        token_requests_per_minute,
        operator_days: 30,
        login,
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
        groups: Vec::new(),
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
        scope_infos: scopes.iter().map(|scope| scope_info(scope)).collect(),
    }
}

fn scope_info(scope: &str) -> ScopeInfo {
    let is_reading = scope.ends_with(":read");
    let access = match is_reading {
        _ if scope.contains(":fni:") => ScopeAccess::Sensitive,
        true => ScopeAccess::Read,
        false => ScopeAccess::Change,
    };
    ScopeInfo { scope: Scope::new(scope), words: format!("words of {scope}"), access, is_reading }
}

impl Bench {
    pub(crate) fn advance(&self, millis: i64) {
        self.clock.advance(millis);
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
        cookies: &[],
        fetch_site: None,
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
