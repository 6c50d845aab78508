//! Attacks with bodies: nested ones, calls that are refused, and more bytes in flight than there is memory for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::figures::AttackFigure;
use super::polite::{PoliteCaller, quiet};
use super::victim::{Route, UNHURRIED, Victim, head, message};
use super::{AttackOptions, log};
use crate::BenchResult;

const MIB: usize = 1 << 20;
const QUIET: Duration = Duration::from_secs(4);
const FLOOD: Duration = Duration::from_secs(10);
const NESTERS: usize = 64;

/// 64 connections that send nested bodies of 1 MiB with one token, as fast as they are answered.
pub async fn nested(options: &AttackOptions) -> BenchResult<Vec<AttackFigure>> {
    log("nested bodies of 1 MiB over 64 connections");
    let victim = Victim::start(options, &[])?;
    let token = victim.token(0).await?;
    let before = quiet(&victim, QUIET).await?;
    let caller = PoliteCaller::start(&victim).await?;
    // As deep as is allowed, beside each other.
    let tower = format!("{}{},", "[".repeat(58), "]".repeat(58));
    let towers = tower.repeat((MIB - 200) / tower.len());
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":[{towers}0]}}}}"#);
    let request = Arc::new(message(&token, &body));
    let counts = Arc::new(Answers::default());
    let mut flood = JoinSet::new();
    let until = Instant::now() + FLOOD;
    for _ in 0..NESTERS {
        flood.spawn(send_until(victim.route(), Arc::clone(&request), Arc::clone(&counts), until));
    }
    flood.join_all().await;
    let after = caller.stop()?;
    let tried = counts.sent.load(Ordering::Relaxed);
    let refused = counts.refused.load(Ordering::Relaxed);
    let limit = before.p95() * 3;
    Ok(vec![AttackFigure {
        what: "nested bodies of 1 MiB, one token, 64 connections",
        tried: format!("{tried} in {} s", FLOOD.as_secs()),
        held: format!(
            "{refused} refused, {} accepted; {} of {} polite calls failed",
            counts.accepted.load(Ordering::Relaxed),
            after.failed,
            after.calls() + after.failed
        ),
        quiet: Some(before.p95()),
        attacked: Some(after.p95()),
        memory: format!("{} MiB", victim.resident_mib()?),
        before: "81 ms of CPU a body; p95 from 2 to 1,652 ms",
        target: "p95 within 3 times quiet",
        is_held: after.failed == 0 && after.p95() <= limit && counts.accepted.load(Ordering::Relaxed) == 0,
    }])
}

#[derive(Default)]
struct Answers {
    sent: AtomicUsize,
    refused: AtomicUsize,
    accepted: AtomicUsize,
}

async fn send_until(route: Route, request: Arc<Vec<u8>>, counts: Arc<Answers>, until: Instant) {
    let mut connection = None;
    while Instant::now() < until {
        let mut open = match connection.take() {
            Some(open) => open,
            None => match route.open().await {
                Ok(open) => open,
                Err(_) => continue,
            },
        };
        counts.sent.fetch_add(1, Ordering::Relaxed);
        // The server may answer and close before all of it was sent.
        let _ = open.send(&request).await;
        let Ok(answer) = open.receive().await else {
            counts.refused.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let is_accepted = answer.status == 200 && answer.text().contains("\"result\"");
        let count = if is_accepted { &counts.accepted } else { &counts.refused };
        count.fetch_add(1, Ordering::Relaxed);
        if answer.header("connection") != Some("close") {
            connection = Some(open);
        }
    }
}

const PINGS: usize = 4_000;
const CONNECTIONS: usize = 600;

/// What a call costs the server that is refused for its rate, beside a ping of the same kind in the same run.
pub async fn refused(options: &AttackOptions) -> BenchResult<Vec<AttackFigure>> {
    log("calls that are refused, beside pings");
    let settings = [("FRONTDESK_LIMITS_CALLS_PER_MINUTE", "60"), ("FRONTDESK_LIMITS_BURST", "100000")];
    let victim = Victim::start(options, &settings)?;
    let (spent, fresh) = (victim.token(0).await?, victim.token(1).await?);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    // Uses up the first client's budget: a body never costs more than the burst.
    let route = victim.route();
    let mut spender = route.open().await?;
    let large = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{{"x":"{}"}}}}}}"#,
        "x".repeat(1_000_000)
    );
    for _ in 0..2_000 {
        let mut open = std::mem::replace(&mut spender, route.open().await?);
        let _ = open.send(&message(&spent, &large)).await;
        if open.receive().await?.status == 429 {
            break;
        }
    }
    let keep_alive = async |token: &str| -> BenchResult<f64> {
        let mut connection = route.open().await?;
        let request = message(token, ping);
        cost(&victim, PINGS, async || {
            connection.send(&request).await?;
            connection.receive().await.map(drop)
        })
        .await
    };
    let (answered, limited) = (keep_alive(&fresh).await?, keep_alive(&spent).await?);
    let own_connection = async |request: Vec<u8>| -> BenchResult<f64> {
        let request = &request;
        cost(&victim, CONNECTIONS, async || {
            let mut connection = route.open().await?;
            let _ = connection.send(request).await;
            connection.receive().await.map(drop)
        })
        .await
    };
    let answered_once = own_connection(message(&fresh, ping)).await?;
    let limited_once = own_connection(message(&spent, &large)).await?;
    let row = |what, tried: String, ping: f64, refused: f64| AttackFigure {
        what,
        tried,
        held: format!("{refused:.0} µs of CPU; a ping {ping:.0} µs: {:.2} times", refused / ping),
        quiet: None,
        attacked: None,
        memory: String::new(),
        before: "81 ms of CPU",
        target: "twice a ping",
        is_held: refused <= 2.0 * ping,
    };
    Ok(vec![
        row("calls over the budget, on one connection", format!("{PINGS}"), answered, limited),
        row(
            "bodies of 1 MiB over the budget, each on a connection of its own",
            format!("{CONNECTIONS}"),
            answered_once,
            limited_once,
        ),
    ])
}

/// The server's processor time for each, in microseconds.
async fn cost(victim: &Victim, times: usize, mut each: impl AsyncFnMut() -> std::io::Result<()>) -> BenchResult<f64> {
    for _ in 0..times / 10 {
        each().await?;
    }
    sleep(Duration::from_millis(300)).await;
    let before = victim.cpu_micros()?;
    for _ in 0..times {
        each().await?;
    }
    sleep(Duration::from_millis(300)).await;
    let used = victim.cpu_micros()? - before;
    #[expect(clippy::cast_precision_loss, reason = "a few seconds in microseconds")]
    Ok(used as f64 / times as f64)
}

const BODIES: usize = 1_200;

/// 1,200 connections that have each sent all but the last byte of 1 MiB, without a budget in the way.
pub async fn memory(options: &AttackOptions) -> BenchResult<Vec<AttackFigure>> {
    log("1,200 connections with 1 MiB each");
    let victim = Victim::start(options, UNHURRIED)?;
    let token = victim.token(0).await?;
    let before = quiet(&victim, QUIET).await?;
    let baseline = victim.resident_mib()?;
    let caller = PoliteCaller::start(&victim).await?;
    let request: Arc<Vec<u8>> = Arc::new((head(&token, MIB) + &"x".repeat(MIB - 1)).into_bytes());
    let mut held = JoinSet::new();
    for number in 0..BODIES {
        let (route, request) = (victim.route(), Arc::clone(&request));
        let last = u8::try_from(2 + number / 240).unwrap_or(2);
        held.spawn(async move {
            let mut connection = route.open_from(last).await?;
            let _ = connection.send(&request).await;
            // An answer now is a refusal; without one the body is held.
            let answer = timeout(Duration::from_secs(5), connection.receive()).await;
            std::io::Result::Ok(answer.is_ok())
        });
    }
    let mut peak = baseline;
    let (mut refused, mut kept) = (0, 0);
    let end = Instant::now() + Duration::from_secs(120);
    while !held.is_empty() && Instant::now() < end {
        if let Ok(Some(Ok(Ok(was_refused)))) = timeout(Duration::from_millis(200), held.join_next()).await {
            if was_refused { refused += 1 } else { kept += 1 }
        }
        peak = peak.max(victim.resident_mib()?);
    }
    held.shutdown().await;
    let after = caller.stop()?;
    let closed = Instant::now();
    let mut resident = victim.resident_mib()?;
    while resident > baseline + 64 && closed.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(500)).await;
        resident = victim.resident_mib()?;
    }
    Ok(vec![AttackFigure {
        what: "1,200 connections with 1 MiB each, unfinished",
        tried: format!("{BODIES}"),
        held: format!(
            "{refused} refused, {kept} held; {} of {} polite calls failed",
            after.failed,
            after.calls() + after.failed
        ),
        quiet: Some(before.p95()),
        attacked: Some(after.p95()),
        memory: format!("{baseline} MiB before, {peak} at most, {resident} MiB {} s after", closed.elapsed().as_secs()),
        before: "RSS did not return",
        target: "within 64 MiB of the baseline after a minute",
        is_held: resident <= baseline + 64 && after.failed == 0,
    }])
}
