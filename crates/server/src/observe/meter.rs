//! Counts of finished calls and how long they took, for the metrics page. Labels come from closed lists:
//! no tenant, client, address or argument may become one.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use frontdesk_engine::limits::tally::{TallyCount, TallyKey};
use frontdesk_engine::model::observation::Observation;

/// The upper ends of the classes of duration, in microseconds and as Prometheus writes seconds.
pub(crate) const CLASSES: [(u64, &str); 17] = [
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
pub struct Meter {
    /// By contract, then by tool, or by method where no tool was called.
    calls: Mutex<BTreeMap<&'static str, BTreeMap<&'static str, Calls>>>,
    refusals: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
}

/// The calls of one tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls {
    /// How often each outcome was met.
    pub(crate) outcomes: BTreeMap<&'static str, u64>,
    /// How many took at most as long as their class says, and longer than the class before.
    pub(crate) classes: [u64; CLASSES.len()],
    pub(crate) micros: u64,
}

/// Everything counted so far, in an order that stays.
pub(crate) struct Readings {
    pub(crate) calls: BTreeMap<(&'static str, &'static str), Calls>,
    /// By whose they were and their outcome.
    pub(crate) refusals: BTreeMap<(&'static str, &'static str), u64>,
}

impl Meter {
    pub(super) fn count(&self, seen: &Observation) {
        let what = seen.tool.or(seen.method).unwrap_or("none");
        let mut contracts = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        contracts.entry(seen.contract).or_default().entry(what).or_default().add(seen);
    }

    /// Refusals that were only counted, when their count is written down.
    pub(crate) fn refused(&self, count: &TallyCount) {
        let whose = match count.who {
            TallyKey::Address(_) | TallyKey::Others => "stranger",
            TallyKey::Client(_) => "client",
        };
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals.entry((whose, count.outcome)).or_default() += count.times;
    }

    pub(crate) fn read(&self) -> Readings {
        let contracts = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = contracts
            .iter()
            .flat_map(|(contract, tools)| tools.iter().map(|(tool, calls)| ((*contract, *tool), calls.clone())));
        Readings {
            calls: calls.collect(),
            refusals: self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

impl Calls {
    fn add(&mut self, seen: &Observation) {
        *self.outcomes.entry(seen.outcome).or_default() += 1;
        self.micros = self.micros.saturating_add(seen.micros);
        // What took longer than the last class is in the total alone.
        if let Some((_, class)) = CLASSES.iter().zip(&mut self.classes).find(|((end, _), _)| seen.micros <= *end) {
            *class += 1;
        }
    }
}
