//! Keeping the desk open: the two listeners and the small jobs in between, until somebody asks it to
//! close.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_engine::ports::Durability;
use frontdesk_engine::tally::Who;
use frontdesk_engine::timestamp::Millis;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use crate::config::{Config, Retention};
use crate::house::House;
use crate::http;
use crate::net::{Caps, Drained, Gauges, Listener, Shutdown, Tls};
use crate::operator::health;

/// What has been bound and is ready to be served on.
pub struct Bound {
    pub public: Listener,
    pub operator: Listener,
    pub tls: Arc<Tls>,
}

/// Serves until a signal or `shutdown` asks for the end; running calls are finished first.
pub async fn run(house: House, bound: Bound, shutdown: Shutdown) -> Drained {
    let house = Arc::new(house);
    let small_jobs = [tokio::spawn(write_tally(Arc::clone(&house))), tokio::spawn(forget(Arc::clone(&house)))];
    let caps = caps(&house.config);
    let desk = Arc::clone(&house);
    let public = bound.public.serve(
        Arc::clone(&bound.tls),
        caps.clone(),
        Arc::new(Gauges::default()),
        Arc::new(move |request, peer| http::answer(Arc::clone(&desk), request, peer)),
        shutdown.clone(),
    );
    let desk = Arc::clone(&house);
    let operator = bound.operator.serve(
        bound.tls,
        caps,
        Arc::new(Gauges::default()),
        Arc::new(move |request, _| health(Arc::clone(&desk), request)),
        shutdown,
    );
    let (drained, _) = tokio::join!(public, operator);
    for job in small_jobs {
        job.abort();
    }
    empty_tally(&house).await;
    drained
}

fn caps(config: &Config) -> Caps {
    Caps {
        connections: config.limits.connections,
        per_address: config.limits.connections_per_address,
        drain: config.deadlines.drain,
        ..Caps::default()
    }
}

/// From here on Ctrl-C and SIGTERM ask for an orderly end instead of a sudden one.
pub fn heed_signals() -> io::Result<Shutdown> {
    let shutdown = Shutdown::new();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let asked = shutdown.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        asked.request();
    });
    Ok(shutdown)
}

/// Once a second, refusals that were only counted become one audit record and one line in the log for
/// each of those they were given to.
async fn write_tally(house: Arc<House>) {
    let mut second = interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        second.tick().await;
        empty_tally(&house).await;
    }
}

async fn empty_tally(house: &House) {
    for count in house.desk.tally.take() {
        let (whose, name) = match &count.who {
            Who::Address(address) => ("address", address.to_string()),
            Who::Client(client) => ("client", client.as_str().to_owned()),
            Who::Others => ("address", "others".to_owned()),
        };
        let at = house.desk.now().to_rfc3339();
        let record = serde_json::json!({"at": at, whose: name, "outcome": count.outcome, "count": count.times});
        if house.vaults.store.observe(record.to_string(), Durability::Grouped).await.is_err() {
            house.desk.tally.put_back(count);
            continue;
        }
        house.log.say(&format!("refused {} times: {whose} {name}, {}", count.times, count.outcome));
    }
}

/// Once an hour, what policy says must go, goes.
async fn forget(house: Arc<House>) {
    let mut hour = interval(Duration::from_secs(3600));
    hour.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        hour.tick().await;
        let now = house.desk.now();
        let store = &house.vaults.store;
        let mut outcomes = vec![store.forget_claims(before(now, house.config.idempotency.retain)).await];
        match house.config.audit.retain {
            Retention::Forever => {}
            Retention::Days(days) => {
                let kept = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
                outcomes.push(store.forget_audit(before(now, kept)).await);
            }
        }
        for fault in outcomes.into_iter().filter_map(Result::err) {
            house.log.say(&format!("retention could not be applied: {}", fault.cause.unwrap_or_default()));
        }
    }
}

fn before(now: Millis, kept: Duration) -> Millis {
    now.plus_seconds(-i64::try_from(kept.as_secs()).unwrap_or(i64::MAX))
}
