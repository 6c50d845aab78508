//! The log goes to standard error, and a desk must not depend on anybody reading it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::desk::{Desk, EVERYTHING, House};

const UNLIMITED: [(&str, &str); 2] =
    [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "10000000"), ("FRONTDESK_LIMITS_BURST", "1000000")];

/// More lines than a pipe and the desk's own queue can hold together.
const MANY: usize = 6_500;

async fn ping(desk: &Desk, times: usize) {
    let mut agent = desk.agent(House::Lakeside, EVERYTHING).await;
    for number in 0..times {
        assert_eq!(agent.send("ping", json!({})).await.status, 200, "ping {number}");
    }
}

#[tokio::test]
async fn a_desk_whose_log_nobody_reads_goes_on_serving_and_ends_when_asked() {
    let mut desk = Desk::open_unread(&UNLIMITED);
    ping(&desk, MANY).await;
    let asked = Instant::now();
    assert_eq!(desk.close(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(5), "it took {:?}", asked.elapsed());
}

#[tokio::test]
async fn lines_that_found_no_room_are_counted_and_the_rest_is_whole() {
    let mut desk = Desk::open_unread(&UNLIMITED);
    ping(&desk, MANY).await;
    desk.read_log();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !desk.log().contains(" log lines were lost") {
        assert!(Instant::now() < deadline, "nothing is said of lost lines");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    ping(&desk, 1).await;
    assert_eq!(desk.close(), Some(0));
    let log = desk.log();
    let lost: usize = log
        .lines()
        .filter_map(|line| line.strip_prefix(r#"{"message":""#)?.strip_suffix(r#" log lines were lost"}"#))
        .map(|count| count.parse::<usize>().unwrap())
        .sum();
    let pings = log.lines().filter(|line| line.contains(r#""method":"ping""#)).count();
    // The two requests for a token may be among the lost ones or not.
    let all = pings + lost;
    assert!(lost > 0 && (MANY + 1..=MANY + 3).contains(&all), "{pings} pings and {lost} lost");
}
