//! The metrics page in the text format of Prometheus. Everybody who can reach the admin listener may read it, so no label
//! names a tenant, a client or an address.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use frontdesk_store::WriterStats;

use super::call_metrics::{BUCKETS, MetricsSnapshot};
use super::traces::TraceCounts;
use crate::app::App;
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
    connections(&mut page, [("public", listeners.public.snapshot()), ("operator", listeners.admin.snapshot())]);
    writer(&mut page, &app.backend.store.writer_stats());
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
    page.head("frontdesk_call_seconds", "histogram", "Duration of calls, from the request head to the answer.");
    for ((contract, tool), calls) in &metrics.calls {
        let all = calls.outcomes.values().sum();
        let labels = [("contract", *contract), ("tool", *tool)];
        let buckets = BUCKETS.iter().map(|(_, end)| *end).zip(calls.buckets);
        page.histogram("frontdesk_call_seconds", &labels, buckets, all, &seconds(calls.micros));
    }
    let about = "Refusals that were counted together instead of recorded one by one.";
    page.head("frontdesk_refusals_total", "counter", about);
    for ((whose, outcome), count) in &metrics.refusals {
        page.line("frontdesk_refusals_total", &[("whose", *whose), ("outcome", *outcome)], *count);
    }
}

fn connections(page: &mut Page, listeners: [(&str, ConnectionCounts); 2]) {
    type Column = (&'static str, &'static str, &'static str, fn(&ConnectionCounts) -> u64);
    let columns: [Column; 6] = [
        ("frontdesk_connections_open", "gauge", "Connections open now.", |counts| counts.open),
        ("frontdesk_connections_accepted_total", "counter", "Accepted connections.", |counts| counts.accepted),
        ("frontdesk_accept_errors_total", "counter", "Failures to accept a connection.", |counts| counts.accept_errors),
        ("frontdesk_handshakes_failed_total", "counter", "TLS handshakes that failed.", |counts| {
            counts.handshakes_failed
        }),
        ("frontdesk_connections_late_total", "counter", "Connections cut at a deadline.", |counts| counts.closed_late),
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

    /// Labels are constants of this program and need no escaping.
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
