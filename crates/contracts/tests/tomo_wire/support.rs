//! The hotel business of the demo behind a mount, and messages as TOMO sends them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts::partner::{ErrorStatus, IntentText, PartnerSettings, PartnerSource};
use frontdesk_contracts::tomo;
use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::limits::inflight::Inflight;
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::http_client::NoHttpClient;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{Contract, Reply, serve};
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock, TestRandom, TokenIdentity};
use serde_json::{Value, json};

/// 2026-01-31T09:30:00Z
const NOW: Millis = Millis(1_769_851_800_000);
pub(crate) const TENANT: &str = "htl_monsoon";
pub(crate) const HOTEL: &str = "travel.book_hotel";

pub(crate) fn partner(intent: &str, source: PartnerSource) -> PartnerSettings {
    let text = tomo::intent::built_in(intent).unwrap().to_owned();
    PartnerSettings {
        company: "Monsoon Mobility Demo".to_owned(),
        partner_id: "demo_partner".to_owned(),
        intents: vec![IntentText { name: intent.to_owned(), text }],
        signals: [("time", 0.6), ("taste", 0.8), ("budget", 0.5), ("safety", 0.7)]
            .map(|(axis, rating)| (axis.to_owned(), rating))
            .to_vec(),
        service_area: ["Bengaluru", "Hyderabad", "560001"].map(str::to_owned).to_vec(),
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

/// The intents that are built in, each with the source that the demo gives it.
pub(crate) fn all_partners() -> [PartnerSettings; 5] {
    [
        partner(HOTEL, PartnerSource::Own),
        partner("marketplace.buy_used_car", PartnerSource::Dealership),
        partner("auto.book_general_service", PartnerSource::Dealership),
        partner("mobility.book_intracity_ride", PartnerSource::Own),
        partner("food.order_delivery", PartnerSource::Own),
    ]
}

pub(crate) struct WireDesk {
    desk: Desk,
    mount: Mount,
    pub(crate) clock: Arc<TestClock>,
    runtime: tokio::runtime::Runtime,
}

impl WireDesk {
    pub(crate) fn open() -> WireDesk {
        WireDesk::of(&partner(HOTEL, PartnerSource::Own))
    }

    pub(crate) fn of(partner: &PartnerSettings) -> WireDesk {
        WireDesk::with(tomo::contract(partner).unwrap())
    }

    pub(crate) fn with(contract: Contract) -> WireDesk {
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
                calls: Budget { per_minute: 600, burst: 60 },
                deadline: Duration::from_secs(10),
            },
        };
        let (steps, _) = tomo::listing::demo::rows(NOW, &mut |prefix| desk.new_id(prefix));
        store.seed(TENANT, steps);
        let address = "https://desk.example/mcp/tomo";
        WireDesk {
            desk,
            mount: Mount::new(contract, address.to_owned(), String::new()),
            clock,
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    /// Sends a body with a live credential, as TOMO does: without any header of MCP.
    pub(crate) fn send(&self, body: &str) -> Reply {
        self.send_as(Credential::Bearer(format!("{TENANT}/tomo:live")), None, body)
    }

    pub(crate) fn send_as(&self, credential: Credential, version: Option<&str>, body: &str) -> Reply {
        self.send_body(credential, version, RequestBody::from_bytes(body.to_owned()))
    }

    pub(crate) fn send_body(&self, credential: Credential, version: Option<&str>, body: RequestBody) -> Reply {
        let incoming = Incoming {
            verb: Verb::Post,
            credential,
            protocol_version: version.map(str::to_owned),
            method_header: None,
            route: None,
            name_header: None,
            idempotency_key: None,
            listening: Listening::No,
            import_id: None,
            transport_fault: None,
            body,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: Trace::new("trace"),
        };
        self.runtime.block_on(serve(&self.desk, &self.mount, incoming))
    }

    /// The answer to a body, which comes with 200 whatever it is.
    pub(crate) fn answer(&self, body: &str) -> Value {
        let reply = self.send(body);
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap()
    }

    pub(crate) fn list(&self) -> Vec<Value> {
        let answer = self.answer(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        answer["result"]["tools"].as_array().unwrap().clone()
    }

    /// As TOMO calls a tool (§3), in a session.
    pub(crate) fn call_in(&self, session: &str, tool: &str, arguments: &Value) -> Value {
        self.answer(&call(session, tool, arguments).to_string())
    }

    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.call_in("anon_session_xyz", tool, arguments)
    }
}

/// The message of a call with what TOMO sends beside the arguments of the intent.
pub(crate) fn call(session: &str, tool: &str, arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    let common = json!({
        "intent": HOTEL,
        "intent_version": "v1.0.0",
        "request_id": "req_8f3k2m_2026-05-09T14:32:00Z",
        "user_session_id": session,
        "context": {"locale": "en-IN"},
    });
    for (name, value) in common.as_object().unwrap() {
        arguments.as_object_mut().unwrap().entry(name).or_insert(value.clone());
    }
    json!({
        "jsonrpc": "2.0",
        "id": 42,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": {"progressToken": "unique_call_token"}},
    })
}

/// The payload of an answer.
pub(crate) fn payload(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no payload in {answer}"));
    serde_json::from_str(text).unwrap()
}

/// `{{tool:/pointer}}` replaced by what was answered.
pub(crate) fn filled_in(example: &Value, answers: &BTreeMap<String, Value>) -> Value {
    if let Some(members) = example.as_object() {
        return members.iter().map(|(name, value)| (name.clone(), filled_in(value, answers))).collect();
    }
    match example.as_str().and_then(|text| text.strip_prefix("{{")?.strip_suffix("}}")?.split_once(':')) {
        Some((tool, pointer)) => answers[tool].pointer(pointer).unwrap().clone(),
        None => example.clone(),
    }
}

/// The first example of every tool, in an order in which they can be called.
pub(crate) fn examples() -> Vec<(String, Value)> {
    let intent = tomo::intent::parse(tomo::intent::built_in(HOTEL).unwrap()).unwrap();
    let order = ["search_availability", "get_listing", "create_booking", "modify_booking", "cancel_booking"];
    order.map(|name| (name.to_owned(), intent.tool(name).unwrap().examples[0].clone())).to_vec()
}
