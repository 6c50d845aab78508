//! What names of template variables were found to be a moment ago. They hardly ever change, and looking them up would cost
//! as much again as what is asked with them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use frontdesk_engine::model::timestamp::Millis;

use super::variables::Variable;

/// A variable that was renamed or removed is still known for so long.
const MOMENT: i64 = 1_000;
/// Callers who name ever other variables do not grow it.
const MOST: usize = 256;
/// Long defaults are looked up each time.
const MOST_BYTES: usize = 16 * 1024;

pub(super) type Known = Arc<[Variable]>;

/// By the names that were asked for, in their order, and whether with their defaults.
#[derive(Default)]
pub(super) struct Lately(Mutex<HashMap<String, (Millis, Known)>>);

impl Lately {
    pub(super) fn found(&self, asked: &str, now: Millis) -> Option<Known> {
        let kept = self.0.lock().ok()?;
        let (at, known) = kept.get(asked)?;
        (0..MOMENT).contains(&now.0.saturating_sub(at.0)).then(|| Arc::clone(known))
    }

    pub(super) fn keep(&self, asked: String, now: Millis, known: &Known) {
        let bytes: usize = known.iter().map(Variable::weight).sum();
        let Ok(mut kept) = self.0.lock() else {
            return;
        };
        if kept.len() >= MOST {
            kept.retain(|_, (at, _)| (0..MOMENT).contains(&now.0.saturating_sub(at.0)));
        }
        if bytes <= MOST_BYTES && kept.len() < MOST {
            kept.insert(asked, (now, Arc::clone(known)));
        }
    }
}
