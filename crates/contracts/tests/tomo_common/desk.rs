//! A desk with one TOMO mount for some businesses, on a store in memory, SQLite or PostgreSQL, and with a clock that a test
//! moves. What it serves and what the businesses have is for the test binary to say.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::partner::{ErrorStatus, IntentText, PartnerSettings, PartnerSource, built_in_intent};
use frontdesk_contracts::tomo;
use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::import::{FeedText, ImportRow, ImportSession, RowVerdict};
use frontdesk_engine::limits::inflight::Inflight;
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::model::incoming::{Credential, Incoming, RequestBody, Verb};
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, Item, Outcome};
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::http_client::NoHttpClient;
use frontdesk_engine::ports::registry::{Registry, Tenant};
use frontdesk_engine::ports::{Commit, Committed, Identity, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::{Caller, Contract, Fault, FaultKind, Reply, TenantId, serve};
use frontdesk_store::{Address, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use frontdesk_testkit::callers::caller;
use frontdesk_testkit::databases::PostgresDatabase;
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock, TestFolder, TestRandom};
use serde_json::{Map, Value, json};

/// 2027-02-20T06:00:00Z, a Saturday; 11:30 in India.
pub(crate) const NOW: Millis = Millis(1_803_103_200_000);

/// What each tenant has.
pub(crate) type Seeds = Vec<(&'static str, Vec<Step>)>;

/// Whom a call is for: the tenant, and live or sandbox.
pub(crate) type Partner = (&'static str, &'static str);

pub(crate) struct PartnerDesk {
    desk: Desk,
    mount: Mount,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) observed: Arc<ObservedCalls>,
    /// Where the data is, until the desk is dropped.
    _data: Box<dyn Send + Sync>,
}

pub(crate) fn settings(intent: &str) -> PartnerSettings {
    let text = built_in_intent(tomo::ID, intent).unwrap().to_owned();
    settings_with(IntentText { name: intent.to_owned(), text })
}

pub(crate) fn settings_with(intent: IntentText) -> PartnerSettings {
    let signals = [("time", 0.6), ("taste", 0.8), ("budget", 0.5), ("safety", 0.7)];
    PartnerSettings {
        company: "Monsoon Mobility Demo".to_owned(),
        partner_id: "demo_partner".to_owned(),
        intents: vec![intent],
        signals: signals.map(|(name, rating)| (name.to_owned(), rating)).to_vec(),
        service_area: ["560034", "Bengaluru", "Hyderabad"].map(str::to_owned).to_vec(),
        pricing_band: "good".to_owned(),
        callback: "https://tomo.example/api/v1/cpc/mcp_provider/demo_partner".to_owned(),
        source: PartnerSource::Own,
        error_status: ErrorStatus::Ok,
        public_url: "https://desk.example/mcp/tomo".to_owned(),
        keys: Default::default(),
        backend: None,
        manifest: Default::default(),
    }
}

impl PartnerDesk {
    /// On a store in memory, which the test may look into.
    pub(crate) fn open(contract: Contract, seeds: Seeds) -> (PartnerDesk, Arc<MemoryStore>) {
        let store = Arc::new(MemoryStore::default());
        for (tenant, steps) in seeds {
            store.seed(tenant, steps);
        }
        let clock = Arc::new(TestClock::at(NOW.0));
        (PartnerDesk::on(Arc::clone(&store) as Arc<dyn Store>, clock, contract, Box::new(())), store)
    }

    pub(crate) async fn on_sqlite(contract: Contract, seeds: Seeds) -> PartnerDesk {
        let (folder, clock) = (TestFolder::new(), Arc::new(TestClock::at(NOW.0)));
        let store = SqliteStore::open(SqliteOptions {
            path: folder.path().join("frontdesk.db"),
            master: SealKey::from_bytes([7; 32]),
            random: Arc::new(TestRandom::distinct()),
            clock: clock.clone(),
            tables: tomo::without_partner().tables,
            commit_wait: Duration::from_secs(60),
        });
        let store = Arc::new(store.unwrap());
        seed(store.as_ref(), store.as_ref(), seeds).await;
        PartnerDesk::on(store, clock, contract, Box::new(folder))
    }

    pub(crate) async fn on_postgres(contract: Contract, seeds: Seeds) -> PartnerDesk {
        let (database, clock) = (PostgresDatabase::create(), Arc::new(TestClock::at(NOW.0)));
        let store = PostgresStore::open(PostgresOptions {
            address: Address::parse(&database.url()).unwrap(),
            master: SealKey::from_bytes([7; 32]),
            random: Arc::new(TestRandom::distinct()),
            clock: clock.clone(),
            tables: tomo::without_partner().tables,
            commit_wait: Duration::from_secs(60),
        });
        let store = Arc::new(store.await.unwrap());
        seed(store.as_ref(), store.as_ref(), seeds).await;
        PartnerDesk::on(store, clock, contract, Box::new(database))
    }

    fn on(store: Arc<dyn Store>, clock: Arc<TestClock>, contract: Contract, data: Box<dyn Send + Sync>) -> PartnerDesk {
        let observed = Arc::new(ObservedCalls::default());
        let desk = Desk {
            store,
            identity: Arc::new(PartnerIdentity),
            clock: clock.clone(),
            random: Arc::new(TestRandom::distinct()),
            observer: observed.clone(),
            keys: Keys { cursor: SealKey::from_bytes([1; 32]) },
            rates: Rates::default(),
            inflight: Inflight::default(),
            tally: Default::default(),
            tenant_locks: Default::default(),
            task_queue: Default::default(),
            import_queue: Default::default(),
            changes: Default::default(),
            http_client: Arc::new(NoHttpClient),
            settings: DeskSettings {
                page_bytes: 1 << 20,
                reply_bytes: 4 << 20,
                calls: Budget { per_minute: 60_000, burst: 6_000 },
                deadline: Duration::from_secs(120),
            },
        };
        PartnerDesk { desk, mount: mount(contract), clock, observed, _data: data }
    }

    /// The payload, or the error object.
    pub(crate) async fn call(&self, partner: Partner, tool: &str, arguments: Value) -> Result<Value, Value> {
        let (tenant, scopes) = partner;
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 42, "method": "tools/call", "params": params});
        let reply: Reply = serve(&self.desk, &self.mount, incoming(format!("{tenant}/{scopes}"), message)).await;
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        if let Some(error) = body.get("error") {
            return Err(error.clone());
        }
        let content = body["result"]["content"].as_array().unwrap();
        assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")), "{body}");
        Ok(serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap())
    }

    pub(crate) async fn ok(&self, partner: Partner, tool: &str, arguments: Value) -> Value {
        self.call(partner, tool, arguments).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// The error object of a call that must fail.
    pub(crate) async fn error(&self, partner: Partner, tool: &str, arguments: Value) -> Value {
        match self.call(partner, tool, arguments).await {
            Err(error) => error,
            Ok(answer) => panic!("{tool} succeeded: {answer}"),
        }
    }

    /// Its code.
    pub(crate) async fn code(&self, partner: Partner, tool: &str, arguments: Value) -> String {
        let error = self.error(partner, tool, arguments).await;
        error["data"]["tomo_error_code"].as_str().unwrap().to_owned()
    }

    /// A tool of the operator.
    pub(crate) async fn operate(&self, tenant: &str, tool: &'static str, arguments: Value) -> Result<Value, Fault> {
        let origin = CallOrigin {
            caller: Arc::new(caller("operator", &[tenant], tomo::MANAGE)),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: Trace::new("trace"),
            import_id: None,
        };
        let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        let outcome = call_tool(&self.desk, &self.mount, &origin, OwnTool::Operator(tool), arguments, None).await?;
        match outcome {
            Outcome::One(item) => Ok(serde_json::from_str(&item.body).unwrap()),
            Outcome::Raw { answer, .. } => Ok(serde_json::from_str(&answer).unwrap()),
            Outcome::Many(_) => panic!("no tool of the operator answers in pages"),
        }
    }

    /// What becomes of the rows of a file; a dry run changes nothing.
    pub(crate) async fn import(&self, tenant: &str, name: &str, dry_run: bool, text: &str) -> Vec<RowVerdict> {
        let operator = Arc::new(caller("operator", &[tenant], tomo::MANAGE));
        let tenant = TenantId::parse(tenant).unwrap();
        let session = ImportSession::new(&self.desk, &self.mount, name, operator, &tenant, "imp_test").unwrap();
        let rows = rows(&self.mount.contract, name, text);
        let results = if dry_run { session.check(&rows).await } else { session.apply(&rows).await };
        results.unwrap().into_iter().map(|result| result.verdict).collect()
    }
}

fn rows(contract: &Contract, name: &str, text: &str) -> Vec<ImportRow> {
    let spec = contract.imports.iter().find(|spec| spec.name == name).unwrap();
    let read = spec.rules.read_feed(&FeedText::Text(text.to_owned())).unwrap();
    let row = |row: frontdesk_engine::import::ReadRow| {
        let arguments = row.arguments.unwrap_or_else(|problems| panic!("{problems:?}"));
        ImportRow { line: row.line, arguments, key: None, is_new: false }
    };
    read.into_iter().map(row).collect()
}

/// A token is `tenant/scopes`. Live and sandbox credentials are different clients, as a partner's are.
struct PartnerIdentity;

impl Identity for PartnerIdentity {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(async move {
            let Credential::Bearer(token) = credential else {
                return Err(Fault::new(FaultKind::Unauthenticated, "no"));
            };
            let (tenant, scopes) = token.split_once('/').unwrap();
            Ok(Arc::new(caller(scopes, &[tenant], scopes)))
        })
    }
}

async fn seed(store: &dyn Store, registry: &dyn Registry, seeds: Seeds) {
    for (tenant, steps) in seeds {
        let id = TenantId::parse(tenant).unwrap();
        registry.add_tenant(Tenant::new(id.clone(), tenant), "{}".to_owned()).await.unwrap();
        let answer = Item { id: "seed".to_owned(), version: 1, body: "{}".to_owned(), masked: None, personal: None };
        let commit = Commit {
            client: None,
            tenant: id,
            at: NOW,
            steps,
            events: Vec::new(),
            claim: None,
            answer,
            audit: "{}".to_owned(),
        };
        assert!(matches!(store.commit(commit).await, Ok(Committed::Done)), "{tenant}");
    }
}

fn mount(contract: Contract) -> Mount {
    Mount::new(contract, "https://desk.example/mcp".to_owned(), "https://desk.example/.well-known/x".to_owned())
}

fn incoming(token: String, message: Value) -> Incoming {
    Incoming {
        verb: Verb::Post,
        credential: Credential::Bearer(token),
        protocol_version: Some("2024-11-05".to_owned()),
        method_header: None,
        route: None,
        name_header: None,
        idempotency_key: None,
        import_id: None,
        listening: frontdesk_engine::model::incoming::Listening::No,
        transport_fault: None,
        body: RequestBody::from_bytes(message.to_string()),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        trace: Trace::new("trace"),
    }
}
