//! A system that is slow or dead: callers are told in time, and it is left alone for a while.

use std::time::Duration;

use frontdesk_engine::ports::http_client::HttpError;
use tokio::time::Instant;

use super::support::{Front, Mishap};
use crate::support::search;

#[tokio::test]
async fn a_system_that_cannot_be_asked_is_under_maintenance() {
    let front = Front::new();
    for mishap in [
        Mishap::Error(HttpError::Unreachable),
        Mishap::Error(HttpError::Refused),
        Mishap::Error(HttpError::Broken),
        Mishap::Bytes(429, Vec::new()),
    ] {
        front.hotel.then(mishap);
        assert_eq!(front.code("search_availability", search()).await, "PARTNER_MAINTENANCE");
    }
    front.call("search_availability", search()).await;
    for status in [500, 502, 503, 599] {
        front.hotel.then(Mishap::Bytes(status, b"<html>sorry</html>".to_vec()));
        assert_eq!(front.code("search_availability", search()).await, "PARTNER_MAINTENANCE");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_system_is_not_waited_for() {
    let front = Front::new();
    for (tool, arguments, millis) in
        [("search_availability", search(), 2_500), ("get_listing", serde_json::json!({"listing_id": "htl_1"}), 1_200)]
    {
        front.hotel.then(Mishap::Slow(Duration::from_secs(3_600)));
        let started = Instant::now();
        assert_eq!(front.code(tool, arguments).await, "PARTNER_MAINTENANCE");
        assert_eq!(started.elapsed().as_millis(), millis, "{tool}");
    }
}

#[tokio::test]
async fn a_system_that_fails_again_and_again_is_left_alone() {
    let front = Front::new();
    for _ in 0..5 {
        front.hotel.then(Mishap::Bytes(503, Vec::new()));
        assert_eq!(front.code("search_availability", search()).await, "PARTNER_MAINTENANCE");
    }
    assert_eq!(front.observed.notices(), ["remote_suspended"]);
    for _ in 0..100 {
        let answer = front.answer("search_availability", search()).await;
        assert_eq!(super::support::code(&answer), "PARTNER_MAINTENANCE");
    }
    assert_eq!(front.hotel.count("search_availability"), 5, "it was not asked");
    front.clock.advance(10_000);
    front.hotel.then(Mishap::Bytes(503, Vec::new()));
    assert_eq!(front.code("search_availability", search()).await, "PARTNER_MAINTENANCE");
    assert_eq!(front.code("search_availability", search()).await, "PARTNER_MAINTENANCE");
    assert_eq!(front.hotel.count("search_availability"), 6, "one call has found out that it still fails");
    front.clock.advance(10_000);
    front.call("search_availability", search()).await;
    front.call("search_availability", search()).await;
    assert_eq!(front.observed.notices(), ["remote_suspended", "remote_resumed"]);
}

#[tokio::test]
async fn a_create_is_not_even_claimed_while_the_system_is_left_alone() {
    let front = Front::new();
    let booking = front.booking("k-1").await;
    for _ in 0..5 {
        front.hotel.then(Mishap::Error(HttpError::Unreachable));
        front.code("search_availability", search()).await;
    }
    assert_eq!(front.code("create_booking", booking).await, "PARTNER_MAINTENANCE");
    assert_eq!((front.hotel.count("create_booking"), front.relays().await), (0, 0));
}
