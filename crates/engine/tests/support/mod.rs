//! A test to test in: a desk with a memory for a store, a clock that stands still, and callers with
//! names.

pub(crate) mod callers;
pub(crate) mod dialect;
pub(crate) mod library;
pub(crate) mod requests;
pub(crate) mod tools;
pub(crate) mod watching;

use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::desk::{DeskSettings, Keys, Mount};
use frontdesk_engine::dispatch::{DispatchLimits, TaskQueue};
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::incoming::Incoming;
use frontdesk_engine::model::mount_policy::MountPolicy;
use frontdesk_engine::ports::http_client::NoHttpClient;
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{Contract, Desk, serve};

use callers::Callers;
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock, TestRandom};
use library::{BOOK, MEMBER};
use requests::{post, rpc};

/// May read books, in the north branch.
pub(crate) const READER: &str = "reader";
/// May do everything, in the north branch.
pub(crate) const KEEPER: &str = "keeper";
/// May read and write everything in the north branch, but not see how to reach a member.
pub(crate) const CLERK: &str = "clerk";
/// May do everything, in the south branch.
pub(crate) const SOUTHERNER: &str = "southerner";
/// May do everything in both branches.
pub(crate) const TRAVELLER: &str = "traveller";
/// Has every scope and belongs nowhere.
pub(crate) const VAGRANT: &str = "vagrant";
/// Has the scope of all scopes, in the north branch.
pub(crate) const WARDEN: &str = "warden";

pub(crate) const SETTINGS: DeskSettings = DeskSettings {
    page_bytes: 64 * 1024,
    reply_bytes: 64 * 1024,
    calls: Budget { per_minute: 6000, burst: 1000 },
    deadline: Duration::from_secs(20),
};

/// Nobody has to wait long for a test.
pub(crate) const LIMITS: DispatchLimits = DispatchLimits {
    waiting: 2,
    at_once: 2,
    kept_for_one: 1_000,
    kept: 1_000,
    poll_interval: Duration::from_millis(10),
    wait_timeout: Duration::from_millis(300),
};

pub(crate) struct TestDesk {
    pub(crate) desk: Desk,
    pub(crate) mount: Mount,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) calls: Arc<ObservedCalls>,
    pub(crate) callers: Arc<Callers>,
}

/// An answer as the caller sees it.
#[derive(Debug, PartialEq)]
pub(crate) struct TestReply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

pub(crate) fn heard(status: u16, body: &str) -> TestReply {
    TestReply { status, body: body.to_owned() }
}

/// Waits until it is so, and gives up after a minute.
pub(crate) async fn eventually(so: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to be so");
}

impl TestDesk {
    pub(crate) fn new() -> TestDesk {
        TestDesk::with(SETTINGS)
    }

    /// With three books and a member in the north, and one of each in the south.
    pub(crate) fn stocked() -> TestDesk {
        TestDesk::with(SETTINGS).stock()
    }

    pub(crate) fn stock(self) -> TestDesk {
        for (age, (id, title, genre, copies)) in
            (1..).zip([("b1", "Emma", "novel", 2), ("b2", "Dune", "novel", 1), ("b3", "Odes", "poetry", 0)])
        {
            self.store.put("north", &BOOK, tools::book(id, title, genre, copies, 1, age));
        }
        self.store.put("north", &MEMBER, tools::reader("m1", "Ada", "ada@example.org", 4));
        self.store.put("south", &BOOK, tools::book("s1", "Ulysses", "novel", 1, 1, 5));
        self.store.put("south", &MEMBER, tools::reader("m2", "Bea", "bea@example.org", 6));
        self
    }

    /// The same test behind a door.
    pub(crate) fn behind(self, door: MountPolicy) -> TestDesk {
        TestDesk { mount: self.mount.with_policy(door), ..self }
    }

    /// The same test under another contract.
    pub(crate) fn under(self, contract: Contract) -> TestDesk {
        let Mount { resource, metadata_url: metadata, .. } = self.mount;
        TestDesk { mount: Mount::new(contract, resource, metadata), ..self }
    }

    pub(crate) fn with(settings: DeskSettings) -> TestDesk {
        let store = Arc::new(MemoryStore::with_tenants(["north", "south"]));
        let clock = Arc::new(TestClock::default());
        let calls = Arc::new(ObservedCalls::default());
        let callers = Arc::new(Callers::default());
        let desk = Desk {
            store: store.clone(),
            identity: callers.clone(),
            clock: clock.clone(),
            random: Arc::new(TestRandom::default()),
            observer: calls.clone(),
            keys: Keys { cursor: SealKey::from_bytes([1; 32]) },
            rates: Default::default(),
            inflight: Default::default(),
            tally: Default::default(),
            tenant_locks: Default::default(),
            task_queue: TaskQueue::new(LIMITS),
            import_queue: Default::default(),
            changes: Default::default(),
            http_client: Arc::new(NoHttpClient),
            settings,
        };
        let mount = Mount::new(
            library::contract(),
            "https://library.example/mcp".to_owned(),
            "https://library.example/metadata".to_owned(),
        );
        TestDesk { desk, mount, store, clock, calls, callers }
    }

    /// This node's audit records, without the status and the duration of each call.
    pub(crate) fn records(&self) -> Vec<String> {
        self.store.records().iter().map(|record| timeless(record)).collect()
    }

    pub(crate) async fn serve(&self, incoming: Incoming) -> TestReply {
        let reply = serve(&self.desk, &self.mount, incoming).await;
        TestReply { status: reply.status, body: String::from_utf8(reply.body.to_vec()).unwrap() }
    }

    /// The body of the answer to one message of the legacy era, with id 1.
    pub(crate) async fn ask(&self, who: &str, method: &str, params: &str) -> String {
        self.serve(post(who, &rpc("1", method, params))).await.body
    }

    /// The body of the answer to a tool call of the legacy era, with id 1.
    pub(crate) async fn call(&self, who: &str, tool: &str, arguments: &str) -> String {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        self.ask(who, "tools/call", &params).await
    }

    /// The body of the answer to reading a resource in the legacy era, with id 1.
    pub(crate) async fn open(&self, who: &str, address: &str) -> String {
        self.ask(who, "resources/read", &format!(r#"{{"uri":"{address}"}}"#)).await
    }
}

pub(crate) fn timeless(record: &str) -> String {
    record.split_once(",\"status\":").map_or(record.to_owned(), |(line, _)| format!("{line}}}"))
}
