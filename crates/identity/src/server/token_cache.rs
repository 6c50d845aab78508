//! Recently used tokens, so that not every call of a busy client needs a database lookup. It holds only tokens that exist,
//! for at most the time within which a revocation must take effect, and at most 10,000 of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use frontdesk_engine::model::caller::Caller;
use frontdesk_engine::model::timestamp::MonotonicMillis;
use frontdesk_engine::ports::registry::Token;

/// A revocation must take effect within this time, whatever the configuration says.
const MAX_TTL: Duration = Duration::from_secs(1);

/// Two generations of this size make at most 10,000 entries.
const GENERATION_SIZE: usize = 5_000;

pub(crate) struct TokenCache {
    ttl_millis: i64,
    generations: Mutex<Generations>,
}

/// A full or expired generation is replaced as a whole, so that eviction needs no scan.
#[derive(Default)]
struct Generations {
    young: HashMap<[u8; 32], Entry>,
    old: HashMap<[u8; 32], Entry>,
    young_since: i64,
}

struct Entry {
    cached: Arc<CachedToken>,
    looked_up_at: i64,
}

/// A token that exists, and its caller.
pub(crate) struct CachedToken {
    pub(crate) token: Token,
    pub(crate) caller: Arc<Caller>,
}

impl TokenCache {
    pub(crate) fn new(ttl: Duration) -> TokenCache {
        TokenCache {
            ttl_millis: i64::try_from(ttl.min(MAX_TTL).as_millis()).unwrap_or(0),
            generations: Mutex::default(),
        }
    }

    pub(crate) fn get(&self, hash: &[u8; 32], now: MonotonicMillis) -> Option<Arc<CachedToken>> {
        let generations = self.generations.lock().ok()?;
        let entry = generations.young.get(hash).or_else(|| generations.old.get(hash))?;
        let age = now.0.checked_sub(entry.looked_up_at)?;
        (0..self.ttl_millis).contains(&age).then(|| Arc::clone(&entry.cached))
    }

    /// `looked_up_at` must be before the lookup began, so that a revocation during it takes effect in time.
    pub(crate) fn insert(&self, cached: &Arc<CachedToken>, looked_up_at: MonotonicMillis) {
        let Ok(mut generations) = self.generations.lock() else {
            return;
        };
        let age = looked_up_at.0.saturating_sub(generations.young_since);
        if generations.young.len() >= GENERATION_SIZE || !(0..self.ttl_millis).contains(&age) {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_since = looked_up_at.0;
        }
        let entry = Entry { cached: Arc::clone(cached), looked_up_at: looked_up_at.0 };
        generations.young.insert(cached.token.hash, entry);
    }

    pub(crate) fn remove(&self, hash: &[u8; 32]) {
        if let Ok(mut generations) = self.generations.lock() {
            generations.young.remove(hash);
            generations.old.remove(hash);
        }
    }
}
