//! Keeping the desk open: the two listeners and the small jobs in between, until somebody asks it to
//! close.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use frontdesk_contracts as contracts;
use frontdesk_engine::dispatch::{self, EXPIRES_AT, TASK};
use frontdesk_engine::limits::tally::TallyKey;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Durability;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::certificates::{Certificates, prepare};
use crate::config::{Config, Retention};
use crate::current::Current;
use crate::house::House;
use crate::http;
use crate::net::{Caps, Drained, Listener, Shutdown};
use crate::operator::{Doors, health};
use crate::reload::Reload;
use crate::sites::{self, IfDown, Sites};
use crate::traces::{self, listed};

/// How soon a changed certificate file is noticed.
const LOOK: Duration = Duration::from_secs(2);

/// What has been bound and is ready to be served on.
pub struct Bound {
    pub public: Listener,
    pub operator: Listener,
    pub certificates: Certificates,
}

/// What SIGHUP does.
pub enum Hangup {
    /// As by default it ends the process: whoever closes the terminal closes the desk.
    Ends,
    Reloads(Signal, Box<Reload>),
}

/// Serves until a signal or `shutdown` asks for the end; running calls are finished first.
pub async fn run(house: House, bound: Bound, hangup: Hangup, shutdown: Shutdown) -> Drained {
    let caps = caps(&house.config);
    let current = Arc::new(Current::new(house));
    let tls = bound.certificates.tls();
    let small_jobs = [
        tokio::spawn(write_tally(Arc::clone(&current))),
        tokio::spawn(forget(Arc::clone(&current))),
        tokio::spawn(run_later(Arc::clone(&current))),
        tokio::spawn(follow(Arc::clone(&current), bound.certificates, hangup)),
    ];
    let doors = Doors::default();
    let desk = Arc::clone(&current);
    let public = bound.public.serve(
        Arc::clone(&tls),
        caps.clone(),
        Arc::clone(&doors.public),
        Arc::new(move |request, peer| http::answer(desk.house(), request, peer)),
        shutdown.clone(),
    );
    let (asked, drain) = (shutdown.clone(), current.house().config.deadlines.drain);
    let last_moment = async move {
        asked.requested().await;
        Instant::now() + drain
    };
    let (desk, seen) = (Arc::clone(&current), doors.clone());
    let operator = bound.operator.serve(
        tls,
        caps,
        Arc::clone(&doors.operator),
        Arc::new(move |request, _| health(desk.house(), seen.clone(), request)),
        shutdown,
    );
    let (drained, _, last_moment) = tokio::join!(public, operator, last_moment);
    end(small_jobs).await;
    let house = current.house();
    empty_tally(&house).await;
    close_traces(&house, last_moment).await;
    drained
}

/// Ends them, and waits until they have let go of what they held.
pub(crate) async fn end(jobs: impl IntoIterator<Item = JoinHandle<()>>) {
    for job in jobs {
        job.abort();
        let _ = job.await;
    }
}

/// Spans that wait get their chance, within the time in which everything must have ended.
pub(crate) async fn close_traces(house: &House, last_moment: Instant) {
    let left = house.traces.close(last_moment).await;
    if left > 0 {
        house.log.say(&format!("the traces of {left} calls were left behind at the end"));
    }
}

/// Keeps the certificate fresh, and takes in a changed configuration when asked to.
async fn follow(current: Arc<Current>, mut certificates: Certificates, mut hangup: Hangup) {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let asked = async {
            match &mut hangup {
                Hangup::Ends => std::future::pending().await,
                Hangup::Reloads(signal, reload) => signal.recv().await.map(|()| reload),
            }
        };
        let house = current.house();
        tokio::select! {
            _ = look.tick() => {
                if let Some(said) = certificates.look(&house.config, house.desk.now()) {
                    house.log.say(&said);
                }
            }
            asked = asked => match asked {
                Some(reload) => take_in(&current, &mut certificates, reload).await,
                // No more signals will come; the certificate is looked after all the same.
                None => hangup = Hangup::Ends,
            },
        }
    }
}

/// Everything is read and made before anything is swapped.
async fn take_in(current: &Current, certificates: &mut Certificates, reload: &mut Reload) {
    let house = current.house();
    let refuse = |why: &dyn std::fmt::Display| {
        house.log.say(&format!("the configuration was not reloaded, the last good one stays: {why}"));
    };
    let fresh = match reload.read() {
        Ok(fresh) => fresh,
        Err(error) => return refuse(&error),
    };
    let prepared = match prepare(&fresh.config, house.desk.now()) {
        Ok(prepared) => prepared,
        Err(error) => return refuse(&error),
    };
    let traces = match traces::prepare(&fresh.config.traces) {
        Ok(traces) => traces,
        Err(errors) => return refuse(&listed(&errors)),
    };
    let clock = &house.vaults.clock;
    let (sites, notices) = match Sites::open(&fresh.config, clock, IfDown::Refused, &house.sites).await {
        Ok(opened) => opened,
        Err(errors) => return refuse(&errors),
    };
    if let Err(why) = sites::register(&fresh.config, &house.vaults).await {
        return refuse(&why);
    }
    certificates.show(prepared);
    house.traces.follow(traces, &house.log);
    current.replace(house.renewed(fresh.config.clone(), sites));
    for said in reload.done(fresh).iter().chain(&notices) {
        house.log.say(said);
    }
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

/// From here on SIGHUP asks for the configuration to be read again.
pub fn heed_hangup() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

/// Once a second, refusals that were only counted become one audit record and one line in the log for
/// each of those they were given to.
pub(crate) async fn write_tally(current: Arc<Current>) {
    let mut second = interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        second.tick().await;
        empty_tally(&current.house()).await;
    }
}

pub(crate) async fn empty_tally(house: &House) {
    for count in house.desk.tally.take() {
        let (whose, name) = match &count.who {
            TallyKey::Address(address) => ("address", address.to_string()),
            TallyKey::Client(client) => ("client", client.as_str().to_owned()),
            TallyKey::Others => ("address", "others".to_owned()),
        };
        let at = house.desk.now().to_rfc3339();
        let record = serde_json::json!({"at": at, whose: name, "outcome": count.outcome, "count": count.times});
        if house.vaults.store.append_audit(record.to_string(), Durability::Grouped).await.is_err() {
            house.desk.tally.put_back(count);
            continue;
        }
        house.meter.refused(&count);
        house.log.say(&format!("refused {} times: {whose} {name}, {}", count.times, count.outcome));
    }
}

/// Runs what was accepted for later, on the house as it is then.
pub(crate) async fn run_later(current: Arc<Current>) {
    dispatch::run_worker(move || current.house()).await;
}

/// Once an hour, what policy says must go, goes.
pub(crate) async fn forget(current: Arc<Current>) {
    let mut hour = interval(Duration::from_secs(3600));
    hour.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        hour.tick().await;
        let house = current.house();
        let now = house.desk.now();
        let store = &house.vaults.store;
        let mut outcomes = vec![store.delete_expired_claims(before(now, house.config.idempotency.retain)).await];
        if contracts::all().iter().any(|contract| contract.tables.contains(&&TASK)) {
            outcomes.push(store.delete_expired_rows(&TASK, EXPIRES_AT, now).await);
        }
        match house.config.audit.retain {
            Retention::Forever => {}
            Retention::Days(days) => {
                let kept = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
                outcomes.push(store.delete_expired_audit(before(now, kept)).await);
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
