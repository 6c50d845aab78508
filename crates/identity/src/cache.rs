//! Tokens seen a moment ago, so that a busy client does not cost a look-up each call. Holds only
//! tokens that exist, for at most the time in which a revocation must bite, and never more than a
//! fixed number of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use frontdesk_engine::model::caller::Caller;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::Token;

/// Revocation must bite within this, whatever the configuration says.
const LONGEST: Duration = Duration::from_secs(1);

/// Two generations of this many make the 10,000 entries there are at most.
const GENERATION: usize = 5_000;

pub(crate) struct Cache {
    millis: i64,
    generations: Mutex<Generations>,
}

/// A full or aged generation retires as a whole, which costs the same whatever it holds.
#[derive(Default)]
struct Generations {
    young: HashMap<[u8; 32], Entry>,
    old: HashMap<[u8; 32], Entry>,
    young_since: i64,
}

struct Entry {
    known: Arc<Known>,
    asked_at: i64,
}

/// A token that exists, and the caller it makes.
pub(crate) struct Known {
    pub(crate) token: Token,
    pub(crate) caller: Arc<Caller>,
}

impl Cache {
    pub(crate) fn new(keep: Duration) -> Cache {
        Cache { millis: i64::try_from(keep.min(LONGEST).as_millis()).unwrap_or(0), generations: Mutex::default() }
    }

    pub(crate) fn get(&self, hash: &[u8; 32], now: Millis) -> Option<Arc<Known>> {
        let generations = self.generations.lock().ok()?;
        let entry = generations.young.get(hash).or_else(|| generations.old.get(hash))?;
        // A clock that was set back must not make an entry live longer.
        let age = now.0.checked_sub(entry.asked_at)?;
        (0..self.millis).contains(&age).then(|| Arc::clone(&entry.known))
    }

    /// Keeps a token that was looked up at `asked_at`, which is before the look-up began: a
    /// revocation during it is then still noticed in time.
    pub(crate) fn put(&self, known: &Arc<Known>, asked_at: Millis) {
        let Ok(mut generations) = self.generations.lock() else {
            return;
        };
        let age = asked_at.0.saturating_sub(generations.young_since);
        if generations.young.len() >= GENERATION || !(0..self.millis).contains(&age) {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_since = asked_at.0;
        }
        let entry = Entry { known: Arc::clone(known), asked_at: asked_at.0 };
        generations.young.insert(known.token.hash, entry);
    }

    pub(crate) fn forget(&self, hash: &[u8; 32]) {
        if let Ok(mut generations) = self.generations.lock() {
            generations.young.remove(hash);
            generations.old.remove(hash);
        }
    }
}
