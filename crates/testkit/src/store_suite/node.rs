//! A node of a desk on the store under test: one tool that registers a boat with its owner, and dispatched messages.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::dispatch::{
    DeskSource, DispatchConfig, DispatchLimits, DispatchMode, DispatchPreference, DispatchReply, OnQueueFull, TASK,
    TaskQueue, dispatch, run_worker,
};
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::contract::{Contract, Dialect, Payload, ReplyContext, ServerInfo};
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::plan::{Plan, Step};
use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::model::table::{Cell, Row};
use frontdesk_engine::model::tool::{Effect, Future, Item, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::http_client::NoHttpClient;
use frontdesk_engine::ports::{Clock, Identity, Observer, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{Caller, ClientId, Fault, Permitted, Reply, Scope, Scopes};
use serde_json::{Map, Value};
use tokio::task::JoinHandle;

use super::boats::{BOAT, TAKEN, boat, fault, with};
use super::north;
use crate::{TestClock, TestRandom};

/// One of the nodes that share a store and a clock.
pub struct DispatchNode {
    desk: Desk,
    mount: Mount,
}

impl DeskSource for DispatchNode {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn mounts(&self) -> Vec<&Mount> {
        vec![&self.mount]
    }
}

impl DispatchNode {
    pub fn open(store: Arc<dyn Store>, clock: &Arc<TestClock>, when: DispatchMode) -> Arc<DispatchNode> {
        let limits =
            DispatchLimits { waiting: 100, poll_interval: Duration::from_millis(20), ..DispatchLimits::default() };
        let desk = Desk {
            store,
            identity: Arc::new(AnyCaller),
            clock: Arc::clone(clock) as Arc<dyn Clock>,
            random: Arc::new(TestRandom::distinct()),
            observer: Arc::new(AnyCaller),
            keys: Keys { cursor: SealKey::from_bytes([1; 32]) },
            rates: Default::default(),
            inflight: Default::default(),
            tally: Default::default(),
            tenant_locks: Default::default(),
            task_queue: TaskQueue::new(limits),
            import_queue: Default::default(),
            changes: Default::default(),
            http_client: Arc::new(NoHttpClient),
            settings: DeskSettings {
                page_bytes: 65_536,
                reply_bytes: 65_536,
                calls: Budget { per_minute: 60_000, burst: 10_000 },
                deadline: Duration::from_secs(20),
            },
        };
        let retain = Duration::from_secs(3_600);
        let dispatching =
            DispatchConfig { tenant: north(), server: "quay".to_owned(), when, full: OnQueueFull::Refuse, retain };
        let mount = Mount::new(contract(), "https://harbour.example/mcp".to_owned(), String::new());
        Arc::new(DispatchNode { desk, mount: mount.with_dispatch(dispatching) })
    }

    /// Registers a boat of this owner under this key; the answer's status and body.
    pub async fn register(&self, key: &str, owner: &str) -> (u16, String) {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"boats.add","arguments":{{"owner":"{owner}"}}}}}}"#
        );
        let incoming = Incoming {
            verb: Verb::Post,
            credential: Credential::Bearer("agent".to_owned()),
            protocol_version: None,
            method_header: None,
            route: None,
            name_header: None,
            idempotency_key: Some(key.to_owned()),
            listening: Listening::No,
            import_id: None,
            transport_fault: None,
            body: RequestBody::from_bytes(body),
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            trace: Trace::new("t1"),
        };
        let reply = dispatch(&self.desk, &self.mount, DispatchPreference::AsConfigured, incoming).await;
        (reply.status, String::from_utf8(reply.body.to_vec()).unwrap())
    }

    /// Runs what is accepted until the handle is aborted.
    pub fn run_worker(self: &Arc<DispatchNode>) -> JoinHandle<()> {
        let node = Arc::clone(self);
        tokio::spawn(run_worker(move || Arc::clone(&node)))
    }
}

/// Asks under this key until it is completed, for a minute at most.
pub async fn completed(node: &DispatchNode, key: &str, owner: &str) -> String {
    for _ in 0..3_000 {
        let (status, body) = node.register(key, owner).await;
        if status == 200 {
            return body;
        }
        assert_eq!(status, 202, "{body}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{key} was never completed");
}

fn contract() -> Contract {
    let spec = ToolSpec {
        name: "boats.add",
        title: "boats.add",
        about: "Registers a boat.",
        input: Schema::object([required("owner", Schema::text(60), "Whose.")]),
        output: Schema::object([]),
        effect: Effect::Adds,
        scope: ScopeRule::One(Scope::new("boats")),
        unmask_scope: None,
        rate: RateKey::Client,
        sensitivity: Sensitivity::Personal,
        max_login_age: None,
        route: None,
        codes: vec![TAKEN],
    };
    Contract {
        id: "harbour",
        server_info: ServerInfo {
            name: "",
            title: "",
            version: "",
            extra: Vec::new(),
            instructions: "",
            capabilities: "{}".to_owned(),
        },
        tools: vec![Tool { spec, run: Run::write(add) }],
        resources: Vec::new(),
        tables: vec![&BOAT, &TASK],
        scopes: vec![Scope::new("boats")],
        default_scope: Scope::new("boats"),
        ordinary_scopes: Scopes::new([Scope::new("boats")]),
        imports: Vec::new(),
        operator_tools: Vec::new(),
        latency_targets: Vec::new(),
        documents: Vec::new(),
        dialect: Box::new(PlainDialect),
    }
}

fn add<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let id = permitted.new_id("b");
        let owner = permitted.input().text("owner").unwrap();
        let row = with(boat(&id, 7), "owner", Cell::Digest(owner.to_owned()));
        let row = Row { search_terms: Vec::new(), personal: Some(format!(r#"{{"owner":"{owner}"}}"#)), ..row };
        // It answers with what it was told, so that the answer has to be sealed as well.
        let body = format!(r#"{{"id":"{id}","owner":"{owner}"}}"#);
        Ok(Plan {
            events: Vec::new(),
            outcome: Item { id, version: 1, body, masked: None, personal: None },
            steps: vec![Step::Insert { table: &BOAT, row, on_duplicate: fault(TAKEN) }],
        })
    })
}

struct PlainDialect;

impl Dialect for PlainDialect {
    fn read(&self, _: &ToolSpec, arguments: Map<String, Value>, key: Option<&str>) -> Result<ToolInput, Fault> {
        let key = key.map(|key| IdempotencyKey::read(key, self.key_argument())).transpose()?;
        Ok(ToolInput { arguments, tenant: None, window: None, idempotency_key: key })
    }

    fn success(&self, shaped: Payload, _: &ReplyContext<'_>) -> Reply {
        match shaped {
            Payload::One(item) => Reply::rpc(item),
            Payload::Many { .. } => panic!("this contract has no lists"),
        }
    }

    fn failure(&self, fault: &Fault, _: &ReplyContext<'_>) -> Reply {
        Reply::plain(500, format!(r#""{}""#, fault.kind.as_str()))
    }

    fn tenant_argument(&self) -> &'static str {
        "harbour"
    }

    fn dispatch_reply(&self, reply: &DispatchReply<'_>) -> Reply {
        crate::dispatch_reply(reply)
    }

    fn key_argument(&self) -> &'static str {
        "key"
    }
}

/// Accepts every token as the name of a client, and ignores observations.
struct AnyCaller;

impl Identity for AnyCaller {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        let Credential::Bearer(name) = credential else { panic!("a caller without a token") };
        let caller = Caller {
            client: ClientId::new(name.as_str()),
            subject: name.as_str().into(),
            tenants: vec![north()],
            scopes: Scopes::new([Scope::new("boats")]),
            authenticated_at: None,
        };
        Box::pin(async move { Ok(Arc::new(caller)) })
    }
}

impl Observer for AnyCaller {
    fn on_call(&self, _: &Observation, _: Option<&str>) {}
}
