//! A desk with this contract mounted, a store in memory and a fixed clock.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::automotive;
use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::dispatch::DeskSource;
use frontdesk_engine::import::{IMPORT_FEED, ImportHost, ImportSession, run_imports};
use frontdesk_engine::limits::inflight::Inflight;
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, Outcome};
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::http_client::NoHttpClient;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::serve;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::serve::serve_route;
use frontdesk_engine::{Caller, ClientId, Contract, Fault, Reply, Scopes, TenantId};
use frontdesk_testkit::memory_store::StoredEvent;
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock, TestRandom, TokenIdentity};
use serde_json::{Value, json};

/// 2026-01-31T09:30:00Z
pub(crate) const NOW: Millis = Millis(1_769_851_800_000);

pub(crate) const ALL_SCOPES: &str = "amcp:inventory:read amcp:inventory:write amcp:leads:read amcp:leads:write \
    amcp:consent:read amcp:consent:write amcp:deals:read amcp:deals:write amcp:service:read amcp:service:write amcp:fni:read \
    amcp:fni:write";

pub(crate) struct TestDesk {
    pub(crate) desk: Desk,
    mount: Mount,
    pub(crate) store: Arc<MemoryStore>,
    /// Moved by tests in which time passes.
    pub(crate) clock: Arc<TestClock>,
    runtime: tokio::runtime::Runtime,
}

impl TestDesk {
    /// Two dealerships with the demo's data.
    pub(crate) fn open() -> TestDesk {
        TestDesk::with_contract(automotive::contract())
    }

    pub(crate) fn with_contract(contract: Contract) -> TestDesk {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(TestClock::at(NOW.0));
        let desk = Desk {
            store: store.clone(),
            identity: Arc::new(TokenIdentity),
            clock: clock.clone(),
            random: Arc::new(TestRandom::default()),
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
                calls: Budget { per_minute: 6_000, burst: 6_000 },
                deadline: Duration::from_secs(10),
            },
        };
        for data in automotive::demo::rows::business_data(NOW, &mut |prefix| desk.new_id(prefix)) {
            store.seed(data.business.id, data.steps);
        }
        TestDesk {
            desk,
            mount: Mount::new(
                contract,
                "https://desk.example/mcp/automotive".to_owned(),
                "https://desk.example/.well-known/oauth-protected-resource/mcp/automotive".to_owned(),
            ),
            store,
            clock,
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    /// Calls a tool for the Lakeside dealership with these scopes, for somebody who has just logged in; returns `isError`
    /// and the object.
    pub(crate) fn call(&self, scopes: &str, tool: &str, arguments: Value) -> (bool, Value) {
        self.call_as(&self.login_token(scopes), tool, arguments)
    }

    /// A token of the Lakeside dealership for which somebody logs in now.
    pub(crate) fn login_token(&self, scopes: &str) -> String {
        format!("dlr_lakeside@{}/{scopes}", self.desk.now().seconds())
    }

    /// The token is `tenant[,tenant][@seconds of the login]/scope scope`.
    pub(crate) fn call_as(&self, token: &str, tool: &str, arguments: Value) -> (bool, Value) {
        let reply = self.send(token, "tools/call", json!({"name": tool, "arguments": arguments}));
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        let result = body.get("result").unwrap_or_else(|| panic!("no result in {body}"));
        (result["isError"].as_bool().unwrap(), result["structuredContent"].clone())
    }

    /// As `call`, for one that must succeed.
    pub(crate) fn call_ok(&self, scopes: &str, tool: &str, arguments: Value) -> Value {
        let (failed, answer) = self.call(scopes, tool, arguments);
        assert!(!failed, "{answer}");
        answer
    }

    /// As `call`, for one that must fail; returns the code.
    pub(crate) fn error_code(&self, scopes: &str, tool: &str, arguments: Value) -> String {
        let (failed, answer) = self.call(scopes, tool, arguments);
        assert!(failed, "{answer}");
        answer["error"]["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn send(&self, token: &str, method: &str, params: Value) -> Reply {
        self.serve(incoming(token, method, params))
    }

    pub(crate) fn serve(&self, incoming: Incoming) -> Reply {
        self.runtime.block_on(serve(&self.desk, &self.mount, incoming))
    }

    /// Serves a request to a route.
    pub(crate) fn route(&self, incoming: Incoming) -> Reply {
        self.runtime.block_on(serve_route(&self.desk, &self.mount, incoming))
    }

    /// Serves one request, and another one after a pause; returns the answer to the first.
    pub(crate) fn serve_both(&self, first: Incoming, pause: Duration, second: Incoming) -> Reply {
        self.runtime.block_on(async {
            let later = async {
                tokio::time::sleep(pause).await;
                serve(&self.desk, &self.mount, second).await
            };
            tokio::join!(serve(&self.desk, &self.mount, first), later).0
        })
    }

    /// As `call`, on the runtime of the caller; returns the object.
    pub(crate) async fn call_async(&self, scopes: &str, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let incoming = incoming(&self.login_token(scopes), "tools/call", params);
        let reply = serve(&self.desk, &self.mount, incoming).await;
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        body["result"]["structuredContent"].clone()
    }

    /// Runs something with an import of this kind into the Lakeside dealership.
    pub(crate) fn import<T>(&self, name: &str, run: impl AsyncFnOnce(&ImportSession<'_>) -> T) -> T {
        let caller = Arc::new(self.operator());
        let tenant = TenantId::parse("dlr_lakeside").unwrap();
        let session = ImportSession::new(&self.desk, &self.mount, name, caller, &tenant, "imp_test").unwrap();
        self.runtime.block_on(run(&session))
    }

    /// Runs the accepted imports until they have ended.
    pub(crate) fn run_imports(self) -> TestDesk {
        let host = Arc::new(self);
        let for_worker = Arc::clone(&host);
        let worker = run_imports(move || Arc::clone(&for_worker));
        host.runtime.block_on(async {
            // An import that has ended has no feed any more.
            let has_ended =
                || host.store.inspect(|state| state.rows.keys().all(|(_, table, _)| *table != IMPORT_FEED.name));
            let ended = async {
                while !has_ended() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            tokio::select! {
                () = worker => {}
                ended = tokio::time::timeout(Duration::from_secs(60), ended) => ended.unwrap(),
            }
        });
        Arc::into_inner(host).unwrap()
    }

    fn operator(&self) -> Caller {
        Caller {
            client: ClientId::new("operator"),
            subject: "operator".into(),
            tenants: vec![TenantId::parse("dlr_lakeside").unwrap()],
            scopes: Scopes::new(self.mount.contract.scopes.iter().cloned()),
            authenticated_at: Some(self.desk.now().seconds()),
        }
    }

    /// Calls a tool of the operator for the Lakeside dealership; returns its answer.
    pub(crate) fn operate(&self, tool: &'static str, arguments: Value) -> Result<Value, Fault> {
        let origin = CallOrigin {
            caller: Arc::new(self.operator()),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: Trace::new("trace"),
            import_id: None,
        };
        let arguments = arguments.as_object().unwrap().clone();
        let call = call_tool(&self.desk, &self.mount, &origin, OwnTool::Operator(tool), arguments, None);
        let text = match self.runtime.block_on(call)? {
            Outcome::One(item) => item.body,
            Outcome::Raw { answer, .. } => answer,
            Outcome::Many(_) => panic!("a list"),
        };
        Ok(serde_json::from_str(&text).unwrap())
    }

    /// The events since the demo data, as `table change`.
    pub(crate) fn events(&self) -> Vec<String> {
        let text = |stored: &StoredEvent| format!("{} {}", stored.event.kind, stored.event.change.as_str());
        self.store.inspect(|state| state.events.iter().map(text).collect())
    }

    /// The audit records of writes since the demo data.
    pub(crate) fn audit(&self) -> Vec<Value> {
        let records = self.store.inspect(|state| state.audit.clone());
        records.iter().map(|(_, record)| serde_json::from_str(record).unwrap()).collect()
    }

    /// All stored data, as one text.
    pub(crate) fn stored_data(&self) -> String {
        self.store.inspect(|state| format!("{:?} {:?} {}", state.rows, state.events, state.claims.len()))
    }
}

/// A message with this token.
pub(crate) fn incoming(token: &str, method: &str, params: Value) -> Incoming {
    Incoming {
        verb: Verb::Post,
        credential: Credential::Bearer(token.to_owned()),
        protocol_version: Some("2025-11-25".to_owned()),
        method_header: None,
        route: None,
        name_header: None,
        idempotency_key: None,
        listening: Listening::No,
        import_id: None,
        transport_fault: None,
        body: RequestBody::from_bytes(
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string(),
        ),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        trace: Trace::new("trace"),
    }
}

impl DeskSource for TestDesk {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn mounts(&self) -> Vec<&Mount> {
        vec![&self.mount]
    }
}

impl ImportHost for TestDesk {
    fn tenants(&self) -> Future<'_, Result<Vec<TenantId>, Fault>> {
        Box::pin(async { Ok(vec![TenantId::parse("dlr_lakeside").unwrap()]) })
    }

    fn is_alone(&self) -> bool {
        true
    }
}
