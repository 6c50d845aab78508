//! Budgets of calls: fixed tables of counters, so that no number of callers can grow them.
//! They hold hashes of keys only.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

use crate::model::timestamp::MonotonicMillis;

const SHARDS: usize = 64;
const WAYS: usize = 8;
const SETS: usize = 64;

/// So many calls a minute, and so many at once after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub per_minute: u32,
    pub burst: u32,
}

/// So many calls in the minute that begins with the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    pub per_minute: u32,
}

/// Two tables of 32,768 slots each: the generic cell rate algorithm for budgets, windows for quotas. A full set
/// forgets its most idle key, which at worst gives that key a fresh start. Clones share the tables.
#[derive(Clone, Default)]
pub struct Rates {
    hasher: RandomState,
    budgets: Table<Debt>,
    quotas: Table<Window>,
}

impl Rates {
    /// Takes one call from the key's budget, or says after how many whole seconds there will be one.
    pub fn take(&self, key: &[&str], budget: Budget, now: MonotonicMillis) -> Result<(), u64> {
        self.take_many(key, 1, budget, now)
    }

    /// The same for something that costs as much as so many calls. It never costs more than a whole burst, so that waiting
    /// is always enough.
    pub fn take_many(&self, key: &[&str], calls: u32, budget: Budget, now: MonotonicMillis) -> Result<(), u64> {
        let taken = self.budgets.with(self.hash(key), |debt| take_from(debt, calls, budget, now));
        taken.unwrap_or(Ok(()))
    }

    /// After how many whole seconds there will be a call in the key's budget, if there is none now. Takes nothing.
    pub fn wait(&self, key: &[&str], budget: Budget, now: MonotonicMillis) -> Option<u64> {
        let mut debt = self.budgets.get(self.hash(key))?;
        take_from(&mut debt, 1, budget, now).err()
    }

    /// Counts one call into the key's window, or says after how many whole seconds the next one begins.
    pub fn count(&self, key: &[&str], quota: Quota, now: MonotonicMillis) -> Result<(), u64> {
        let counted = self.quotas.with(self.hash(key), |window| count_into(window, quota, now));
        counted.unwrap_or(Ok(()))
    }

    /// Parts of a key are hashed in one stretch, which is faster than one by one; no text has the byte between them.
    fn hash(&self, key: &[&str]) -> u64 {
        const ROOM: usize = 192;
        const BETWEEN: u8 = 0xff;
        let mut joined = [BETWEEN; ROOM];
        let mut end = 0;
        for part in key {
            let Some(place) = joined.get_mut(end..end + part.len()) else {
                return self.hasher.hash_one(key);
            };
            place.copy_from_slice(part.as_bytes());
            end += part.len() + 1;
        }
        match joined.get(..end) {
            Some(joined) => self.hasher.hash_one(joined),
            None => self.hasher.hash_one(key),
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Debt {
    /// When the budget will be whole again, in microseconds of the monotonic clock.
    whole_at: i64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Window {
    /// When its first call came, in milliseconds of the monotonic clock.
    began: i64,
    calls: u32,
}

fn take_from(debt: &mut Debt, calls: u32, budget: Budget, now: MonotonicMillis) -> Result<(), u64> {
    let now = now.0.saturating_mul(1000);
    let interval = 60_000_000 / i64::from(budget.per_minute.max(1));
    let tolerance = interval.saturating_mul(i64::from(budget.burst.max(1)));
    // A debt larger than the tolerance was made under a larger budget, before a reload; it is cut to the tolerance.
    debt.whole_at = debt.whole_at.min(now.saturating_add(tolerance));
    let cost = interval.saturating_mul(i64::from(calls.min(budget.burst.max(1))));
    let next = debt.whole_at.max(now).saturating_add(cost);
    let over = next.saturating_sub(now).saturating_sub(tolerance);
    if over > 0 {
        // Rounded up, so that waiting exactly this long is enough.
        return Err((over as u64).div_ceil(1_000_000));
    }
    debt.whole_at = next;
    Ok(())
}

fn count_into(window: &mut Window, quota: Quota, now: MonotonicMillis) -> Result<(), u64> {
    const LONG: i64 = 60_000;
    if now.0.saturating_sub(window.began) >= LONG {
        *window = Window { began: now.0, calls: 0 };
    }
    if window.calls >= quota.per_minute.max(1) {
        let rest = window.began.saturating_add(LONG).saturating_sub(now.0);
        return Err(u64::try_from(rest).unwrap_or(0).div_ceil(1000));
    }
    window.calls += 1;
    Ok(())
}

/// What a slot counts: how idle it is, the smallest being the first to be forgotten.
trait Counter: Copy + Default {
    fn last(&self) -> i64;
}

impl Counter for Debt {
    fn last(&self) -> i64 {
        self.whole_at
    }
}

impl Counter for Window {
    fn last(&self) -> i64 {
        self.began
    }
}

#[derive(Clone)]
struct Table<C>(Arc<[Mutex<Shard<C>>]>);

type Shard<C> = Vec<[Slot<C>; WAYS]>;

#[derive(Clone, Copy, Default)]
struct Slot<C> {
    key: u64,
    counter: C,
}

impl<C: Counter> Default for Table<C> {
    fn default() -> Table<C> {
        Table((0..SHARDS).map(|_| Mutex::new(Vec::new())).collect())
    }
}

impl<C: Counter> Table<C> {
    /// The key's counter as it is, if it has one.
    fn get(&self, hash: u64) -> Option<C> {
        let sets = self.0.get(hash as usize % SHARDS)?.lock().ok()?;
        let ways = sets.get((hash as usize / SHARDS) % SETS)?;
        ways.iter().find(|slot| slot.key == hash).map(|slot| slot.counter)
    }

    /// Hands over the key's own counter, or a new one in the place of the most idle of its set.
    fn with<T>(&self, hash: u64, change: impl FnOnce(&mut C) -> T) -> Option<T> {
        let mut sets = self.0.get(hash as usize % SHARDS)?.lock().ok()?;
        if sets.is_empty() {
            // Made when first needed: a desk without mount policies uses no windows.
            sets.resize(SETS, [Slot::default(); WAYS]);
        }
        let ways = sets.get_mut((hash as usize / SHARDS) % SETS)?;
        let known = ways.iter().position(|slot| slot.key == hash);
        let place = known.or_else(|| (0..WAYS).min_by_key(|way| ways.get(*way).map(|slot| slot.counter.last())))?;
        let slot = ways.get_mut(place)?;
        if known.is_none() {
            *slot = Slot { key: hash, counter: C::default() };
        }
        Some(change(&mut slot.counter))
    }
}
