//! Sites as a configuration file mounts them: what is said at the start, who is let in, and what answers where.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use hmac::{Hmac, KeyInit, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::certificates::address;
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use frontdesk_testkit::app::process::{CommandProcess, run_frontdesk};

pub(crate) const SECRET: &str = "a secret of the site, and longer than 32 bytes";
pub(crate) const CONTENT: &str = "/api/v1/mcp/content";
pub(crate) const SEARCH: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evo.content.search","arguments":{"limit":2}}}"#;
pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A folder with a site in it and a desk that serves it.
pub(crate) struct Served {
    folder: TestFolder,
    pub(crate) desk: CommandProcess,
    address: SocketAddr,
}

impl Served {
    /// With these lines in the mount's table, and whatever tables come after it.
    pub(crate) fn open(mount: &str) -> Served {
        Served::of(with_site(), mount)
    }

    pub(crate) fn of(folder: TestFolder, mount: &str) -> Served {
        write(&folder, mount);
        let mut desk =
            CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[("SITE_SECRET", SECRET)]);
        let address = address(&mut desk);
        Served { folder, desk, address }
    }

    pub(crate) fn http(&self) -> HttpClient {
        HttpClient::new(self.address, &self.folder.join("data/tls/ca.pem"))
    }

    /// A message to this path, by whoever holds the token.
    pub(crate) async fn post(&self, path: &str, token: Option<&str>, body: &str) -> HttpResponse {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        self.http().request("POST", path, &headers, body).await
    }

    fn client(&self, tenant: &str) -> (String, String) {
        let arguments = [
            &["client", "add", "--json", "--new-tenant", "--name", "a", "--tenant", tenant, "--data", "data"],
            ["--scope", "mcp:read", "--scope", "mcp:call"].as_slice(),
        ];
        let added = run_frontdesk(self.folder.path(), &arguments.concat());
        let added: Value = serde_json::from_str(&added.out).unwrap_or_else(|_| panic!("{added:?}"));
        (added["id"].as_str().unwrap().to_owned(), added["secret"].as_str().unwrap().to_owned())
    }

    /// A token of this server, for this path.
    async fn token(&self, (id, secret): &(String, String), path: &str) -> HttpResponse {
        let resource = format!("https%3A%2F%2Flocalhost%3A{}{path}", self.address.port());
        let form = format!(
            "grant_type=client_credentials&client_id={id}&client_secret={secret}&scope=mcp%3Aread+mcp%3Acall&resource={resource}"
        );
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.http().request("POST", "/token", &headers, form).await
    }

    async fn granted(&self, client: &(String, String), path: &str) -> String {
        json_of(&self.token(client, path).await)["access_token"].as_str().unwrap().to_owned()
    }

    /// Changes the mount, asks for a reload, and waits until the log says this.
    fn reload(&mut self, mount: &str, awaited: &str) -> String {
        write(&self.folder, mount);
        self.desk.reload(awaited)
    }
}

pub(crate) fn with_site() -> TestFolder {
    let folder = TestFolder::new();
    let database = rusqlite::Connection::open(folder.join("site.sqlite")).unwrap();
    database.execute_batch(&CmsSite::small().script(ScriptDialect::Sqlite)).unwrap();
    folder
}

pub(crate) fn write(folder: &TestFolder, mount: &str) {
    let database =
        if mount.split("[[mount]]").next().unwrap().contains("database") { "" } else { "database = \"site.sqlite\"\n" };
    let text = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:0\"\n[operator]\nlisten = \"127.0.0.1:0\"\n\
         [[mount]]\ncontract = \"emcp\"\n{database}{mount}"
    );
    fs::write(folder.join("desk.toml"), text).unwrap();
}

pub(crate) fn json_of(response: &HttpResponse) -> Value {
    serde_json::from_str(response.text()).unwrap_or_else(|_| panic!("{}: {}", response.status, response.text()))
}

fn titles(response: &HttpResponse) -> Vec<String> {
    let answer = json_of(response);
    let items = answer["result"]["structuredContent"]["items"].as_array().unwrap_or_else(|| panic!("{answer}"));
    items.iter().map(|item| item["pagetitle"].as_str().unwrap().to_owned()).collect()
}

/// A token that the site signs itself.
pub(crate) fn signed(claims: &Value) -> String {
    signed_with(SECRET, claims)
}

pub(crate) fn signed_with(secret: &str, claims: &Value) -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let text = format!("{}.{}", part(r#"{"alg":"HS256","typ":"JWT"}"#), part(&claims.to_string()));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

#[expect(clippy::disallowed_methods, reason = "the desk under test has the real clock")]
pub(crate) fn now() -> i64 {
    time::OffsetDateTime::now_utc().unix_timestamp()
}

#[tokio::test]
async fn own_tokens_open_a_site_to_its_own_clients_only() {
    let served = Served::open("");
    let client = served.client("site");
    let token = served.granted(&client, CONTENT).await;
    let answer = served.post(CONTENT, Some(&token), SEARCH).await;
    assert_eq!((answer.status, titles(&answer)), (200, vec!["Welcome".to_owned(), "Catalog".to_owned()]));

    let stranger = served.post(CONTENT, None, SEARCH).await;
    assert_eq!((stranger.status, json_of(&stranger)["error"]["code"].as_str()), (401, Some("unauthenticated")));
    let metadata = format!("https://localhost:{}/.well-known/oauth-protected-resource{CONTENT}", served.address.port());
    assert!(stranger.header("www-authenticate").unwrap().contains(&metadata), "{stranger:?}");
    let about = served.http().get(&format!("/.well-known/oauth-protected-resource{CONTENT}")).await;
    let resource = format!("https://localhost:{}{CONTENT}", served.address.port());
    assert_eq!(json_of(&about)["resource"], json!(resource));

    // Whoever may come in learns that there is no such server; a stranger does not.
    for (token, status) in [(Some(token.as_str()), 404), (None, 401)] {
        assert_eq!(served.post("/api/v1/mcp/nowhere", token, PING).await.status, status);
    }

    let other = served.client("another_site");
    let foreign = served.granted(&other, CONTENT).await;
    assert_eq!(served.post(CONTENT, Some(&foreign), SEARCH).await.status, 401);
}

#[tokio::test]
async fn site_tokens_open_a_site_and_own_ones_if_configured() {
    let served = Served::open("auth = [\"jwt\"]\njwt_secret_env = \"SITE_SECRET\"\njwt_issuer = \"the site\"\n");
    let claims =
        json!({"iss": "the site", "sub": "7", "scopes": "mcp:read,mcp:call", "iat": now(), "exp": now() + 600});
    let answer = served.post(CONTENT, Some(&signed(&claims)), SEARCH).await;
    assert_eq!((answer.status, titles(&answer).len()), (200, 2));
    for (name, value) in [("iss", json!("another")), ("exp", json!(now() - 600)), ("scopes", json!([]))] {
        let mut wrong = claims.clone();
        wrong[name] = value;
        let expected = if name == "scopes" { 403 } else { 401 };
        assert_eq!(served.post(CONTENT, Some(&signed(&wrong)), SEARCH).await.status, expected, "{name}");
    }
    let refused = served.token(&served.client("site"), CONTENT).await;
    assert_eq!((refused.status, json_of(&refused)["error"].as_str()), (400, Some("invalid_target")));

    let both = Served::open("auth = [\"jwt\", \"oauth\"]\njwt_secret_env = \"SITE_SECRET\"\n");
    let token = both.granted(&both.client("site"), CONTENT).await;
    for token in [signed(&claims), token] {
        assert_eq!(both.post(CONTENT, Some(&token), SEARCH).await.status, 200);
    }
}

#[tokio::test]
async fn without_tokens_whoever_is_on_this_machine_may_ask() {
    let served = Served::open("auth = [\"none\"]\n");
    let answer = served.post(CONTENT, None, SEARCH).await;
    assert_eq!((answer.status, titles(&answer).len()), (200, 2));
    // A page in a browser of this machine is somewhere else.
    let headers = [("content-type", "application/json"), ("origin", "https://evil.example")];
    assert_eq!(served.http().request("POST", CONTENT, &headers, SEARCH).await.status, 403);
}

#[tokio::test]
async fn each_server_has_its_paths_and_others_are_not_found() {
    let served = Served::open(
        "auth = [\"none\"]\nallow_servers = [\"content\", \"public\"]\ndeny_tools = [\"evo.model.*\"]\n\
         [[mount.server]]\nhandle = \"content\"\n\
         [[mount.server]]\nhandle = \"public\"\npath = \"/mcp/site\"\ndeny_tools = [\"evo.content.search\"]\n\
         [[mount.server]]\nhandle = \"shut\"\n",
    );
    for (path, status) in [
        (CONTENT, 200),
        ("/api/v1/mcp/public", 200),
        ("/mcp/site", 200),
        ("/api/v1/mcp/shut", 403),
        ("/api/v1/mcp/nowhere", 404),
        ("/api/v1/mcp/content/deeper", 404),
        ("/api/v1/mcp", 404),
    ] {
        assert_eq!(served.post(path, None, PING).await.status, status, "{path}");
    }
    let shut = served.post("/api/v1/mcp/shut", None, PING).await;
    assert_eq!(json_of(&shut)["error"]["code"], json!("server_denied"));
    let unknown = served.post("/api/v1/mcp/nowhere", None, PING).await;
    assert_eq!(json_of(&unknown)["error"]["code"], json!(-32601));

    let denied = |path: &'static str, tool: &str| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {"limit": 1}}});
        let served = &served;
        async move { served.post(path, None, &body.to_string()).await }
    };
    for (path, tool, status) in [
        (CONTENT, "evo.content.search", 200),
        ("/mcp/site", "evo.content.search", 403),
        (CONTENT, "evo.model.list", 403),
        (CONTENT, "evo.write.anything", 403),
    ] {
        assert_eq!(denied(path, tool).await.status, status, "{path} {tool}");
    }
}

#[tokio::test]
async fn the_limits_of_a_server_are_its_own() {
    let served = Served::open(
        "auth = [\"none\"]\n[mount.limits]\nmax_result_items = 5\n\
         [[mount.server]]\nhandle = \"content\"\n\
         [[mount.server]]\nhandle = \"few\"\n[mount.server.limits]\nper_minute = 2\nmax_payload_kb = 1\n",
    );
    let search = |limit: u32| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": "evo.content.search", "arguments": {"limit": limit}}})
        .to_string()
    };
    assert_eq!(titles(&served.post(CONTENT, None, &search(5)).await).len(), 5);
    assert_eq!(json_of(&served.post(CONTENT, None, &search(6)).await)["error"]["code"], json!(-32602));
    let few = "/api/v1/mcp/few";
    let large = format!("{PING}{}", " ".repeat(1024 - PING.len()));
    assert_eq!(served.post(few, None, &large).await.status, 200);
    assert_eq!(served.post(few, None, &format!("{large} ")).await.status, 413);
    let late = served.post(few, None, PING).await;
    assert_eq!(late.status, 429);
    assert!((1..=60).contains(&late.header("retry-after").unwrap().parse::<u32>().unwrap()), "{late:?}");
    assert_eq!(served.post(CONTENT, None, PING).await.status, 200);
}

#[tokio::test]
async fn a_dispatched_message_is_answered_once_for_its_key() {
    let served = Served::open("auth = [\"none\"]\n");
    let dispatch = |body: &'static str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "k1")];
        let mut http = served.http();
        async move { http.request("POST", &format!("{CONTENT}/dispatch"), &headers, body).await }
    };
    let first = dispatch(SEARCH).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let (first, second) = (json_of(&first), json_of(&dispatch(SEARCH).await));
    assert_eq!((&first["status"], &first["reused"]), (&json!("completed"), &json!(false)));
    assert_eq!((&second["reused"], &second["result"]), (&json!(true), &first["result"]));
    assert_eq!(dispatch(PING).await.status, 409);
    let unknown = served.post("/api/v1/mcp/nowhere/dispatch", None, SEARCH).await;
    assert_eq!(unknown.status, 404, "{}", unknown.text());
}

/// What `serve` and `config check` say of a mount with these lines.
fn refusals(folder: &TestFolder, mount: &str) -> [String; 2] {
    write(folder, mount);
    [["serve", "--config", "desk.toml"].as_slice(), &["config", "check", "--config", "desk.toml"]].map(|arguments| {
        let said = run_frontdesk(folder.path(), arguments);
        assert_eq!(said.code, Some(1), "{said:?}");
        said.err
    })
}

#[test]
fn start_and_check_report_an_unreadable_site_alike() {
    let folder = with_site();
    let open = folder.join("open.txt");
    fs::write(&open, SECRET).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let short = folder.join("short.txt");
    fs::write(&short, "hunter2").unwrap();
    fs::set_permissions(&short, fs::Permissions::from_mode(0o600)).unwrap();
    for (mount, said) in [
        (
            "prefix = \"modx_\"\n",
            "mount[0].database: the database has no table modx_site_content. Tables of a site were found with \
             these prefixes: \"evo_\". Set `prefix` to one of them",
        ),
        (
            "database = \"nowhere.sqlite\"\n",
            "mount[0].database: cannot read the site's database: nowhere.sqlite cannot be opened. The file must exist",
        ),
        (
            "database_env = \"NOT_SET\"\n",
            "mount[0].database: the variable NOT_SET is not set. Set it where the server is started",
        ),
        (
            "auth = [\"jwt\"]\njwt_secret_file = \"open.txt\"\n",
            "mount[0].jwt_secret: open.txt can be read by everyone on this machine. Run: chmod o= open.txt",
        ),
        (
            "auth = [\"jwt\"]\njwt_secret_file = \"short.txt\"\n",
            "mount[0].jwt_secret: The secret has 7 bytes, which is short enough to guess and forge tokens with.",
        ),
    ] {
        for err in refusals(&folder, mount) {
            assert!(err.contains(said), "{err}");
            assert!(!err.contains("hunter2"), "{err}");
        }
    }
}

#[test]
fn config_check_says_everything_about_a_site_at_once() {
    let folder = with_site();
    let [_, err] = refusals(&folder, "prefix = \"modx_\"\nauth = [\"jwt\"]\njwt_secret_env = \"NOT_SET\"\n");
    assert!(err.contains("2 problems") && err.contains("mount[0].jwt_secret: the variable NOT_SET"), "{err}");
    assert!(err.contains("mount[0].database: the database has no table modx_site_content"), "{err}");
    write(&folder, "");
    let checked = run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
    assert_eq!((checked.code, checked.out.as_str()), (Some(0), "The configuration is valid.\n"));
}

#[tokio::test]
async fn a_desk_starts_while_a_site_database_is_down() {
    let mut served = Served::open("auth = [\"none\"]\ndatabase = \"mysql://reader:hunter2@127.0.0.1:1/site\"\n");
    let log = served.desk.logged("\"mount\":0,\"error\":\"cannot read the site's database: ");
    assert!(log.contains("site database unavailable; calls are answered as unavailable until it answers"), "{log}");
    assert!(!log.contains("hunter2"), "{log}");
    let answer = served.post(CONTENT, None, SEARCH).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert_eq!(served.post(CONTENT, None, PING).await.status, 200);

    // Whoever asks before the start is told the same, and that it can be started.
    let checked = run_frontdesk(served.folder.path(), &["config", "check", "--config", "desk.toml"]);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""), "{checked:?}");
    let (warning, verdict) = checked.out.split_once('\n').unwrap();
    let notice = warning.strip_prefix("warning: mount[0].database: cannot read the site's database: ").unwrap();
    let error = notice.strip_suffix(". Calls to this mount are answered as unavailable until it answers").unwrap();
    assert!(log.contains(error), "{log}");
    assert_eq!(verdict, "The configuration is valid.\n");

    served.reload("auth = [\"none\"]\n", "configuration reloaded\",\"changed\":\"mount\"");
    assert_eq!(served.post(CONTENT, None, SEARCH).await.status, 200);
}

#[tokio::test]
async fn a_reload_looks_again_which_tables_a_site_has() {
    let mut served = Served::open("auth = [\"none\"]\n");
    let categories = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evo.model.list","arguments":{"model":"Category","limit":5}}}"#;
    let site = rusqlite::Connection::open(served.folder.join("site.sqlite")).unwrap();
    site.execute_batch("ALTER TABLE evo_categories RENAME TO later").unwrap();
    // The call that finds the table gone makes the desk look again.
    served.post(CONTENT, None, categories).await;
    let none = json_of(&served.post(CONTENT, None, categories).await);
    assert_eq!(none["result"]["structuredContent"]["items"], serde_json::json!([]), "{none}");
    site.execute_batch("ALTER TABLE later RENAME TO evo_categories").unwrap();
    served.reload("auth = [\"none\"]\nallow_servers = [\"c*\"]\n", "configuration reloaded\",\"changed\":\"mount\"");
    let some = json_of(&served.post(CONTENT, None, categories).await);
    assert_ne!(some["result"]["structuredContent"]["items"], serde_json::json!([]));
}

#[tokio::test]
async fn a_reload_changes_to_a_site_only_if_it_can_be_read() {
    let mut served = Served::open("auth = [\"none\"]\n");
    let wrong = "auth = [\"none\"]\nprefix = \"modx_\"\n";
    served
        .reload(wrong, "configuration not reloaded; the current one stays in effect\",\"error\":\"mount[0].database: ");
    assert_eq!(served.post(CONTENT, None, SEARCH).await.status, 200);
    served.reload("auth = [\"none\"]\npath = \"/cms\"\n", "configuration reloaded\",\"changed\":\"mount\"");
    assert_eq!(served.post("/cms/content", None, SEARCH).await.status, 200);
    assert_eq!(served.post(CONTENT, None, SEARCH).await.status, 404);
}

#[test]
fn a_program_that_starts_the_desk_itself_reads_the_site_too() {
    let folder = with_site();
    write(&folder, "");
    let arguments =
        ["client", "add", "--json", "--new-tenant", "--name", "a", "--tenant", "site", "--scope", "mcp:read"];
    let added =
        run_frontdesk(folder.path(), &[arguments.as_slice(), &["--scope", "mcp:call", "--data", "data"]].concat());
    let added: Value = serde_json::from_str(&added.out).unwrap_or_else(|_| panic!("{added:?}"));
    let mut program = Command::new(env!("CARGO_BIN_EXE_frontdesk"))
        .args(["stdio", "--config", "desk.toml", "--contract", "emcp"])
        .current_dir(folder.path())
        .env_clear()
        .env("FRONTDESK_CLIENT_ID", added["id"].as_str().unwrap())
        .env("FRONTDESK_CLIENT_SECRET", added["secret"].as_str().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    program.stdin.take().unwrap().write_all(format!("{SEARCH}\n").as_bytes()).unwrap();
    let output = program.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out} {err}"));
    assert_eq!(answer["result"]["structuredContent"]["items"][1]["pagetitle"], json!("Catalog"), "{out}");
}

#[tokio::test]
async fn the_sites_own_file_is_left_as_it_was() {
    let served = Served::open("auth = [\"none\"]\n");
    let before = fs::read(served.folder.join("site.sqlite")).unwrap();
    assert_eq!(served.post(CONTENT, None, SEARCH).await.status, 200);
    let headers = [("content-type", "application/json"), ("idempotency-key", "k2")];
    served.http().request("POST", &format!("{CONTENT}/dispatch"), &headers, SEARCH).await;
    tokio::time::timeout(Duration::from_secs(20), async { served.http().get("/").await }).await.unwrap();
    assert_eq!(fs::read(served.folder.join("site.sqlite")).unwrap(), before);
}
