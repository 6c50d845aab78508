//! The caps on connections and heads.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use frontdesk::net::ConnectionLimits;
use tokio::net::TcpSocket;

use crate::test_server::Desk;
use frontdesk_testkit::app::http_client::{HttpConnection, trusting};

const HELLO: &[u8] = b"GET /hello HTTP/1.1\r\nhost: localhost\r\n\r\n";

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
    let first = desk.connect().await;
    let mut second = desk.connect().await;
    assert!(desk.try_connect().await.is_err());
    assert_eq!((desk.gauges().refused_address, desk.gauges().open), (1, 2));

    second.send(HELLO).await.unwrap();
    assert_eq!(second.receive().await.unwrap().text(), "hello");
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
    let _first = desk.connect().await;
    let _second = connect_from(&desk, [127, 0, 0, 2]).await.unwrap();
    assert!(connect_from(&desk, [127, 0, 0, 3]).await.is_err());
    assert_eq!((desk.gauges().refused_full, desk.gauges().open), (1, 2));
}

#[tokio::test]
async fn a_flood_from_one_address_leaves_the_desk_open_for_others() {
    let desk = Desk::open(ConnectionLimits { per_address: 16, ..ConnectionLimits::default() }).await;
    let mut held = Vec::new();
    for _ in 0..300 {
        held.push(tokio::net::TcpStream::connect(desk.address).await.unwrap());
    }
    let mut other = connect_from(&desk, [127, 0, 0, 2]).await.unwrap();
    other.send(HELLO).await.unwrap();
    assert_eq!(other.receive().await.unwrap().text(), "hello");
    assert_eq!((desk.gauges().open, desk.gauges().refused_address), (17, 284));
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
