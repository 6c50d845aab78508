//! Thousands of connections that stall, each in its own place, while ordinary callers are served as if they were alone.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustls::ClientConfig;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::operator::{UNHURRIED, allow_files, count, until_only};
use frontdesk_testkit::app::http_client::{HttpConnection, trusting};
use frontdesk_testkit::app::{DemoTenant, PATH, READ_STOCK, TestApp};

/// Addresses 127.0.0.2 and up; each may have 256 connections.
const ADDRESSES: usize = 12;
const STALLED: usize = 2400;
/// These many are shaken hands with first, since a handshake costs what a stall does not.
const WITH_TLS: usize = 800;
/// The desk's deadline for a handshake, a head and a body.
const DEADLINE: Duration = Duration::from_secs(10);
/// How late a busy machine may be.
const GRACE: Duration = Duration::from_secs(30);
/// What an ordinary call may take at the 99th percentile; alone it takes a few milliseconds.
const BOUND: Duration = Duration::from_secs(2);
/// The beginning of a TLS greeting whose rest never comes.
const HALF_A_GREETING: &[u8] = &[0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3];

#[derive(Clone)]
struct Crowd {
    address: SocketAddr,
    tls: Arc<ClientConfig>,
    token: String,
    /// So many open at a time, or the test would time itself.
    opening: Arc<Semaphore>,
}

impl Crowd {
    async fn connect(&self, number: usize) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        let last = u8::try_from(2 + number % ADDRESSES).unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// Stalls before the handshake has ended; how long it was suffered.
    async fn stall_before(self, number: usize) -> io::Result<Duration> {
        let place = self.opening.acquire().await.unwrap();
        let mut socket = self.connect(number).await;
        if number.is_multiple_of(2) {
            socket.write_all(HALF_A_GREETING).await?;
        }
        drop(place);
        let start = Instant::now();
        let mut scratch = [0; 256];
        let closed = async { while !matches!(socket.read(&mut scratch).await, Ok(0) | Err(_)) {} };
        timeout(DEADLINE + GRACE, closed).await?;
        Ok(start.elapsed())
    }

    /// Stalls within a head or a body.
    async fn stall_after(self, number: usize) -> io::Result<Duration> {
        let place = self.opening.acquire().await.unwrap();
        let socket = self.connect(number).await;
        let mut connection = HttpConnection::over(socket, Arc::clone(&self.tls), "localhost").await?;
        let head = format!("POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n", self.token);
        connection.send(head.as_bytes()).await?;
        if number.is_multiple_of(2) {
            let rest = "content-type: application/json\r\ncontent-length: 400\r\n\r\n{\"jsonrpc\":";
            connection.send(rest.as_bytes()).await?;
        }
        drop(place);
        Ok(connection.closed_after().await)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stalled_connections_are_cut_and_slow_nobody() {
    allow_files(std::process::id(), 8192);
    let desk = TestApp::start_with(&UNHURRIED);
    let crowd = Crowd {
        address: desk.address,
        tls: Arc::new(trusting(&desk.ca_file(), rustls::ALL_VERSIONS)),
        token: desk.agent_of(DemoTenant::Summit, READ_STOCK).await.token,
        opening: Arc::new(Semaphore::new(64)),
    };
    let over = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for _ in 0..4 {
        let mut agent = desk.weak_agent().await;
        let over = Arc::clone(&over);
        callers.spawn(async move {
            let mut took = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let start = Instant::now();
                let page = agent.call("inventory.list", json!({"limit": 1})).await;
                took.push(start.elapsed());
                assert_eq!(page["items"][0]["dealership_id"], json!("dlr_lakeside"));
                sleep(Duration::from_millis(20)).await;
            }
            assert_eq!(agent.http.opened, 1, "an ordinary caller was cut");
            took
        });
    }

    let mut stalled = JoinSet::new();
    for number in 0..WITH_TLS {
        stalled.spawn(crowd.clone().stall_after(number));
    }
    for number in WITH_TLS..STALLED {
        stalled.spawn(crowd.clone().stall_before(number));
    }
    let mut most = 0;
    for _ in 0..600 {
        most = most.max(count(&desk, "frontdesk_connections_open").await);
        if most >= 2000 {
            break;
        }
        sleep(Duration::from_millis(100)).await;
    }
    assert!(most >= 1500, "no more than {most} were open at a time");

    let mut ends = Vec::new();
    while let Some(end) = stalled.join_next().await {
        ends.push(end.unwrap().unwrap());
    }
    over.store(true, Ordering::Relaxed);
    let mut took = callers.join_all().await.concat();
    took.sort();
    let nearly_worst = took[took.len() * 99 / 100];
    let late = ends.iter().max().unwrap();
    println!("{most} open at a time; {} calls, p99 {nearly_worst:?}; the last cut after {late:?}", took.len());
    assert_eq!(ends.len(), STALLED);
    assert!(*late < DEADLINE + GRACE, "cut after {late:?}");
    assert!(took.len() > 100 && nearly_worst < BOUND, "{} calls, p99 {nearly_worst:?}", took.len());
    until_only(&desk, 0).await;
    assert_eq!(count(&desk, "frontdesk_panics_total").await, 0);
}
