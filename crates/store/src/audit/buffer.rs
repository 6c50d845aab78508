//! Audit records whose callers do not wait: buffered, taken by the writer, and kept for a retry when they cannot be
//! written. When records are dropped, the chain says how many.

use std::borrow::Cow;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use frontdesk_engine::model::timestamp::Millis;

use crate::StoreError;

/// How many records fit into the buffer.
const CAPACITY: usize = 8192;
/// Records are written together, at the latest after this long.
const FLUSH_INTERVAL: Duration = Duration::from_millis(100);
/// How many records are kept for a retry.
const RETRY_CAPACITY: usize = 1024;
/// A larger allocation is freed when the buffer is cleared.
const MAX_RETAINED_BYTES: usize = 256 * 1024;

/// Only the first record wakes the writer, because a wake-up costs more than a typical read.
#[derive(Clone, Default)]
pub(crate) struct AuditBuffer(Arc<Mutex<BufferState>>);

#[derive(Default)]
struct BufferState {
    lines: RecordLines,
    /// Set when the writer thread ends, also by a panic.
    closed: bool,
}

/// Records separated by newlines, as a link stores them. One string, because records that are allocated by one thread
/// and freed by another are expensive.
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

/// Adds a record on a line of its own.
pub(crate) fn add_line(records: &mut String, record: &str) {
    if !records.is_empty() {
        records.push('\n');
    }
    records.push_str(record);
}

impl AuditBuffer {
    pub(crate) fn len(&self) -> usize {
        self.0.lock().map_or(0, |waiting| waiting.lines.count)
    }

    /// Adds a record; `wake` is called for the first one. Fails if the buffer is full.
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
            // A full queue means that the writer is running, and it empties the buffer with every batch.
            Ok(()) | Err(StoreError::Busy) => Ok(()),
            Err(error) => {
                buffer.lines.clear();
                Err(error)
            }
        }
    }
}

/// Closes the buffer when the writer thread ends, also by a panic.
pub(crate) struct CloseOnDrop(pub(crate) AuditBuffer);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        // A poisoned lock refuses records as well.
        if let Ok(mut buffer) = self.0.0.lock() {
            buffer.closed = true;
        }
    }
}

/// Records that were taken from the buffer and are not written yet.
#[derive(Default)]
pub(crate) struct PendingRecords {
    lines: RecordLines,
    due: Option<Instant>,
    /// How many were dropped while nothing could be written.
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

    pub(crate) fn mark_written(&mut self) {
        self.lines.clear();
        self.due = None;
        self.lost = 0;
    }

    /// The records to write, followed by `more`. If records were dropped, one record says how many.
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

    fn buffer_of(records: impl IntoIterator<Item = usize>) -> AuditBuffer {
        let buffer = AuditBuffer::default();
        for number in records {
            buffer.push(&format!("{{\"n\":{number}}}"), || Ok(())).unwrap();
        }
        buffer
    }

    fn lines(pending: &PendingRecords) -> Vec<String> {
        pending.records(NOW, std::iter::empty()).lines().map(str::to_owned).collect()
    }

    #[test]
    fn records_keep_their_order_and_retries_come_first() {
        let mut pending = PendingRecords::default();
        pending.take_from(&buffer_of(0..2));
        pending.keep_for_retry();
        pending.take_from(&buffer_of(2..4));
        pending.take_from(&buffer_of([]));
        let records = pending.records(NOW, ["{\"n\":4}", "{\"n\":5}"].into_iter());
        let expected: Vec<String> = (0..6).map(|number| format!("{{\"n\":{number}}}")).collect();
        assert_eq!(records.lines().collect::<Vec<_>>(), expected);
        pending.mark_written();
        assert!(lines(&pending).is_empty() && pending.flush_at().is_none());
    }

    #[test]
    fn dropped_records_are_counted_on_the_chain() {
        let mut pending = PendingRecords::default();
        pending.take_from(&buffer_of(0..RETRY_CAPACITY + 3));
        pending.keep_for_retry();
        let records = lines(&pending);
        assert_eq!(records.len(), RETRY_CAPACITY + 1);
        assert_eq!(records.get(RETRY_CAPACITY - 1), Some(&format!("{{\"n\":{}}}", RETRY_CAPACITY - 1)));
        assert_eq!(records.last().unwrap(), r#"{"at":"1970-01-01T00:00:00Z","outcome":"lost","count":3}"#);
        pending.keep_for_retry();
        assert_eq!(lines(&pending), records);
    }

    #[test]
    fn a_full_buffer_refuses_until_it_is_emptied() {
        let buffer = buffer_of(0..CAPACITY);
        assert!(matches!(buffer.push("{}", || Ok(())), Err(StoreError::Busy)));
        let mut pending = PendingRecords::default();
        pending.take_from(&buffer);
        assert_eq!((buffer.len(), lines(&pending).len()), (0, CAPACITY));
        // If the writer cannot be woken for the first record, the record is not kept.
        assert!(buffer.push("{}", || Err(StoreError::Closed)).is_err());
        assert_eq!(buffer.len(), 0);
    }
}
