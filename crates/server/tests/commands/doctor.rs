//! `tomo doctor`, the real binary, against the demo: every mount passes, and a wrong credential does not.

use std::fs;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{CommandOutput, CommandProcess, run_frontdesk};
use serde_json::Value;

/// A demo, and what it says about its mounts.
fn demo(folder: &TestFolder) -> (CommandProcess, Value) {
    let arguments = ["demo", "--json", "--listen", "127.0.0.1:0", "--data", "data"];
    let mut demo = CommandProcess::new(folder.path(), &arguments, &[]);
    let banner = demo.printed("\n");
    (demo, serde_json::from_str(&banner).unwrap())
}

#[test]
fn the_doctor_finds_nothing_wrong_with_the_demo() {
    let folder = TestFolder::new();
    let (_demo, banner) = demo(&folder);
    let mounts: Vec<&Value> =
        banner["mounts"].as_array().unwrap().iter().filter(|mount| mount["contract"] == "tomo").collect();
    assert_eq!(mounts.len(), 5);
    for mount in mounts {
        fs::write(folder.path().join("token"), mount["sandbox_bearer"].as_str().unwrap()).unwrap();
        let (url, ca) = (mount["endpoint"].as_str().unwrap(), banner["ca_file"].as_str().unwrap());
        let arguments = ["tomo", "doctor", url, "--ca", ca, "--bearer-file", "token", "--rounds", "3"];
        let CommandOutput { code, out, err } = run_frontdesk(folder.path(), &arguments);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        assert!(out.ends_with("\n11 passed, 0 failed, 1 not checked\n"), "{out}");

        let json = run_frontdesk(folder.path(), &[&arguments[..], &["--json"]].concat());
        let statuses: Vec<Value> =
            json.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone()).collect();
        assert_eq!(statuses, [vec!["passed"; 11], vec!["not_checked"]].concat(), "a second run books anew");
    }
}

#[test]
fn the_doctor_fails_with_a_wrong_token_and_says_what_to_do() {
    let folder = TestFolder::new();
    let (_demo, banner) = demo(&folder);
    fs::write(folder.path().join("token"), "wrong").unwrap();
    let mount = banner["mounts"].as_array().unwrap().iter().find(|mount| mount["contract"] == "tomo").unwrap();
    let (url, ca) = (mount["endpoint"].as_str().unwrap(), banner["ca_file"].as_str().unwrap());
    let arguments = ["tomo", "doctor", url, "--ca", ca, "--bearer-file", "token"];
    let CommandOutput { code, out, err } = run_frontdesk(folder.path(), &arguments);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    let lines: Vec<&str> = out.lines().take(4).collect();
    assert_eq!(lines[0], "✓  1. HTTPS endpoint, TLS 1.2 or later: TLS 1.3");
    assert_eq!(lines[1], "✗  2. initialize returns a valid handshake");
    assert!(lines[2].starts_with("      initialize: HTTP 401, error -32000 INVALID_AUTH: "), "{}", lines[2]);
    assert_eq!(lines[3], "        Name the partner's token with --bearer-file (or --partner-key-file, --client-cert).");
    let http = run_frontdesk(folder.path(), &["tomo", "doctor", "http://localhost/mcp"]);
    assert_eq!(http.code, Some(1));
    assert_eq!(
        http.err,
        "frontdesk: \"http://localhost/mcp\" is no address to check: it is not HTTPS. TOMO refuses endpoints without TLS, so \
         nothing was sent\n"
    );
}
