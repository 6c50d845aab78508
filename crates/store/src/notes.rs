//! Records that nobody waits for: gathered in a tray, taken out by whoever writes, and kept for another
//! try when they cannot be written. None is dropped without the chain saying so.

use std::borrow::Cow;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use frontdesk_engine::model::timestamp::Millis;

use crate::StoreError;

/// So many fit into the tray.
const MOST_WAITING: usize = 8192;
/// They are written together, at the latest after this long.
const LINGER: Duration = Duration::from_millis(100);
/// So many of them are kept while nothing can be written.
const MOST_NOTES: usize = 1024;
/// A text that has grown longer than this in a flood is not kept for the next records.
const ROOM: usize = 256 * 1024;

/// Only the first record wakes the writer: waking it costs more than the reads that most of these are about.
#[derive(Clone, Default)]
pub(crate) struct Tray(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    lines: Lines,
    /// Set when the writer ends, however it ends: nobody will look in here again.
    closed: bool,
}

/// Records one below the other, as a link of a chain holds them. They are one text, so that none is made by one thread and
/// freed by another.
#[derive(Default)]
struct Lines {
    text: String,
    count: usize,
}

impl Lines {
    fn add(&mut self, record: &str) {
        add_line(&mut self.text, record);
        self.count += 1;
    }

    fn take_all(&mut self, other: &mut Lines) {
        if self.count == 0 {
            mem::swap(self, other);
        } else if other.count > 0 {
            add_line(&mut self.text, &other.text);
            self.count += other.count;
        }
        other.clear();
    }

    fn truncate(&mut self, count: usize) {
        if let Some((end, _)) = self.text.match_indices('\n').nth(count.saturating_sub(1)) {
            self.text.truncate(end);
            self.count = count;
        }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.text.clear();
        if self.text.capacity() > ROOM {
            self.text = String::new();
        }
    }
}

/// Adds a record below those that are there.
pub(crate) fn add_line(records: &mut String, record: &str) {
    if !records.is_empty() {
        records.push('\n');
    }
    records.push_str(record);
}

impl Tray {
    /// How many records wait in it.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().map_or(0, |waiting| waiting.lines.count)
    }

    /// Leaves a record to be written soon; `wake` is called for the first one. A full tray refuses, so that
    /// no record is dropped silently.
    pub(crate) fn put(&self, record: &str, wake: impl FnOnce() -> Result<(), StoreError>) -> Result<(), StoreError> {
        let mut tray = self.0.lock().map_err(|_| StoreError::Closed)?;
        if tray.closed {
            return Err(StoreError::Closed);
        }
        if tray.lines.count >= MOST_WAITING {
            return Err(StoreError::Busy);
        }
        tray.lines.add(record);
        if tray.lines.count > 1 {
            return Ok(());
        }
        match wake() {
            // A full queue means a busy writer, which looks into the tray anyway.
            Ok(()) | Err(StoreError::Busy) => Ok(()),
            Err(error) => {
                tray.lines.clear();
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
    lines: Lines,
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
            self.lines.take_all(&mut tray.lines);
        }
    }

    /// Kept for the next try, but not without end: a disk that stays full must not fill memory.
    pub(crate) fn keep(&mut self) {
        self.lost += self.lines.count.saturating_sub(MOST_NOTES);
        self.lines.truncate(MOST_NOTES);
        self.due = (self.lines.count > 0).then(|| Instant::now() + LINGER);
    }

    /// All of them are on disk.
    pub(crate) fn written(&mut self) {
        self.lines.clear();
        self.due = None;
        self.lost = 0;
    }

    /// What there is to write, and `more` below it. A chain with records missing says how many.
    pub(crate) fn records<'a>(&'a self, now: Millis, more: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
        let mut records = Cow::from(&self.lines.text);
        if self.lost > 0 {
            let lost = format!(r#"{{"at":"{}","outcome":"lost","count":{}}}"#, now.to_rfc3339(), self.lost);
            add_line(records.to_mut(), &lost);
        }
        more.for_each(|record| add_line(records.to_mut(), record));
        records
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(crate) fn are_due(&self) -> bool {
        self.due.is_some_and(|due| due <= Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(0);

    fn tray(records: impl IntoIterator<Item = usize>) -> Tray {
        let tray = Tray::default();
        for number in records {
            tray.put(&format!("{{\"n\":{number}}}"), || Ok(())).unwrap();
        }
        tray
    }

    fn written(notes: &Notes) -> Vec<String> {
        notes.records(NOW, std::iter::empty()).lines().map(str::to_owned).collect()
    }

    #[test]
    fn records_are_written_in_their_order_those_that_failed_first() {
        let mut notes = Notes::default();
        notes.collect(&tray(0..2));
        notes.keep();
        notes.collect(&tray(2..4));
        notes.collect(&tray([]));
        let records = notes.records(NOW, ["{\"n\":4}", "{\"n\":5}"].into_iter());
        let expected: Vec<String> = (0..6).map(|number| format!("{{\"n\":{number}}}")).collect();
        assert_eq!(records.lines().collect::<Vec<_>>(), expected);
        notes.written();
        assert!(written(&notes).is_empty() && notes.due().is_none());
    }

    #[test]
    fn what_is_not_kept_is_counted_on_the_chain() {
        let mut notes = Notes::default();
        notes.collect(&tray(0..MOST_NOTES + 3));
        notes.keep();
        let records = written(&notes);
        assert_eq!(records.len(), MOST_NOTES + 1);
        assert_eq!(records.get(MOST_NOTES - 1), Some(&format!("{{\"n\":{}}}", MOST_NOTES - 1)));
        assert_eq!(records.last().unwrap(), r#"{"at":"1970-01-01T00:00:00Z","outcome":"lost","count":3}"#);
        notes.keep();
        assert_eq!(written(&notes), records);
    }

    #[test]
    fn a_full_tray_refuses_and_an_emptied_one_takes_again() {
        let tray = tray(0..MOST_WAITING);
        assert!(matches!(tray.put("{}", || Ok(())), Err(StoreError::Busy)));
        let mut notes = Notes::default();
        notes.collect(&tray);
        assert_eq!((tray.len(), written(&notes).len()), (0, MOST_WAITING));
        // The first one in an empty tray wakes the writer; one that it cannot be woken for is not left behind.
        assert!(tray.put("{}", || Err(StoreError::Closed)).is_err());
        assert_eq!(tray.len(), 0);
    }
}
