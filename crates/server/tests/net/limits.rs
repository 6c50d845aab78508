//! The caps on connections and heads.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use frontdesk::net::ConnectionLimits;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::test_server::{self, Desk};
use frontdesk_testkit::app::http_client::{HttpConnection, trusting};

const HELLO: &[u8] = b"GET /hello HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// A connection over which a request was answered.
async fn greeted(mut connection: HttpConnection) -> HttpConnection {
    connection.send(HELLO).await.unwrap();
    assert_eq!(connection.receive().await.unwrap().text(), "hello");
    connection
}

/// A connection from another address of this machine.
async fn connect_from(desk: &Desk, from: [u8; 4]) -> std::io::Result<HttpConnection> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((from, 0))).unwrap();
    let socket = socket.connect(desk.address).await?;
    HttpConnection::over(socket, Arc::new(trusting(&desk.ca_file, rustls::ALL_VERSIONS)), "localhost").await
}

#[tokio::test]
async fn an_address_over_its_connection_limit_is_closed() {
    let desk = Desk::open(ConnectionLimits { per_address: 2, ..ConnectionLimits::default() }).await;
    let first = greeted(desk.connect().await).await;
    let second = greeted(desk.connect().await).await;
    assert!(desk.try_connect().await.is_err());
    assert_eq!((desk.gauges().refused_address, desk.gauges().open), (1, 2));

    let _second = greeted(second).await;
    let mut other = connect_from(&desk, [127, 0, 0, 2]).await.unwrap();
    other.send(b"GET /peer HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    assert_eq!(other.receive().await.unwrap().text(), "127.0.0.2");

    drop(first);
    desk.until(|gauges| gauges.open == 2).await;
    assert!(desk.try_connect().await.is_ok());
}

#[tokio::test]
async fn a_full_desk_closes_every_further_connection_at_once() {
    let desk = Desk::open(ConnectionLimits { connections: 2, ..ConnectionLimits::default() }).await;
    let _first = greeted(desk.connect().await).await;
    let _second = greeted(connect_from(&desk, [127, 0, 0, 2]).await.unwrap()).await;
    assert!(connect_from(&desk, [127, 0, 0, 3]).await.is_err());
    assert_eq!((desk.gauges().refused_full, desk.gauges().open), (1, 2));
}

#[tokio::test]
async fn a_full_desk_closes_its_oldest_silent_connection_for_a_newcomer() {
    let limits = ConnectionLimits { connections: 3, ..test_server::patient() };
    let desk = Desk::open(limits).await;
    // The oldest has shaken hands and then been silent; the next has not even begun.
    let mut oldest = connect_from(&desk, [127, 0, 0, 2]).await.unwrap();
    let mut silent = TcpStream::connect(desk.address).await.unwrap();
    let busy = greeted(connect_from(&desk, [127, 0, 0, 3]).await.unwrap()).await;
    desk.until(|gauges| gauges.open == 3).await;

    let newcomer = greeted(connect_from(&desk, [127, 0, 0, 4]).await.unwrap()).await;
    assert!(oldest.closed_after().await < test_server::LONG / 2);
    let counts = desk.gauges();
    assert_eq!((counts.open, counts.closed_silent, counts.refused_full), (3, 1, 0));
    let _second = greeted(connect_from(&desk, [127, 0, 0, 5]).await.unwrap()).await;
    assert_eq!(silent.read(&mut [0; 1]).await.unwrap(), 0);
    // Nobody is silent any more, and those that have sent a request stay.
    assert!(connect_from(&desk, [127, 0, 0, 6]).await.is_err());
    greeted(busy).await;
    greeted(newcomer).await;
}

#[tokio::test]
async fn a_newcomer_behind_a_full_address_gets_in() {
    let desk = Desk::open(ConnectionLimits { per_address: 4, ..test_server::patient() }).await;
    let mut held = Vec::new();
    for _ in 0..40 {
        held.push(TcpStream::connect(desk.address).await.unwrap());
    }
    greeted(desk.connect().await).await;
    assert_eq!((desk.gauges().refused_address, desk.gauges().closed_silent), (0, 37));
}

#[tokio::test]
async fn a_flood_from_one_address_leaves_the_desk_open_for_others() {
    let desk = Desk::open(ConnectionLimits { per_address: 16, ..ConnectionLimits::default() }).await;
    let mut held = Vec::new();
    for _ in 0..300 {
        held.push(TcpStream::connect(desk.address).await.unwrap());
    }
    let mut other = connect_from(&desk, [127, 0, 0, 2]).await.unwrap();
    other.send(HELLO).await.unwrap();
    assert_eq!(other.receive().await.unwrap().text(), "hello");
    assert_eq!((desk.gauges().open, desk.gauges().closed_silent), (17, 284));
}

#[tokio::test]
async fn a_head_with_too_many_bytes_or_lines_is_refused() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let long = "x".repeat(32 * 1024);
    assert_eq!(desk.client().request("GET", "/hello", &[("x-long", long.as_str())], "").await.status, 431);
    let fits = "x".repeat(24 * 1024);
    assert_eq!(desk.client().request("GET", "/hello", &[("x-long", fits.as_str())], "").await.status, 200);
    let many = [("x-many", "1"); 100];
    assert_eq!(desk.client().request("GET", "/hello", &many, "").await.status, 431);
    assert_eq!(desk.client().request("GET", "/hello", many.get(..99).unwrap(), "").await.status, 200);
}

#[test]
fn the_defaults_are_the_published_ones() {
    let caps = ConnectionLimits::default();
    assert_eq!((caps.connections, caps.per_address, caps.head_bytes, caps.headers), (4096, 256, 32768, 100));
    let seconds = [caps.handshake, caps.head, caps.body, caps.idle, caps.write, caps.drain];
    assert_eq!(seconds, [10, 10, 10, 75, 30, 25].map(Duration::from_secs));
}
