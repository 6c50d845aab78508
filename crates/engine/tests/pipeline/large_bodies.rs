//! Bodies over 16 KiB: charged by their size before they are parsed, and before they are read where their length is known.

use frontdesk_engine::desk::DeskSettings;
use frontdesk_engine::dispatch::{DispatchMode, OnQueueFull};
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::incoming::{Incoming, RequestBody};

use crate::dispatch::sent;
use crate::support::requests::{call, post, rpc};
use crate::support::{KEEPER, READER, SETTINGS, TestDesk, heard};

const KIB: usize = 1024;
const LIMITED: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"Too many calls; wait before the next one.","data":{"fault":"rate_limited","at":"transport","retry_after":60}}}"#;

/// So many calls at once, then one a minute.
fn house(burst: u32) -> TestDesk {
    TestDesk::with(DeskSettings { calls: Budget { per_minute: 1, burst }, ..SETTINGS }).stock()
}

/// A ping of exactly so many bytes.
fn ping(length: usize) -> String {
    let bare = rpc("1", "ping", "{}");
    let padding = " ".repeat(length - bare.len());
    bare + &padding
}

/// A body that says how long it is and must not be read.
fn unread(length: usize) -> Incoming {
    let body = RequestBody::from_counted_reader(Some(length), |_, _| async { panic!("somebody read it") });
    Incoming { body, ..post(READER, "") }
}

/// How many calls are left of a budget of `burst`.
async fn left(test: &TestDesk) -> usize {
    let mut left = 0;
    while test.ask(READER, "ping", "{}").await.contains("result") {
        left += 1;
    }
    left
}

#[tokio::test]
async fn a_body_costs_a_call_for_every_16_kib_begun() {
    for (length, cost) in [(100, 1), (16 * KIB, 1), (16 * KIB + 1, 2), (32 * KIB, 2), (33 * KIB, 3), (160 * KIB, 10)] {
        let test = house(10);
        assert_eq!(test.serve(post(READER, &ping(length))).await.status, 200);
        assert_eq!(left(&test).await, 10 - cost, "{length}");
    }
}

#[tokio::test]
async fn a_body_of_unknown_length_is_charged_before_it_is_parsed() {
    let test = house(10);
    let chunked = |text: String| {
        let body = RequestBody::from_future(async { Ok(text.into()) });
        Incoming { body, ..post(READER, "") }
    };
    // What is paid for is the reading, so it does not matter that it is no JSON.
    let broken = test.serve(chunked("[".repeat(100 * KIB))).await;
    assert!(broken.body.contains("malformed"), "{broken:?}");
    assert_eq!(left(&test).await, 3);
    assert_eq!(test.serve(chunked(ping(100 * KIB))).await, heard(200, &LIMITED.replace(":60", ":420")));
}

#[tokio::test]
async fn an_exhausted_budget_refuses_a_body_unread() {
    let test = house(2);
    assert_eq!(left(&test).await, 2);
    assert_eq!(test.serve(unread(17 * KIB)).await, heard(200, &LIMITED.replace(":60", ":120")));
    // However large a body is, waiting for the whole burst is enough.
    assert_eq!(test.serve(unread(900 * KIB)).await, heard(200, &LIMITED.replace(":60", ":120")));
    test.clock.advance(120_000);
    assert_eq!(test.serve(post(READER, &ping(900 * KIB))).await.status, 200);
}

#[tokio::test]
async fn one_clients_large_bodies_leave_another_its_budget() {
    let test = house(10);
    assert_eq!(test.serve(post(READER, &ping(160 * KIB))).await.status, 200);
    assert!(test.ask(READER, "ping", "{}").await.contains("rate_limited"));
    assert!(test.ask(KEEPER, "ping", "{}").await.contains("result"));
}

#[tokio::test]
async fn a_large_batch_costs_its_body_and_each_call() {
    let test = house(10);
    let calls: Vec<String> = (1..=3).map(|id| rpc(&id.to_string(), "ping", "{}")).collect();
    let batch = format!("[{}]{}", calls.join(","), " ".repeat(20 * KIB));
    assert_eq!(test.serve(post(READER, &batch)).await.status, 200);
    assert_eq!(left(&test).await, 10 - 2 - 3);
    assert_eq!(test.serve(unread(17 * KIB)).await, heard(200, &LIMITED.replace(":60", ":120")));
}

#[tokio::test]
async fn a_mount_with_a_policy_asks_the_budget_first_too() {
    let test = house(2).behind(super::precheck::door());
    assert_eq!(left(&test).await, 2);
    assert_eq!(test.serve(unread(17 * KIB)).await, heard(200, &LIMITED.replace(":60", ":120")));
}

#[tokio::test]
async fn dispatched_messages_are_charged_by_size_too() {
    let test = house(2).taking("desk", DispatchMode::Now, OnQueueFull::Refuse);
    assert_eq!(left(&test).await, 2);
    assert_eq!(sent(&test, unread(17 * KIB)).await, heard(200, &LIMITED.replace(":60", ":120")));
}

#[tokio::test]
async fn too_many_values_are_refused_and_deep_ones_too() {
    let test = TestDesk::stocked();
    let malformed = |why: &str| {
        let data = r#"{"fault":"malformed","at":"transport"}"#;
        heard(200, &format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-1,"message":"{why}","data":{data}}}}}"#))
    };
    let towers = format!("[{}0]", format!("{}{},", "[".repeat(60), "]".repeat(60)).repeat(8_000));
    let why = "The text holds too many values; send at most 20,000 in one request.";
    assert_eq!(test.serve(post(READER, &call("1", "book.get", &towers))).await, malformed(why));
    let tower = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let why = "The text is nested too deeply.";
    assert_eq!(test.serve(post(READER, &call("1", "book.get", &tower))).await, malformed(why));
}
