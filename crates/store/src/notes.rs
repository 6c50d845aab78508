//! Records that nobody waits for: gathered in a tray, taken out by whoever writes, and kept for another
//! try when they cannot be written. None is dropped without the chain saying so.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use frontdesk_engine::timestamp::Millis;

use crate::StoreError;

/// So many fit into the tray.
const MOST_WAITING: usize = 8192;
/// They are written together, at the latest after this long.
const LINGER: Duration = Duration::from_millis(100);
/// So many of them are kept while nothing can be written.
const MOST_NOTES: usize = 1024;

/// Only the first record wakes the writer: waking it costs more than the reads that most of these are about.
#[derive(Clone, Default)]
pub(crate) struct Tray(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    lines: Vec<String>,
    /// Set when the writer ends, however it ends: nobody will look in here again.
    closed: bool,
}

impl Tray {
    /// How many records wait in it.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().map_or(0, |waiting| waiting.lines.len())
    }

    /// Leaves a record to be written soon; `wake` is called for the first one. A full tray refuses, so that
    /// no record is dropped silently.
    pub(crate) fn put(&self, line: String, wake: impl FnOnce() -> Result<(), StoreError>) -> Result<(), StoreError> {
        let mut tray = self.0.lock().map_err(|_| StoreError::Closed)?;
        if tray.closed {
            return Err(StoreError::Closed);
        }
        if tray.lines.len() >= MOST_WAITING {
            return Err(StoreError::Busy);
        }
        tray.lines.push(line);
        if tray.lines.len() > 1 {
            return Ok(());
        }
        match wake() {
            // A full queue means a busy writer, which looks into the tray anyway.
            Ok(()) | Err(StoreError::Busy) => Ok(()),
            Err(error) => {
                tray.lines.pop();
                Err(error)
            }
        }
    }
}

/// Closes the tray when the thread that empties it ends, also by a panic.
pub(crate) struct Closing(pub(crate) Tray);

impl Drop for Closing {
    fn drop(&mut self) {
        // A poisoned tray is closed as it is.
        if let Ok(mut tray) = self.0.0.lock() {
            tray.closed = true;
        }
    }
}

/// Notes that wait for company, and since when.
#[derive(Default)]
pub(crate) struct Notes {
    lines: Vec<String>,
    due: Option<Instant>,
    /// How many could not be kept while nothing could be written.
    lost: usize,
}

impl Notes {
    pub(crate) fn expect(&mut self) {
        self.due.get_or_insert_with(|| Instant::now() + LINGER);
    }

    pub(crate) fn collect(&mut self, tray: &Tray) {
        if let Ok(mut tray) = tray.0.lock() {
            self.lines.append(&mut tray.lines);
        }
    }

    /// Kept for the next try, but not without end: a disk that stays full must not fill memory.
    pub(crate) fn keep(&mut self) {
        self.lost += self.lines.len().saturating_sub(MOST_NOTES);
        self.lines.truncate(MOST_NOTES);
        self.due = (!self.lines.is_empty()).then(|| Instant::now() + LINGER);
    }

    /// What there is to write. A chain with records missing says how many.
    pub(crate) fn records(&self, now: Millis) -> Vec<String> {
        let mut records = self.lines.clone();
        if self.lost > 0 {
            records.push(format!(r#"{{"at":"{}","outcome":"lost","count":{}}}"#, now.to_rfc3339(), self.lost));
        }
        records
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(crate) fn are_due(&self) -> bool {
        self.due.is_some_and(|due| due <= Instant::now())
    }
}
