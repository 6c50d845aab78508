//! Mounts behind a door as HTTP sees them: which path is whose, what the caller may name, and how much is read.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use frontdesk::app::Router;
use frontdesk::app::{App, DataBackend};
use frontdesk::config::load;
use frontdesk::data_dir::DataDir;
use frontdesk::http::respond;
use frontdesk::net::{IncomingBody, Peer};
use frontdesk_engine::desk::Mount;
use frontdesk_engine::limits::rate::Quota;
use frontdesk_engine::model::contract::{Compatibility, Dialect, Payload, ReplyContext};
use frontdesk_engine::model::contract_entry::ContractEntry;
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::mount_policy::{MethodScopes, MountPolicy, MountStatus};
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::tool::{Future, ToolSpec};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::{Caller, ClientId, Contract, Fault, FaultKind, Scope, Scopes};
use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::{Map, Value};

use frontdesk_testkit::TestFolder as Scratch;

const BASE: &str = "/api/v1/mcp";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const PAYLOAD: usize = 2 * 1024 * 1024;

/// The automotive contract with the manners of another.
struct Mannered(Box<dyn Dialect>, Compatibility);

impl Dialect for Mannered {
    fn read(&self, tool: &ToolSpec, arguments: Map<String, Value>, key: Option<&str>) -> Result<ToolInput, Fault> {
        self.0.read(tool, arguments, key)
    }
    fn success(&self, shaped: Payload, at: &ReplyContext<'_>) -> Reply {
        self.0.success(shaped, at)
    }
    fn failure(&self, fault: &Fault, at: &ReplyContext<'_>) -> Reply {
        // So that a test sees which trace the contract was told of.
        self.0.failure(fault, at).header("X-Said", at.trace_id.to_owned())
    }
    fn tenant_argument(&self) -> &'static str {
        self.0.tenant_argument()
    }
    fn key_argument(&self) -> &'static str {
        self.0.key_argument()
    }
    fn compatibility(&self) -> Compatibility {
        self.1
    }
}

/// Knows one token.
struct Porter;

impl Identity for Porter {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        let caller = Caller {
            client: ClientId::new("agent"),
            subject: "agent".into(),
            tenants: Vec::new(),
            scopes: Scopes::new([Scope::new("*")]),
            authenticated_at: None,
        };
        let known = *credential == Credential::Bearer("known".to_owned());
        let refused = || Fault::new(FaultKind::Unauthenticated, "No.");
        Box::pin(std::future::ready(known.then_some(Arc::new(caller)).ok_or_else(refused)))
    }
}

fn mount(path: &str, standing: MountStatus, manners: Compatibility) -> Mount {
    let contract = frontdesk_contracts::by_id("automotive").unwrap();
    let contract = Contract { dialect: Box::new(Mannered(contract.dialect, manners)), ..contract };
    let door = MountPolicy {
        scopes: MethodScopes::new([], Scope::new("read")),
        calls: Quota { per_minute: 100 },
        payload_bytes: PAYLOAD,
        result_bytes: PAYLOAD,
        denied_tools: Vec::new(),
        status: standing,
    };
    let resource = format!("https://desk.example{path}");
    Mount::new(contract, resource.clone(), resource).with_policy(door).with_identity(Arc::new(Porter))
}

async fn app() -> (Arc<App>, Scratch) {
    let folder = Scratch::new();
    let settings =
        [("FRONTDESK_DATA", folder.join("data").display().to_string()), ("FRONTDESK_MOUNT", "automotive=/m".into())];
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value));
    let config = load(None, settings, &[ContractEntry::new("automotive")]).unwrap().config;
    assert!(config.limits.body_bytes < PAYLOAD);
    let backend = DataBackend::open(DataDir::lock(&config.data).unwrap(), &config.database).await.unwrap();
    let mut app = App::with_contracts(backend, config, Vec::new());
    let tracing = Compatibility { accepts_trace_id: true, ..Compatibility::default() };
    let own = ["content", "shut", "plain"].map(|handle| {
        let path = format!("{BASE}/{handle}");
        let mount = match handle {
            "shut" => mount(&path, MountStatus::Denied, tracing),
            "plain" => mount(&path, MountStatus::Served, Compatibility::default()),
            _ => mount(&path, MountStatus::Served, tracing),
        };
        (path, mount)
    });
    let nobody = mount(BASE, MountStatus::Unknown, tracing);
    let mounts = Router::new(own.into()).with_fallback(BASE.to_owned(), nobody);
    app.mounts = mounts;
    (Arc::new(app), folder)
}

fn post(path: &str) -> http::request::Builder {
    Request::post(format!("{BASE}{path}"))
        .header("host", "localhost")
        .header("authorization", "Bearer known")
        .header("content-type", "application/json")
}

async fn send(app: &Arc<App>, request: http::request::Builder, body: impl Into<bytes::Bytes>) -> Response<String> {
    let peer = Peer { address: IpAddr::V4(Ipv4Addr::LOCALHOST), certificate: None };
    let response = respond(Arc::clone(app), request.body(IncomingBody::full(body)).unwrap(), peer).await;
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Response::from_parts(head, String::from_utf8(body.to_vec()).unwrap())
}

fn header<'a>(response: &'a Response<String>, name: &str) -> &'a str {
    response.headers().get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
}

#[tokio::test]
async fn an_exact_path_wins_over_the_base_path() {
    let (app, _folder) = app().await;
    for (path, status, outcome) in [
        ("/content", 200, PONG),
        ("/shut", 403, r#""message":"The operator does not let this server be used.""#),
        ("/Content", 404, r#""message":"No server has this name; look at the last part of the address.""#),
        ("/other", 404, r#""message":"No server has this name; look at the last part of the address.""#),
        ("/%2e%2e", 404, r#""message":"No server has this name; look at the last part of the address.""#),
        ("/content/more", 404, r#""message":"There is nothing at this path; GET / lists the endpoints.""#),
        ("/", 404, r#""message":"There is nothing at this path; GET / lists the endpoints.""#),
        ("", 404, r#""message":"There is nothing at this path; GET / lists the endpoints.""#),
        ("more", 404, r#""message":"There is nothing at this path; GET / lists the endpoints.""#),
        ("more/content", 404, r#""message":"There is nothing at this path; GET / lists the endpoints.""#),
    ] {
        let response = send(&app, post(path), PING).await;
        assert!(response.status() == status && response.body().contains(outcome), "{path} {response:?}");
    }
}

#[tokio::test]
async fn every_mount_behind_a_door_has_an_address_to_dispatch_to() {
    let (app, _folder) = app().await;
    let resource = |path: &str| app.mounts.find_dispatch(&format!("{BASE}{path}")).map(|mount| &*mount.resource);
    assert_eq!(resource("/content/dispatch"), Some("https://desk.example/api/v1/mcp/content"));
    assert_eq!(resource("/other/dispatch"), Some("https://desk.example/api/v1/mcp"));
    for path in ["/content", "/dispatch", "/content/dispatch/", "/content/more/dispatch", "//dispatch"] {
        assert_eq!(resource(path), None, "{path}");
    }
    let open = |path: &str| {
        let contract = frontdesk_contracts::by_id("automotive").unwrap();
        (path.to_owned(), Mount::new(contract, path.to_owned(), String::new()))
    };
    let taken = mount(BASE, MountStatus::Served, Compatibility::default());
    let router = Router::new(vec![open("/a"), ("/b".to_owned(), taken), open("/b/dispatch")]);
    assert!(router.find_dispatch("/a/dispatch").is_none(), "there is no door");
    assert!(router.find_dispatch("/b/dispatch").is_none(), "somebody lives there");
    assert!(router.find("/b/dispatch").is_some());
}

#[tokio::test]
async fn whoever_gets_is_identified_before_the_verb_is_found_wrong() {
    let (app, _folder) = app().await;
    let get = || Request::get(format!("{BASE}/content")).header("host", "localhost");
    assert_eq!(send(&app, get(), "").await.status(), 401);
    let known = send(&app, get().header("authorization", "Bearer known"), "").await;
    assert_eq!((known.status().as_u16(), header(&known, "allow")), (405, "POST, DELETE"));
}

#[tokio::test]
async fn a_caller_names_its_trace_where_the_contract_allows_it() {
    let (app, _folder) = app().await;
    let unknown = r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#;
    let named = send(&app, post("/content").header("x-trace-id", " order-7 "), unknown).await;
    assert_eq!((header(&named, "x-trace-id"), header(&named, "x-said")), ("order-7", "order-7"));
    let greeted = send(&app, post("/content").header("x-trace-id", "order-7"), PING).await;
    assert_eq!(header(&greeted, "x-trace-id"), "order-7");
    let stranger = Request::post(format!("{BASE}/other")).header("host", "localhost").header("x-trace-id", "order-7");
    let stranger = send(&app, stranger, unknown).await;
    assert_eq!((stranger.status().as_u16(), header(&stranger, "x-said")), (401, "order-7"));
    let untaken = [
        post("/plain").header("x-trace-id", "order-7"),
        post("/content").header("x-trace-id", "a \"quoted\" name"),
        post("/content").header("x-trace-id", "one").header("x-trace-id", "two"),
        post("/content").header("x-trace-id", "x".repeat(129)),
        post("/content").header("x-trace-id", &b"\xff"[..]),
    ];
    for request in untaken {
        let response = send(&app, request, unknown).await;
        let shown = header(&response, "x-trace-id");
        assert!(shown.len() == 32 && shown.bytes().all(|byte| byte.is_ascii_hexdigit()), "{shown}");
        assert_eq!(header(&response, "x-said"), shown);
    }
}

#[tokio::test]
async fn the_media_type_json_is_accepted_in_any_spelling() {
    let (app, _folder) = app().await;
    let typed = |kind: &str| {
        let request = Request::post(format!("{BASE}/content")).header("host", "localhost");
        request.header("authorization", "Bearer known").header("content-type", kind)
    };
    for kind in
        ["application/json; charset=utf-8", "Application/JSON;Charset=UTF-8", "application/json;charset=\"utf-8\""]
    {
        assert_eq!(send(&app, typed(kind), PING).await.status(), 200, "{kind}");
    }
    for kind in ["text/plain", "application/json; charset=latin1", "application/jsonl"] {
        assert_eq!(send(&app, typed(kind), PING).await.status(), 415, "{kind}");
    }
}

#[tokio::test]
async fn a_door_takes_as_much_as_it_says_even_where_others_take_less() {
    let (app, _folder) = app().await;
    let sized = |bytes: usize| PING.to_owned() + &" ".repeat(bytes - PING.len());
    let passed = send(&app, post("/content"), sized(PAYLOAD)).await;
    assert_eq!((passed.status().as_u16(), passed.body().as_str()), (200, PONG));
    assert_eq!(send(&app, post("/content"), sized(PAYLOAD + 1)).await.status(), 413);
}
