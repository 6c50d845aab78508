//! `frontdesk stdio` as a desktop client has it: lines in, lines out, and nothing else.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use frontdesk_testkit::app::collector::{CollectorMode, TraceCollector};
use frontdesk_testkit::app::{DemoTenant, EVERYTHING, TestApp};

const PATIENCE: Duration = Duration::from_secs(60);

/// A program and the two ends of its pipes. Dropping it kills it.
pub(super) struct Program {
    process: Child,
    pub(super) input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Option<thread::JoinHandle<String>>,
}

impl Program {
    pub(super) fn start(desk: &TestApp, environment: &[(&str, &str)]) -> Program {
        Program::start_with(desk, &[], environment)
    }

    pub(super) fn start_with(desk: &TestApp, arguments: &[&str], environment: &[(&str, &str)]) -> Program {
        let mut process = Command::new(env!("CARGO_BIN_EXE_frontdesk"))
            .args(["stdio", "--data"])
            .arg(desk.data())
            .args(arguments)
            .env_clear()
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = channel();
        let out = BufReader::new(process.stdout.take().unwrap());
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let mut errors = process.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        Program { input: process.stdin.take(), process, lines, log: Some(log) }
    }

    pub(super) fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(super) fn hear(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"))
    }

    pub(super) fn ask(&mut self, message: Value) -> Value {
        self.say(&message.to_string());
        self.hear()
    }

    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.ask(json!({"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params}));
        assert_eq!(answer["id"], json!(tool), "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Closes the input: the exit code, what was still said, and the log.
    pub(super) fn end(mut self) -> (Option<i32>, Vec<String>, String) {
        drop(self.input.take());
        self.wait()
    }

    /// The same of one that ends by itself.
    pub(super) fn wait(mut self) -> (Option<i32>, Vec<String>, String) {
        let code = self.process.wait().unwrap().code();
        (code, self.lines.iter().collect(), self.log.take().unwrap().join().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A desk with data that nobody serves.
fn closed() -> TestApp {
    let mut desk = TestApp::start();
    assert_eq!(desk.stop(), Some(0));
    desk
}

pub(super) fn caller(desk: &TestApp) -> Program {
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    Program::start(desk, &[("FRONTDESK_CLIENT_ID", &id), ("FRONTDESK_CLIENT_SECRET", &secret)])
}

pub(super) fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "desktop", "version": "1"}}})
}

pub(super) fn order(key: &str) -> Value {
    json!({"contact": {"name": "Dana Rivera", "email": "dana@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": key})
}

#[test]
fn a_legacy_client_works_over_stdio_until_its_input_ends() {
    let desk = closed();
    let (_, secret, dealership) = desk.credentials(DemoTenant::Lakeside);
    let mut program = caller(&desk);
    let hello = program.ask(initialize("2025-06-18"));
    assert_eq!(hello["result"]["protocolVersion"], json!("2025-06-18"), "{hello}");
    program.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let tools = program.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    // Everything the client may have, since it cannot be asked what it wants.
    let names: Vec<&str> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"inventory.search") && names.contains(&"leads.create"), "{names:?}");
    let found = program.call("inventory.search", json!({"limit": 1}));
    assert_eq!(found["items"][0]["dealership_id"], json!(dealership), "{found}");
    let lead = program.call("leads.create", order("once"));
    assert_eq!(lead["type"], json!("lead"), "{lead}");
    assert_eq!(program.call("leads.create", order("once")), lead);

    let (code, rest, log) = program.end();
    assert_eq!((code, rest), (Some(0), Vec::new()), "{log}");
    assert!(!log.contains(&secret) && log.contains("inventory.search"), "{log}");
    let (_, audit, _) = desk.command(&["audit", "export"]);
    assert!(audit.contains(r#""tool":"inventory.search""#) && audit.contains(lead["id"].as_str().unwrap()), "{audit}");
    assert_eq!(desk.command(&["audit", "verify"]).0, Some(0));
}

#[test]
fn a_modern_client_needs_no_headers() {
    let desk = closed();
    let mut program = caller(&desk);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let discovered =
        program.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}));
    assert_eq!(discovered["result"]["supportedVersions"][0], json!("2026-07-28"), "{discovered}");
    let params = json!({"name": "inventory.search", "arguments": {"limit": 1}, "_meta": meta});
    let found = program.ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
    assert_eq!(found["result"]["structuredContent"]["items"].as_array().unwrap().len(), 1, "{found}");
    // A name that no header could carry as it is must be unknown, and not contradict itself.
    let params = json!({"name": "großer Bestand", "arguments": {}, "_meta": meta});
    let unknown = program.ask(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}));
    assert_eq!(unknown["error"]["code"], json!(-32602), "{unknown}");
    let without = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let refused = program.ask(json!({"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": {"_meta": without}}));
    assert_eq!(refused["error"]["code"], json!(-32602), "{refused}");
    let other = json!({"io.modelcontextprotocol/protocolVersion": "2031-01-01"});
    let refused = program.ask(json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": other}}));
    assert_eq!(refused["error"]["data"]["requested"], json!("2031-01-01"), "{refused}");
    assert_eq!(program.end().0, Some(0));
}

#[test]
fn what_the_handshake_agreed_on_holds_for_the_messages_after_it() {
    let desk = closed();
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let mut program = caller(&desk);
    program.ask(initialize("2025-03-26"));
    program.say(batch);
    assert_eq!(
        program.hear(),
        json!([{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 2, "result": {}}])
    );
    program.ask(initialize("2025-11-25"));
    program.say(batch);
    assert_eq!(program.hear()["error"]["code"], json!(-32600));
    assert_eq!(program.end().0, Some(0));
}

#[test]
fn invalid_stdio_lines_are_answered_and_reading_goes_on() {
    let desk = closed();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let environment = [
        ("FRONTDESK_CLIENT_ID", id.as_str()),
        ("FRONTDESK_CLIENT_SECRET", &secret),
        ("FRONTDESK_LIMITS_BODY_BYTES", "1024"),
    ];
    let mut program = Program::start(&desk, &environment);
    program.say("{nonsense");
    assert_eq!(program.hear()["error"]["code"], json!(-32700));
    program.say("");
    program.say(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "x".repeat(5000)));
    let refused = program.hear();
    assert!(refused.to_string().contains("larger than 1024 bytes"), "{refused}");
    assert_eq!(
        program.ask(json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})),
        json!({"jsonrpc": "2.0", "id": 2, "result": {}})
    );
    // The last line needs no end.
    write!(program.input.as_mut().unwrap(), r#"{{"jsonrpc":"2.0","id":3,"method":"ping"}}"#).unwrap();
    let (code, rest, _) = program.end();
    assert_eq!((code, rest), (Some(0), vec![r#"{"jsonrpc":"2.0","id":3,"result":{}}"#.to_owned()]));
}

#[test]
fn a_cancelled_request_is_not_answered() {
    let desk = closed();
    let mut program = caller(&desk);
    program.ask(initialize("2025-11-25"));
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let params = json!({"name": "leads.create", "arguments": order("withdrawn")});
    program.say(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string());
    program.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    let answer = program.ask(json!({"jsonrpc": "2.0", "id": 8, "method": "ping"}));
    assert_eq!(answer["id"], json!(8), "{answer}");
    database.execute_batch("ROLLBACK").unwrap();
    // The same request again, not withdrawn, is answered; and the first one never was.
    let again = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    assert_eq!(program.ask(again)["id"], json!(9));
    assert_eq!(program.end().1, Vec::<String>::new());
}

#[test]
fn requests_that_run_when_the_input_ends_are_still_answered() {
    let desk = closed();
    let mut program = caller(&desk);
    let params = json!({"name": "leads.create", "arguments": order("last")});
    program.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string());
    let (code, rest, log) = program.end();
    assert_eq!((code, rest.len()), (Some(0), 1), "{log}");
    assert!(rest[0].contains(r#""type":"lead""#), "{rest:?}");
}

#[test]
fn a_client_revoked_meanwhile_is_refused_within_a_second() {
    let desk = closed();
    let (id, ..) = desk.credentials(DemoTenant::Lakeside);
    let mut program = caller(&desk);
    assert!(program.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).get("result").is_some());
    assert_eq!(desk.command(&["client", "revoke", &id]).0, Some(0));
    thread::sleep(Duration::from_millis(1100));
    let refused = program.ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(401)), "{refused}");
}

#[tokio::test]
async fn a_token_is_enough_for_a_caller() {
    let mut desk = TestApp::start();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let token = desk.token(&id, &secret, EVERYTHING).await;
    assert_eq!(desk.stop(), Some(0));
    // A token is bound to the address it was issued for, which must be the same here.
    let public = format!("https://localhost:{}", desk.address.port());
    let mut program = Program::start(&desk, &[("FRONTDESK_TOKEN", &token), ("FRONTDESK_PUBLIC_URL", &public)]);
    assert!(program.call("inventory.search", json!({"limit": 1}))["items"].is_array());
    assert_eq!(program.end().0, Some(0));
    let mut program = Program::start(&desk, &[("FRONTDESK_TOKEN", &token)]);
    let refused = program.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(refused["error"]["code"], json!(401), "{refused}");
}

#[test]
fn missing_stdio_credentials_are_explained_on_stderr() {
    let desk = closed();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let (id, secret) = (id.as_str(), secret.as_str());
    for (environment, why) in [
        (&[][..], "there are no credentials: set FRONTDESK_CLIENT_ID and FRONTDESK_CLIENT_SECRET"),
        (&[("FRONTDESK_CLIENT_ID", id)][..], "FRONTDESK_CLIENT_SECRET is not; set both"),
        (&[("FRONTDESK_CLIENT_SECRET", secret)][..], "FRONTDESK_CLIENT_ID is not; set both"),
        (&[("FRONTDESK_CLIENT_ID", id), ("FRONTDESK_TOKEN", "t")][..], "set the one or the other"),
        (
            &[("FRONTDESK_CLIENT_ID", id), ("FRONTDESK_CLIENT_SECRET", "fds_wrong")][..],
            "the caller in FRONTDESK_CLIENT_ID gets no access",
        ),
    ] {
        let (code, out, log) = Program::start(&desk, environment).end();
        assert_eq!((code, out), (Some(1), Vec::new()), "{log}");
        assert!(log.contains(why) && !log.contains(secret), "{log}");
    }
}

#[test]
fn a_stdio_message_names_its_trace_and_is_exported() {
    let collector = TraceCollector::start(CollectorMode::Accept);
    let desk = closed();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let endpoint = collector.endpoint();
    let environment = [
        ("FRONTDESK_CLIENT_ID", id.as_str()),
        ("FRONTDESK_CLIENT_SECRET", &secret),
        ("FRONTDESK_TRACES_ENDPOINT", &endpoint),
    ];
    let mut program = Program::start(&desk, &environment);
    program.ask(initialize("2025-11-25"));
    let meta = json!({"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"});
    program.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": meta}}));
    let (code, _, log) = program.end();
    assert_eq!(code, Some(0), "{log}");
    let spans = collector.spans();
    let ping = spans.iter().find(|span| span["name"] == "ping").unwrap();
    assert_eq!(
        (&ping["traceId"], &ping["parentSpanId"]),
        (&json!("4bf92f3577b34da6a3ce929d0e0e4736"), &json!("00f067aa0ba902b7"))
    );
    assert!(spans.iter().any(|span| span["name"] == "token"), "{spans:?}");
}

#[test]
fn a_second_session_without_a_server_is_told_to_start_one() {
    let desk = closed();
    let mut first = caller(&desk);
    first.ask(initialize("2025-11-25"));
    let (code, out, log) = caller(&desk).end();
    assert_eq!((code, out), (Some(1), Vec::new()));
    assert_eq!(
        log,
        format!(
            "frontdesk: another `frontdesk stdio` or command is using {}, and only one can without a server. Start \
             `frontdesk serve` on this folder and then any number of clients; or end the other command, or name another \
             folder with --data\n",
            desk.data().display()
        )
    );
    assert_eq!(first.end().0, Some(0));
}
