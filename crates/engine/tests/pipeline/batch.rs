//! Stage 3, several messages in one request.

use std::time::Duration;

use frontdesk_engine::Reply;
use frontdesk_engine::desk::DeskSettings;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::incoming::Incoming;
use frontdesk_engine::serve::batch::combine;
use frontdesk_wire::frame::Id;

use crate::support::requests::{call, post, rpc, versioned};
use crate::support::{KEEPER, READER, SETTINGS, TestDesk, heard};
use frontdesk_testkit::memory_store::InjectedFault;

fn refused(message: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-1,"message":"{message}","data":{{"fault":"not_rpc","at":"transport"}}}}}}"#
    )
}

#[tokio::test]
async fn a_batch_is_answered_in_order_each_under_its_id() {
    let test = TestDesk::stocked();
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let messages = [
        &rpc("1", "ping", "{}"),
        notification,
        r#"{"jsonrpc":"1.0","id":"two"}"#,
        &call("3", "book.get", r#"{"id":"b2"}"#),
    ];
    assert_eq!(
        test.serve(post(READER, &format!("[{}]", messages.join(",")))).await,
        heard(
            200,
            concat!(
                r#"[{"jsonrpc":"2.0","id":1,"result":{}},"#,
                r#"{"jsonrpc":"2.0","id":"two","error":{"code":-1,"message":"A message must say \"jsonrpc\":\"2.0\".","data":{"fault":"not_rpc","at":"method"}}},"#,
                r#"{"jsonrpc":"2.0","id":3,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":1}}}]"#
            )
        )
    );
    assert_eq!(test.calls.outcomes(), ["ok", "ok", "not_rpc", "ok"]);
}

#[tokio::test]
async fn a_batch_of_notifications_has_no_answer() {
    let test = TestDesk::new();
    let body = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":5,"result":{}}]"#;
    assert_eq!(test.serve(post(READER, body)).await, heard(202, ""));
}

#[tokio::test]
async fn only_one_version_takes_batches() {
    let test = TestDesk::new();
    let body = format!("[{}]", rpc("1", "ping", "{}"));
    let taken = r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#;
    assert_eq!(test.serve(versioned("2025-03-26", post(READER, &body))).await.body, taken);
    assert_eq!(test.serve(post(READER, &body)).await.body, taken);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"] {
        assert_eq!(
            test.serve(versioned(version, post(READER, &body))).await.body,
            refused("Batches exist only in protocol version 2025-03-26; send one message per request."),
            "{version}"
        );
    }
}

#[tokio::test]
async fn two_requests_of_a_batch_must_not_share_an_id() {
    let test = TestDesk::new();
    let ping = |id| rpc(id, "ping", "{}");
    let body = format!("[{},{}]", ping("1"), ping("1"));
    assert_eq!(test.serve(post(READER, &body)).await.body, refused("Two requests of this batch have the same id."));
    let body = format!("[{},{}]", ping("1"), ping(r#""1""#));
    assert_eq!(
        test.serve(post(READER, &body)).await.body,
        r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"1","result":{}}]"#
    );
}

#[tokio::test]
async fn initialize_must_not_be_part_of_a_batch() {
    let test = TestDesk::new();
    let body = format!("[{}]", rpc("1", "initialize", r#"{"protocolVersion":"2025-03-26"}"#));
    assert_eq!(test.serve(post(READER, &body)).await.body, refused("`initialize` must not be part of a batch."));
}

#[tokio::test]
async fn a_batch_is_capped_and_never_empty() {
    let test = TestDesk::new();
    let pings = |count: usize| {
        let pings: Vec<String> = (0..count).map(|id| rpc(&id.to_string(), "ping", "{}")).collect();
        format!("[{}]", pings.join(","))
    };
    assert_eq!(test.serve(post(READER, "[]")).await.body, refused("A batch must not be empty."));
    assert_eq!(test.serve(post(READER, &pings(64))).await.body.matches("result").count(), 64);
    assert_eq!(
        test.serve(post(READER, &pings(65))).await.body,
        refused("A batch must not hold more than 64 messages.")
    );
}

#[tokio::test]
async fn an_answer_outside_json_rpc_becomes_an_error_within_the_batch() {
    let test = TestDesk::new();
    let body = format!("[{}]", call("1", "book.lend", r#"{"id":"b1"}"#));
    assert_eq!(
        test.serve(post(READER, &body)).await,
        heard(
            200,
            r#"[{"jsonrpc":"2.0","id":1,"error":{"code":403,"message":"The request was refused","data":{"fault":"forbidden","at":"tool book.lend","needed":"books:write"}}}]"#
        )
    );
}

#[tokio::test]
async fn a_batch_whose_answers_are_too_large_takes_no_further_call() {
    let test = TestDesk::with(DeskSettings { reply_bytes: 110, ..SETTINGS }).stock();
    let get = call("1", "book.get", r#"{"id":"b1"}"#);
    let again = call("2", "book.get", r#"{"id":"b2"}"#);
    let lend = call("3", "book.lend", r#"{"id":"b1"}"#);
    assert_eq!(
        test.serve(post(KEEPER, &format!("[{get},{again},{lend}]"))).await.body,
        concat!(
            r#"[{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b1","title":"Emma","genre":"novel","copies":2}}},"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":1}}},"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"The answers before this one fill the reply. Send it by itself.","data":{"fault":"too_large","at":"method"}}}]"#
        )
    );
    assert_eq!(test.store.inspect(|state| state.commits), 0);
    assert_eq!(test.calls.outcomes(), ["ok", "ok", "too_large"]);
}

#[tokio::test]
async fn the_messages_of_a_batch_share_one_deadline() {
    let test = TestDesk::with(DeskSettings { deadline: Duration::from_millis(50), ..SETTINGS }).stock();
    test.store.inject(|faults| faults.reads = InjectedFault::Hang);
    let get = call("1", "book.get", r#"{"id":"b1"}"#);
    let lend = call("2", "book.lend", r#"{"id":"b1"}"#);
    assert_eq!(
        test.serve(post(KEEPER, &format!("[{get},{lend}]"))).await.body,
        concat!(
            r#"[{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"This took too long. Try again, or ask for less.","data":{"fault":"unavailable","at":"tool book.get","retry_after":1}}},"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"The service cannot do this right now; nothing was changed. Try again.","data":{"fault":"unavailable","at":"method","retry_after":1}}}]"#
        )
    );
}

#[test]
fn an_answer_that_is_not_json_is_quoted_within_a_batch() {
    let reply = combine(vec![(Some(Id::Number(1)), Reply::plain(503, "Come \"later\"."))]);
    assert_eq!(
        String::from_utf8(reply.body.to_vec()).unwrap(),
        r#"[{"jsonrpc":"2.0","id":1,"error":{"code":503,"message":"The request was refused","data":"Come \"later\"."}}]"#
    );
}

#[tokio::test]
async fn a_notification_in_a_batch_is_never_answered() {
    let test = TestDesk::with(DeskSettings { calls: Budget { per_minute: 1, burst: 1 }, ..SETTINGS });
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let stray = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#;
    assert_eq!(test.serve(post(READER, &format!("[{notice},{notice},{stray}]"))).await, heard(202, ""));
}

#[tokio::test]
async fn a_key_in_the_header_cannot_mean_two_requests() {
    let test = TestDesk::stocked();
    let (one, two) = (call("1", "book.lend", r#"{"id":"b1"}"#), call("2", "book.lend", r#"{"id":"b2"}"#));
    let keyed = |body: &str| Incoming { idempotency_key: Some("k1".to_owned()), ..post(KEEPER, body) };
    assert_eq!(
        test.serve(keyed(&format!("[{one},{two}]"))).await.body,
        refused("An Idempotency-Key header names one request; send each with a key in its arguments, or by itself.")
    );
    assert_eq!(test.store.inspect(|state| state.commits), 0);
    assert!(test.serve(keyed(&format!("[{one}]"))).await.body.contains("result"));
}
