//! What a crash of the server would leave behind: nothing of its memory.

use std::fs;

use frontdesk_testkit::app::TestApp;

#[test]
fn a_running_server_writes_no_core_dump() {
    let desk = TestApp::start();
    let of_process = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", desk.process_id())).unwrap();
    let limits = of_process("limits");
    let line = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(line.split_whitespace().skip(4).collect::<Vec<_>>(), ["0", "0", "bytes"]);
}

#[test]
fn the_command_line_of_a_server_shows_no_secret() {
    let desk = TestApp::start();
    let key = fs::read_to_string(desk.data().join("master.key")).unwrap();
    for file in ["cmdline", "environ"] {
        let bytes = fs::read(format!("/proc/{}/{file}", desk.process_id())).unwrap_or_default();
        let found = |part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!found(key.trim()) && !found("fds_") && !found("fdt_"), "{file}");
    }
}
