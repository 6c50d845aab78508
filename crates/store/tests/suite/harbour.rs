//! A desk in a harbour, on whatever database: one tool that registers a boat with its owner, and dispatched messages.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use frontdesk_engine::desk::{Desk, DeskSettings, Keys, Mount};
use frontdesk_engine::dispatch::{
    CallAnswer, DeskSource, DispatchConfig, DispatchLimits, DispatchMode, DispatchPreference, DispatchReply,
    DispatchStatus, MAX_ATTEMPTS, OnQueueFull, Reused, TASK, TaskQueue, dispatch, run_worker,
};
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::contract::{Contract, Dialect, Payload, ReplyContext, ServerInfo};
use frontdesk_engine::model::incoming::{Credential, Incoming, RequestBody, Verb};
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::plan::{Plan, Step};
use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::model::table::{Cell, Row};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Effect, Future, Item, RateKey, Run, Tool, ToolSpec};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::{Clock, Identity, Observer, Random, Store};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{Caller, ClientId, Fault, Permitted, Reply, Scope, Scopes};
use frontdesk_wire::answer::quote;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;

use super::boats::{BOAT, TAKEN, boat, fault, with};
use super::north;

/// One node of the desk, and the clock that all of them look at.
pub(crate) struct Harbour {
    desk: Desk,
    mount: Mount,
}

/// It stands still until it is set forward.
pub(crate) struct Tower(AtomicI64);

impl Tower {
    pub(crate) fn new() -> Arc<Tower> {
        Arc::new(Tower(AtomicI64::new(1_767_225_600_000)))
    }

    pub(crate) fn forward(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for Tower {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

impl DeskSource for Harbour {
    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn mounts(&self) -> Vec<&Mount> {
        vec![&self.mount]
    }
}

impl Harbour {
    pub(crate) fn open(store: Arc<dyn Store>, tower: &Arc<Tower>, when: DispatchMode) -> Arc<Harbour> {
        let limits =
            DispatchLimits { waiting: 100, poll_interval: Duration::from_millis(20), ..DispatchLimits::default() };
        let desk = Desk {
            store,
            identity: Arc::new(Quay),
            clock: Arc::clone(tower) as Arc<dyn Clock>,
            random: Arc::new(Waves(AtomicU64::new(0))),
            observer: Arc::new(Quay),
            keys: Keys { cursor: SealKey::from_bytes([1; 32]) },
            rates: Default::default(),
            inflight: Default::default(),
            tally: Default::default(),
            tenant_locks: Default::default(),
            task_queue: TaskQueue::new(limits),
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
        Arc::new(Harbour { desk, mount: mount.with_dispatch(dispatching) })
    }

    /// Registers a boat of this owner under this key; the answer's status and body.
    pub(crate) async fn register(&self, key: &str, owner: &str) -> (u16, String) {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"boats.add","arguments":{{"owner":"{owner}"}}}}}}"#
        );
        let incoming = Incoming {
            verb: Verb::Post,
            credential: Credential::Bearer("agent".to_owned()),
            protocol_version: None,
            method_header: None,
            name_header: None,
            idempotency_key: Some(key.to_owned()),
            transport_fault: None,
            body: RequestBody::from_bytes(body),
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            trace: Trace::new("t1"),
        };
        let reply = dispatch(&self.desk, &self.mount, DispatchPreference::AsConfigured, incoming).await;
        (reply.status, String::from_utf8(reply.body.to_vec()).unwrap())
    }

    /// Runs what is accepted until the handle is aborted.
    pub(crate) fn tended(self: &Arc<Harbour>) -> JoinHandle<()> {
        let harbour = Arc::clone(self);
        tokio::spawn(run_worker(move || Arc::clone(&harbour)))
    }
}

/// Asks under this key until it is completed, for a minute at most.
pub(crate) async fn completed(harbour: &Harbour, key: &str, owner: &str) -> String {
    for _ in 0..3_000 {
        let (status, body) = harbour.register(key, owner).await;
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
        scope: Scope::new("boats"),
        unmask_scope: None,
        rate: RateKey::Client,
        codes: &[TAKEN],
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
        documents: Vec::new(),
        dialect: Box::new(Plainly),
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
            outcome: Item { id, body, masked: None, personal: None },
            steps: vec![Step::Insert { table: &BOAT, row, on_duplicate: fault(TAKEN) }],
        })
    })
}

struct Plainly;

impl Dialect for Plainly {
    fn read(&self, _: &ToolSpec, arguments: Map<String, Value>, key: Option<&str>) -> Result<ToolInput, Fault> {
        Ok(ToolInput { arguments, tenant: None, window: None, idempotency_key: key.map(str::to_owned) })
    }

    fn success(&self, shaped: Payload, _: &ReplyContext<'_>) -> Reply {
        match shaped {
            Payload::One(item) => Reply::rpc(item),
            Payload::Many { .. } => panic!("the harbour has no lists"),
        }
    }

    fn failure(&self, fault: &Fault, _: &ReplyContext<'_>) -> Reply {
        Reply::plain(500, format!(r#""{}""#, fault.kind.as_str()))
    }

    fn tenant_argument(&self) -> &'static str {
        "harbour"
    }

    fn dispatch_reply(&self, reply: &DispatchReply<'_>) -> Reply {
        dispatch_reply(reply)
    }

    fn key_argument(&self) -> &'static str {
        "key"
    }
}

/// Knows everybody, and remembers nobody.
struct Quay;

impl Identity for Quay {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        let Credential::Bearer(name) = credential else { panic!("nobody comes without a name") };
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

impl Observer for Quay {
    fn on_call(&self, _: &Observation, _: Option<&str>) {}
}

/// No two are alike, on any node.
struct Waves(AtomicU64);

impl Random for Waves {
    fn fill(&self, bytes: &mut [u8]) {
        let node = std::ptr::from_ref(self) as u64;
        for piece in bytes.chunks_mut(8) {
            let mut word = node ^ self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            piece.copy_from_slice(&(word ^ (word >> 27)).to_be_bytes()[..piece.len()]);
        }
    }
}

fn dispatch_reply(reply: &DispatchReply<'_>) -> Reply {
    let (status, word) = match reply.status {
        DispatchStatus::Accepted => (202, "accepted"),
        DispatchStatus::Completed => (200, "completed"),
        DispatchStatus::Failed => (200, "failed"),
    };
    let or_null = |text: Option<&str>| text.map_or_else(|| "null".to_owned(), quote);
    let mut body = format!(
        r#"{{"status":"{word}","task_id":{},"trace_id":{},"idempotency_key":{},"reused":{}"#,
        or_null(reply.task_id),
        quote(reply.trace_id),
        or_null(reply.key),
        reply.reused == Reused::Yes,
    );
    if let Some(CallAnswer { http_status, trace_id, response }) = reply.answer {
        body += &format!(
            r#","result":{{"http_status":{http_status},"session_id":"","trace_id":{},"response":{response}}}"#,
            quote(trace_id)
        );
    }
    if reply.status == DispatchStatus::Failed {
        let (code, message) = match reply.answer {
            None => (
                "attempts_exhausted",
                format!("It was begun {MAX_ATTEMPTS} times and not completed. Send it under another key."),
            ),
            Some(_) => (
                "time_exhausted",
                "It could not be done for as long as an answer is kept. Send it under another key.".to_owned(),
            ),
        };
        body += &format!(r#","error":{{"code":"{code}","message":{}}}"#, quote(&message));
    }
    body.push('}');
    Reply::plain(status, body)
}
