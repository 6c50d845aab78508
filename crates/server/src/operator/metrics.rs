//! The metrics page, as Prometheus reads it. Whoever can reach the operator's listener may read it, so no
//! label names a tenant, a client or an address.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use frontdesk_store::WriterStats;

use crate::house::House;
use crate::net::{Gauges, Snapshot};
use crate::observe::{CLASSES, Readings};
use crate::traces::Counts;

/// The counts of both listeners.
#[derive(Clone, Default)]
pub struct Doors {
    pub public: Arc<Gauges>,
    pub operator: Arc<Gauges>,
}

pub(super) fn metrics(house: &House, doors: &Doors) -> String {
    let mut page = Page(String::with_capacity(16 * 1024));
    page.head("frontdesk_build_info", "gauge", "The version that is running.");
    page.line("frontdesk_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    calls(&mut page, &house.meter.read());
    connections(&mut page, [("public", doors.public.snapshot()), ("operator", doors.operator.snapshot())]);
    writer(&mut page, &house.vaults.store.writer_stats());
    traces(&mut page, house.traces.counts());
    page.0
}

fn calls(page: &mut Page, readings: &Readings) {
    page.head("frontdesk_calls_total", "counter", "Calls that have ended, by contract, tool or method, and outcome.");
    for ((contract, tool), calls) in &readings.calls {
        for (outcome, count) in &calls.outcomes {
            let labels = [("contract", *contract), ("tool", tool), ("outcome", *outcome)];
            page.line("frontdesk_calls_total", &labels, *count);
        }
    }
    page.head("frontdesk_call_seconds", "histogram", "How long calls took, from the first look to the answer.");
    for ((contract, tool), calls) in &readings.calls {
        let all = calls.outcomes.values().sum();
        let labels = [("contract", *contract), ("tool", *tool)];
        let classes = CLASSES.iter().map(|(_, end)| *end).zip(calls.classes);
        page.histogram("frontdesk_call_seconds", &labels, classes, all, &seconds(calls.micros));
    }
    let about = "Refusals that were counted together instead of recorded one by one.";
    page.head("frontdesk_refusals_total", "counter", about);
    for ((whose, outcome), count) in &readings.refusals {
        page.line("frontdesk_refusals_total", &[("whose", *whose), ("outcome", *outcome)], *count);
    }
}

fn connections(page: &mut Page, doors: [(&str, Snapshot); 2]) {
    type Column = (&'static str, &'static str, &'static str, fn(&Snapshot) -> u64);
    let columns: [Column; 6] = [
        ("frontdesk_connections_open", "gauge", "Connections open now.", |door| door.open),
        ("frontdesk_connections_accepted_total", "counter", "Connections that were let in.", |door| door.accepted),
        ("frontdesk_accept_errors_total", "counter", "Failures to accept a connection.", |door| door.accept_errors),
        ("frontdesk_handshakes_failed_total", "counter", "TLS handshakes that failed.", |door| door.handshakes_failed),
        ("frontdesk_connections_late_total", "counter", "Connections cut at a deadline.", |door| door.closed_late),
        ("frontdesk_panics_total", "counter", "Calls that ended in a fault of Frontdesk's own.", |door| door.panics),
    ];
    for (name, kind, about, value) in columns {
        page.head(name, kind, about);
        for (door, snapshot) in &doors {
            page.line(name, &[("listener", door)], value(snapshot));
        }
    }
    let name = "frontdesk_connections_refused_total";
    page.head(name, "counter", "Connections closed at once, because all places or those of one address were taken.");
    for (door, snapshot) in &doors {
        page.line(name, &[("listener", door), ("reason", "full")], snapshot.refused_full);
        page.line(name, &[("listener", door), ("reason", "address")], snapshot.refused_address);
    }
}

fn writer(page: &mut Page, load: &WriterStats) {
    page.head("frontdesk_writer_queue", "gauge", "Pieces of work that wait to be written.");
    page.line("frontdesk_writer_queue", &[], load.queued_jobs);
    page.head("frontdesk_audit_unwritten", "gauge", "Audit records that will be written with the next group.");
    page.line("frontdesk_audit_unwritten", &[], load.buffered_records);
    page.head("frontdesk_commits_failed_total", "counter", "Commits that did not hold.");
    page.line("frontdesk_commits_failed_total", &[], load.failed_commits);
    page.head("frontdesk_commit_group", "histogram", "How many pieces of work shared a commit.");
    let ends: Vec<(String, u64)> = load.batches.iter().map(|(end, count)| (end.to_string(), *count)).collect();
    let all = load.batches.iter().map(|(_, count)| count).sum();
    let classes = ends.iter().map(|(end, count)| (end.as_str(), *count));
    page.histogram("frontdesk_commit_group", &[], classes, all, &load.batched_jobs.to_string());
}

fn traces(page: &mut Page, counts: &Counts) {
    page.head("frontdesk_traces_queue", "gauge", "Calls whose spans wait for the collector.");
    page.line("frontdesk_traces_queue", &[], counts.waiting.load(Ordering::Relaxed));
    page.head("frontdesk_traces_sent_total", "counter", "Calls whose spans the collector has taken.");
    page.line("frontdesk_traces_sent_total", &[], counts.sent.load(Ordering::Relaxed));
    page.head("frontdesk_traces_lost_total", "counter", "Calls whose spans found no room or no collector.");
    for (reason, count) in [("full", &counts.crowded_out), ("collector", &counts.undelivered)] {
        page.line("frontdesk_traces_lost_total", &[("reason", reason)], count.load(Ordering::Relaxed));
    }
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// The page while it is being written. Writing to a text cannot fail.
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, about: &str) {
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}");
    }

    /// Labels are words from lists of our own and need no quoting.
    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(label, word)| format!("{label}=\"{word}\"")).collect();
        let _ = match labels.is_empty() {
            true => writeln!(self.0, "{name} {value}"),
            false => writeln!(self.0, "{name}{{{}}} {value}", labels.join(",")),
        };
    }

    /// Each class holds its own; Prometheus wants with each all those below.
    fn histogram<'a>(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        classes: impl Iterator<Item = (&'a str, u64)>,
        all: u64,
        sum: &str,
    ) {
        let mut below = 0;
        for (end, count) in classes {
            below += count;
            self.line(&format!("{name}_bucket"), &[labels, &[("le", end)]].concat(), below);
        }
        self.line(&format!("{name}_bucket"), &[labels, &[("le", "+Inf")]].concat(), all);
        self.line(&format!("{name}_sum"), labels, sum);
        self.line(&format!("{name}_count"), labels, all);
    }
}
