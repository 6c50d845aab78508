//! The way of log lines to standard error: a queue and one thread that writes. A reader who has stopped
//! reading holds up that thread alone; what finds no room in the queue is counted and said later.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const QUEUE: usize = 4096;
/// So many lines are written in one piece.
const TOGETHER: usize = 256;
/// How long the first line waits for others. While it does, nobody has to wake the thread, which would cost a call more
/// than making its line.
const LINGER: Duration = Duration::from_millis(10);
/// How long the end of the process waits for what is still queued.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(super) struct Lines {
    /// Gone only while it is being dropped.
    queue: Option<SyncSender<String>>,
    lost: Arc<AtomicU64>,
    /// Ends with the thread. Behind a lock because only its type has to be shared.
    ended: Mutex<Receiver<()>>,
}

impl Lines {
    /// `lost` makes the line that says how many others there was no room for.
    pub(super) fn to_stderr(lost: impl Fn(u64) -> String + Send + 'static) -> Lines {
        let (queue, lines) = sync_channel(QUEUE);
        let (running, ended) = channel();
        let count = Arc::new(AtomicU64::new(0));
        let missed = Arc::clone(&count);
        // Without the thread nothing is logged, which is no reason not to serve.
        let _ = thread::Builder::new().name("log".to_owned()).spawn(move || write(&lines, &missed, lost, running));
        Lines { queue: Some(queue), lost: count, ended: Mutex::new(ended) }
    }

    /// Never waits.
    pub(super) fn write(&self, line: String) {
        match self.queue.as_ref().map(|queue| queue.try_send(line)) {
            Some(Err(TrySendError::Full(_))) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
            Some(Ok(()) | Err(TrySendError::Disconnected(_))) | None => {}
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Ok(ended) = self.ended.get_mut() {
            let _ = ended.recv_timeout(LAST_WORDS);
        }
    }
}

/// Writes until nobody can send any more. Dropping `_running` tells so.
fn write(lines: &Receiver<String>, missed: &AtomicU64, lost: impl Fn(u64) -> String, _running: Sender<()>) {
    while let Ok(first) = lines.recv() {
        thread::sleep(LINGER);
        // A queue's worth at most: under a steady flood losses must be told as well.
        let mut waiting = std::iter::once(first).chain(lines.try_iter().take(QUEUE)).peekable();
        while waiting.peek().is_some() {
            put(waiting.by_ref().take(TOGETHER));
        }
        let count = missed.swap(0, Ordering::Relaxed);
        if count > 0 {
            put([lost(count)]);
        }
    }
}

/// In one piece, so that lines of other writers do not get in between. A log that cannot be written must
/// not stop the desk.
fn put(lines: impl IntoIterator<Item = String>) {
    let mut piece = String::new();
    for line in lines {
        piece.push_str(&line);
        piece.push('\n');
    }
    let _ = std::io::stderr().lock().write_all(piece.as_bytes());
}
