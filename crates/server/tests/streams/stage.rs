//! A server whose contract has one more tool, which tracks a shipment that the test moves on as it likes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use frontdesk::app::{App, BoundListeners, DataBackend, OnSighup, Router, serve_until_shutdown};
use frontdesk::config::load;
use frontdesk::data_dir::DataDir;
use frontdesk::net::{
    AddressSource, CertificateWatcher, ConnectionCounters, ConnectionLimits, DrainResult, Shutdown, bind,
    prepare_certificate,
};
use frontdesk_contracts::partner::{ErrorStatus, IntentText, PartnerSettings, PartnerSource};
use frontdesk_contracts::tomo;
use frontdesk_engine::desk::{Mount, Streaming};
use frontdesk_engine::limits::streams::{StreamEnd, Streams};
use frontdesk_engine::model::contract_entry::ContractEntry;
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::latency_target::LatencyTarget;
use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::model::tool::{
    Effect, Future, Item, Outcome, Progress, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec, WatchReport,
    WatchState, WatchTool,
};
use frontdesk_engine::ports::Identity;
use frontdesk_engine::{Caller, Contract, Fault, FaultKind, Permitted, Scope, TenantId};
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpConnection, trusting};
use frontdesk_testkit::callers::caller;
use serde_json::json;
use tokio::task::JoinHandle;

pub(crate) const PATH: &str = "/mcp/shipments";
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// Looks only when something changes.
pub(crate) const ON_CHANGE: Streaming =
    Streaming { time: LONG, longest_pause: LONG, shortest_pause: Duration::ZERO, heartbeat: LONG };

/// What `Accept` says.
pub(crate) const EVENTS: &str = "application/json, text/event-stream";

/// The shipment that is tracked.
#[derive(Default)]
pub(crate) struct Shipment {
    done: Mutex<u32>,
    /// How long the message about it is.
    pub(crate) message_bytes: usize,
    looks: AtomicUsize,
}

struct TrackShipment(Arc<Shipment>);

impl WatchTool for TrackShipment {
    fn observe<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<WatchReport, Fault>> {
        Box::pin(async move {
            let id = permitted.input().text("id").unwrap().to_owned();
            if id == "none" {
                return Err(Fault::not_found());
            }
            let looks = self.0.looks.fetch_add(1, Ordering::SeqCst);
            // A long message is news every time.
            let done = match self.0.message_bytes {
                0 => *self.0.done.lock().unwrap(),
                _ => u32::try_from(looks).unwrap(),
            };
            let message = format!("Stop {done}{}", ".".repeat(self.0.message_bytes));
            Ok(WatchReport {
                outcome: Outcome::One(Item {
                    body: format!(r#"{{"id":"{id}","stop":{done}}}"#),
                    id,
                    version: 0,
                    masked: None,
                    personal: None,
                }),
                progress: Progress { done, total: 3, message },
                state: if done == 3 && self.0.message_bytes == 0 { WatchState::Ended } else { WatchState::Open },
            })
        })
    }
}

pub(crate) struct Stage {
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) app: Arc<ArcSwap<App>>,
    pub(crate) shipment: Arc<Shipment>,
    pub(crate) shutdown: Shutdown,
    pub(crate) serving: JoinHandle<DrainResult>,
    ca_file: PathBuf,
    _folder: TestFolder,
}

/// What a test may want otherwise.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) streaming: Streaming,
    pub(crate) settings: Vec<(&'static str, &'static str)>,
    pub(crate) message_bytes: usize,
    /// With these limits the listener stands alone.
    pub(crate) limits: Option<ConnectionLimits>,
}

impl Stage {
    pub(crate) async fn open(streaming: Streaming) -> Stage {
        Stage::with(Wishes { streaming, ..Wishes::default() }).await
    }

    pub(crate) async fn with(wishes: Wishes) -> Stage {
        let folder = TestFolder::new();
        let mut settings = vec![
            ("FRONTDESK_DATA", folder.join("data").display().to_string()),
            ("FRONTDESK_MOUNT", "automotive=/m".to_owned()),
            ("FRONTDESK_LISTEN", "127.0.0.1:0".to_owned()),
        ];
        settings.extend(wishes.settings.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value));
        let config = load(None, settings, &[ContractEntry::new("automotive")]).unwrap().config;
        let backend = DataBackend::open(DataDir::lock(&config.data).unwrap(), &config.database).await.unwrap();
        let now = backend.clock.now();
        let certificate = prepare_certificate(&config, now).unwrap();
        let ca_file = certificate.ca_file.clone().unwrap();
        let certificates = CertificateWatcher::new(certificate, now);
        let shipment = Arc::new(Shipment { message_bytes: wishes.message_bytes, ..Shipment::default() });
        let mut app = App::with_contracts(backend, config, Vec::new());
        app.mounts = router(&shipment, wishes.streaming);
        let app = Arc::new(ArcSwap::from_pointee(app));
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let public = bind(any, AddressSource::Flag("--listen")).await.unwrap();
        let admin = bind(any, AddressSource::Flag("--operator-listen")).await.unwrap();
        let (address, admin_address, shutdown) = (public.local_addr(), admin.local_addr(), Shutdown::new());
        let (current, requested) = (Arc::clone(&app), shutdown.clone());
        let serving = match wishes.limits {
            None => {
                let listeners = BoundListeners { public, admin, certificates, stdio: None };
                tokio::spawn(serve_until_shutdown(current, listeners, OnSighup::Exit, requested))
            }
            Some(limits) => {
                let counters = Arc::new(ConnectionCounters::default());
                let service =
                    Arc::new(move |request, peer| frontdesk::http::respond(current.load_full(), request, peer));
                tokio::spawn(public.serve(certificates.tls(), limits, counters, service, requested))
            }
        };
        Stage { address, admin: admin_address, app, shipment, shutdown, serving, ca_file, _folder: folder }
    }

    /// The shipment comes so far, and whoever waits for changes is woken.
    pub(crate) fn moves_to(&self, done: u32) {
        *self.shipment.done.lock().unwrap() = done;
        self.note();
    }

    pub(crate) fn note(&self) {
        self.app.load().desk.changes.note(&TenantId::parse("north").unwrap());
    }

    pub(crate) fn looks(&self) -> usize {
        self.shipment.looks.load(Ordering::SeqCst)
    }

    pub(crate) fn streams(&self) -> Streams {
        self.app.load().desk.inflight.streams.clone()
    }

    /// How many have ended in this way.
    pub(crate) fn ended(&self, end: StreamEnd) -> u64 {
        self.streams().ended().iter().find(|(known, _)| *known == end).unwrap().1
    }

    pub(crate) fn client(&self) -> HttpClient {
        HttpClient::new(self.address, &self.ca_file)
    }

    pub(crate) async fn connect(&self) -> HttpConnection {
        let config = Arc::new(trusting(&self.ca_file, rustls::ALL_VERSIONS));
        HttpConnection::open(self.address, config, "localhost").await.unwrap()
    }

    /// The metrics page.
    pub(crate) async fn metrics(&self) -> String {
        HttpClient::new(self.admin, &self.ca_file).get("/metrics").await.text().to_owned()
    }

    /// Sends a request and leaves its answer to be read; `accept` is what it accepts.
    pub(crate) async fn ask(&self, connection: &mut HttpConnection, accept: &str, body: &str) {
        let head = format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\naccept: {accept}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        connection.send(format!("{head}{body}").as_bytes()).await.unwrap();
    }

    /// A stream that is open and has said how far the shipment has come.
    pub(crate) async fn open_stream(&self) -> HttpConnection {
        let mut connection = self.connect().await;
        self.ask(&mut connection, EVENTS, &track("p1")).await;
        let head = connection.receive_head().await.unwrap();
        assert_eq!(head.header("content-type"), Some("text/event-stream"), "{head:?}");
        assert_eq!(connection.receive_event().await, progress(0));
        connection
    }
}

pub(crate) const TOKEN: &str = "known";

/// Knows one token.
struct OneToken;

impl Identity for OneToken {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        let known = *credential == Credential::Bearer(TOKEN.to_owned());
        let refused = || Fault::new(FaultKind::Unauthenticated, "No.");
        let caller = known.then(|| Arc::new(caller("client", &["north"], tomo::LIVE)));
        Box::pin(std::future::ready(caller.ok_or_else(refused)))
    }
}

/// What `track` of a shipment sends.
pub(crate) fn track(id: &str) -> String {
    json!({
        "jsonrpc": "2.0", "id": "c-1", "method": "tools/call",
        "params": {"name": "track_shipment", "arguments": {"id": id}, "_meta": {"progressToken": "unique_call_token"}},
    })
    .to_string()
}

pub(crate) fn progress(done: u32) -> String {
    format!(
        "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":\"unique_call_token\",\"progress\":{done},\"total\":3,\"message\":\"Stop {done}\"}}}}\n\n"
    )
}

pub(crate) fn answer(done: u32) -> String {
    format!(
        "data: {{\"jsonrpc\":\"2.0\",\"id\":\"c-1\",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{{\\\"id\\\":\\\"p1\\\",\\\"stop\\\":{done}}}\"}}]}}}}\n\n"
    )
}

fn router(shipment: &Arc<Shipment>, streaming: Streaming) -> Router {
    let mount = Mount::new(contract(shipment), format!("https://desk.example{PATH}"), String::new());
    Router::new(vec![(PATH.to_owned(), mount.with_identity(Arc::new(OneToken)).with_streaming(streaming))])
}

fn contract(shipment: &Arc<Shipment>) -> Contract {
    let intent = "travel.book_hotel";
    let settings = PartnerSettings {
        company: "Acme".to_owned(),
        partner_id: "acme".to_owned(),
        intents: vec![IntentText { name: intent.to_owned(), text: tomo::intent::built_in(intent).unwrap().to_owned() }],
        signals: ["time", "taste", "budget", "safety"].map(|axis| (axis.to_owned(), 0.5)).to_vec(),
        service_area: vec!["Bengaluru".to_owned()],
        pricing_band: "good".to_owned(),
        callback: "https://tomo.example/api/v1/cpc/mcp_provider/acme".to_owned(),
        source: PartnerSource::Own,
        error_status: ErrorStatus::Equivalent,
        public_url: format!("https://desk.example{PATH}"),
        keys: Default::default(),
        backend: None,
        manifest: Default::default(),
    };
    let mut contract = tomo::contract(&settings).unwrap_or_else(|problems| panic!("{problems:?}"));
    contract.tools.push(Tool {
        spec: ToolSpec {
            name: "track_shipment",
            title: "Track a shipment",
            about: "Where it is.",
            input: Schema::object([required("id", Schema::text(64), "Which.")]),
            output: Schema::object([]),
            effect: Effect::Reads,
            scope: ScopeRule::One(Scope::new(tomo::LIVE)),
            unmask_scope: None,
            sensitivity: Sensitivity::Business,
            max_login_age: None,
            rate: RateKey::Client,
            route: None,
            codes: Vec::new(),
        },
        run: Run::watch(TrackShipment(Arc::clone(shipment))),
    });
    let [p50, p95, p99] = [100, 400, 800].map(Duration::from_millis);
    contract.latency_targets.push(LatencyTarget { kind: "track", tools: vec!["track_shipment"], p50, p95, p99 });
    contract
}
