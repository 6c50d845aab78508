//! Attacks with connections: silent ones that fill the server, and slow ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::figures::AttackFigure;
use super::polite::{PoliteCaller, quiet};
use super::victim::{PATH, Route, UNHURRIED, Victim};
use super::{AttackOptions, log};
use crate::BenchResult;

const QUIET: Duration = Duration::from_secs(4);
/// The beginning of a TLS greeting whose rest never comes.
const HALF_A_GREETING: &[u8] = &[0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3];
const ADDRESSES: u8 = 20;
const SILENT_EACH: usize = 230;
const NEWCOMERS: usize = 125;

/// 20 addresses with 230 silent connections each, which are opened again as soon as they are closed.
pub async fn silent(options: &AttackOptions) -> BenchResult<Vec<AttackFigure>> {
    log("20 addresses that fill the server with silent connections");
    let victim = Victim::start(options, &[])?;
    let stop = Arc::new(AtomicBool::new(false));
    let opened = Arc::new(AtomicUsize::new(0));
    let opening = Arc::new(Semaphore::new(64));
    let mut flood = JoinSet::new();
    for number in 0..usize::from(ADDRESSES) * SILENT_EACH {
        let last = u8::try_from(number % usize::from(ADDRESSES)).unwrap_or_default() + 1;
        let (stop, opened, opening) = (Arc::clone(&stop), Arc::clone(&opened), Arc::clone(&opening));
        flood.spawn(refill(victim.route(), last, number % 2 == 0, stop, opened, opening));
    }
    // Until it is full.
    for _ in 0..600 {
        if opened.load(Ordering::Relaxed) >= 4_200 {
            break;
        }
        sleep(Duration::from_millis(100)).await;
    }
    let mut took = Vec::new();
    for number in 0..NEWCOMERS {
        // Half of them come from an address that floods.
        let last = if number % 2 == 0 { 1 } else { 21 };
        let began = Instant::now();
        if newcomer(&victim.route(), last).await.is_some() {
            took.push(began.elapsed());
        }
        sleep(Duration::from_millis(20)).await;
    }
    stop.store(true, Ordering::Relaxed);
    flood.shutdown().await;
    took.sort();
    let got_in = took.len();
    Ok(vec![AttackFigure {
        what: "silent connections of 20 addresses, refilled",
        tried: format!("{} connections, {NEWCOMERS} newcomers", opened.load(Ordering::Relaxed)),
        held: format!("{got_in} of {NEWCOMERS} newcomers got in"),
        quiet: None,
        attacked: took.get(got_in * 95 / 100).copied(),
        memory: format!("{} MiB", victim.resident_mib()?),
        before: "newcomers kept out",
        target: "95 % get in",
        is_held: got_in * 100 >= NEWCOMERS * 95,
    }])
}

async fn refill(
    route: Route,
    last: u8,
    greets: bool,
    stop: Arc<AtomicBool>,
    opened: Arc<AtomicUsize>,
    opening: Arc<Semaphore>,
) {
    while !stop.load(Ordering::Relaxed) {
        let Ok(place) = opening.acquire().await else {
            return;
        };
        let socket = route.socket_from(last).await;
        drop(place);
        let Ok(mut socket) = socket else {
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        opened.fetch_add(1, Ordering::Relaxed);
        if greets {
            let _ = socket.write_all(HALF_A_GREETING).await;
        }
        let _ = socket.read(&mut [0; 64]).await;
    }
}

/// Somebody who comes for the first time and asks for a page.
async fn newcomer(route: &Route, last: u8) -> Option<()> {
    let visit = async {
        let mut connection = route.open_from(last).await.ok()?;
        connection.send(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.ok()?;
        connection.receive().await.ok().filter(|answer| answer.status == 200).map(drop)
    };
    timeout(Duration::from_secs(10), visit).await.ok().flatten()
}

const SLOW: usize = 2_000;
/// The server's deadlines are 10 seconds; the rest is for a busy machine.
const CUT_WITHIN: Duration = Duration::from_secs(25);

/// Connections that stop within the handshake, the head or the body.
pub async fn slow(options: &AttackOptions) -> BenchResult<Vec<AttackFigure>> {
    log("slow connections");
    let victim = Victim::start(options, UNHURRIED)?;
    let token = victim.token(0).await?;
    let before = quiet(&victim, QUIET).await?;
    let caller = PoliteCaller::start(&victim).await?;
    let opening = Arc::new(Semaphore::new(64));
    let mut flood = JoinSet::new();
    for number in 0..SLOW {
        flood.spawn(stall(victim.route(), number, token.clone(), Arc::clone(&opening)));
    }
    let cut: Vec<Option<Duration>> = flood.join_all().await;
    let after = caller.stop()?;
    let held = cut.iter().flatten().filter(|time| **time <= CUT_WITHIN).count();
    let longest = cut.iter().flatten().max().copied().unwrap_or_default();
    Ok(vec![AttackFigure {
        what: "connections that stop within the handshake, the head or the body",
        tried: format!("{SLOW}"),
        held: format!(
            "{held} cut, the last after {:.1} s; {} polite calls failed",
            longest.as_secs_f64(),
            after.failed
        ),
        quiet: Some(before.p95()),
        attacked: Some(after.p95()),
        memory: format!("{} MiB", victim.resident_mib()?),
        before: "14,000 tried, all cut",
        target: "all cut, none of the polite calls fails",
        is_held: held == SLOW && after.failed == 0,
    }])
}

async fn stall(route: Route, number: usize, token: String, opening: Arc<Semaphore>) -> Option<Duration> {
    let place = opening.acquire().await.ok()?;
    let last = u8::try_from(2 + number % 12).unwrap_or(2);
    if number.is_multiple_of(3) {
        let mut socket = route.socket_from(last).await.ok()?;
        socket.write_all(HALF_A_GREETING).await.ok()?;
        drop(place);
        let began = Instant::now();
        let closed = async { while !matches!(socket.read(&mut [0; 64]).await, Ok(0) | Err(_)) {} };
        timeout(CUT_WITHIN, closed).await.ok()?;
        return Some(began.elapsed());
    }
    let mut connection = route.open_from(last).await.ok()?;
    let mut sent = format!("POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n");
    if number % 3 == 1 {
        sent += "content-type: application/json\r\ncontent-length: 400\r\n\r\n{\"jsonrpc\":";
    }
    connection.send(sent.as_bytes()).await.ok()?;
    drop(place);
    Some(connection.closed_after().await)
}
