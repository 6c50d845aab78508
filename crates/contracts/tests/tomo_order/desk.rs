//! A desk with one partner's contract, on a store in memory, SQLite or PostgreSQL, and with a clock that a test moves.
//! Test binaries take it in with `#[path]`.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::partner::{
    ErrorStatus, IntentText, PartnerSettings, PartnerSource, built_in_intent, partner_contract,
};
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
use frontdesk_engine::{Caller, Contract, Fault, FaultKind, TenantId, serve};
use frontdesk_store::{Address, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use frontdesk_testkit::callers::caller;
use frontdesk_testkit::databases::PostgresDatabase;
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock, TestFolder, TestRandom};
use serde_json::{Value, json};

/// The businesses with their rows, and when it is.
pub(crate) struct Seeds {
    pub(crate) now: Millis,
    pub(crate) tenants: Vec<(&'static str, Vec<Step>)>,
}

/// Whom a call is for: the tenant, and live or sandbox.
pub(crate) type Partner = (&'static str, &'static str);

pub(crate) struct PartnerDesk {
    desk: Desk,
    mount: Mount,
    pub(crate) clock: Arc<TestClock>,
    /// Where the data is, until the desk is dropped.
    _data: Box<dyn Send + Sync>,
}

pub(crate) fn settings(intent: &str, source: PartnerSource) -> PartnerSettings {
    let signals = [("time", 0.6), ("taste", 0.8), ("budget", 0.5), ("safety", 0.7)];
    PartnerSettings {
        company: "Monsoon Mobility Demo".to_owned(),
        partner_id: "demo_partner".to_owned(),
        intents: vec![IntentText {
            name: intent.to_owned(),
            text: built_in_intent(tomo::ID, intent).unwrap().to_owned(),
        }],
        signals: signals.map(|(name, rating)| (name.to_owned(), rating)).to_vec(),
        service_area: ["Bengaluru", "Hyderabad"].map(str::to_owned).to_vec(),
        pricing_band: "good".to_owned(),
        callback: "https://tomo.example/api/v1/cpc/mcp_provider/demo_partner".to_owned(),
        source,
        error_status: ErrorStatus::Ok,
        public_url: "https://desk.example/mcp/tomo".to_owned(),
        keys: Default::default(),
        backend: None,
        manifest: Default::default(),
    }
}

pub(crate) fn contract_of(settings: &PartnerSettings) -> Contract {
    let contract = partner_contract(tomo::ID, settings).unwrap();
    contract.unwrap_or_else(|problems| panic!("{problems:?}"))
}

impl PartnerDesk {
    /// On a store in memory, which the test may look into.
    pub(crate) fn in_memory(contract: Contract, seeds: Seeds) -> (PartnerDesk, Arc<MemoryStore>) {
        let store = Arc::new(MemoryStore::default());
        for (tenant, steps) in seeds.tenants {
            store.seed(tenant, steps);
        }
        (PartnerDesk::over(contract, Arc::clone(&store), seeds.now), store)
    }

    /// Another process over the same rows: it remembers nothing else.
    pub(crate) fn over(contract: Contract, store: Arc<MemoryStore>, now: Millis) -> PartnerDesk {
        PartnerDesk::on(contract, store, Arc::new(TestClock::at(now.0)), Box::new(()))
    }

    pub(crate) async fn on_sqlite(contract: Contract, seeds: Seeds) -> PartnerDesk {
        let (folder, clock) = (TestFolder::new(), Arc::new(TestClock::at(seeds.now.0)));
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
        PartnerDesk::on(contract, store, clock, Box::new(folder))
    }

    pub(crate) async fn on_postgres(contract: Contract, seeds: Seeds) -> PartnerDesk {
        let (database, clock) = (PostgresDatabase::create(), Arc::new(TestClock::at(seeds.now.0)));
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
        PartnerDesk::on(contract, store, clock, Box::new(database))
    }

    fn on(contract: Contract, store: Arc<dyn Store>, clock: Arc<TestClock>, data: Box<dyn Send + Sync>) -> PartnerDesk {
        let desk = Desk {
            store,
            identity: Arc::new(PartnerIdentity),
            clock: clock.clone(),
            random: Arc::new(TestRandom::distinct()),
            observer: Arc::new(ObservedCalls::default()),
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
        let address = "https://desk.example/mcp".to_owned();
        let mount = Mount::new(contract, address, "https://desk.example/.well-known/x".to_owned());
        PartnerDesk { desk, mount, clock, _data: data }
    }

    /// The payload, or the error object.
    pub(crate) async fn call(&self, partner: Partner, tool: &str, arguments: Value) -> Result<Value, Value> {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 42, "method": "tools/call", "params": params});
        let body = self.send(partner, message.to_string()).await;
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

    /// The code of a call that must fail.
    pub(crate) async fn code(&self, partner: Partner, tool: &str, arguments: Value) -> String {
        self.error(partner, tool, arguments).await["data"]["tomo_error_code"].as_str().unwrap().to_owned()
    }

    /// A message as it stands.
    pub(crate) async fn send(&self, (tenant, scopes): Partner, message: String) -> Value {
        let incoming = Incoming {
            verb: Verb::Post,
            credential: Credential::Bearer(format!("{tenant}/{scopes}")),
            protocol_version: Some("2024-11-05".to_owned()),
            method_header: None,
            route: None,
            name_header: None,
            idempotency_key: None,
            import_id: None,
            listening: frontdesk_engine::model::incoming::Listening::No,
            transport_fault: None,
            body: RequestBody::from_bytes(message),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: Trace::new("trace"),
        };
        let reply = serve(&self.desk, &self.mount, incoming).await;
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap()
    }

    /// A tool of the operator.
    pub(crate) async fn operate(&self, tenant: &str, tool: &'static str, arguments: Value) -> Result<Value, Fault> {
        let origin = CallOrigin {
            caller: Arc::new(caller("operator", &[tenant], tomo::MANAGE)),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: Trace::new("trace"),
            import_id: None,
        };
        let arguments = arguments.as_object().unwrap().clone();
        let called = call_tool(&self.desk, &self.mount, &origin, OwnTool::Operator(tool), arguments, None).await;
        called.map(|outcome| match outcome {
            Outcome::One(item) => serde_json::from_str(&item.body).unwrap(),
            Outcome::Raw { answer, .. } => serde_json::from_str(&answer).unwrap(),
            Outcome::Many(_) => panic!("{tool} answers with a list"),
        })
    }

    /// What becomes of the rows of a file; a dry run changes nothing.
    pub(crate) async fn import(&self, tenant: &str, name: &str, text: &str, dry_run: DryRun) -> Vec<RowVerdict> {
        let operator = Arc::new(caller("operator", &[tenant], tomo::MANAGE));
        let tenant = TenantId::parse(tenant).unwrap();
        let session = ImportSession::new(&self.desk, &self.mount, name, operator, &tenant, "imp_test").unwrap();
        let read = session.spec().rules.read_feed(&FeedText::Text(text.to_owned())).unwrap();
        let rows: Vec<ImportRow> = read
            .into_iter()
            .map(|row| {
                let arguments = row.arguments.unwrap_or_else(|problems| panic!("{problems:?}"));
                ImportRow { line: row.line, arguments, key: None, is_new: false }
            })
            .collect();
        let results = match dry_run {
            DryRun::Yes => session.check(&rows).await,
            DryRun::No => session.apply(&rows).await,
        };
        results.unwrap().into_iter().map(|result| result.verdict).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DryRun {
    Yes,
    No,
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
    for (tenant, steps) in seeds.tenants {
        let id = TenantId::parse(tenant).unwrap();
        registry.add_tenant(Tenant::new(id.clone(), tenant), "{}".to_owned()).await.unwrap();
        let answer = Item { id: "seed".to_owned(), version: 1, body: "{}".to_owned(), masked: None, personal: None };
        let at = seeds.now;
        let commit = Commit {
            client: None,
            tenant: id,
            at,
            steps,
            events: Vec::new(),
            claim: None,
            answer,
            audit: "{}".to_owned(),
        };
        assert!(matches!(store.commit(commit).await, Ok(Committed::Done)), "{tenant}");
    }
}

/// `{{tool:/pointer}}` in the examples of an intent, replaced by what was answered.
pub(crate) fn filled(value: &Value, answers: &std::collections::HashMap<String, Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")) {
            Some(reference) => {
                let (tool, pointer) = reference.split_once(':').unwrap();
                answers[tool].pointer(pointer).unwrap_or_else(|| panic!("{reference}")).clone()
            }
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, answers)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), filled(value, answers))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
