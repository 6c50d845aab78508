//! Records that nobody waits for: gathered in a buffer, taken out by whoever writes, and kept for another
//! try when they cannot be written. None is dropped without the chain saying so.

use std::borrow::Cow;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use frontdesk_engine::model::timestamp::Millis;

use crate::StoreError;

/// So many fit into the buffer.
const CAPACITY: usize = 8192;
/// They are written together, at the latest after this long.
const FLUSH_INTERVAL: Duration = Duration::from_millis(100);
/// So many of them are kept while nothing can be written.
const RETRY_CAPACITY: usize = 1024;
/// A text that has grown longer than this in a flood is not kept for the next records.
const MAX_RETAINED_BYTES: usize = 256 * 1024;

/// Only the first record wakes the writer: waking it costs more than the reads that most of these are about.
#[derive(Clone, Default)]
pub(crate) struct AuditBuffer(Arc<Mutex<BufferState>>);

#[derive(Default)]
struct BufferState {
    lines: RecordLines,
    /// Set when the writer ends, however it ends: nobody will look in here again.
    closed: bool,
}

/// Records one below the other, as a link of a chain holds them. They are one text, so that none is made by one thread and
/// freed by another.
#[derive(Default)]
struct RecordLines {
    text: String,
    count: usize,
}

impl RecordLines {
    fn add(&mut self, record: &str) {
        add_line(&mut self.text, record);
        self.count += 1;
    }

    fn take_all(&mut self, other: &mut RecordLines) {
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
        if self.text.capacity() > MAX_RETAINED_BYTES {
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

impl AuditBuffer {
    /// How many records wait in it.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().map_or(0, |waiting| waiting.lines.count)
    }

    /// Leaves a record to be written soon; `wake` is called for the first one. A full buffer refuses, so that
    /// no record is dropped silently.
    pub(crate) fn push(&self, record: &str, wake: impl FnOnce() -> Result<(), StoreError>) -> Result<(), StoreError> {
        let mut buffer = self.0.lock().map_err(|_| StoreError::Closed)?;
        if buffer.closed {
            return Err(StoreError::Closed);
        }
        if buffer.lines.count >= CAPACITY {
            return Err(StoreError::Busy);
        }
        buffer.lines.add(record);
        if buffer.lines.count > 1 {
            return Ok(());
        }
        match wake() {
            // A full queue means a busy writer, which looks into the buffer anyway.
            Ok(()) | Err(StoreError::Busy) => Ok(()),
            Err(error) => {
                buffer.lines.clear();
                Err(error)
            }
        }
    }
}

/// Closes the buffer when the thread that empties it ends, also by a panic.
pub(crate) struct CloseOnDrop(pub(crate) AuditBuffer);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        // A poisoned buffer is closed as it is.
        if let Ok(mut buffer) = self.0.0.lock() {
            buffer.closed = true;
        }
    }
}

/// PendingRecords that wait for company, and since when.
#[derive(Default)]
pub(crate) struct PendingRecords {
    lines: RecordLines,
    due: Option<Instant>,
    /// How many could not be kept while nothing could be written.
    lost: usize,
}

impl PendingRecords {
    pub(crate) fn schedule(&mut self) {
        self.due.get_or_insert_with(|| Instant::now() + FLUSH_INTERVAL);
    }

    pub(crate) fn take_from(&mut self, buffer: &AuditBuffer) {
        if let Ok(mut buffer) = buffer.0.lock() {
            self.lines.take_all(&mut buffer.lines);
        }
    }

    /// StoredResponse for the next try, but not without end: a disk that stays full must not fill memory.
    pub(crate) fn keep_for_retry(&mut self) {
        self.lost += self.lines.count.saturating_sub(RETRY_CAPACITY);
        self.lines.truncate(RETRY_CAPACITY);
        self.due = (self.lines.count > 0).then(|| Instant::now() + FLUSH_INTERVAL);
    }

    /// All of them are on disk.
    pub(crate) fn mark_written(&mut self) {
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

    pub(crate) fn flush_at(&self) -> Option<Instant> {
        self.due
    }

    pub(crate) fn is_due(&self) -> bool {
        self.due.is_some_and(|due| due <= Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(0);

    fn buffer(records: impl IntoIterator<Item = usize>) -> AuditBuffer {
        let buffer = AuditBuffer::default();
        for number in records {
            buffer.push(&format!("{{\"n\":{number}}}"), || Ok(())).unwrap();
        }
        buffer
    }

    fn written(pending: &PendingRecords) -> Vec<String> {
        pending.records(NOW, std::iter::empty()).lines().map(str::to_owned).collect()
    }

    #[test]
    fn records_are_written_in_their_order_those_that_failed_first() {
        let mut pending = PendingRecords::default();
        pending.take_from(&buffer(0..2));
        pending.keep_for_retry();
        pending.take_from(&buffer(2..4));
        pending.take_from(&buffer([]));
        let records = pending.records(NOW, ["{\"n\":4}", "{\"n\":5}"].into_iter());
        let expected: Vec<String> = (0..6).map(|number| format!("{{\"n\":{number}}}")).collect();
        assert_eq!(records.lines().collect::<Vec<_>>(), expected);
        pending.mark_written();
        assert!(written(&pending).is_empty() && pending.flush_at().is_none());
    }

    #[test]
    fn what_is_not_kept_is_counted_on_the_chain() {
        let mut pending = PendingRecords::default();
        pending.take_from(&buffer(0..RETRY_CAPACITY + 3));
        pending.keep_for_retry();
        let records = written(&pending);
        assert_eq!(records.len(), RETRY_CAPACITY + 1);
        assert_eq!(records.get(RETRY_CAPACITY - 1), Some(&format!("{{\"n\":{}}}", RETRY_CAPACITY - 1)));
        assert_eq!(records.last().unwrap(), r#"{"at":"1970-01-01T00:00:00Z","outcome":"lost","count":3}"#);
        pending.keep_for_retry();
        assert_eq!(written(&pending), records);
    }

    #[test]
    fn a_full_tray_refuses_and_an_emptied_one_takes_again() {
        let buffer = buffer(0..CAPACITY);
        assert!(matches!(buffer.push("{}", || Ok(())), Err(StoreError::Busy)));
        let mut pending = PendingRecords::default();
        pending.take_from(&buffer);
        assert_eq!((buffer.len(), written(&pending).len()), (0, CAPACITY));
        // The first one in an empty buffer wakes the writer; one that it cannot be woken for is not left behind.
        assert!(buffer.push("{}", || Err(StoreError::Closed)).is_err());
        assert_eq!(buffer.len(), 0);
    }
}
