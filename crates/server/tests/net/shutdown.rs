//! A shutdown finishes what runs, lets go of what does not, and ends.

use std::time::Duration;

use frontdesk::net::{ConnectionLimits, DrainResult, ShutdownReason};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::test_server::{Desk, LONG, SHORT, patient};

#[tokio::test]
async fn a_running_call_is_finished_and_its_connection_closed() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut busy = desk.connect().await;
    busy.send(b"GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    desk.until_called().await;
    desk.shutdown.request(ShutdownReason::Terminate);
    desk.calls.may_end.add_permits(1);
    let answer = busy.receive().await.unwrap();
    assert_eq!((answer.status, answer.text(), answer.header("connection")), (200, "slow", Some("close")));
    assert_eq!(desk.serving.await.unwrap(), DrainResult::Finished);
}

#[tokio::test]
async fn quiet_connections_are_closed_at_once_and_new_ones_refused() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut idle = desk.connect().await;
    idle.send(b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\nhello").await.unwrap();
    assert_eq!(idle.receive().await.unwrap().text(), "hello");
    let mut fresh = desk.connect().await;
    let _handshaking = TcpStream::connect(desk.address).await.unwrap();
    desk.until(|gauges| gauges.open == 3).await;

    let start = Instant::now();
    desk.shutdown.request(ShutdownReason::Terminate);
    idle.closed_after().await;
    fresh.closed_after().await;
    assert_eq!(desk.serving.await.unwrap(), DrainResult::Finished);
    // Each of them had ten seconds at least to say something.
    assert!(start.elapsed() < Duration::from_secs(9), "took {:?}", start.elapsed());
    assert!(TcpStream::connect(desk.address).await.is_err());
}

#[tokio::test]
async fn a_call_that_outlives_the_drain_is_cut() {
    let desk = Desk::open(ConnectionLimits { drain: SHORT, ..patient() }).await;
    let mut stuck = desk.connect().await;
    stuck.send(b"GET /forever HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    desk.until_called().await;
    let start = Instant::now();
    desk.shutdown.request(ShutdownReason::Terminate);
    assert_eq!(desk.serving.await.unwrap(), DrainResult::Aborted(1));
    assert!((SHORT..LONG).contains(&start.elapsed()), "took {:?}", start.elapsed());
    assert!(stuck.receive().await.is_err());
}
