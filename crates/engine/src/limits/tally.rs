//! Refusals that are counted instead of written one by one, so that a flood of them costs a line a
//! second and not a line each. Bounded: when too many different ones come, they are counted together.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Mutex;

use crate::limits::ip_prefix::ip_prefix;
use crate::model::caller::ClientId;

const MAX_KEYS: usize = 4096;

/// Whose refusals are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TallyKey {
    /// An unauthenticated caller; IPv6 by its /64, which one subscriber has.
    Address(IpAddr),
    /// A client whose refusals exceed its budget of records.
    Client(ClientId),
    /// All others once the table is full.
    Others,
}

impl TallyKey {
    pub fn of_address(address: IpAddr) -> TallyKey {
        TallyKey::Address(ip_prefix(address))
    }
}

/// One line of a tally.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TallyCount {
    pub who: TallyKey,
    /// The word of the fault.
    pub outcome: &'static str,
    pub times: u64,
}

#[derive(Default)]
pub struct Tally {
    counts: Mutex<HashMap<(TallyKey, &'static str), u64>>,
    /// Those whose refusals have been explained in the log since the last time.
    explained: Mutex<HashSet<TallyKey>>,
}

impl Tally {
    /// Whether a cause may be logged for this key: once until the counts are taken, and for a bounded number of keys.
    pub fn may_log_cause(&self, who: TallyKey) -> bool {
        self.explained.lock().is_ok_and(|mut explained| explained.len() < MAX_KEYS && explained.insert(who))
    }

    pub fn count(&self, who: TallyKey, outcome: &'static str) {
        self.add(who, outcome, 1);
    }

    /// What was counted since the last time.
    pub fn take(&self) -> Vec<TallyCount> {
        if let Ok(mut explained) = self.explained.lock() {
            explained.clear();
        }
        let taken = self.counts.lock().map(|mut counts| std::mem::take(&mut *counts)).unwrap_or_default();
        taken.into_iter().map(|((who, outcome), times)| TallyCount { who, outcome, times }).collect()
    }

    /// For counts that could not be written down yet.
    pub fn put_back(&self, count: TallyCount) {
        self.add(count.who, count.outcome, count.times);
    }

    fn add(&self, who: TallyKey, outcome: &'static str, times: u64) {
        if let Ok(mut counts) = self.counts.lock() {
            let key = (who, outcome);
            let has_room = counts.contains_key(&key) || counts.len() < MAX_KEYS;
            let key = if has_room { key } else { (TallyKey::Others, outcome) };
            *counts.entry(key).or_default() += times;
        }
    }
}
