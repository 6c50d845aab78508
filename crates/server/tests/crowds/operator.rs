//! What these tests do as the desk's operator: read its counters, and give processes more or fewer files to open.

use std::process::Command;
use std::time::Duration;

use tokio::time::sleep;

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::http_client::HttpClient;

/// Room for tests that make thousands of calls.
pub(crate) const UNHURRIED: [(&str, &str); 2] =
    [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"), ("FRONTDESK_LIMITS_BURST", "1000000")];

/// One number of the metrics page, of the listener that callers come to.
pub(crate) async fn count(desk: &TestApp, name: &str) -> u64 {
    let operator = desk.banner["operator_endpoint"].as_str().unwrap().strip_prefix("https://").unwrap();
    let page = HttpClient::new(operator.parse().unwrap(), &desk.ca_file()).get("/metrics").await;
    let series = format!("{name}{{listener=\"public\"}} ");
    let line = page.text().lines().find_map(|line| line.strip_prefix(&series)?.parse().ok());
    line.unwrap_or_else(|| panic!("no {name}: {}", page.text()))
}

/// Waits until so many connections are open and no more; longer than any deadline of theirs.
pub(crate) async fn until_only(desk: &TestApp, wanted: u64) {
    for _ in 0..600 {
        if count(desk, "frontdesk_connections_open").await <= wanted {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
    panic!("still open after a minute: {}", count(desk, "frontdesk_connections_open").await);
}

/// Lets a process have so many files and sockets open; children inherit it.
pub(crate) fn allow_files(process: u32, most: usize) {
    let (process, most) = (process.to_string(), format!("--nofile={most}:"));
    let set = Command::new("prlimit").args(["--pid", &process, &most]).status().unwrap();
    assert!(set.success(), "this test needs {most} open files; raise the hard limit (ulimit -Hn)");
}
