//! What a run is judged by, and how that is written: the points, and a table of latencies.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;

use super::super::latency::{LatencyTarget, TARGETS, percentile, slow_minutes};
use crate::command::ProbeReport;
use crate::report::{CheckPoint, report};

/// More minutes than these take a partner off.
const DROPPED_AFTER: u32 = 5;

pub(super) struct SimulationPoints {
    pub(super) registration: CheckPoint,
    pub(super) answers: CheckPoint,
    pub(super) repeats: CheckPoint,
    pub(super) tracking: CheckPoint,
    pub(super) limits: CheckPoint,
    pub(super) drift: CheckPoint,
    pub(super) latency: CheckPoint,
    pub(super) completions: CheckPoint,
    pub(super) cleanup: CheckPoint,
}

impl SimulationPoints {
    pub(super) fn new() -> SimulationPoints {
        SimulationPoints {
            registration: CheckPoint::new(1, "registration"),
            answers: CheckPoint::new(2, "every answer is the intent's"),
            repeats: CheckPoint::new(3, "a repeated create answers the same booking"),
            tracking: CheckPoint::new(4, "tracking answers in the form of §5"),
            limits: CheckPoint::new(5, "TOMO's pauses are enough for every limit"),
            drift: CheckPoint::new(6, "the tools are the same after 24 hours"),
            latency: CheckPoint::new(7, "latency within the targets"),
            completions: CheckPoint::new(8, "completions are reported, signed and right"),
            cleanup: CheckPoint::new(9, "nothing is left booked"),
        }
    }

    fn all(&self) -> [&CheckPoint; 9] {
        [
            &self.registration,
            &self.answers,
            &self.repeats,
            &self.tracking,
            &self.limits,
            &self.drift,
            &self.latency,
            &self.completions,
            &self.cleanup,
        ]
    }

    /// Nothing after the registration could be tried.
    pub(super) fn rest_not_checked(&mut self, why: &str) {
        let rest = [
            &mut self.answers,
            &mut self.repeats,
            &mut self.tracking,
            &mut self.limits,
            &mut self.drift,
            &mut self.latency,
            &mut self.completions,
            &mut self.cleanup,
        ];
        for point in rest {
            point.not_checked(why);
        }
    }

    /// Judges the calls, and writes everything down.
    pub(super) fn finish(mut self, calls: &[MeasuredCall]) -> ProbeReport {
        let kinds: Vec<MeasuredKind> = TARGETS.iter().filter_map(|target| MeasuredKind::of(target, calls)).collect();
        for kind in &kinds {
            kind.judge(&mut self.latency);
        }
        let ProbeReport { text, json, failed } = report(&self.all());
        let table = table(&kinds);
        let lines: String = kinds.iter().map(|kind| format!("\n{}", kind.json())).collect();
        ProbeReport { text: format!("{table}{text}"), json: format!("{json}{lines}"), failed }
    }
}

/// One call that was answered.
pub(super) struct MeasuredCall {
    pub(super) role: String,
    /// Since the beginning of the run.
    pub(super) at: Duration,
    pub(super) took: Duration,
}

struct MeasuredKind {
    target: &'static LatencyTarget,
    calls: usize,
    times: [Duration; 3],
    slow_minutes: u32,
}

impl MeasuredKind {
    /// None if nothing of the kind was called.
    fn of(target: &'static LatencyTarget, calls: &[MeasuredCall]) -> Option<MeasuredKind> {
        let of_kind: Vec<(Duration, Duration)> = calls
            .iter()
            .filter(|call| target.roles.contains(&call.role.as_str()))
            .map(|call| (call.at, call.took))
            .collect();
        let mut times: Vec<Duration> = of_kind.iter().map(|(_, took)| *took).collect();
        times.sort();
        let [_, p95, _] = target.millis;
        (!times.is_empty()).then(|| MeasuredKind {
            target,
            calls: times.len(),
            times: [50, 95, 99].map(|percent| percentile(&times, percent)),
            slow_minutes: slow_minutes(&of_kind, Duration::from_millis(p95)),
        })
    }

    fn judge(&self, point: &mut CheckPoint) {
        let kind = self.target.kind;
        for ((name, time), target) in ["p50", "p95", "p99"].iter().zip(self.times).zip(self.target.millis) {
            if time > Duration::from_millis(target) {
                let (millis, calls) = (shown_millis(time), self.calls);
                let problem = format!("{kind}: {name} is {millis} ms over {calls} calls; the target is {target} ms.");
                point.wrong(problem, "Find what it waits for.");
            }
        }
        if self.slow_minutes > DROPPED_AFTER {
            let problem = format!("{kind}: p95 was more than twice its target for {} minutes.", self.slow_minutes);
            point.wrong(problem, "TOMO drops the live status after five; it comes back when the latency recovers.");
        } else if self.slow_minutes > 0 {
            point.note(format!("{kind} was at twice its target for {} of 5 minutes", self.slow_minutes));
        }
    }

    fn json(&self) -> String {
        let [p50, p95, p99] = self.times.map(|time| time.as_micros() as f64 / 1000.0);
        let [target_p50, target_p95, target_p99] = self.target.millis;
        json!({
            "kind": self.target.kind,
            "calls": self.calls,
            "millis": {"p50": p50, "p95": p95, "p99": p99},
            "target_millis": {"p50": target_p50, "p95": target_p95, "p99": target_p99},
            "slow_minutes": self.slow_minutes,
        })
        .to_string()
    }
}

/// Whole milliseconds, and tenths of short times.
fn shown_millis(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1000.0;
    if millis < 10.0 { format!("{millis:.1}") } else { format!("{millis:.0}") }
}

fn table(kinds: &[MeasuredKind]) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    let mut out = String::from("kind    calls   p50 (target)    p95 (target)    p99 (target)\n");
    for MeasuredKind { target, calls, times, .. } in kinds {
        let _ = write!(out, "{:<7} {calls:>5}", target.kind);
        for (time, target) in times.iter().zip(target.millis) {
            let _ = write!(out, " {:>5} {:<9}", shown_millis(*time), format!("({target})"));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out + "\n"
}
