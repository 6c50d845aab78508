//! The metrics page in the text format of Prometheus. Everybody who can reach the admin listener may read it, so no label
//! names a tenant, a client or an address.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use frontdesk_engine::limits::streams::Streams;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::pipeline::record::service_level::{DROP_MILLIS, KindReport, LatencyStanding};
use frontdesk_store::WriterStats;

use super::call_metrics::{BUCKETS, MetricsSnapshot};
use super::delivery_metrics::DeliverySnapshot;
use super::traces::TraceCounts;
use crate::app::{AnchorCounters, App};
use crate::net::{ConnectionCounters, ConnectionCounts};

/// The connection counters of both listeners.
#[derive(Clone, Default)]
pub struct ListenerMetrics {
    pub public: Arc<ConnectionCounters>,
    pub admin: Arc<ConnectionCounters>,
}

pub(crate) fn metrics_page(app: &App, listeners: &ListenerMetrics) -> String {
    let mut page = Page(String::with_capacity(16 * 1024));
    page.head("frontdesk_build_info", "gauge", "The version that is running.");
    page.line("frontdesk_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    calls(&mut page, &app.call_metrics.snapshot());
    let now = app.desk.now();
    let kinds = app.mounts.iter().flat_map(|(path, mount)| {
        mount.service_level.report(now).into_iter().map(move |report| (path.as_str(), report))
    });
    service_levels(&mut page, &kinds.collect::<Vec<_>>(), now);
    streams(&mut page, &app.desk.inflight.streams);
    page.head("frontdesk_body_memory_bytes", "gauge", "Memory held by request bodies; small ones do not count.");
    page.line("frontdesk_body_memory_bytes", &[], app.desk.inflight.bodies.held());
    connections(&mut page, [("public", listeners.public.snapshot()), ("operator", listeners.admin.snapshot())]);
    writer(&mut page, &app.backend.store.writer_stats());
    if app.config.audit.anchor.is_some() {
        anchors(&mut page, &app.backend.anchors);
    }
    page.head("frontdesk_retention_paused", "gauge", "1 while nothing is deleted because the clock was set.");
    page.line("frontdesk_retention_paused", &[], u64::from(app.retention.reason().is_some()));
    deliveries(&mut page, &app.delivery_metrics.snapshot(), app.desk.now());
    traces(&mut page, app.traces.counts());
    page.0
}

fn calls(page: &mut Page, metrics: &MetricsSnapshot) {
    page.head("frontdesk_calls_total", "counter", "Calls that have ended, by contract, tool or method, and outcome.");
    for ((contract, tool), calls) in &metrics.calls {
        for (outcome, count) in &calls.outcomes {
            let labels = [("contract", *contract), ("tool", tool), ("outcome", *outcome)];
            page.line("frontdesk_calls_total", &labels, *count);
        }
    }
    page.head(
        "frontdesk_call_seconds",
        "histogram",
        "Duration of calls, from the request head to the answer; without streams that stayed open.",
    );
    for ((contract, tool), calls) in &metrics.calls {
        let labels = [("contract", *contract), ("tool", *tool)];
        let buckets = BUCKETS.iter().map(|(_, end)| *end).zip(calls.buckets);
        page.histogram("frontdesk_call_seconds", &labels, buckets, calls.timed, &seconds(calls.micros));
    }
    let about = "Refusals that were counted together instead of recorded one by one.";
    page.head("frontdesk_refusals_total", "counter", about);
    for ((whose, outcome), count) in &metrics.refusals {
        page.line("frontdesk_refusals_total", &[("whose", *whose), ("outcome", *outcome)], *count);
    }
    let about = "How often a system that calls are sent to was left alone, worked again, or a call to it was given up.";
    page.head("frontdesk_remote_notices_total", "counter", about);
    for ((contract, notice), count) in &metrics.notices {
        page.line("frontdesk_remote_notices_total", &[("contract", *contract), ("notice", *notice)], *count);
    }
}

/// By mount and kind of tool, for contracts that have targets. Seconds, as Prometheus wants them.
fn service_levels(page: &mut Page, kinds: &[(&str, KindReport)], now: Millis) {
    if kinds.is_empty() {
        return;
    }
    let name = "frontdesk_latency_seconds";
    page.head(name, "gauge", "Duration of the calls of the last five minutes; none without calls.");
    for (mount, KindReport { target, measured, .. }) in kinds {
        for (quantile, micros) in
            measured.iter().flat_map(|all| [("0.5", all.p50), ("0.95", all.p95), ("0.99", all.p99)])
        {
            page.line(name, &[("mount", mount), ("kind", target.kind), ("quantile", quantile)], seconds(micros));
        }
    }
    let name = "frontdesk_latency_target_seconds";
    page.head(name, "gauge", "What the contract wants these durations to be at most.");
    for (mount, KindReport { target, .. }) in kinds {
        for (quantile, time) in [("0.5", target.p50), ("0.95", target.p95), ("0.99", target.p99)] {
            let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
            page.line(name, &[("mount", mount), ("kind", target.kind), ("quantile", quantile)], seconds(micros));
        }
    }
    let name = "frontdesk_latency_calls";
    page.head(name, "gauge", "How many calls of the last five minutes these durations are of.");
    for (mount, KindReport { target, measured, .. }) in kinds {
        page.line(name, &[("mount", mount), ("kind", target.kind)], measured.map_or(0, |all| all.calls));
    }
    let name = "frontdesk_latency_drop_seconds";
    page.head(name, "gauge", 
        "Seconds until the caller would drop the live status for slowness; 0 if it has by now, +Inf while nothing is slow.",
    );
    for (mount, KindReport { target, standing, .. }) in kinds {
        let left = match standing {
            LatencyStanding::Good | LatencyStanding::Rejoined { .. } => "+Inf".to_owned(),
            LatencyStanding::Slow { since } => (since.0 + DROP_MILLIS - now.0).div_euclid(1000).to_string(),
            LatencyStanding::Dropped { .. } => "0".to_owned(),
        };
        page.line(name, &[("mount", mount), ("kind", target.kind)], left);
    }
}

fn streams(page: &mut Page, streams: &Streams) {
    page.head("frontdesk_streams_open", "gauge", "Answers that stay open as streams of events.");
    page.line("frontdesk_streams_open", &[], streams.open());
    page.head("frontdesk_streams_ended_total", "counter", "Streams that have ended, by what ended them.");
    for (end, count) in streams.ended() {
        page.line("frontdesk_streams_ended_total", &[("reason", end.as_str())], count);
    }
}

fn connections(page: &mut Page, listeners: [(&str, ConnectionCounts); 2]) {
    type Column = (&'static str, &'static str, &'static str, fn(&ConnectionCounts) -> u64);
    let columns: [Column; 7] = [
        ("frontdesk_connections_open", "gauge", "Connections open now.", |counts| counts.open),
        ("frontdesk_connections_accepted_total", "counter", "Accepted connections.", |counts| counts.accepted),
        ("frontdesk_accept_errors_total", "counter", "Failures to accept a connection.", |counts| counts.accept_errors),
        ("frontdesk_handshakes_failed_total", "counter", "TLS handshakes that failed.", |counts| {
            counts.handshakes_failed
        }),
        ("frontdesk_connections_late_total", "counter", "Connections cut at a deadline.", |counts| counts.closed_late),
        (
            "frontdesk_connections_silent_closed_total",
            "counter",
            "Connections closed for others before a request.",
            |counts| counts.closed_silent,
        ),
        ("frontdesk_panics_total", "counter", "Calls that panicked and were answered 500.", |counts| counts.panics),
    ];
    for (name, kind, about, value) in columns {
        page.head(name, kind, about);
        for (listener, snapshot) in &listeners {
            page.line(name, &[("listener", listener)], value(snapshot));
        }
    }
    let name = "frontdesk_connections_refused_total";
    page.head(name, "counter", "Connections closed at once, because the limit in total or per address was reached.");
    for (listener, snapshot) in &listeners {
        page.line(name, &[("listener", listener), ("reason", "full")], snapshot.refused_full);
        page.line(name, &[("listener", listener), ("reason", "address")], snapshot.refused_address);
    }
}

/// Only if anchors are configured.
fn anchors(page: &mut Page, counters: &AnchorCounters) {
    let name = "frontdesk_audit_anchors_total";
    page.head(name, "counter", "Anchors of the audit chains, appended to `audit.anchor` or failed.");
    page.line(name, &[("outcome", "appended")], counters.lines.load(Ordering::Relaxed));
    page.line(name, &[("outcome", "failed")], counters.failures.load(Ordering::Relaxed));
}

fn writer(page: &mut Page, load: &WriterStats) {
    page.head("frontdesk_writer_queue", "gauge", "Work queued for the database writer.");
    page.line("frontdesk_writer_queue", &[], load.queued_jobs);
    page.head("frontdesk_audit_unwritten", "gauge", "Audit records buffered for the next group commit.");
    page.line("frontdesk_audit_unwritten", &[], load.buffered_records);
    page.head("frontdesk_commits_failed_total", "counter", "Commits that failed.");
    page.line("frontdesk_commits_failed_total", &[], load.failed_commits);
    page.head("frontdesk_commit_group", "histogram", "Size of group commits.");
    let ends: Vec<(String, u64)> = load.batches.iter().map(|(end, count)| (end.to_string(), *count)).collect();
    let all = load.batches.iter().map(|(_, count)| count).sum();
    let buckets = ends.iter().map(|(end, count)| (end.as_str(), *count));
    page.histogram("frontdesk_commit_group", &[], buckets, all, &load.batched_jobs.to_string());
}

fn deliveries(page: &mut Page, metrics: &DeliverySnapshot, now: Millis) {
    page.head("frontdesk_deliveries_total", "counter", "Attempts to deliver, by contract and what came of them.");
    for ((contract, outcome), count) in &metrics.attempts {
        page.line("frontdesk_deliveries_total", &[("contract", *contract), ("outcome", *outcome)], *count);
    }
    let about = "Age of the oldest delivery that has not arrived and is not given up.";
    page.head("frontdesk_delivery_oldest_seconds", "gauge", about);
    for (contract, at) in &metrics.oldest {
        let age = now.0.saturating_sub(at.0).max(0) / 1000;
        page.line("frontdesk_delivery_oldest_seconds", &[("contract", *contract)], age);
    }
}

fn traces(page: &mut Page, counts: &TraceCounts) {
    page.head("frontdesk_traces_queue", "gauge", "Calls whose spans are queued for export.");
    page.line("frontdesk_traces_queue", &[], counts.queued.load(Ordering::Relaxed));
    page.head("frontdesk_traces_sent_total", "counter", "Calls whose spans were exported.");
    page.line("frontdesk_traces_sent_total", &[], counts.sent.load(Ordering::Relaxed));
    page.head(
        "frontdesk_traces_lost_total",
        "counter",
        "Calls whose spans were dropped: the queue was full, or the export failed.",
    );
    for (reason, count) in [("full", &counts.dropped_queue_full), ("collector", &counts.undelivered)] {
        page.line("frontdesk_traces_lost_total", &[("reason", reason)], count.load(Ordering::Relaxed));
    }
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// The page while it is written. Writing to a string cannot fail.
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, about: &str) {
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}");
    }

    /// Labels are constants of this program, or paths, which have nothing to escape.
    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(label, word)| format!("{label}=\"{word}\"")).collect();
        let _ = if labels.is_empty() {
            writeln!(self.0, "{name} {value}")
        } else {
            writeln!(self.0, "{name}{{{}}} {value}", labels.join(","))
        };
    }

    /// Makes the buckets cumulative, as Prometheus expects.
    fn histogram<'a>(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        buckets: impl Iterator<Item = (&'a str, u64)>,
        all: u64,
        sum: &str,
    ) {
        let mut cumulative = 0;
        for (end, count) in buckets {
            cumulative += count;
            self.line(&format!("{name}_bucket"), &[labels, &[("le", end)]].concat(), cumulative);
        }
        self.line(&format!("{name}_bucket"), &[labels, &[("le", "+Inf")]].concat(), all);
        self.line(&format!("{name}_sum"), labels, sum);
        self.line(&format!("{name}_count"), labels, all);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use frontdesk_engine::model::latency_target::LatencyTarget;
    use frontdesk_engine::model::timestamp::Millis;
    use frontdesk_engine::pipeline::record::latency_window::Percentiles;
    use frontdesk_engine::pipeline::record::service_level::{KindReport, LatencyStanding};

    use super::{Page, service_levels};

    fn page(measured: Option<Percentiles>, standing: LatencyStanding, now: Millis) -> String {
        let [p50, p95, p99] = [100, 400, 800].map(Duration::from_millis);
        let target = LatencyTarget { kind: "track", tools: vec!["track_ride"], p50, p95, p99 };
        let mut page = Page(String::new());
        service_levels(&mut page, &[("/mcp/ride", KindReport { target, measured, standing })], now);
        page.0
    }

    #[test]
    fn t_115_metrics_have_percentiles_targets_and_the_time_left() {
        let now = Millis(1_800_000_000_000);
        let measured = Some(Percentiles { calls: 300, p50: 41_983, p95: 917_503, p99: 1_500_000 });
        assert_eq!(
            page(measured, LatencyStanding::Slow { since: Millis(now.0 - 170_000) }, now),
            r#"# HELP frontdesk_latency_seconds Duration of the calls of the last five minutes; none without calls.
# TYPE frontdesk_latency_seconds gauge
frontdesk_latency_seconds{mount="/mcp/ride",kind="track",quantile="0.5"} 0.041983
frontdesk_latency_seconds{mount="/mcp/ride",kind="track",quantile="0.95"} 0.917503
frontdesk_latency_seconds{mount="/mcp/ride",kind="track",quantile="0.99"} 1.500000
# HELP frontdesk_latency_target_seconds What the contract wants these durations to be at most.
# TYPE frontdesk_latency_target_seconds gauge
frontdesk_latency_target_seconds{mount="/mcp/ride",kind="track",quantile="0.5"} 0.100000
frontdesk_latency_target_seconds{mount="/mcp/ride",kind="track",quantile="0.95"} 0.400000
frontdesk_latency_target_seconds{mount="/mcp/ride",kind="track",quantile="0.99"} 0.800000
# HELP frontdesk_latency_calls How many calls of the last five minutes these durations are of.
# TYPE frontdesk_latency_calls gauge
frontdesk_latency_calls{mount="/mcp/ride",kind="track"} 300
# HELP frontdesk_latency_drop_seconds Seconds until the caller would drop the live status for slowness; 0 if it has by now, +Inf while nothing is slow.
# TYPE frontdesk_latency_drop_seconds gauge
frontdesk_latency_drop_seconds{mount="/mcp/ride",kind="track"} 130
"#
        );
        for (standing, left) in [
            (LatencyStanding::Good, "+Inf"),
            (LatencyStanding::Dropped { since: Millis(now.0 - 400_000) }, "0"),
            (LatencyStanding::Rejoined { at: now }, "+Inf"),
        ] {
            let text = page(None, standing, now);
            assert_eq!(
                text.lines().last(),
                Some(format!("frontdesk_latency_drop_seconds{{mount=\"/mcp/ride\",kind=\"track\"}} {left}").as_str())
            );
            assert!(!text.contains("frontdesk_latency_seconds{"), "{text}");
        }
    }
}
