//! Tasks that run beside the calls: counts of refusals, retention, the dispatch worker, and the export of traces at the
//! end.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use frontdesk_contracts as contracts;
use frontdesk_engine::delivery::{self, DELIVERY, DELIVERY_EXPIRES_AT};
use frontdesk_engine::dispatch::{self, EXPIRES_AT, TASK};
use frontdesk_engine::import::{self, IMPORT, IMPORT_EXPIRES_AT};
use frontdesk_engine::limits::tally::TallyKey;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::pipeline::record::latency_window::SLOT_MILLIS;
use frontdesk_engine::pipeline::record::service_level::{LevelChange, LevelNews};
use frontdesk_engine::ports::Durability;
use frontdesk_engine::relay::{self, RELAY, RELAY_EXPIRES_AT};
use frontdesk_store::audit::AuditClass;
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

use super::App;
use crate::config::{AuditConfig, Config, Retention};

const TALLY_INTERVAL: Duration = Duration::from_secs(1);
const RETENTION_INTERVAL: Duration = Duration::from_secs(3600);
/// A clock that is set is noticed within this time.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);

/// Aborts the tasks, and waits until they have dropped what they hold.
pub(crate) async fn abort_tasks(tasks: impl IntoIterator<Item = JoinHandle<()>>) {
    for task in tasks {
        task.abort();
        let _ = task.await;
    }
}

/// Exports the spans that are queued, until the deadline of the shutdown.
pub(crate) async fn flush_traces(app: &App, deadline: Instant) {
    let calls = app.traces.close(deadline).await;
    if calls > 0 {
        tracing::warn!(calls, "shutdown: traces not delivered");
    }
}

/// Looks at how fast mounts are, and says when one becomes too slow for its caller.
pub(crate) async fn run_service_levels(current: Arc<ArcSwap<App>>) {
    let mut tick = every(Duration::from_millis(SLOT_MILLIS.unsigned_abs()));
    loop {
        tick.tick().await;
        let app = current.load_full();
        for (path, mount) in app.mounts.iter() {
            for change in mount.service_level.tick(app.desk.now()) {
                log_level_change(path, &change);
            }
        }
    }
}

fn log_level_change(mount: &str, change: &LevelChange) {
    let (kind, p95_ms) = (change.kind, change.p95.unwrap_or_default().div_ceil(1000));
    let target_ms = u64::try_from(change.target.p95.as_millis()).unwrap_or(u64::MAX);
    match change.news {
        LevelNews::Slow => {
            tracing::warn!(mount, kind, p95_ms, target_ms, "latency above twice its target for a minute");
        }
        LevelNews::Dropped => {
            tracing::warn!(mount, kind, p95_ms, target_ms, "latency above twice its target for five minutes");
        }
        LevelNews::Recovered => {
            tracing::info!(mount, kind, p95_ms, target_ms, "latency recovered");
        }
    }
}

/// Once a second, writes the refusals that were only counted: one audit record and one log line for each client or
/// address, and outcome.
pub(crate) async fn run_tally_flush(current: Arc<ArcSwap<App>>) {
    let mut tick = every(TALLY_INTERVAL);
    loop {
        tick.tick().await;
        flush_tally(&current.load_full()).await;
    }
}

pub(crate) async fn flush_tally(app: &App) {
    for count in app.desk.tally.take() {
        let (kind, name) = match &count.who {
            TallyKey::Address(address) => ("address", address.to_string()),
            TallyKey::Client(client) => ("client", client.as_str().to_owned()),
            TallyKey::Others => ("address", "others".to_owned()),
        };
        let at = app.desk.now().to_rfc3339();
        let record = serde_json::json!({"at": at, kind: name, "outcome": count.outcome, "count": count.times});
        if app.backend.store.append_audit(record.to_string(), Durability::Grouped).await.is_err() {
            app.desk.tally.put_back(count);
            continue;
        }
        app.call_metrics.add_refusals(&count);
        match &count.who {
            TallyKey::Client(client) => {
                tracing::warn!(count = count.times, client = client.as_str(), outcome = count.outcome, "calls refused");
            }
            TallyKey::Address(_) | TallyKey::Others => {
                tracing::warn!(count = count.times, address = name, outcome = count.outcome, "calls refused");
            }
        }
    }
}

/// Runs queued requests, each on the app that is current then.
pub(super) async fn run_dispatch_worker(current: Arc<ArcSwap<App>>) {
    dispatch::run_worker(move || current.load_full()).await;
}

/// Runs accepted imports, each on the app that is current then.
pub(crate) async fn run_import_worker(current: Arc<ArcSwap<App>>) {
    import::run_imports(move || current.load_full()).await;
}

/// Delivers what is owed, each attempt on the app that is current then.
pub(crate) async fn run_delivery_worker(current: Arc<ArcSwap<App>>) {
    delivery::run_deliveries(move || current.load_full()).await;
}

/// Repeats relayed calls whose outcome is not known, each on the app that is current then.
pub(crate) async fn run_relay_worker(current: Arc<ArcSwap<App>>) {
    relay::run_relays(move || current.load_full()).await;
}

/// Deletes expired rows once an hour, as the configuration says, while the clock can be trusted.
pub(crate) async fn run_retention(current: Arc<ArcSwap<App>>) {
    let mut tick = every(CLOCK_INTERVAL);
    let mut last: Option<Instant> = None;
    loop {
        tick.tick().await;
        let app = current.load_full();
        let is_paused = app.retention.check(app.desk.clock.as_ref()).is_some();
        if is_paused || last.is_some_and(|last| last.elapsed() < RETENTION_INTERVAL) {
            continue;
        }
        last = Some(Instant::now());
        let now = app.desk.now();
        let store = &app.backend.store;
        let mut results = vec![store.delete_expired_claims(before(now, app.config.idempotency.retain)).await];
        let kept = [
            (&TASK, EXPIRES_AT),
            (&IMPORT, IMPORT_EXPIRES_AT),
            (&DELIVERY, DELIVERY_EXPIRES_AT),
            (&RELAY, RELAY_EXPIRES_AT),
        ];
        let tables: Vec<&TableSpec> = contracts::all().iter().flat_map(|contract| contract.tables.clone()).collect();
        for (table, column) in kept.into_iter().filter(|(table, _)| tables.contains(table)) {
            results.push(store.delete_expired_rows(table, column, now).await);
        }
        for class in AuditClass::ALL {
            match audit_retention(&app.config.audit, class) {
                Retention::Forever => {}
                Retention::Days(days) => {
                    let retain = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
                    results.push(store.delete_expired_audit(class, before(now, retain)).await);
                }
            }
        }
        for fault in results.into_iter().filter_map(Result::err) {
            tracing::error!(error = fault.cause.unwrap_or_default(), "retention failed");
        }
    }
}

/// The shortest time for which anything is stored that expires.
pub(super) fn shortest_retention(config: &Config) -> Duration {
    let audit = AuditClass::ALL.into_iter().filter_map(|class| match audit_retention(&config.audit, class) {
        Retention::Forever => None,
        Retention::Days(days) => Some(Duration::from_secs(u64::from(days) * 24 * 60 * 60)),
    });
    audit.chain([config.idempotency.retain]).min().unwrap_or(config.idempotency.retain)
}

fn audit_retention(audit: &AuditConfig, class: AuditClass) -> Retention {
    match class {
        AuditClass::Writes => audit.writes,
        AuditClass::Reads => audit.reads,
        AuditClass::Administration => audit.administration,
    }
}

pub(super) fn every(period: Duration) -> Interval {
    let mut interval = interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

fn before(now: Millis, retain: Duration) -> Millis {
    now.plus_seconds(-i64::try_from(retain.as_secs()).unwrap_or(i64::MAX))
}
