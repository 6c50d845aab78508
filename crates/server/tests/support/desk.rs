//! A whole Frontdesk, as a user starts it: the binary, a data folder of its own, a free port, and the
//! callers that tests need.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use super::client::{Client, Response};
use super::folder::Folder;

pub(crate) const READ_STOCK: &str = "amcp:inventory:read";
pub(crate) const READ_LEADS: &str = "amcp:leads:read";
pub(crate) const WRITE_LEADS: &str = "amcp:leads:write";
pub(crate) const EVERYTHING: &str = "amcp:inventory:read amcp:leads:read amcp:leads:write";
pub(crate) const PATH: &str = "/mcp/automotive";

/// A running desk. Dropping it kills the process.
pub(crate) struct Desk {
    process: Child,
    pub(crate) folder: Folder,
    pub(crate) card: Value,
    pub(crate) address: SocketAddr,
    clients: Vec<(String, String, String)>,
    log: Arc<Mutex<Vec<u8>>>,
    /// They are done when the process has closed its pipes and all that was in them is in the log.
    readers: Vec<JoinHandle<()>>,
    /// The end of the log's pipe, if nobody reads it.
    unread: Option<ChildStderr>,
    settings: Vec<(String, String)>,
}

/// Whether somebody reads what a desk writes to its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Log {
    Read,
    Unread,
}

/// The two dealerships of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum House {
    Lakeside,
    Summit,
}

impl Desk {
    pub(crate) fn open() -> Desk {
        Desk::open_with(&[])
    }

    /// With these `FRONTDESK_*` settings.
    pub(crate) fn open_with(settings: &[(&str, &str)]) -> Desk {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Desk::start(Folder::new(), settings, Vec::new(), Log::Read)
    }

    /// Its log is a pipe that nobody reads until `read_log`.
    pub(crate) fn open_unread(settings: &[(&str, &str)]) -> Desk {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Desk::start(Folder::new(), settings, Vec::new(), Log::Unread)
    }

    /// From here on somebody reads the log.
    pub(crate) fn read_log(&mut self) {
        self.readers.push(keep(self.unread.take().unwrap(), &self.log));
    }

    /// Started by a shell that has done this first; what it ignores, the desk ignores too.
    pub(crate) fn open_after(first: &str, settings: &[(&str, &str)]) -> Desk {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{first}; exec \"$0\" \"$@\"")).arg(env!("CARGO_BIN_EXE_frontdesk"));
        Desk::start_by(shell, Folder::new(), settings, Vec::new(), Log::Read)
    }

    fn start(
        folder: Folder,
        settings: Vec<(String, String)>,
        known: Vec<(String, String, String)>,
        reader: Log,
    ) -> Desk {
        Desk::start_by(Command::new(env!("CARGO_BIN_EXE_frontdesk")), folder, settings, known, reader)
    }

    fn start_by(
        mut command: Command,
        folder: Folder,
        settings: Vec<(String, String)>,
        known: Vec<(String, String, String)>,
        reader: Log,
    ) -> Desk {
        let mut process = command
            .args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.join("data"))
            .env_clear()
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut unread = process.stderr.take();
        let mut readers = vec![keep(output, &log)];
        if reader == Log::Read {
            readers.push(keep(unread.take().unwrap(), &log));
        }
        let card: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let _ = process.wait();
            readers.drain(..).for_each(|reader| reader.join().unwrap());
            panic!("no card; the log says: {}", String::from_utf8_lossy(&log.lock().unwrap()))
        });
        let endpoint = card["endpoint"].as_str().unwrap();
        let port = endpoint.strip_prefix("https://localhost:").unwrap().split('/').next().unwrap();
        let clients = match known.is_empty() {
            false => known,
            true => card["clients"].as_array().unwrap().iter().map(client).collect(),
        };
        let address = format!("127.0.0.1:{port}").parse().unwrap();
        Desk { process, address, folder, card, clients, log, readers, unread, settings }
    }

    /// Ends the process at once, as a crash would, and starts it again on the same data.
    pub(crate) fn crash_and_reopen(mut self) -> Desk {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.reopened()
    }

    /// Another desk with the same settings and master key, in a folder of its own.
    pub(crate) fn beside(&self) -> Desk {
        use std::os::unix::fs::DirBuilderExt as _;
        let folder = Folder::new();
        std::fs::DirBuilder::new().mode(0o700).create(folder.join("data")).unwrap();
        std::fs::copy(self.data().join("master.key"), folder.join("data").join("master.key")).unwrap();
        Desk::start(folder, self.settings.clone(), self.clients.clone(), Log::Read)
    }

    /// What a desk says that cannot be opened with these settings.
    pub(crate) fn refused(settings: &[(&str, &str)]) -> String {
        let folder = Folder::new();
        let output = Command::new(env!("CARGO_BIN_EXE_frontdesk"))
            .args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.join("data"))
            .env_clear()
            .envs(settings.iter().copied())
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    /// Asks for an orderly end; the exit code.
    pub(crate) fn close(&mut self) -> Option<i32> {
        self.signal("TERM");
        self.ended()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    pub(crate) fn close_and_reopen(mut self) -> Desk {
        assert_eq!(self.close(), Some(0));
        self.reopened()
    }

    fn reopened(mut self) -> Desk {
        let folder = std::mem::replace(&mut self.folder, Folder::new());
        Desk::start(folder, std::mem::take(&mut self.settings), std::mem::take(&mut self.clients), Log::Read)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(crate) fn ca_file(&self) -> PathBuf {
        Path::new(self.card["ca_file"].as_str().unwrap()).to_owned()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// What the process has written so far, to its log or anywhere else, after its card; all of it once it has ended.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&self.log.lock().unwrap()).into_owned()
    }

    /// Somebody without any credential.
    pub(crate) fn stranger(&self) -> Client {
        Client::new(self.address, &self.ca_file())
    }

    /// Client id, secret and dealership as the card names them.
    pub(crate) fn credentials(&self, house: House) -> (String, String, String) {
        self.clients[house as usize].clone()
    }

    /// An agent of a dealership whose token carries these scopes.
    pub(crate) async fn agent(&self, house: House, scopes: &str) -> Agent {
        let (id, secret, dealership) = self.credentials(house);
        let token = self.token(&id, &secret, scopes).await;
        Agent { http: self.stranger(), token, dealership, next: 0 }
    }

    /// Runs another `frontdesk` command on this desk's data folder: its exit code, output and errors.
    pub(crate) fn command(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        let output = command
            .env_clear()
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .args(arguments)
            .arg("--data")
            .arg(self.data())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    pub(crate) async fn token(&self, id: &str, secret: &str, scopes: &str) -> String {
        let response = self.ask_for_token(id, secret, scopes).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let granted: Value = serde_json::from_str(response.text()).unwrap();
        granted["access_token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn ask_for_token(&self, id: &str, secret: &str, scopes: &str) -> Response {
        let scope = match scopes.is_empty() {
            true => String::new(),
            false => format!("&scope={}", scopes.replace(':', "%3A").replace(' ', "+")),
        };
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}{scope}");
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.stranger().request("POST", "/token", &headers, form).await
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn client(entry: &Value) -> (String, String, String) {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    (text("id"), text("secret"), text("dealership_id"))
}

/// A caller with a token.
pub(crate) struct Agent {
    pub(crate) http: Client,
    pub(crate) token: String,
    pub(crate) dealership: String,
    next: i64,
}

impl Agent {
    /// Sends a legacy request (2025-11-25) and shows the whole HTTP answer.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> Response {
        self.next += 1;
        let body = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.post(&body.to_string(), &[("mcp-protocol-version", "2025-11-25")]).await
    }

    /// Sends these bytes with the token and these headers besides.
    pub(crate) async fn post(&mut self, body: &str, headers: &[(&str, &str)]) -> Response {
        let bearer = format!("Bearer {}", self.token);
        let mut all = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.http.request("POST", PATH, &all, body).await
    }

    /// The `result` of a request that must succeed on the JSON-RPC level.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let response = self.send(method, params).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let answer: Value = serde_json::from_str(response.text()).unwrap();
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// A tool's structured answer, success or error alike; it is checked that the text says the same.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_eq!(result["isError"], json!(text.get("error").is_some()));
        text
    }

    /// The code of the error a tool must answer with.
    pub(crate) async fn code(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments).await;
        answer["error"]["code"].as_str().unwrap_or_else(|| panic!("no error: {answer}")).to_owned()
    }

    /// Every item of a list, page by page.
    pub(crate) async fn all(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        let mut items = Vec::new();
        let mut arguments = arguments;
        loop {
            let page = self.call(tool, arguments.clone()).await;
            items.extend(page["items"].as_array().unwrap_or_else(|| panic!("{page}")).iter().cloned());
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => return items,
            }
        }
    }
}

impl Desk {
    /// A further client, added while the desk runs: its id and secret.
    pub(crate) fn add_client(&self, dealerships: &[&str], scopes: &str) -> (String, String) {
        let mut arguments = vec!["client", "add", "--json", "--new-tenant", "--name", "another client"];
        arguments.extend(dealerships.iter().flat_map(|dealership| ["--tenant", dealership]));
        arguments.extend(scopes.split(' ').flat_map(|scope| ["--scope", scope]));
        let (code, out, errors) = self.command(&arguments);
        assert_eq!(code, Some(0), "{errors}");
        let added: Value = serde_json::from_str(&out).unwrap();
        let text = |place: &str| added.pointer(place).and_then(Value::as_str).unwrap().to_owned();
        (text("/id"), text("/secret"))
    }

    /// An agent of a client that was added, with these scopes.
    pub(crate) async fn agent_of(&self, (id, secret): &(String, String), scopes: &str) -> Agent {
        let token = self.token(id, secret, scopes).await;
        Agent { http: self.stranger(), token, dealership: String::new(), next: 0 }
    }
}

impl Desk {
    /// The exit code, once the process has come to the end that the test asked for and its log has been read.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let code = self.process.wait().unwrap().code();
        self.readers.drain(..).for_each(|reader| reader.join().unwrap());
        code
    }

    /// Starts again on the same data after such an end.
    pub(crate) fn start_again(self) -> Desk {
        self.reopened()
    }
}

/// Appends whatever comes to the log, until nothing does.
fn keep(mut from: impl std::io::Read + Send + 'static, log: &Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    let log = Arc::clone(log);
    std::thread::spawn(move || {
        let mut piece = [0; 8192];
        while let Ok(length) = from.read(&mut piece) {
            if length == 0 {
                break;
            }
            log.lock().unwrap().extend_from_slice(&piece[..length]);
        }
    })
}

impl Desk {
    /// Ends this desk and opens one with the same callers on another folder, `data` inside it renamed from `name`.
    pub(crate) fn moved_to(mut self, folder: Folder, name: &str) -> Desk {
        assert_eq!(self.close(), Some(0));
        std::fs::rename(folder.join(name), folder.join("data")).unwrap();
        Desk::start(folder, std::mem::take(&mut self.settings), std::mem::take(&mut self.clients), Log::Read)
    }
}

impl Desk {
    /// A desk on `data` in this folder with these settings, for the callers of another one.
    pub(crate) fn opened_for(callers: &Desk, folder: Folder, settings: &[(&str, &str)]) -> Desk {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Desk::start(folder, settings, callers.clients.clone(), Log::Read)
    }
}
