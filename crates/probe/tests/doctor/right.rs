//! A server on which every point holds, and what the command itself refuses.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::desk::Defect;
use crate::fake_server::{FakeServer, doctor};

/// The report without its figures, which differ from run to run.
fn without_figures(text: &str) -> String {
    text.lines()
        .map(|line| match line.find(" p95 within the targets: ") {
            Some(at) => format!("{} p95 within the targets: …", line.get(..at).unwrap()),
            None => line.to_owned(),
        })
        .collect::<Vec<String>>()
        .join("\n")
}

const RIGHT: &str = "\
✓  1. HTTPS endpoint, TLS 1.2 or later: TLS 1.3
✓  2. initialize returns a valid handshake: seaside rooms speaks 2024-11-05
✓  3. tools/list returns tools with full _meta.tomo: 5 tools
✓  4. every tool belongs to an intent, and no tool of it is missing: demo.book_room v1.2.0
✓  5. every inputSchema is the intent's
✓  6. every response has all fields of the intent: 5 tools called
✓  7. no forbidden fields anywhere
✓  8. calls without a credential are refused
✓  9. tools that create are idempotent
✓ 10. p95 within the targets: …
✓ 11. rate limits say when to try again: Retry-After: 1
– 12. completions are signed: not checked
      not checked: it cannot be seen from outside. `frontdesk tomo simulate --receive` takes the completions of what it books and checks their signatures

11 passed, 0 failed, 1 not checked";

#[test]
fn a_server_that_is_right_passes_and_keeps_no_booking() {
    let server = FakeServer::start(Defect::None);
    let report = server.examine();
    assert_eq!(without_figures(&report.text), RIGHT);
    assert_eq!(report.failed, 0);
    assert_eq!(server.desk.lock().unwrap().open.len(), 0, "everything is cancelled again");
    let lines: Vec<serde_json::Value> = report.json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let statuses: Vec<&str> = lines.iter().map(|line| line["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, [vec!["passed"; 11], vec!["not_checked"]].concat());
}

#[test]
fn a_server_that_answers_in_streams_passes() {
    let report = FakeServer::start(Defect::Streams).examine();
    assert_eq!(without_figures(&report.text), RIGHT);
}

#[test]
fn a_server_without_limits_is_not_checked_for_them() {
    let report = FakeServer::start(Defect::Unlimited).examine();
    assert_eq!(report.failed, 0);
    let line = "– 11. rate limits say when to try again: not checked\n      not checked: search_availability: 60 calls \
                of one session met no limit. If there is one, see that it answers -32001 RATE_LIMITED with Retry-After\n";
    assert!(report.text.contains(line), "{}", report.text);
}

#[test]
fn a_certificate_of_another_authority_stops_the_check() {
    let server = FakeServer::start(Defect::None);
    let url = format!("https://localhost:{}/mcp", server.address.port());
    let report = doctor(&[("url", &url), ("bearer-file", &server.file("token"))]).unwrap();
    let first: Vec<&str> = report.text.lines().take(5).collect();
    assert_eq!(
        first,
        [
            "✗  1. HTTPS endpoint, TLS 1.2 or later",
            "      the TLS handshake failed (invalid peer certificate: UnknownIssuer).",
            "        Serve the endpoint over TLS 1.2 or 1.3 with a valid certificate (--ca for an authority of your own).",
            "–  2. initialize returns a valid handshake: not checked",
            "      not checked: there is no connection",
        ]
    );
    assert_eq!(report.failed, 1);
}

#[test]
fn nothing_is_sent_to_an_address_without_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let refused = doctor(&[("url", &url)]).unwrap_err();
    assert_eq!(
        refused,
        format!(
            "{url:?} is no address to check: it is not HTTPS. TOMO refuses endpoints without TLS, so nothing was sent"
        )
    );
    assert!(listener.accept().is_err(), "there was no connection");
}

#[test]
fn a_server_that_speaks_no_tls_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 2048]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let report = doctor(&[("url", &url)]).unwrap();
    let second = report.text.lines().nth(1).unwrap();
    assert!(second.starts_with("      the TLS handshake failed ("), "{second}");
}

#[test]
fn wrong_arguments_are_explained_and_no_secret_is_shown() {
    let server = FakeServer::start(Defect::None);
    let (token, two) = (server.file("token"), server.file("two"));
    std::fs::write(&two, "secret one\nsecret two").unwrap();
    let url = "https://localhost/mcp";
    for (arguments, reason) in [
        (
            vec![("bearer-file", token.as_str()), ("partner-key-file", &token)],
            "give one of --bearer-file and --partner-key-file".to_owned(),
        ),
        (vec![("bearer-file", &two)], format!("{two} must hold the secret alone: one line without spaces")),
        (vec![("client-cert", &token)], "--client-cert and --client-key belong together: name both".to_owned()),
        (vec![("rounds", "0")], "--rounds takes a number from 1 to 200".to_owned()),
        (vec![("ca", &token)], "the file of --ca contains no certificate in PEM".to_owned()),
        (vec![("intent", &token)], format!("{token}: it is no JSON: expected value at line 1 column 1")),
    ] {
        let arguments: Vec<(&'static str, &str)> = [vec![("url", url)], arguments].concat();
        assert_eq!(doctor(&arguments), Err(reason));
    }
}
