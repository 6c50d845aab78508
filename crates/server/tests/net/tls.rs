//! Which handshakes succeed, and what a client that speaks no TLS gets (X14, X15, X16).

use std::sync::Arc;

use frontdesk::net::{AddressSource, ConnectionLimits, bind, ensure, load};
use rustls::ProtocolVersion;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::test_server::{Desk, now};
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpConnection, trusting};

#[tokio::test]
async fn both_tls_versions_are_spoken_and_http_1_1_is_chosen() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    for (version, spoken) in [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)] {
        let config = Arc::new(trusting(&desk.ca_file, &[version]));
        let mut connection = HttpConnection::open(desk.address, config, "localhost").await.unwrap();
        assert_eq!(connection.version(), Some(spoken));
        assert_eq!(connection.application_protocol(), Some(&b"http/1.1"[..]));
        connection.send(b"GET /hello HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        assert_eq!(connection.receive().await.unwrap().text(), "hello");
    }
}

/// A whole greeting of that protocol, as old clients send it.
fn greeting(version: [u8; 2]) -> Vec<u8> {
    let mut hello = version.to_vec();
    hello.extend([7; 32]);
    // No session; suites with and without authenticated encryption; no compression.
    hello.extend([0, 0, 6, 0xc0, 0x2b, 0xc0, 0x09, 0x00, 0x2f, 1, 0]);
    let groups = [0, 10, 0, 6, 0, 4, 0, 29, 0, 23];
    let points = [0, 11, 0, 2, 1, 0];
    let signatures = [0, 13, 0, 6, 0, 4, 4, 3, 2, 3];
    hello.extend([0, u8::try_from(groups.len() + points.len() + signatures.len()).unwrap()]);
    hello.extend([&groups[..], &points, &signatures].concat());
    let length = u8::try_from(hello.len()).unwrap();
    [&[0x16, 3, 1, 0, length + 4, 1, 0, 0, length][..], &hello].concat()
}

#[tokio::test]
async fn tls_1_1_is_refused_and_tls_1_2_is_not() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    for version in [[3, 0], [3, 1], [3, 2]] {
        let mut socket = TcpStream::connect(desk.address).await.unwrap();
        socket.write_all(&greeting(version)).await.unwrap();
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer).await;
        // An alert, fatal: protocol version.
        assert_eq!((answer.first(), answer.get(5..)), (Some(&0x15), Some(&[2, 70][..])), "{version:?}: {answer:?}");
    }
    let mut socket = TcpStream::connect(desk.address).await.unwrap();
    socket.write_all(&greeting([3, 3])).await.unwrap();
    assert_eq!(socket.read_u8().await.unwrap(), 0x16, "the same in TLS 1.2 goes on");
}

#[tokio::test]
async fn a_client_that_offers_http_2_alone_is_refused() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut config = trusting(&desk.ca_file, rustls::ALL_VERSIONS);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let refused = HttpConnection::open(desk.address, Arc::new(config), "localhost").await;
    assert!(refused.err().unwrap().to_string().contains("NoApplicationProtocol"));
}

#[tokio::test]
async fn clients_refuse_another_authority_or_host_name() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let elsewhere = TestFolder::new();
    let other = ensure(elsewhere.path(), &[], now()).unwrap();
    let refused = HttpClient::new(desk.address, &other.ca_file).try_request("GET", "/hello", &[], "").await;
    assert!(refused.err().unwrap().to_string().contains("invalid peer certificate"));

    let config = Arc::new(trusting(&desk.ca_file, rustls::ALL_VERSIONS));
    let refused = HttpConnection::open(desk.address, Arc::clone(&config), "desk.example.com").await;
    assert!(refused.err().unwrap().to_string().contains("not valid for name"));
    assert!(HttpConnection::open(desk.address, config, "127.0.0.1").await.is_ok());
}

#[tokio::test]
async fn plain_http_gets_no_http_answer() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut socket = TcpStream::connect(desk.address).await.unwrap();
    socket.write_all(b"GET /hello HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer).await;
    assert!(!answer.windows(4).any(|window| window == b"HTTP"), "{answer:?}");
    desk.until(|gauges| gauges.handshakes_failed == 1).await;
    assert_eq!(desk.client().get("/hello").await.text(), "hello");
}

#[tokio::test]
async fn a_new_certificate_is_used_for_new_connections_only() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut old = desk.client();
    assert_eq!(old.get("/hello").await.text(), "hello");

    let folder = TestFolder::new();
    let fresh = ensure(folder.path(), &[], now()).unwrap();
    desk.tls.replace(load(&fresh.certificate, &fresh.key).unwrap());

    assert_eq!(HttpClient::new(desk.address, &fresh.ca_file).get("/hello").await.text(), "hello");
    assert!(desk.client().try_request("GET", "/hello", &[], "").await.is_err());
    assert_eq!(old.get("/hello").await.text(), "hello");
    assert_eq!(old.opened, 1);
}

#[tokio::test]
async fn a_taken_port_is_named_with_what_to_do_next() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let port = desk.address.port();
    let taken = bind(desk.address, AddressSource::Flag("--listen")).await.unwrap_err();
    assert_eq!(
        taken.to_string(),
        format!(
            "port {port} is taken: another program listens on 127.0.0.1:{port}; stop it, choose another port with \
             `--listen 127.0.0.1:PORT`, or let the system choose a free one with `--listen 127.0.0.1:0`"
        )
    );
    let elsewhere = bind("192.0.2.1:8443".parse().unwrap(), AddressSource::Flag("--listen")).await.unwrap_err();
    assert_eq!(
        elsewhere.to_string(),
        "192.0.2.1 is not an address of this machine; use `--listen 127.0.0.1:8443` for this machine only or \
         `--listen 0.0.0.0:8443` for all its interfaces"
    );
}
