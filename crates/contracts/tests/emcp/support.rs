//! A desk that serves the made-up site from one database or from all three; with three, every answer must be the same.

use frontdesk_engine::model::contract_entry::QueryLimits;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_contracts::emcp::{EmcpSettings, contract};
use frontdesk_engine::desk::{Desk, Keys, Mount};
use frontdesk_engine::limits::inflight::Inflight;
use frontdesk_engine::limits::rate::{Budget, Rates};
use frontdesk_engine::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::ports::http_client::NoHttpClient;
use frontdesk_engine::ports::site_db::{Name, Select, SiteDb, SiteRow};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::serve;
use frontdesk_engine::{Fault, Reply};
use frontdesk_store::site_db::open;
use frontdesk_testkit::memory_store::InjectedFault;
use frontdesk_testkit::{MemoryStore, ObservedCalls, TestClock, TestRandom, TokenIdentity};
use serde_json::{Value, json};

use crate::schema_validator::mismatches;
use frontdesk_testkit::sites::{SiteDatabases, SiteFile, settings};

/// The token is `tenant[,tenant]/scope scope`.
pub(crate) const TOKEN: &str = "site/mcp:call mcp:read";

pub(crate) struct TestDesk {
    desk: Desk,
    mounts: Vec<(&'static str, Mount)>,
    /// Keeps the database alive as long as the desk.
    _site: SiteHandle,
}

enum SiteHandle {
    One(#[expect(dead_code, reason = "it is held, not read")] SiteFile),
    Three(#[expect(dead_code, reason = "they are held, not read")] Box<SiteDatabases>),
    Nothing,
}

impl TestDesk {
    pub(crate) async fn on_three() -> TestDesk {
        TestDesk::on_three_with(|_| String::new()).await
    }

    /// With additional SQL for each database.
    pub(crate) async fn on_three_with(more: fn(ScriptDialect) -> String) -> TestDesk {
        let three = SiteDatabases::with(&CmsSite::small(), more).await;
        let mounts = three.sites.iter().map(|(name, site_db)| (*name, mount().with_site_db(site_db.clone()))).collect();
        TestDesk { desk: desk(), mounts, _site: SiteHandle::Three(Box::new(three)) }
    }

    pub(crate) async fn on_sqlite() -> TestDesk {
        TestDesk::on_sqlite_with("", EmcpSettings::default()).await
    }

    pub(crate) async fn on_sqlite_with(more: &str, wanted: EmcpSettings) -> TestDesk {
        let file = SiteFile::new();
        file.sql(&format!("{}{more}", CmsSite::small().script(ScriptDialect::Sqlite)));
        let archive = open(&settings(&file.url())).await.unwrap();
        let mount = Mount::new(contract(wanted), ADDRESS.to_owned(), METADATA.to_owned()).with_site_db(archive);
        TestDesk { desk: desk(), mounts: vec![("SQLite", mount)], _site: SiteHandle::One(file) }
    }

    /// Calls `on_select` for every query to the database.
    pub(crate) async fn on_sqlite_recording(on_select: impl Fn(&Select) + Send + Sync + 'static) -> TestDesk {
        TestDesk::on_sqlite_at(Arc::default(), on_select).await
    }

    /// The same with a clock that can be set.
    pub(crate) async fn on_sqlite_at(
        clock: Arc<TestClock>,
        on_select: impl Fn(&Select) + Send + Sync + 'static,
    ) -> TestDesk {
        let file = SiteFile::new();
        file.sql(&CmsSite::small().script(ScriptDialect::Sqlite));
        let archive = open(&settings(&file.url())).await.unwrap();
        let mount = mount().with_site_db(Arc::new(RecordingSiteDb { archive, on_select: Box::new(on_select) }));
        TestDesk { desk: desk_at(clock), mounts: vec![("SQLite", mount)], _site: SiteHandle::One(file) }
    }

    /// Without a database, for what needs none.
    pub(crate) fn bare() -> TestDesk {
        TestDesk { desk: desk(), mounts: vec![("none", mount())], _site: SiteHandle::Nothing }
    }

    pub(crate) async fn send(&self, token: &str, version: &str, method: &str, params: Value) -> Reply {
        self.send_body(token, version, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await
    }

    /// The answer of all databases, which must be the same.
    async fn send_body(&self, token: &str, version: &str, body: &Value) -> Reply {
        let mut replies = self.send_to_each(token, version, body).await;
        for (name, reply) in &replies[1..] {
            assert_eq!(
                String::from_utf8_lossy(&reply.body),
                String::from_utf8_lossy(&replies[0].1.body),
                "{name} and {} for {body}",
                replies[0].0
            );
        }
        replies.swap_remove(0).1
    }

    pub(crate) async fn send_to_each(&self, token: &str, version: &str, body: &Value) -> Vec<(&'static str, Reply)> {
        self.timed(token, version, body).await.into_iter().map(|(name, reply, _)| (name, reply)).collect()
    }

    /// Each answer with the time that it took.
    pub(crate) async fn timed(&self, token: &str, version: &str, body: &Value) -> Vec<(&'static str, Reply, Duration)> {
        let mut replies = Vec::new();
        for (name, mount) in &self.mounts {
            let modern = version == "2026-07-28";
            let method = body["method"].as_str().map(str::to_owned);
            let incoming = Incoming {
                verb: Verb::Post,
                credential: Credential::Bearer(token.to_owned()),
                protocol_version: Some(version.to_owned()),
                method_header: method.filter(|_| modern),
                route: None,
                name_header: body["params"]["name"].as_str().filter(|_| modern).map(str::to_owned),
                idempotency_key: None,
                listening: Listening::No,
                import_id: None,
                transport_fault: None,
                body: RequestBody::from_bytes(body.to_string()),
                address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                trace: Trace::new("trace"),
            };
            let began = Instant::now();
            let reply = serve(&self.desk, mount, incoming).await;
            replies.push((*name, reply, began.elapsed()));
        }
        replies
    }

    pub(crate) fn tools(&self) -> &[frontdesk_engine::model::tool::Tool] {
        &self.mounts[0].1.contract.tools
    }

    /// The answer to a call, as a JSON-RPC message.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let reply = self.send(TOKEN, "2025-11-25", "tools/call", params).await;
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap()
    }

    /// The text of a successful call. It must match the published schema.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        let body = self.call(tool, arguments.clone()).await;
        let result = body.get("result").unwrap_or_else(|| panic!("{tool} {arguments}: {body}"));
        assert_eq!(result["isError"], Value::from(false), "{body}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(result["structuredContent"], answer);
        let spec = &self.tools().iter().find(|known| known.spec.name == tool).unwrap().spec;
        assert_eq!(mismatches(&spec.output.to_json(), &answer), [""; 0], "{tool} {arguments}");
        text
    }

    pub(crate) async fn call_ok(&self, tool: &str, arguments: Value) -> Value {
        serde_json::from_str(&self.text(tool, arguments).await).unwrap()
    }

    /// The ids of a list, with a limit of 100 if none is given.
    pub(crate) async fn ids(&self, tool: &str, mut arguments: Value) -> Vec<i64> {
        let limit = arguments.as_object_mut().unwrap().entry("limit").or_insert(json!(100)).as_i64().unwrap();
        let answer = self.call_ok(tool, arguments).await;
        let ids: Vec<i64> =
            answer["items"].as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect();
        assert_eq!(answer["meta"]["count"], json!(ids.len()));
        assert_eq!(answer["meta"]["limit"], json!(limit));
        ids
    }

    pub(crate) async fn search(&self, arguments: Value) -> Vec<i64> {
        self.ids("evo.content.search", arguments).await
    }

    /// How many documents a search finds, over all pages of the list.
    pub(crate) async fn count(&self, arguments: Value) -> usize {
        let mut found = Vec::new();
        loop {
            let mut arguments = arguments.clone();
            arguments["offset"] = json!(found.len());
            let ids = self.search(arguments).await;
            let last = ids.len() < 100;
            found.extend(ids);
            if last {
                let mut distinct = found.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), found.len(), "each page of the site once");
                return found.len();
            }
        }
    }

    /// `code message` of a call that must fail with a JSON-RPC error and status 200.
    pub(crate) async fn error(&self, tool: &str, arguments: Value) -> String {
        let body = self.call(tool, arguments.clone()).await;
        let error = body.get("error").unwrap_or_else(|| panic!("{tool} {arguments}: {body}"));
        format!("{} {}", error["code"], error["message"].as_str().unwrap())
    }
}

pub(crate) fn limited(limits: QueryLimits) -> EmcpSettings {
    EmcpSettings { limits, ..EmcpSettings::default() }
}

const ADDRESS: &str = "https://desk.example/api/v1/mcp/content";
const METADATA: &str = "https://desk.example/md";

fn mount() -> Mount {
    Mount::new(contract(EmcpSettings::default()), ADDRESS.to_owned(), METADATA.to_owned())
}

fn desk() -> Desk {
    desk_at(Arc::default())
}

fn desk_at(clock: Arc<TestClock>) -> Desk {
    let store = MemoryStore::default();
    // No tool writes.
    store.inject(|faults| faults.commits = InjectedFault::Fail);
    Desk {
        store: Arc::new(store),
        identity: Arc::new(TokenIdentity),
        clock,
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
        settings: frontdesk_engine::desk::DeskSettings {
            page_bytes: 1 << 20,
            reply_bytes: 4 << 20,
            calls: Budget { per_minute: 1_000_000, burst: 1_000_000 },
            deadline: Duration::from_secs(30),
        },
    }
}

struct RecordingSiteDb {
    archive: Arc<dyn SiteDb>,
    on_select: Box<dyn Fn(&Select) + Send + Sync>,
}

impl SiteDb for RecordingSiteDb {
    fn has_table<'a>(&'a self, table: Name) -> Future<'a, Result<bool, Fault>> {
        self.archive.has_table(table)
    }

    fn select<'a>(&'a self, select: &'a Select) -> Future<'a, Result<Vec<SiteRow>, Fault>> {
        (self.on_select)(select);
        self.archive.select(select)
    }
}
