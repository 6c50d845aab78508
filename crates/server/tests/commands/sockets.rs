//! The operator's socket under load that only the owner of the data folder can bring about.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use frontdesk_testkit::app::TestApp;

/// As many conversations as there may be at a time.
const MOST: usize = 16;

#[test]
fn connections_are_limited_and_the_next_one_waits() {
    let desk = TestApp::start();
    let connect = || UnixStream::connect(desk.data().join("operator.sock")).unwrap();
    let mut idle: Vec<UnixStream> = (0..MOST).map(|_| connect()).collect();
    let mut waiting = connect();
    waiting.write_all(b"{\"order\":\"list_clients\"}\n").unwrap();
    waiting.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut line = String::new();
    let mut answers = BufReader::new(waiting.try_clone().unwrap());
    assert!(answers.read_line(&mut line).is_err(), "{line}");

    idle.pop();
    waiting.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert!(answers.read_line(&mut line).is_ok());
    assert!(line.starts_with(r#"{"Ok":{"clients":{"clients":["#), "{line}");
}

/// Lets the process open files with numbers below this and no others.
fn allow_files(desk: &TestApp, most: usize) {
    let (process, most) = (desk.process_id().to_string(), format!("--nofile={most}:"));
    assert!(Command::new("prlimit").args(["--pid", &process, &most]).status().unwrap().success());
}

/// Processor time used so far, in hundredths of a second.
fn worked(desk: &TestApp) -> u64 {
    let line = fs::read_to_string(format!("/proc/{}/stat", desk.process_id())).unwrap();
    let fields: Vec<&str> = line.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_desk_out_of_file_descriptors_does_not_spin() {
    let desk = TestApp::start();
    // Fewer than it has open, so nobody more is let in.
    allow_files(&desk, 8);
    let _callers: Vec<UnixStream> =
        (0..4).map(|_| UnixStream::connect(desk.data().join("operator.sock")).unwrap()).collect();
    sleep(Duration::from_millis(200));
    let before = worked(&desk);
    sleep(Duration::from_secs(1));
    let used = worked(&desk) - before;
    assert!(used < 30, "{used} hundredths of a second");
    allow_files(&desk, 1024);
    assert_eq!(desk.command(&["client", "list"]).0, Some(0));
}
