//! `frontdesk stdio` beside a running server: the server answers, several clients at once, and none is left without an
//! answer when it ends.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use frontdesk_testkit::app::{DemoTenant, EVERYTHING, TestApp};

use super::stdio::{Program, caller, initialize, order};

const STOPPED: &str = "frontdesk: the server has stopped, and this session with it; start the server and reconnect\n";

fn caller_of(desk: &TestApp, tenant: DemoTenant, settings: &[(&str, &str)]) -> Program {
    let (id, secret, _) = desk.credentials(tenant);
    let mut environment = vec![("FRONTDESK_CLIENT_ID", id.as_str()), ("FRONTDESK_CLIENT_SECRET", secret.as_str())];
    environment.extend(settings);
    Program::start(desk, &environment)
}

#[tokio::test]
async fn two_sessions_beside_a_server_and_https_share_the_data() {
    let desk = TestApp::start();
    let mut one = caller_of(&desk, DemoTenant::Lakeside, &[]);
    let mut other = caller_of(&desk, DemoTenant::Summit, &[]);
    for (program, tenant) in [(&mut one, DemoTenant::Lakeside), (&mut other, DemoTenant::Summit)] {
        let hello = program.ask(initialize("2025-06-18"));
        assert_eq!(hello["result"]["protocolVersion"], json!("2025-06-18"), "{hello}");
        let (_, _, dealership) = desk.credentials(tenant);
        let found = program.call("inventory.search", json!({"limit": 1}));
        assert_eq!(found["items"][0]["dealership_id"], json!(dealership), "{found}");
    }
    let lead = one.call("leads.create", order("through-the-relay"));
    assert_eq!(lead["type"], json!("lead"), "{lead}");
    let read = desk.agent().await.call("leads.get", json!({"id": lead["id"]})).await;
    assert_eq!(read["id"], lead["id"], "{read}");
    // A batch of an older version, and a request that was cancelled, are passed on as they are.
    one.ask(initialize("2025-03-26"));
    one.say(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#);
    let batch = one.hear();
    assert_eq!(batch.as_array().map(Vec::len), Some(2), "{batch}");
    for program in [one, other] {
        let (code, rest, log) = program.end();
        assert_eq!((code, rest, log.as_str()), (Some(0), Vec::new(), ""));
    }
    let (_, audit, _) = desk.command(&["audit", "export"]);
    assert!(audit.contains(lead["id"].as_str().unwrap()), "{audit}");
    let socket = fs::metadata(desk.data().join("stdio.sock")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn the_server_checks_credentials_and_contract_of_a_relayed_session() {
    let desk = TestApp::start();
    let (id, secret, _) = desk.credentials(DemoTenant::Lakeside);
    let (id, secret) = (id.as_str(), secret.as_str());
    for (environment, arguments, why) in [
        (&[][..], &[][..], "there are no credentials: set FRONTDESK_CLIENT_ID and FRONTDESK_CLIENT_SECRET"),
        (
            &[("FRONTDESK_CLIENT_ID", id), ("FRONTDESK_CLIENT_SECRET", "fds_wrong")][..],
            &[],
            "the caller in FRONTDESK_CLIENT_ID gets no access",
        ),
        (
            &[("FRONTDESK_CLIENT_ID", id), ("FRONTDESK_CLIENT_SECRET", secret)][..],
            &["--contract", "boats"],
            "that contract is not mounted; mounted are: automotive, emcp",
        ),
    ] {
        let (code, out, log) = Program::start_with(&desk, arguments, environment).end();
        assert_eq!((code, out), (Some(1), Vec::new()), "{log}");
        assert!(log.contains(why) && !log.contains(secret) && !log.contains("fds_wrong"), "{log}");
    }
    // A wrong token is found out by the first call, as without a server.
    let mut program = Program::start(&desk, &[("FRONTDESK_TOKEN", "fdt_wrong")]);
    let refused = program.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(refused["error"]["code"], json!(401), "{refused}");
    // The server's address counts, not that of the command's own configuration.
    let token = desk.token(id, secret, EVERYTHING).await;
    let mut program = Program::start(&desk, &[("FRONTDESK_TOKEN", &token)]);
    assert!(program.call("inventory.search", json!({"limit": 1}))["items"].is_array());

    let site = &desk.banner["site"];
    let environment = [
        ("FRONTDESK_CLIENT_ID", site["id"].as_str().unwrap()),
        ("FRONTDESK_CLIENT_SECRET", site["secret"].as_str().unwrap()),
    ];
    let mut program = Program::start_with(&desk, &["--contract", "emcp"], &environment);
    assert_eq!(program.call("evo.content.search", json!({"limit": 1}))["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_relayed_line_that_is_too_long_is_answered_and_reading_goes_on() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_BODY_BYTES", "1024")]);
    let mut program = caller(&desk);
    program.say("{nonsense");
    assert_eq!(program.hear()["error"]["code"], json!(-32700));
    program.say("");
    for length in [1024, 5000, 3_000_000] {
        program
            .say(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "x".repeat(length)));
        let refused = program.hear();
        assert!(refused.to_string().contains("larger than 1024 bytes"), "{refused}");
    }
    let answer = program.ask(json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    write!(program.input.as_mut().unwrap(), r#"{{"jsonrpc":"2.0","id":3,"method":"ping"}}"#).unwrap();
    let (code, rest, _) = program.end();
    assert_eq!((code, rest), (Some(0), vec![r#"{"jsonrpc":"2.0","id":3,"result":{}}"#.to_owned()]));
}

/// Sends requests that cannot be answered because the database is locked.
fn stuck(desk: &TestApp, program: &mut Program) -> rusqlite::Connection {
    program.ask(initialize("2025-11-25"));
    let database = rusqlite::Connection::open(desk.data().join("frontdesk.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    for id in ["first", "withdrawn", "second"] {
        let params = json!({"name": "leads.create", "arguments": order(id)});
        program.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string());
    }
    program.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"withdrawn"}}"#);
    assert_eq!(program.ask(json!({"jsonrpc": "2.0", "id": 8, "method": "ping"}))["id"], json!(8));
    database
}

#[test]
fn a_killed_server_leaves_no_request_without_an_answer() {
    let mut desk = TestApp::start();
    let mut program = caller(&desk);
    let database = stuck(&desk, &mut program);
    desk.signal("KILL");
    let answers: Vec<Value> = vec![program.hear(), program.hear()];
    for (answer, id) in answers.iter().zip(["first", "second"]) {
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32000)), "{answer}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.starts_with("The server has stopped before it answered; start it again and reconnect."), "{text}");
    }
    // It ends by itself, though its input is open.
    assert_eq!(program.wait(), (Some(0), Vec::new(), STOPPED.to_owned()));

    desk.wait();
    drop(database);
    // The socket of the killed server is still there: a session opens the data itself, and a new server replaces it.
    let mut alone = caller(&desk);
    assert!(alone.call("inventory.search", json!({"limit": 1}))["items"].is_array());
    assert_eq!(alone.end().0, Some(0));
    let desk = desk.start_again();
    let mut program = caller(&desk);
    assert!(program.call("inventory.search", json!({"limit": 1}))["items"].is_array());
    assert_eq!(program.end(), (Some(0), Vec::new(), String::new()));
}

#[test]
fn a_server_that_stops_answers_what_its_sessions_have_asked() {
    let mut desk = TestApp::start();
    let mut program = caller(&desk);
    let database = stuck(&desk, &mut program);
    desk.signal("TERM");
    database.execute_batch("ROLLBACK").unwrap();
    let mut ids: Vec<Value> = [program.hear(), program.hear()]
        .iter()
        .map(|answer| {
            assert!(answer["result"]["structuredContent"]["id"].is_string(), "{answer}");
            answer["id"].clone()
        })
        .collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!("first"), json!("second")]);
    assert_eq!(program.wait(), (Some(0), Vec::new(), STOPPED.to_owned()));
    assert_eq!(desk.wait(), Some(0));
    assert!(!desk.data().join("stdio.sock").exists());
}

#[test]
fn requests_that_run_when_a_relayed_input_ends_are_answered() {
    let desk = TestApp::start();
    let mut program = caller(&desk);
    let params = json!({"name": "leads.create", "arguments": order("last")});
    program.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string());
    let (code, rest, log) = program.end();
    assert_eq!((code, rest.len()), (Some(0), 1), "{log}");
    assert!(rest[0].contains(r#""type":"lead""#), "{rest:?}");
}

/// Far more than fits into the buffers between the two, in both directions, while nobody reads the answers.
#[test]
fn a_flood_of_requests_is_answered_completely() {
    const REQUESTS: usize = 3000;
    let desk =
        TestApp::start_with(&[("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "100000"), ("FRONTDESK_LIMITS_BURST", "10000")]);
    let mut program = caller(&desk);
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for _ in 0..REQUESTS {
        program.say(line);
    }
    let (code, answers, log) = program.end();
    assert_eq!((code, answers.len()), (Some(0), REQUESTS), "{log}");
    assert!(answers.iter().all(|answer| answer.contains("inventory.search")));
}

#[test]
fn relayed_sessions_are_limited_and_strangers_are_cut_off() {
    const MOST: usize = 64;
    let desk = TestApp::start();
    let open = || {
        let mut stream = UnixStream::connect(desk.data().join("stdio.sock")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(b"{\"contract\":null,\"login\":{\"token\":\"fdt_wrong\"}}\n").unwrap();
        let mut text = [0; 512];
        let read = stream.read(&mut text).unwrap();
        (stream, String::from_utf8_lossy(&text[..read]).into_owned())
    };
    let mut sessions: Vec<_> = (0..MOST).map(|_| open()).collect();
    assert!(sessions.iter().all(|(_, answer)| answer.starts_with(r#"{"opened":{"max_line":"#)), "{:?}", sessions[0].1);
    let (_, refused) = open();
    assert_eq!(
        refused,
        "{\"refused\":\"the server already has 64 sessions of `frontdesk stdio`; end one and try again\"}\n"
    );
    sessions.pop();
    let began = Instant::now();
    while !open().1.starts_with(r#"{"opened""#) {
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    // An opening that is no opening.
    let mut stream = UnixStream::connect(desk.data().join("stdio.sock")).unwrap();
    stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, "{\"refused\":\"the running server is another version of Frontdesk; use the same one\"}\n");
    // One without an end is read no further than its limit.
    let mut stream = UnixStream::connect(desk.data().join("stdio.sock")).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
    let sent = (0..1024).try_for_each(|_| stream.write_all(&[b'x'; 1024]));
    assert!(sent.is_err(), "a megabyte was taken");
}
