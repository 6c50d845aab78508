//! A polite caller: one call after the other with a pause between, on one connection and a thread of its own, so that the
//! attacker's tasks do not delay its measuring. Every answer is checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;

use super::victim::{Route, Victim, message};
use crate::BenchResult;

const PAUSE: Duration = Duration::from_millis(10);

/// What a polite caller saw.
pub struct PoliteCalls {
    /// Sorted.
    took: Vec<Duration>,
    pub failed: usize,
}

impl PoliteCalls {
    pub fn p95(&self) -> Duration {
        self.took.get(self.took.len() * 95 / 100).copied().unwrap_or(Duration::MAX)
    }

    pub fn calls(&self) -> usize {
        self.took.len()
    }
}

/// A caller that goes on until it is stopped.
pub struct PoliteCaller {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<PoliteCalls>,
}

impl PoliteCaller {
    /// A caller of the second dealership.
    pub async fn start(victim: &Victim) -> BenchResult<PoliteCaller> {
        let (route, token, stop) = (victim.route(), victim.token(1).await?, Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => runtime.block_on(call_until(&route, &token, &stopped)),
                Err(_) => PoliteCalls { took: Vec::new(), failed: 1 },
            }
        });
        Ok(PoliteCaller { stop, thread })
    }

    pub fn stop(self) -> BenchResult<PoliteCalls> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the polite caller panicked".into())
    }
}

/// What it sees while nothing else happens.
pub async fn quiet(victim: &Victim, time: Duration) -> BenchResult<PoliteCalls> {
    let caller = PoliteCaller::start(victim).await?;
    tokio::time::sleep(time).await;
    caller.stop()
}

async fn call_until(route: &Route, token: &str, stop: &AtomicBool) -> PoliteCalls {
    let params = json!({"name": "inventory.list", "arguments": {"limit": 1}});
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string();
    let request = message(token, &body);
    let (mut took, mut failed, mut connection) = (Vec::new(), 0, None);
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        let mut open = match connection.take() {
            Some(open) => open,
            None => match route.open().await {
                Ok(open) => open,
                Err(_) => {
                    failed += 1;
                    continue;
                }
            },
        };
        let answer = match open.send(&request).await {
            Ok(()) => open.receive().await,
            Err(cause) => Err(cause),
        };
        match answer {
            Ok(answer) if answer.json()["result"]["isError"] == json!(false) => {
                took.push(began.elapsed());
                connection = Some(open);
            }
            Ok(_) | Err(_) => failed += 1,
        }
        tokio::time::sleep(PAUSE).await;
    }
    took.sort();
    PoliteCalls { took, failed }
}
