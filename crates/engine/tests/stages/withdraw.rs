//! Stage 8, a caller who changes its mind: a read stops, a write does not.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::support::requests::{call, post};
use crate::support::shelves::Mood;
use crate::support::{House, KEEPER, READER, heard};

fn begin(house: &Arc<House>, who: &'static str, id: &str) -> JoinHandle<String> {
    let (house, body) = (Arc::clone(house), call(id, "book.get", r#"{"id":"b1"}"#));
    tokio::spawn(async move { house.serve(post(who, &body)).await.body })
}

async fn withdraw(house: &House, who: &str, id: &str) {
    let body = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
    assert_eq!(house.serve(post(who, &body)).await, heard(202, ""));
}

/// Time enough for a task to reach the store, or to come back from it.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

fn waiting_house() -> Arc<House> {
    let house = House::stocked();
    house.store.turn(|knobs| knobs.reads = Mood::Hangs);
    Arc::new(house)
}

#[tokio::test]
async fn a_withdrawn_read_stops() {
    let house = waiting_house();
    for id in ["1", r#""one""#, "18446744073709551615"] {
        let waiting = begin(&house, READER, id);
        a_moment().await;
        withdraw(&house, READER, id).await;
        assert_eq!(
            waiting.await.unwrap(),
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"The request was cancelled by its caller.","data":{{"fault":"cancelled","at":"tool book.get"}}}}}}"#
            )
        );
    }
}

#[tokio::test]
async fn nothing_but_a_withdrawal_of_this_id_by_this_client_stops_a_read() {
    let house = waiting_house();
    let waiting = begin(&house, READER, "1");
    a_moment().await;
    withdraw(&house, KEEPER, "1").await;
    withdraw(&house, READER, "2").await;
    withdraw(&house, READER, r#""1""#).await;
    withdraw(&house, READER, "null").await;
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"requestId":1}}"#;
    house.serve(post(READER, progress)).await;
    a_moment().await;
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn a_withdrawal_that_could_mean_two_requests_stops_none() {
    let house = waiting_house();
    let (one, other) = (begin(&house, READER, "1"), begin(&house, READER, "1"));
    a_moment().await;
    withdraw(&house, READER, "1").await;
    a_moment().await;
    assert!(!one.is_finished() && !other.is_finished());
    // Once one of them has gone, the other can be meant.
    one.abort();
    a_moment().await;
    withdraw(&house, READER, "1").await;
    assert!(other.await.unwrap().contains(r#""fault":"cancelled""#));
}

#[tokio::test]
async fn a_withdrawal_before_its_request_is_forgotten() {
    let house = Arc::new(House::stocked());
    withdraw(&house, READER, "1").await;
    assert!(begin(&house, READER, "1").await.unwrap().contains(r#""result""#));
}

#[tokio::test]
async fn a_write_goes_on() {
    let house = Arc::new(House::stocked());
    house.store.turn(|knobs| knobs.commits = Mood::Slow(Duration::from_millis(60)));
    let writing = {
        let (house, body) = (Arc::clone(&house), call("1", "book.lend", r#"{"id":"b2"}"#));
        tokio::spawn(async move { house.serve(post(KEEPER, &body)).await.body })
    };
    a_moment().await;
    withdraw(&house, KEEPER, "1").await;
    assert_eq!(
        writing.await.unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{"item":{"id":"b2","title":"Dune","genre":"novel","copies":0}}}"#
    );
}
