//! Counts and durations of finished calls, for the metrics page. Labels come from closed lists: no tenant, client, address
//! or argument may become one.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use frontdesk_engine::limits::tally::{TallyCount, TallyKey};
use frontdesk_engine::model::notice::Notice;
use frontdesk_engine::model::observation::{Observation, Streamed};

/// The upper bounds of the histogram buckets, in microseconds and in seconds as Prometheus writes them.
pub(super) const BUCKETS: [(u64, &str); 17] = [
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
    (30_000_000, "30"),
];

#[derive(Default)]
pub struct CallMetrics {
    /// By contract, then by tool, or by method where no tool was called.
    calls: Mutex<BTreeMap<&'static str, BTreeMap<&'static str, ToolCalls>>>,
    refusals: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    notices: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
}

/// The calls of one tool.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolCalls {
    /// Calls by outcome.
    pub(super) outcomes: BTreeMap<&'static str, u64>,
    /// Calls by bucket, not cumulative.
    pub(super) buckets: [u64; BUCKETS.len()],
    /// How long those in the buckets and beyond took, and how many they are: all but streams that stayed open.
    pub(super) micros: u64,
    pub(super) timed: u64,
}

/// All counts, in a stable order.
pub(super) struct MetricsSnapshot {
    pub(super) calls: BTreeMap<(&'static str, &'static str), ToolCalls>,
    /// By kind of caller and outcome.
    pub(super) refusals: BTreeMap<(&'static str, &'static str), u64>,
    /// By contract and what it is about.
    pub(super) notices: BTreeMap<(&'static str, &'static str), u64>,
}

impl CallMetrics {
    pub(super) fn add(&self, call: &Observation) {
        let what = call.tool.or(call.method).unwrap_or("none");
        let mut contracts = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        contracts.entry(call.contract).or_default().entry(what).or_default().add(call);
    }

    /// Adds refusals that were only counted, when their count is written to the audit log.
    pub(crate) fn add_refusals(&self, count: &TallyCount) {
        let whose = match count.who {
            TallyKey::Address(_) | TallyKey::Others => "stranger",
            TallyKey::Client(_) => "client",
        };
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals.entry((whose, count.outcome)).or_default() += count.times;
    }

    pub(super) fn add_notice(&self, notice: &Notice<'_>) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        *notices.entry((notice.contract(), notice.as_str())).or_default() += 1;
    }

    pub(super) fn snapshot(&self) -> MetricsSnapshot {
        let contracts = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = contracts
            .iter()
            .flat_map(|(contract, tools)| tools.iter().map(|(tool, calls)| ((*contract, *tool), calls.clone())));
        MetricsSnapshot {
            calls: calls.collect(),
            refusals: self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            notices: self.notices.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

impl ToolCalls {
    fn add(&mut self, call: &Observation) {
        *self.outcomes.entry(call.outcome).or_default() += 1;
        if call.streamed == Streamed::Held {
            return;
        }
        self.timed += 1;
        self.micros = self.micros.saturating_add(call.micros);
        // A longer call than the last bucket counts in the total only.
        if let Some((_, bucket)) = BUCKETS.iter().zip(&mut self.buckets).find(|((end, _), _)| call.micros <= *end) {
            *bucket += 1;
        }
    }
}
