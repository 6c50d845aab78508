//! Attacks with messages: mutated ones, which must never break anything, and those of two tenants interleaved.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::figures::AttackFigure;
use super::victim::{Route, UNHURRIED, Victim, message};
use super::{AttackOptions, log};
use crate::BenchResult;

const FUZZERS: u64 = 8;
const MESSAGES_EACH: usize = 2_500;

pub async fn fuzzed(options: &AttackOptions) -> BenchResult<Vec<AttackFigure>> {
    log("fuzzed messages");
    let victim = Victim::start(options, UNHURRIED)?;
    let token = victim.token(0).await?;
    let mut flood = JoinSet::new();
    for fuzzer in 0..FUZZERS {
        flood.spawn(fuzz(victim.route(), token.clone(), fuzzer + 1));
    }
    let mut all = FuzzCounts::default();
    for counts in flood.join_all().await {
        all.sent += counts.sent;
        all.server_errors += counts.server_errors;
        all.closed += counts.closed;
    }
    Ok(vec![AttackFigure {
        what: "fuzzed messages",
        tried: format!("{}", all.sent),
        held: format!("{} answered with a server error, {} connections closed", all.server_errors, all.closed),
        quiet: None,
        attacked: None,
        memory: format!("{} MiB", victim.resident_mib()?),
        before: "156,000 without a server error",
        target: "no server error",
        is_held: all.server_errors == 0 && all.sent > 0,
    }])
}

#[derive(Default)]
struct FuzzCounts {
    sent: usize,
    server_errors: usize,
    closed: usize,
}

async fn fuzz(route: Route, token: String, seed: u64) -> FuzzCounts {
    let bases: Vec<Vec<u8>> = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "inventory.search",
            "arguments": {"make": "Ford", "price_max": {"amount": 100, "currency": "USD"}, "limit": 3}}}),
        json!({"jsonrpc": "2.0", "id": "a", "method": "resources/read", "params": {"uri": "amcp://dlr_lakeside/inventory"}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "leads.create",
            "arguments": {"contact": {"name": "Dana Rivera", "email": "dana@example.com"}, "interest": "buy"}}}),
        json!([{"jsonrpc": "2.0", "id": 3, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}]),
    ]
    .iter()
    .map(|base| base.to_string().into_bytes())
    .collect();
    let mut random = Xorshift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut counts, mut connection) = (FuzzCounts::default(), None);
    for _ in 0..MESSAGES_EACH {
        let mut body = bases.get(random.below(bases.len())).cloned().unwrap_or_default();
        for _ in 0..=random.below(6) {
            mutate(&mut body, &mut random);
        }
        let Some(mut open) = (match connection.take() {
            Some(open) => Some(open),
            None => route.open().await.ok(),
        }) else {
            counts.closed += 1;
            continue;
        };
        let head = super::victim::head(&token, body.len());
        counts.sent += 1;
        let sent = open.send(&[head.as_bytes(), &body].concat()).await;
        match (sent, open.receive().await) {
            (Ok(()), Ok(answer)) => {
                counts.server_errors += usize::from(answer.status >= 500);
                if answer.header("connection") != Some("close") {
                    connection = Some(open);
                }
            }
            (Err(_), _) | (_, Err(_)) => counts.closed += 1,
        }
    }
    counts
}

/// One random change: a byte, a cut, a repetition, or a piece that parsers trip over.
fn mutate(body: &mut Vec<u8>, random: &mut Xorshift) {
    const PIECES: [&[u8]; 12] = [
        b"null",
        b"[[[[",
        b"}}",
        b"\"",
        b"\\u0000",
        b"\xff",
        b"1e999",
        b"-0",
        b",",
        b"{\"a\":",
        b"\\ud800",
        b"9223372036854775808",
    ];
    let at = random.below(body.len().max(1)).min(body.len());
    match random.below(5) {
        0 => {
            if let Some(byte) = body.get_mut(at) {
                *byte = u8::try_from(random.below(256)).unwrap_or_default();
            }
        }
        1 => body.truncate(at),
        2 => drop(body.drain(at..(at + random.below(9)).min(body.len()))),
        3 => {
            let repeated = body.get(at..(at + 40).min(body.len())).unwrap_or_default().to_vec();
            body.splice(at..at, repeated);
        }
        _ => drop(
            body.splice(at..at, PIECES.get(random.below(PIECES.len())).copied().unwrap_or_default().iter().copied()),
        ),
    }
}

struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or_default() % end.max(1)
    }
}

const CONNECTIONS: usize = 8;
const CALLS_EACH: usize = 2_500;
/// So many calls are under way on a connection before the first answer is read.
const WINDOW: usize = 25;

/// Calls of two tenants in turns over shared connections; every answer must be the asking tenant's.
pub async fn two_tenants(options: &AttackOptions) -> BenchResult<Vec<AttackFigure>> {
    log("interleaved calls of two tenants");
    let victim = Victim::start(options, UNHURRIED)?;
    let mut sides = Vec::new();
    for place in 0..2 {
        let (token, client) = (victim.token(place).await?, victim.client(place));
        sides.push((token, client.dealership));
    }
    let sides = Arc::new(sides);
    let mut flood = JoinSet::new();
    for _ in 0..CONNECTIONS {
        flood.spawn(interleave(victim.route(), Arc::clone(&sides)));
    }
    let (mut tried, mut foreign) = (0, 0);
    while let Some(ended) = flood.join_next().await {
        let counts = ended??;
        tried += counts.0;
        foreign += counts.1;
    }
    Ok(vec![AttackFigure {
        what: "calls of two tenants, interleaved over shared connections",
        tried: format!("{tried}"),
        held: format!("{foreign} answers with something of the other tenant"),
        quiet: None,
        attacked: None,
        memory: format!("{} MiB", victim.resident_mib()?),
        before: "57,768 with none",
        target: "none",
        is_held: foreign == 0 && tried == CONNECTIONS * CALLS_EACH,
    }])
}

/// How many answers there were, and how many of them named the other tenant or another call.
async fn interleave(route: Route, sides: Arc<Vec<(String, String)>>) -> BenchResult<(usize, usize)> {
    let mut connection = route.open().await?;
    let (mut tried, mut foreign) = (0, 0);
    for start in (0..CALLS_EACH).step_by(WINDOW) {
        let mut sent = Vec::new();
        for number in start..start + WINDOW {
            let token = sides.get(number % 2).map_or("", |(token, _)| token);
            let tool = if number % 3 == 0 { "leads.list" } else { "inventory.list" };
            let params = json!({"name": tool, "arguments": {"limit": 2}});
            let body = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
            sent.extend(message(token, &body.to_string()));
        }
        connection.send(&sent).await?;
        for number in start..start + WINDOW {
            let answer = connection.receive().await?;
            let own = sides.get(number % 2).map_or("", |(_, dealership)| dealership);
            let other = sides.get((number + 1) % 2).map_or("", |(_, dealership)| dealership);
            let items = answer.json()["result"]["structuredContent"]["items"].as_array().cloned().unwrap_or_default();
            if items.is_empty() {
                return Err(format!("an answer without items: {}", answer.text()).into());
            }
            let is_own = |item: &Value| item["dealership_id"].as_str() == Some(own);
            let is_right = answer.json()["id"] == json!(number) && items.iter().all(is_own);
            tried += 1;
            foreign += usize::from(!is_right || answer.text().contains(other));
        }
    }
    Ok((tried, foreign))
}
