//! Writes log lines to standard error: lines are appended to one buffer, and a thread writes it. A reader that has stopped
//! reading blocks only that thread; lines that do not fit into the buffer are counted, and the count is logged.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How many lines can be buffered.
const MAX_LINES: usize = 4096;
/// A buffer that has grown larger than this is freed after writing.
const MAX_KEPT_CAPACITY: usize = 1024 * 1024;
/// How long the thread waits for more lines before it writes. Meanwhile calls need not wake it, which would cost them
/// more than formatting their line.
const BATCH_DELAY: Duration = Duration::from_millis(50);
/// How long the end of the process waits for buffered lines.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) struct LogWriter {
    buffer: Arc<LogBuffer>,
    /// Disconnected when the thread ends. In a mutex only to make it `Sync`.
    ended: Mutex<Receiver<()>>,
}

/// One growing text instead of a queue of texts, so that none is allocated by one thread and freed by another.
#[derive(Default)]
pub(super) struct LogBuffer {
    state: Mutex<BufferState>,
    changed: Condvar,
}

#[derive(Default)]
struct BufferState {
    text: String,
    lines: usize,
    /// Lines that did not fit.
    lost: u64,
    /// The thread waits and must be woken.
    idle: bool,
    /// No more lines will come.
    closed: bool,
}

impl LogWriter {
    /// `lost` formats the line that reports how many lines were lost.
    pub(super) fn to_stderr(lost: impl Fn(u64, &mut String) + Send + 'static) -> LogWriter {
        let (running, ended) = channel();
        let buffer = Arc::new(LogBuffer::default());
        let shared = Arc::clone(&buffer);
        // Without the thread nothing is logged, but calls are still served.
        let _ = thread::Builder::new().name("log".to_owned()).spawn(move || write(&shared, lost, running));
        LogWriter { buffer, ended: Mutex::new(ended) }
    }

    /// Drops every line.
    pub(super) fn to_nowhere() -> LogWriter {
        let buffer = LogBuffer::default();
        buffer.state().closed = true;
        LogWriter { buffer: Arc::new(buffer), ended: Mutex::new(channel().1) }
    }

    pub(super) fn write(&self, append: impl FnOnce(&mut String)) {
        self.buffer.write(append);
    }

    /// For other writers to the same log.
    pub(super) fn buffer(&self) -> &Arc<LogBuffer> {
        &self.buffer
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.buffer.state().closed = true;
        self.buffer.changed.notify_one();
        if let Ok(ended) = self.ended.get_mut() {
            let _ = ended.recv_timeout(FLUSH_TIMEOUT);
        }
    }
}

impl LogBuffer {
    /// Writes what `append` adds as one line, if it fits. Never waits for the reader.
    pub(super) fn write(&self, append: impl FnOnce(&mut String)) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        if state.lines >= MAX_LINES {
            state.lost += 1;
            return;
        }
        append(&mut state.text);
        state.text.push('\n');
        state.lines += 1;
        let idle = std::mem::take(&mut state.idle);
        // After unlocking, so that the thread does not wake up only to wait for the lock.
        drop(state);
        if idle {
            self.changed.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, BufferState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a line; false when no more will come.
    fn wait_for_lines(&self) -> bool {
        let mut state = self.state();
        while state.lines == 0 && !state.closed {
            state.idle = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.lines > 0
    }

    /// Takes the buffered text and leaves `text`, which is empty, in its place. Returns the number of lost lines.
    fn take(&self, text: &mut String) -> u64 {
        let mut state = self.state();
        std::mem::swap(&mut state.text, text);
        state.lines = 0;
        std::mem::take(&mut state.lost)
    }
}

/// Writes until no more lines can come. Dropping `_running` signals the end.
fn write(buffer: &LogBuffer, lost: impl Fn(u64, &mut String), _running: Sender<()>) {
    let mut text = String::new();
    while buffer.wait_for_lines() {
        thread::sleep(BATCH_DELAY);
        let count = buffer.take(&mut text);
        if count > 0 {
            lost(count, &mut text);
            text.push('\n');
        }
        // In one call, so that lines of other writers do not get in between. A log that cannot be written must not stop
        // the server.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        text.clear();
        if text.capacity() > MAX_KEPT_CAPACITY {
            text = String::new();
        }
    }
}
