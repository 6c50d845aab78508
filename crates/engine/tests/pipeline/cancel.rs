//! Stage 8, a caller who changes its mind: a read stops, a write does not.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::support::requests::{call, post};
use crate::support::{KEEPER, READER, TestDesk, heard};
use frontdesk_testkit::memory_store::InjectedFault;

fn begin(test: &Arc<TestDesk>, who: &'static str, id: &str) -> JoinHandle<String> {
    let (test, body) = (Arc::clone(test), call(id, "book.get", r#"{"id":"b1"}"#));
    tokio::spawn(async move { test.serve(post(who, &body)).await.body })
}

async fn cancel(test: &TestDesk, who: &str, id: &str) {
    let body = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
    assert_eq!(test.serve(post(who, &body)).await, heard(202, ""));
}

/// Time enough for a task to reach the store, or to come back from it.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

fn waiting_house() -> Arc<TestDesk> {
    let test = TestDesk::stocked();
    test.store.inject(|faults| faults.reads = InjectedFault::Hang);
    Arc::new(test)
}

#[tokio::test]
async fn a_withdrawn_read_stops() {
    let test = waiting_house();
    for id in ["1", r#""one""#, "18446744073709551615"] {
        let waiting = begin(&test, READER, id);
        a_moment().await;
        cancel(&test, READER, id).await;
        assert_eq!(
            waiting.await.unwrap(),
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"The request was cancelled by its caller.","data":{{"fault":"cancelled","at":"tool book.get"}}}}}}"#
            )
        );
    }
}

#[tokio::test]
async fn only_a_cancellation_by_its_own_client_stops_a_read() {
    let test = waiting_house();
    let waiting = begin(&test, READER, "1");
    a_moment().await;
    cancel(&test, KEEPER, "1").await;
    cancel(&test, READER, "2").await;
    cancel(&test, READER, r#""1""#).await;
    cancel(&test, READER, "null").await;
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"requestId":1}}"#;
    test.serve(post(READER, progress)).await;
    a_moment().await;
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn a_withdrawal_that_could_mean_two_requests_stops_none() {
    let test = waiting_house();
    let (one, other) = (begin(&test, READER, "1"), begin(&test, READER, "1"));
    a_moment().await;
    cancel(&test, READER, "1").await;
    a_moment().await;
    assert!(!one.is_finished() && !other.is_finished());
    // Once one of them has gone, the other can be meant.
    one.abort();
    a_moment().await;
    cancel(&test, READER, "1").await;
    assert!(other.await.unwrap().contains(r#""fault":"cancelled""#));
}

#[tokio::test]
async fn a_withdrawal_before_its_request_is_forgotten() {
    let test = Arc::new(TestDesk::stocked());
    cancel(&test, READER, "1").await;
    assert!(begin(&test, READER, "1").await.unwrap().contains(r#""result""#));
}

#[tokio::test]
async fn a_write_goes_on() {
    let test = Arc::new(TestDesk::stocked());
    test.store.inject(|faults| faults.commits = InjectedFault::Delay(Duration::from_millis(60)));
    let writing = {
        let (test, body) = (Arc::clone(&test), call("1", "book.lend", r#"{"id":"b2"}"#));
        tokio::spawn(async move { test.serve(post(KEEPER, &body)).await.body })
    };
    a_moment().await;
    cancel(&test, KEEPER, "1").await;
    assert_eq!(
        writing.await.unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":0}}}"#
    );
}
