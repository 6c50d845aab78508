//! A desk that serves the made-up site as its owner would start it, and callers with tokens that the site has signed.

use std::fs;
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use hmac::{Hmac, KeyInit, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk};

pub(crate) const SECRET: &str = "a secret of the site, and longer than 32 bytes";
pub(crate) const BASE: &str = "/api/v1/mcp";
pub(crate) const CONTENT: &str = "/api/v1/mcp/content";
/// Who may call, as most stages have it.
pub(crate) const TOKENS: &str = "auth = [\"jwt\"]\njwt_secret_env = \"SITE_SECRET\"\n";
/// A rate that no test comes near.
pub(crate) const ROOMY: &str = "[mount.limits]\nper_minute = 1000000\n";
/// The trace that every request of these tests names.
pub(crate) const TRACE: &str = "trace-7";

pub(crate) struct Stage {
    pub(crate) folder: TestFolder,
    pub(crate) desk: CommandProcess,
    address: SocketAddr,
}

impl Stage {
    pub(crate) fn open() -> Stage {
        Stage::with(ROOMY)
    }

    /// With these lines in the mount's table, and whatever tables come after it.
    pub(crate) fn with(mount: &str) -> Stage {
        let folder = TestFolder::new();
        fill(&folder, "");
        Stage::serving(folder, &format!("[[mount]]\ncontract = \"emcp\"\ndatabase = \"site.sqlite\"\n{TOKENS}{mount}"))
    }

    /// Serves whatever these tables mount.
    pub(crate) fn serving(folder: TestFolder, mounts: &str) -> Stage {
        let text = format!(
            "data = \"data\"\nlisten = \"127.0.0.1:0\"\n[operator]\nlisten = \"127.0.0.1:0\"\n\
             [limits]\ncalls_per_minute = 10000000\nburst = 1000000\n{mounts}"
        );
        fs::write(folder.join("desk.toml"), text).unwrap();
        let (desk, address) = start(&folder);
        Stage { folder, desk, address }
    }

    /// Ends the desk at once, as a crash would, and starts it again on the same data.
    pub(crate) fn crashed(self) -> Stage {
        let Stage { folder, desk, .. } = self;
        desk.signal("KILL");
        desk.end();
        let (desk, address) = start(&folder);
        Stage { folder, desk, address }
    }

    pub(crate) fn http(&self) -> HttpClient {
        HttpClient::new(self.address, &self.folder.join("data/tls/ca.pem"))
    }

    /// Somebody with a token for these scopes.
    pub(crate) fn caller(&self, name: &str, scopes: Value) -> Caller {
        self.holder(&token(name, scopes))
    }

    /// Somebody with this token, or with none if it is empty.
    pub(crate) fn holder(&self, token: &str) -> Caller {
        Caller { http: self.http(), token: token.to_owned(), path: CONTENT.to_owned() }
    }

    /// An ordinary client.
    pub(crate) fn agent(&self) -> Caller {
        self.caller("agent", json!(["mcp:read", "mcp:call"]))
    }

    /// Another command on this desk's data.
    pub(crate) fn command(&self, arguments: &[&str]) -> CommandOutput {
        run_frontdesk(self.folder.path(), &[arguments, &["--data", "data"]].concat())
    }
}

fn start(folder: &TestFolder) -> (CommandProcess, SocketAddr) {
    let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[("SITE_SECRET", SECRET)]);
    let address = desk.address();
    (desk, address)
}

/// Makes the small site in `site.sqlite`, and does this to it.
pub(crate) fn fill(folder: &TestFolder, more: &str) {
    let database = rusqlite::Connection::open(folder.join("site.sqlite")).unwrap();
    database.execute_batch(&format!("{}{more}", CmsSite::small().script(ScriptDialect::Sqlite))).unwrap();
}

/// A token for ten minutes.
pub(crate) fn token(name: &str, scopes: Value) -> String {
    let now = now();
    signed(&json!({"sub": name, "iat": now - 5, "exp": now + 600, "scopes": scopes}), SECRET)
}

pub(crate) fn signed(claims: &Value, secret: &str) -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let text = format!("{}.{}", part(r#"{"alg":"HS256","typ":"JWT"}"#), part(&claims.to_string()));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

#[expect(clippy::disallowed_methods, reason = "a token is for the time in which the test runs")]
pub(crate) fn now() -> i64 {
    time::OffsetDateTime::now_utc().unix_timestamp()
}

pub(crate) fn message(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

pub(crate) fn calling(tool: &str, arguments: Value) -> String {
    message("tools/call", json!({"name": tool, "arguments": arguments}))
}

pub(crate) struct Caller {
    http: HttpClient,
    pub(crate) token: String,
    pub(crate) path: String,
}

impl Caller {
    /// The same caller at another address.
    pub(crate) fn at(mut self, path: &str) -> Caller {
        path.clone_into(&mut self.path);
        self
    }

    /// The whole answer to these bytes; credential, media type and trace are added unless given.
    pub(crate) async fn send(&mut self, verb: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> HttpResponse {
        let bearer = format!("Bearer {}", self.token);
        let mut all = headers.to_vec();
        let usual = [("authorization", bearer.as_str()), ("content-type", "application/json"), ("x-trace-id", TRACE)];
        for (name, value) in usual {
            let is_wanted = name != "authorization" || !self.token.is_empty();
            if is_wanted && !headers.iter().any(|(given, _)| *given == name) {
                all.push((name, value));
            }
        }
        self.http.request(verb, &self.path, &all, body).await
    }

    pub(crate) async fn post(&mut self, body: impl AsRef<[u8]>) -> HttpResponse {
        self.send("POST", &[], body).await
    }

    /// What a call answers as a JSON-RPC message, which every answer of a tool is.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.post(calling(tool, arguments)).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    /// The answer of a call that succeeds.
    pub(crate) async fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let mut body = self.call(tool, arguments.clone()).await;
        assert_eq!(body["result"]["isError"], json!(false), "{tool} {arguments}: {body}");
        body["result"]["structuredContent"].take()
    }

    /// The ids of a list, in order and with blanks between them.
    pub(crate) async fn ids(&mut self, tool: &str, mut arguments: Value) -> String {
        arguments.as_object_mut().unwrap().entry("limit").or_insert(json!(100));
        let answer = self.ask(tool, arguments).await;
        let items = answer["items"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let ids: Vec<String> = items.iter().map(|item| item["id"].to_string()).collect();
        ids.join(" ")
    }

    /// `code message` of a call that fails as JSON-RPC says it.
    pub(crate) async fn refusal(&mut self, tool: &str, arguments: Value) -> String {
        let body = self.call(tool, arguments).await;
        let error = body.get("error").unwrap_or_else(|| panic!("{body}"));
        format!("{} {}", error["code"], error["message"].as_str().unwrap())
    }
}

/// Status and body.
pub(crate) fn said(response: &HttpResponse) -> String {
    format!("{} {}", response.status, response.text())
}

/// An answer in plain HTTP, as `said` shows it.
pub(crate) fn plain(status: u16, slug: &str, message: &str) -> String {
    let body = json!({"error": {"code": slug, "message": message, "trace_id": TRACE}});
    format!("{status} {body}")
}

/// An error in JSON-RPC, as `said` shows it.
pub(crate) fn rpc(status: u16, id: Option<i64>, code: i64, message: &str) -> String {
    let id = id.map(|id| format!("\"id\":{id},")).unwrap_or_default();
    format!("{status} {{\"jsonrpc\":\"2.0\",{id}\"error\":{{\"code\":{code},\"message\":{}}}}}", json!(message))
}

impl Stage {
    /// The bytes that an ordinary client is answered with.
    pub(crate) async fn agent_answer(&self, body: &str) -> Vec<u8> {
        let response = self.agent().post(body).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.body
    }
}
