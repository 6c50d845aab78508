//! Template variables resolved within the last second. They hardly ever change, and resolving them costs as much as the
//! query that uses them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use frontdesk_engine::model::timestamp::MonotonicMillis;

use super::variables::Variable;

/// How long a renamed or removed variable can still be used.
const TTL_MILLIS: i64 = 1_000;
/// Bounds the memory of a mount whose callers name ever different variables.
const MAX_ENTRIES: usize = 256;
/// Lookups with long defaults are not cached.
const MAX_ENTRY_BYTES: usize = 16 * 1024;

pub(super) type VariableList = Arc<[Variable]>;

/// The key holds the names in the order of the arguments, and whether their defaults were read.
#[derive(Default)]
pub(super) struct VariableCache(Mutex<HashMap<String, (MonotonicMillis, VariableList)>>);

impl VariableCache {
    pub(super) fn get(&self, key: &str, now: MonotonicMillis) -> Option<VariableList> {
        let entries = self.0.lock().ok()?;
        let (inserted_at, variables) = entries.get(key)?;
        is_fresh(*inserted_at, now).then(|| Arc::clone(variables))
    }

    pub(super) fn insert(&self, key: String, now: MonotonicMillis, variables: &VariableList) {
        let bytes: usize = variables.iter().map(Variable::byte_size).sum();
        let Ok(mut entries) = self.0.lock() else {
            return;
        };
        if entries.len() >= MAX_ENTRIES {
            entries.retain(|_, (inserted_at, _)| is_fresh(*inserted_at, now));
        }
        if bytes <= MAX_ENTRY_BYTES && entries.len() < MAX_ENTRIES {
            entries.insert(key, (now, Arc::clone(variables)));
        }
    }
}

fn is_fresh(inserted_at: MonotonicMillis, now: MonotonicMillis) -> bool {
    (0..TTL_MILLIS).contains(&now.0.saturating_sub(inserted_at.0))
}
