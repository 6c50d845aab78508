//! What names of template variables were found to be a moment ago. They hardly ever change, and looking them up would cost
//! as much again as what is asked with them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use frontdesk_engine::archive::{Cell, Record};
use frontdesk_engine::timestamp::Millis;

use super::forms::Otherwise;

/// A variable that was renamed or removed is still known for so long.
const MOMENT: i64 = 1_000;
/// Callers who name ever other variables do not grow it.
const MOST: usize = 256;
/// Long defaults are looked up each time.
const MOST_BYTES: usize = 16 * 1024;

/// Which names, and whether with their defaults.
type Asked = (Vec<String>, Otherwise);
type Found = Arc<Vec<Record>>;

#[derive(Default)]
pub(super) struct Lately(Mutex<HashMap<Asked, (Millis, Found)>>);

impl Lately {
    pub(super) fn found(&self, asked: &Asked, now: Millis) -> Option<Found> {
        let kept = self.0.lock().ok()?;
        let (at, records) = kept.get(asked)?;
        (0..MOMENT).contains(&now.0.saturating_sub(at.0)).then(|| Arc::clone(records))
    }

    pub(super) fn keep(&self, asked: Asked, now: Millis, records: &Found) {
        let bytes: usize = records.iter().flatten().map(weight).sum();
        let Ok(mut kept) = self.0.lock() else {
            return;
        };
        if kept.len() >= MOST {
            kept.retain(|_, (at, _)| (0..MOMENT).contains(&now.0.saturating_sub(at.0)));
        }
        if bytes <= MOST_BYTES && kept.len() < MOST {
            kept.insert(asked, (now, Arc::clone(records)));
        }
    }
}

fn weight(cell: &Cell) -> usize {
    match cell {
        Cell::Missing | Cell::Integer(_) => 8,
        Cell::Text(text) => text.len(),
    }
}
