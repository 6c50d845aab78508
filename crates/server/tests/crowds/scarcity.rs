//! A desk whose process may open no further file: whoever is in is served, and the door opens again afterwards.

use std::fs;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::operator::{UNHURRIED, allow_files, count};
use frontdesk_testkit::app::TestApp;

#[tokio::test]
async fn the_door_outlives_a_shortage_of_descriptors() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut inside = desk.weak_agent().await;
    inside.call("inventory.list", json!({"limit": 1})).await;
    let places = places(desk.process_id());
    allow_files(desk.process_id(), places);

    let mut crowd = Vec::new();
    for _ in 0..places + 40 {
        crowd.push(TcpStream::connect(desk.address).await.unwrap());
    }
    // Nobody new gets in, although the kernel took the connection; who was in goes on.
    let refused = timeout(Duration::from_secs(2), desk.stranger().try_request("GET", "/", &[], "")).await;
    assert!(refused.is_err(), "{refused:?}");
    let page = inside.call("inventory.list", json!({"limit": 1})).await;
    assert_eq!(page["items"][0]["dealership_id"], json!("dlr_lakeside"));

    drop(crowd);
    let again = timeout(Duration::from_secs(60), async {
        while !desk.stranger().try_request("GET", "/", &[], "").await.is_ok_and(|answer| answer.status == 200) {
            sleep(Duration::from_millis(100)).await;
        }
    });
    assert!(again.await.is_ok(), "the door stayed shut");
    assert!(count(&desk, "frontdesk_accept_errors_total").await > 0);
}

/// At least as many as it has open. The files themselves can be counted by root only, because the process is not
/// dumpable.
fn places(process: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
    line.trim().parse().unwrap()
}
