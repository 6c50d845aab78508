//! Budgets of calls: a fixed table of counters, so that no number of callers can grow it.
//! Holds hashes of keys only.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

use crate::timestamp::Millis;

const SHARDS: usize = 64;
const WAYS: usize = 8;
const SETS: usize = 64;

/// So many calls a minute, and so many at once after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub per_minute: u32,
    pub burst: u32,
}

/// The generic cell rate algorithm over a table of 32,768 slots. A full set forgets its most idle
/// key, which at worst gives that key a fresh burst. Clones share the table.
#[derive(Clone)]
pub struct Rates {
    hasher: RandomState,
    shards: Arc<[Mutex<Vec<[Slot; WAYS]>>]>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    /// When the budget will be whole again, in microseconds since 1970.
    whole_at: i64,
}

impl Default for Rates {
    fn default() -> Rates {
        Rates {
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| Mutex::new(vec![[Slot::default(); WAYS]; SETS])).collect(),
        }
    }
}

impl Rates {
    /// Takes one call from the key's budget, or says after how many whole seconds there will be one.
    pub fn take(&self, key: &[&str], budget: Budget, now: Millis) -> Result<(), u64> {
        let hash = self.hasher.hash_one(key);
        let shard = self.shards.get(hash as usize % SHARDS);
        let Some(Ok(mut sets)) = shard.map(Mutex::lock) else {
            return Ok(());
        };
        let Some(ways) = sets.get_mut((hash as usize / SHARDS) % SETS) else {
            return Ok(());
        };
        let known = ways.iter().position(|slot| slot.key == hash);
        let place = known.or_else(|| (0..WAYS).min_by_key(|way| ways.get(*way).map(|slot| slot.whole_at)));
        let Some(slot) = place.and_then(|way| ways.get_mut(way)) else {
            return Ok(());
        };
        if known.is_none() {
            *slot = Slot { key: hash, whole_at: 0 };
        }
        take_from(slot, budget, now)
    }
}

fn take_from(slot: &mut Slot, budget: Budget, now: Millis) -> Result<(), u64> {
    let now = now.0.saturating_mul(1000);
    let interval = 60_000_000 / i64::from(budget.per_minute.max(1));
    let tolerance = interval.saturating_mul(i64::from(budget.burst.max(1)));
    // No debt is larger than the tolerance, unless the clock was set back since; then it is forgiven.
    slot.whole_at = slot.whole_at.min(now.saturating_add(tolerance));
    let next = slot.whole_at.max(now).saturating_add(interval);
    let over = next.saturating_sub(now).saturating_sub(tolerance);
    if over > 0 {
        // Rounded up, so that waiting exactly this long is enough (A6-21).
        return Err((over as u64).div_ceil(1_000_000));
    }
    slot.whole_at = next;
    Ok(())
}
