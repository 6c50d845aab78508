//! Floods of one caller beside a polite one of another tenant: nested bodies, more bodies than there is memory for, silent
//! connections, and what a refused call costs. `cargo xtask attack` has the same with the release binary, and figures.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::ClientConfig;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::operator::{UNHURRIED, allow_files, count};
use frontdesk_testkit::app::http_client::{HttpConnection, trusting};
use frontdesk_testkit::app::{DemoTenant, PATH, READ_STOCK, TestAgent, TestApp};

const MIB: usize = 1024 * 1024;

/// How a flood reaches the desk.
#[derive(Clone)]
struct Flood {
    address: SocketAddr,
    tls: Arc<ClientConfig>,
    token: String,
}

impl Flood {
    async fn new(desk: &TestApp) -> Flood {
        let tls = Arc::new(trusting(&desk.ca_file(), rustls::ALL_VERSIONS));
        Flood { address: desk.address, tls, token: desk.agent_of(DemoTenant::Summit, READ_STOCK).await.token }
    }

    async fn open(&self) -> HttpConnection {
        HttpConnection::open(self.address, Arc::clone(&self.tls), "localhost").await.unwrap()
    }

    async fn socket_from(&self, last: usize) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, u8::try_from(last).unwrap()], 0)))?;
        socket.connect(self.address).await
    }

    async fn open_from(&self, last: usize) -> std::io::Result<HttpConnection> {
        HttpConnection::over(self.socket_from(last).await?, Arc::clone(&self.tls), "localhost").await
    }

    fn head(&self, length: usize) -> String {
        format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n",
            self.token
        )
    }
}

/// A polite caller with a thread of its own, so that the flood's tasks do not delay its clock.
struct PoliteCaller {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Duration>,
}

impl PoliteCaller {
    async fn start(desk: &TestApp) -> PoliteCaller {
        let (agent, over) = (desk.weak_agent().await, Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(call_until(agent, told))
        });
        PoliteCaller { over, thread }
    }

    /// The 95th percentile of its calls.
    fn stop(self) -> Duration {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

async fn call_until(mut agent: TestAgent, over: Arc<AtomicBool>) -> Duration {
    let mut took = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let start = Instant::now();
        let page = agent.call("inventory.list", json!({"limit": 1})).await;
        took.push(start.elapsed());
        assert_eq!(page["items"][0]["dealership_id"], json!("dlr_lakeside"));
        sleep(Duration::from_millis(10)).await;
    }
    took.sort();
    assert!(took.len() > 20, "only {} calls", took.len());
    took[took.len() * 95 / 100]
}

#[tokio::test]
async fn nested_bodies_of_one_client_delay_no_other() {
    let desk = TestApp::start();
    let flood = Flood::new(&desk).await;
    let tower = format!("{}{},", "[".repeat(58), "]".repeat(58));
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":[{}0]}}}}"#, tower.repeat(8_900));
    let request = Arc::new((flood.head(body.len()) + &body).into_bytes());

    let caller = PoliteCaller::start(&desk).await;
    sleep(Duration::from_secs(3)).await;
    let quiet = caller.stop();

    let caller = PoliteCaller::start(&desk).await;
    let (refused, end) = (Arc::new(AtomicUsize::new(0)), Instant::now() + Duration::from_secs(8));
    let mut flooding = JoinSet::new();
    for _ in 0..64 {
        let (flood, request, refused) = (flood.clone(), Arc::clone(&request), Arc::clone(&refused));
        flooding.spawn(async move {
            while Instant::now() < end {
                let mut connection = flood.open().await;
                // The answer may come before all was sent, and close the connection.
                let _ = connection.send(&request).await;
                let Ok(answer) = connection.receive().await else { continue };
                assert!([400, 429].contains(&answer.status), "{}", answer.text());
                refused.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    flooding.join_all().await;
    let attacked = caller.stop();
    println!("{} refused; p95 {quiet:?} quiet, {attacked:?} attacked", refused.load(Ordering::Relaxed));
    assert!(refused.load(Ordering::Relaxed) > 64);
    // Flood and desk share this machine; with trees built of such bodies it is seconds.
    assert!(attacked < (quiet * 3).max(Duration::from_millis(300)), "{attacked:?} after {quiet:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_bodies_is_bounded_in_memory() {
    allow_files(std::process::id(), 8192);
    let desk = TestApp::start_with(&UNHURRIED);
    let flood = Flood::new(&desk).await;
    let mut first = desk.weak_agent().await;
    first.call("inventory.list", json!({"limit": 1})).await;
    let baseline = resident_mib(&desk);
    let caller = PoliteCaller::start(&desk).await;
    let request = Arc::new((flood.head(MIB) + &"x".repeat(MIB - 1)).into_bytes());
    let mut holding = JoinSet::new();
    for number in 0..1200 {
        let (flood, request) = (flood.clone(), Arc::clone(&request));
        holding.spawn(async move {
            let mut connection = flood.open_from(2 + number / 240).await.unwrap();
            let _ = connection.send(&request).await;
            // Whoever is answered was refused; the others hold their body.
            match timeout(Duration::from_secs(4), connection.receive()).await {
                Ok(Ok(answer)) => assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1"))),
                Ok(Err(_)) => {}
                Err(_) => return 1,
            }
            0
        });
    }
    let (mut peak, mut held) = (0, 0);
    while !holding.is_empty() {
        if let Ok(Some(ended)) = timeout(Duration::from_millis(200), holding.join_next()).await {
            held += ended.unwrap();
        }
        peak = peak.max(resident_mib(&desk));
    }
    let attacked = caller.stop();
    println!("{held} held; {baseline} MiB before, {peak} MiB at most; a polite caller's p95 {attacked:?}");
    // 64 MiB of bodies, and the buffers of 1,200 connections. All bodies would be 1,200 MiB.
    assert!(held > 0 && peak < baseline + 400, "{held} held, {peak} MiB after {baseline} MiB");
    // How much of it the system's allocator gives back differs from run to run (docs/security-figures.md).
    println!("{} MiB afterwards", resident_mib(&desk));
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_keep_no_newcomer_out() {
    allow_files(std::process::id(), 12_000);
    let desk = TestApp::start();
    let flood = Flood::new(&desk).await;
    let opening = Arc::new(Semaphore::new(64));
    let mut refilling = JoinSet::new();
    for number in 0..20 * 230 {
        let (flood, opening) = (flood.clone(), Arc::clone(&opening));
        refilling.spawn(async move {
            loop {
                let place = opening.acquire().await.unwrap();
                let Ok(mut socket) = flood.socket_from(1 + number % 20).await else { continue };
                drop(place);
                if number % 2 == 0 {
                    let _ = socket.write_all(&[0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]).await;
                }
                let _ = socket.read(&mut [0; 64]).await;
            }
        });
    }
    for _ in 0..600 {
        if count(&desk, "frontdesk_connections_open").await >= 4096 {
            break;
        }
        sleep(Duration::from_millis(100)).await;
    }
    let mut got_in = 0;
    for number in 0..125 {
        // Every other one has the address of a flood.
        let visit = async {
            let mut connection = flood.open_from(if number % 2 == 0 { 1 } else { 21 }).await.ok()?;
            connection.send(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.ok()?;
            connection.receive().await.ok().filter(|answer| answer.status == 200)
        };
        got_in += usize::from(timeout(Duration::from_secs(10), visit).await.ok().flatten().is_some());
        sleep(Duration::from_millis(20)).await;
    }
    let closed = count(&desk, "frontdesk_connections_silent_closed_total").await;
    refilling.shutdown().await;
    println!("{got_in} of 125 got in; {closed} silent connections were closed for others");
    assert!(got_in >= 119 && closed > 100, "{got_in} of 125 got in, {closed} closed");
}

#[tokio::test]
async fn a_refused_call_costs_at_most_two_pings() {
    let desk = TestApp::start_with(&[("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "60"), ("FRONTDESK_LIMITS_BURST", "20000")]);
    let mut flood = Flood::new(&desk).await;
    let fresh = desk.weak_agent().await.token;
    let body = |length: usize| {
        let text = "x".repeat(length);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{{"x":"{text}"}}}}}}"#)
    };
    let (small, large) = (body(1), body(1_000_000));
    // Uses up the budget of the flood's client.
    while exchange(&flood, &large).await != 429 {}
    let spent = flood.token.clone();
    let mut costs = Vec::new();
    for (token, body, times) in
        [(&fresh, &small, 300), (&spent, &large, 300), (&fresh, &small, 300), (&spent, &large, 300)]
    {
        flood.token = token.clone();
        costs.push(cost(&desk, times, async || assert_ne!(exchange(&flood, body).await, 503)).await);
    }
    println!(
        "on a connection of its own: ping {} and {} µs, refused {} and {} µs",
        costs[0], costs[2], costs[1], costs[3]
    );
    assert!(costs[1] + costs[3] <= 2 * (costs[0] + costs[2]), "{costs:?}");

    let mut costs = Vec::new();
    for token in [&fresh, &spent] {
        flood.token = token.clone();
        let mut connection = flood.open().await;
        let request = flood.head(small.len()) + &small;
        let cost = cost(&desk, 2_000, async || {
            connection.send(request.as_bytes()).await.unwrap();
            connection.receive().await.unwrap();
        });
        costs.push(cost.await);
    }
    println!("on one connection: ping {} µs, refused {} µs", costs[0], costs[1]);
    assert!(costs[1] <= 2 * costs[0], "{costs:?}");
}

/// The status of the answer to a message on a connection of its own.
async fn exchange(flood: &Flood, body: &str) -> u16 {
    let mut connection = flood.open().await;
    let _ = connection.send((flood.head(body.len()) + body).as_bytes()).await;
    connection.receive().await.unwrap().status
}

/// The desk's processor time for each, in microseconds.
async fn cost(desk: &TestApp, times: u64, mut each: impl AsyncFnMut()) -> u64 {
    let used = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", desk.process_id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        // Hundredths of a second of user and of system time.
        (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10_000
    };
    for _ in 0..times / 10 {
        each().await;
    }
    let before = used();
    for _ in 0..times {
        each().await;
    }
    // What is recorded later belongs to it.
    sleep(Duration::from_millis(300)).await;
    (used() - before) / times
}

fn resident_mib(desk: &TestApp) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", desk.process_id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
