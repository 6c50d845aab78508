//! A desk with this contract mounted, a store in memory and a fixed clock.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::automotive;
use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::limits::inflight::Inflight;
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::model::incoming::{Credential, Incoming, RequestBody, Verb};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::serve;
use frontdesk_engine::{Contract, Reply};
use frontdesk_testkit::memory_store::StoredEvent;
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock, TestRandom, TokenIdentity};
use serde_json::{Value, json};

/// 2026-01-31T09:30:00Z
pub(crate) const NOW: Millis = Millis(1_769_851_800_000);

pub(crate) const ALL_SCOPES: &str = "amcp:inventory:read amcp:leads:read amcp:leads:write";

pub(crate) struct TestDesk {
    desk: Desk,
    mount: Mount,
    pub(crate) store: Arc<MemoryStore>,
    runtime: tokio::runtime::Runtime,
}

impl TestDesk {
    /// Two dealerships with the demo's data.
    pub(crate) fn open() -> TestDesk {
        TestDesk::with_contract(automotive::contract())
    }

    pub(crate) fn with_contract(contract: Contract) -> TestDesk {
        let store = Arc::new(MemoryStore::default());
        let desk = Desk {
            store: store.clone(),
            identity: Arc::new(TokenIdentity),
            clock: Arc::new(TestClock::at(NOW.0)),
            random: Arc::new(TestRandom::default()),
            observer: Arc::new(ObservedCalls::default()),
            keys: Keys { cursor: SealKey::from_bytes([1; 32]) },
            rates: Rates::default(),
            inflight: Inflight::default(),
            tally: Default::default(),
            tenant_locks: Default::default(),
            task_queue: Default::default(),
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
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    /// Calls a tool for the Lakeside dealership with these scopes; returns `isError` and the object.
    pub(crate) fn call(&self, scopes: &str, tool: &str, arguments: Value) -> (bool, Value) {
        self.call_as(&format!("dlr_lakeside/{scopes}"), tool, arguments)
    }

    /// The token is `tenant[,tenant]/scope scope`.
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
        let incoming = Incoming {
            verb: Verb::Post,
            credential: Credential::Bearer(token.to_owned()),
            protocol_version: Some("2025-11-25".to_owned()),
            method_header: None,
            route: None,
            name_header: None,
            idempotency_key: None,
            transport_fault: None,
            body: RequestBody::from_bytes(
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string(),
            ),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: Trace::new("trace"),
        };
        self.runtime.block_on(serve(&self.desk, &self.mount, incoming))
    }

    /// The events since the demo data, as `table change`.
    pub(crate) fn events(&self) -> Vec<String> {
        let text = |stored: &StoredEvent| format!("{} {}", stored.event.kind, stored.event.change.as_str());
        self.store.inspect(|state| state.events.iter().map(text).collect())
    }

    /// All stored data, as one text.
    pub(crate) fn stored_data(&self) -> String {
        self.store.inspect(|state| format!("{:?} {:?} {}", state.rows, state.events, state.claims.len()))
    }
}
