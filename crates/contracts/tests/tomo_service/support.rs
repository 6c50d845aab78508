//! A desk with the contract mounted for businesses with their own providers and for dealerships, on a store in memory,
//! SQLite or PostgreSQL, and with a clock that a test moves.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::partner::{
    ErrorStatus, IntentText, PartnerSettings, PartnerSource, built_in_intent, partner_contract,
};
use frontdesk_contracts::{automotive, tomo};
use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::import::{ImportRow, ImportSession, RowVerdict};
use frontdesk_engine::limits::inflight::Inflight;
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::model::table::TableSpec;
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
use serde_json::{Value, json};

use super::data::{DEALERSHIP, OWN, seeds};

/// 2027-02-20T06:00:00Z, a Saturday; 11:30 in India.
pub(crate) const NOW: Millis = Millis(1_803_103_200_000);

pub(crate) const INTENT: &str = "auto.book_general_service";

pub(crate) struct ServiceDesk {
    desk: Desk,
    own: Mount,
    dealership: Mount,
    automotive: Mount,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) observed: Arc<ObservedCalls>,
    /// Where the data is, until the desk is dropped.
    _data: Box<dyn Send + Sync>,
}

/// Whom a call is for: the tenant, and live or sandbox.
pub(crate) type Partner = (&'static str, &'static str);

pub(crate) const OWN_LIVE: Partner = (OWN, tomo::LIVE);
pub(crate) const OWN_SANDBOX: Partner = (OWN, tomo::SANDBOX);
pub(crate) const DEALERSHIP_LIVE: Partner = (DEALERSHIP, tomo::LIVE);
pub(crate) const DEALERSHIP_SANDBOX: Partner = (DEALERSHIP, tomo::SANDBOX);

pub(crate) fn settings(source: PartnerSource) -> PartnerSettings {
    let signals = [("time", 0.6), ("taste", 0.8), ("budget", 0.5), ("safety", 0.7)];
    PartnerSettings {
        company: "Monsoon Mobility Demo".to_owned(),
        partner_id: "demo_partner".to_owned(),
        intents: vec![IntentText {
            name: INTENT.to_owned(),
            text: built_in_intent(tomo::ID, INTENT).unwrap().to_owned(),
        }],
        signals: signals.map(|(name, rating)| (name.to_owned(), rating)).to_vec(),
        service_area: ["560034", "Bengaluru", "Hyderabad"].map(str::to_owned).to_vec(),
        pricing_band: "good".to_owned(),
        callback: "https://tomo.example/api/v1/cpc/mcp_provider/demo_partner".to_owned(),
        source,
        error_status: ErrorStatus::Ok,
        public_url: "https://desk.example/mcp/tomo".to_owned(),
        backend: None,
        keys: Default::default(),
        manifest: Default::default(),
    }
}

pub(crate) fn contract(source: PartnerSource) -> Contract {
    let contract = partner_contract(tomo::ID, &settings(source)).unwrap();
    contract.unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn tables() -> Vec<&'static TableSpec> {
    automotive::contract().tables.into_iter().chain(tomo::without_partner().tables).collect()
}

impl ServiceDesk {
    /// On a store in memory, which the test may look into.
    pub(crate) fn open() -> (ServiceDesk, Arc<MemoryStore>) {
        let store = Arc::new(MemoryStore::default());
        for (tenant, steps) in seeds() {
            store.seed(tenant, steps);
        }
        (ServiceDesk::on(Arc::clone(&store) as Arc<dyn Store>, Arc::new(TestClock::at(NOW.0)), Box::new(())), store)
    }

    pub(crate) async fn on_sqlite() -> ServiceDesk {
        let (folder, clock) = (TestFolder::new(), Arc::new(TestClock::at(NOW.0)));
        let store = SqliteStore::open(SqliteOptions {
            path: folder.path().join("frontdesk.db"),
            master: SealKey::from_bytes([7; 32]),
            random: Arc::new(TestRandom::distinct()),
            clock: clock.clone(),
            tables: tables(),
            commit_wait: Duration::from_secs(60),
        });
        let store = Arc::new(store.unwrap());
        seed(store.as_ref(), store.as_ref()).await;
        ServiceDesk::on(store, clock, Box::new(folder))
    }

    pub(crate) async fn on_postgres() -> ServiceDesk {
        let (database, clock) = (PostgresDatabase::create(), Arc::new(TestClock::at(NOW.0)));
        let store = PostgresStore::open(PostgresOptions {
            address: Address::parse(&database.url()).unwrap(),
            master: SealKey::from_bytes([7; 32]),
            random: Arc::new(TestRandom::distinct()),
            clock: clock.clone(),
            tables: tables(),
            commit_wait: Duration::from_secs(60),
        });
        let store = Arc::new(store.await.unwrap());
        seed(store.as_ref(), store.as_ref()).await;
        ServiceDesk::on(store, clock, Box::new(database))
    }

    fn on(store: Arc<dyn Store>, clock: Arc<TestClock>, data: Box<dyn Send + Sync>) -> ServiceDesk {
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
        ServiceDesk {
            desk,
            own: mount(contract(PartnerSource::Own)),
            dealership: mount(contract(PartnerSource::Dealership)),
            automotive: mount(automotive::contract()),
            clock,
            observed,
            _data: data,
        }
    }

    /// The same businesses with another file for their intent.
    pub(crate) fn serving(self, text: impl Fn(PartnerSource) -> String) -> ServiceDesk {
        let of = |source| {
            let intents = vec![IntentText { name: "own.json".to_owned(), text: text(source) }];
            let contract = partner_contract(tomo::ID, &PartnerSettings { intents, ..settings(source) }).unwrap();
            mount(contract.unwrap_or_else(|problems| panic!("{problems:?}")))
        };
        ServiceDesk { own: of(PartnerSource::Own), dealership: of(PartnerSource::Dealership), ..self }
    }

    /// The payload, or the error object.
    pub(crate) async fn call(&self, partner: Partner, tool: &str, arguments: Value) -> Result<Value, Value> {
        let mount = if partner.0.starts_with("dlr_") { &self.dealership } else { &self.own };
        let body = self.send(mount, partner, "2024-11-05", tool, arguments).await;
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

    /// The code of a call that must fail.
    pub(crate) async fn code(&self, partner: Partner, tool: &str, arguments: Value) -> String {
        match self.call(partner, tool, arguments).await {
            Err(error) => error["data"]["tomo_error_code"].as_str().unwrap().to_owned(),
            Ok(answer) => panic!("{tool} succeeded: {answer}"),
        }
    }

    /// A tool of the dealership's own contract.
    pub(crate) async fn automotive(&self, tool: &str, arguments: Value) -> Value {
        let scopes = "amcp:service:read amcp:service:write";
        let body = self.send(&self.automotive, (DEALERSHIP, scopes), "2025-11-25", tool, arguments).await;
        assert_eq!(body["result"]["isError"], false, "{body}");
        body["result"]["structuredContent"].clone()
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.desk.store.as_ref()
    }

    /// Says what became of a booking; a refusal is its code or the argument that is wrong.
    pub(crate) async fn advance(&self, partner: Partner, arguments: Value) -> Result<Value, String> {
        self.operator(partner, "advance_booking", arguments).await
    }

    /// Calls a tool of the operator.
    pub(crate) async fn operator(
        &self,
        (tenant, _): Partner,
        tool: &'static str,
        arguments: Value,
    ) -> Result<Value, String> {
        let mount = if tenant.starts_with("dlr_") { &self.dealership } else { &self.own };
        let origin = CallOrigin {
            caller: Arc::new(caller("demo_partner:notifications", &[tenant], tomo::MANAGE)),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: Trace::new("trace"),
            import_id: None,
        };
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        match call_tool(&self.desk, mount, &origin, OwnTool::Operator(tool), arguments, None).await {
            Ok(Outcome::One(item)) => Ok(serde_json::from_str(&item.body).unwrap()),
            Ok(Outcome::Raw { answer, .. }) => Ok(serde_json::from_str(&answer).unwrap()),
            Ok(Outcome::Many(_)) => panic!("a list"),
            Err(Fault { kind: FaultKind::Domain(code), .. }) => Err(code.0.to_owned()),
            Err(fault) => {
                Err(fault.problems.first().map_or_else(|| format!("{fault:?}"), |problem| problem.pointer.clone()))
            }
        }
    }

    /// What becomes of rows of a file of the business with its own providers; a dry run changes nothing.
    pub(crate) async fn import(&self, name: &str, dry_run: bool, rows: &[ImportRow]) -> Vec<RowVerdict> {
        let operator = Arc::new(caller("operator", &[OWN], tomo::MANAGE));
        let tenant = TenantId::parse(OWN).unwrap();
        let session = ImportSession::new(&self.desk, &self.own, name, operator, &tenant, "imp_test").unwrap();
        let results = if dry_run { session.check(rows).await } else { session.apply(rows).await };
        results.unwrap().into_iter().map(|result| result.verdict).collect()
    }

    async fn send(
        &self,
        mount: &Mount,
        (tenant, scopes): Partner,
        version: &str,
        tool: &str,
        arguments: Value,
    ) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 42, "method": "tools/call", "params": params});
        let reply: Reply = serve(&self.desk, mount, incoming(format!("{tenant}/{scopes}"), version, message)).await;
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap()
    }
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

async fn seed(store: &dyn Store, registry: &dyn Registry) {
    for (tenant, steps) in seeds() {
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

fn incoming(token: String, version: &str, message: Value) -> Incoming {
    Incoming {
        verb: Verb::Post,
        credential: Credential::Bearer(token),
        protocol_version: Some(version.to_owned()),
        method_header: None,
        route: None,
        name_header: None,
        idempotency_key: None,
        listening: Listening::No,
        import_id: None,
        transport_fault: None,
        body: RequestBody::from_bytes(message.to_string()),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        trace: Trace::new("trace"),
    }
}

/// Arguments of a search in this city.
pub(crate) fn general_service(city: &str, day: &str) -> Value {
    json!({"location": {"city": city}, "service": {"codes": ["GENERAL_SERVICE"]}, "preferred_date": day})
}

/// Arguments of a booking at the first provider that a search found.
pub(crate) fn booking_of(found: &Value, slot_id: &str, key: &str) -> Value {
    booking_at(found, found["providers"][0]["provider_id"].as_str().unwrap(), slot_id, key)
}

pub(crate) fn booking_at(found: &Value, provider_id: &str, slot_id: &str, key: &str) -> Value {
    json!({
        "idempotency_key": key,
        "result_token": found["result_token"],
        "provider_id": provider_id,
        "slot_id": slot_id,
        "customer": {"name": "Asha Menon", "phone": "+919845012345", "email": "asha@example.com"},
        "vehicle": {"make": "Maruti Suzuki", "model": "Swift", "year": 2021, "fuel": "petrol"},
    })
}
