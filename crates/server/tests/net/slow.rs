//! Clients that are slow, silent or half gone are cut at their deadline while others are served (X7).

use std::future::Future;
use std::io;
use std::time::Duration;

use frontdesk::net::ConnectionLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::test_server::{Desk, LONG, SHORT, patient};

const HEAD: &[u8] = b"GET /hello HTTP/1.1\r\nhost: localhost\r\n\r\n";
const PARTIAL_HEAD: &[u8] = b"GET /hello HTTP/1.1\r\nhost: local";
const PARTIAL_BODY: &[u8] = b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhalf";

/// The one short deadline has ended it and none of the others. A busy machine may be late, never early, if `start` was
/// before the deadline began to run.
fn assert_cut_at_the_deadline(start: Instant) {
    assert!((SHORT..LONG / 2).contains(&start.elapsed()), "closed after {:?}", start.elapsed());
}

/// So short for whoever has sent half a head, or nothing.
fn short_heads() -> ConnectionLimits {
    ConnectionLimits { head: SHORT, ..patient() }
}

/// Runs the slow client, and a good one all along.
async fn while_others_are_served<T>(desk: &Desk, slow: impl Future<Output = T>) -> T {
    let others = async {
        let mut client = desk.client();
        loop {
            assert_eq!(client.get("/hello").await.text(), "hello");
            sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        biased;
        result = slow => result,
        () = others => unreachable!(),
    }
}

async fn closed(socket: &mut TcpStream) {
    let mut scratch = [0; 1024];
    while !matches!(socket.read(&mut scratch).await, Ok(0) | Err(_)) {}
}

#[tokio::test]
async fn a_connection_that_sends_nothing_or_half_a_handshake_is_cut() {
    let desk = Desk::open(ConnectionLimits { handshake: SHORT, ..patient() }).await;
    for sent in [&b""[..], &[0x16], &[0x16, 3, 1, 0, 200, 1, 0, 0]] {
        let start = Instant::now();
        let mut socket = TcpStream::connect(desk.address).await.unwrap();
        socket.write_all(sent).await.unwrap();
        while_others_are_served(&desk, closed(&mut socket)).await;
        assert_cut_at_the_deadline(start);
    }
    desk.until(|gauges| gauges.handshakes_failed == 3).await;
}

#[tokio::test]
async fn a_connection_that_is_silent_after_the_handshake_is_cut() {
    let desk = Desk::open(short_heads()).await;
    let start = Instant::now();
    let mut connection = desk.connect().await;
    while_others_are_served(&desk, connection.closed_after()).await;
    assert_cut_at_the_deadline(start);
    desk.until(|gauges| gauges.closed_late == 1).await;
}

#[tokio::test]
async fn a_connection_that_sends_one_byte_or_a_partial_head_is_cut() {
    let desk = Desk::open(short_heads()).await;
    for sent in [b"G", PARTIAL_HEAD, b"PRI * HT"] {
        let start = Instant::now();
        let mut connection = desk.connect().await;
        connection.send(sent).await.unwrap();
        while_others_are_served(&desk, connection.closed_after()).await;
        assert_cut_at_the_deadline(start);
    }
}

#[tokio::test]
async fn half_a_tls_record_is_cut_like_half_a_head() {
    let desk = Desk::open(short_heads()).await;
    let mut connection = desk.connect().await;
    connection.send(HEAD).await.unwrap();
    assert_eq!(connection.receive().await.unwrap().text(), "hello");
    let start = Instant::now();
    connection.socket().write_all(&[0x17, 3, 3, 0, 64, 1, 2, 3]).await.unwrap();
    while_others_are_served(&desk, connection.closed_after()).await;
    assert_cut_at_the_deadline(start);
}

#[tokio::test]
async fn a_byte_now_and_then_buys_no_time() {
    let desk = Desk::open(short_heads()).await;
    let start = Instant::now();
    let mut connection = desk.connect().await;
    let trickle = async {
        // More than a minute of them, should nobody cut it short.
        for byte in PARTIAL_HEAD.iter().cycle().take(3000) {
            connection.send(&[*byte]).await?;
            sleep(Duration::from_millis(20)).await;
        }
        io::Result::Ok(())
    };
    assert!(while_others_are_served(&desk, trickle).await.is_err());
    assert_cut_at_the_deadline(start);
}

#[tokio::test]
async fn the_first_byte_buys_no_time_either() {
    let (head, before) = (2 * SHORT, 2 * SHORT - Duration::from_millis(500));
    let desk = Desk::open(ConnectionLimits { head, ..patient() }).await;
    let start = Instant::now();
    let mut connection = desk.connect().await;
    sleep(before).await;
    // Comes too late if the machine sleeps longer; the connection is cut all the same.
    let _ = connection.send(b"G").await;
    connection.closed_after().await;
    let took = start.elapsed();
    assert!((head..before + head).contains(&took), "closed after {took:?}");
}

#[tokio::test]
async fn an_unfinished_body_is_answered_and_the_connection_closed() {
    let desk = Desk::open(ConnectionLimits { body: SHORT, ..patient() }).await;
    let mut connection = desk.connect().await;
    let start = Instant::now();
    connection.send(PARTIAL_BODY).await.unwrap();
    let answer = while_others_are_served(&desk, connection.receive()).await.unwrap();
    assert_eq!(answer.status, 408);
    connection.closed_after().await;
    assert_cut_at_the_deadline(start);
    // Although the client never closes its half, its place is free again soon.
    desk.until(|gauges| gauges.open == 0).await;
}

#[tokio::test]
async fn an_idle_connection_outlives_the_head_deadline() {
    let idle = 4 * SHORT;
    let desk = Desk::open(ConnectionLimits { idle, ..short_heads() }).await;
    let mut connection = desk.connect().await;
    connection.send(HEAD).await.unwrap();
    assert_eq!(connection.receive().await.unwrap().text(), "hello");
    sleep(SHORT + SHORT / 4).await;
    let start = Instant::now();
    connection.send(HEAD).await.unwrap();
    assert_eq!(connection.receive().await.unwrap().text(), "hello");
    while_others_are_served(&desk, connection.closed_after()).await;
    let took = start.elapsed();
    assert!((idle..LONG / 2).contains(&took), "closed after {took:?}");
    assert_eq!(desk.gauges().closed_late, 0, "an idle client did nothing wrong");
}

#[tokio::test]
async fn a_later_head_that_has_begun_has_the_short_deadline() {
    let desk = Desk::open(short_heads()).await;
    let mut connection = desk.connect().await;
    connection.send(HEAD).await.unwrap();
    assert_eq!(connection.receive().await.unwrap().text(), "hello");
    sleep(SHORT + SHORT / 4).await;
    let start = Instant::now();
    connection.send(PARTIAL_HEAD).await.unwrap();
    while_others_are_served(&desk, connection.closed_after()).await;
    assert_cut_at_the_deadline(start);
}

#[tokio::test]
async fn a_head_begun_during_a_call_has_the_short_deadline() {
    let desk = Desk::open(short_heads()).await;
    let mut connection = desk.connect().await;
    connection.send(b"GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    desk.until_called().await;
    connection.send(PARTIAL_HEAD).await.unwrap();
    // Time for it to arrive while the call runs. Should it come after, its deadline is the same.
    sleep(Duration::from_millis(200)).await;
    let start = Instant::now();
    desk.calls.may_end.add_permits(1);
    assert_eq!(connection.receive().await.unwrap().text(), "slow");
    while_others_are_served(&desk, connection.closed_after()).await;
    assert_cut_at_the_deadline(start);
}

#[tokio::test]
async fn a_call_may_take_longer_than_any_deadline_of_its_client() {
    let every = ConnectionLimits { handshake: SHORT, head: SHORT, body: SHORT, idle: SHORT, write: SHORT, ..patient() };
    let desk = Desk::open(every).await;
    let mut client = desk.client();
    let later = async {
        desk.until_called().await;
        sleep(SHORT + SHORT / 2).await;
        desk.calls.may_end.add_permits(1);
    };
    let (answer, ()) = tokio::join!(client.get("/slow"), later);
    assert_eq!(answer.text(), "slow");
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_cut() {
    let desk = Desk::open(ConnectionLimits { write: SHORT, ..patient() }).await;
    let mut connection = desk.connect().await;
    let start = Instant::now();
    connection.send(b"GET /big HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    while_others_are_served(&desk, desk.until(|gauges| gauges.closed_late == 1)).await;
    assert_cut_at_the_deadline(start);
    assert!(connection.receive().await.is_err());
}
