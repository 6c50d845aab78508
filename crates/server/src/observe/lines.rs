//! The way of log lines to standard error: a text that grows and one thread that writes it. A reader who has stopped
//! reading holds up that thread alone; what finds no room in the text is counted and said later.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many lines can wait.
const QUEUE: usize = 4096;
/// A text that has grown longer than this in a flood is not kept for the next lines.
const ROOM: usize = 1024 * 1024;
/// How long the first line waits for others. While it does, nobody has to wake the thread, which would cost a call more
/// than making its line.
const LINGER: Duration = Duration::from_millis(50);
/// How long the end of the process waits for what has not been written.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(super) struct Lines {
    tray: Arc<Tray>,
    /// Ends with the thread. Behind a lock because only its type has to be shared.
    ended: Mutex<Receiver<()>>,
}

/// Lines go into one text instead of a queue of texts, so that none is made by one thread and freed by another.
#[derive(Default)]
struct Tray {
    waiting: Mutex<Waiting>,
    came: Condvar,
}

#[derive(Default)]
struct Waiting {
    text: String,
    lines: usize,
    /// Those there was no room for.
    lost: u64,
    /// The thread has nothing to do and must be woken.
    asleep: bool,
    /// No more will come.
    closed: bool,
}

impl Lines {
    /// `lost` makes the line that says how many others there was no room for.
    pub(super) fn to_stderr(lost: impl Fn(u64) -> String + Send + 'static) -> Lines {
        let (running, ended) = channel();
        let tray = Arc::new(Tray::default());
        let writes = Arc::clone(&tray);
        // Without the thread nothing is logged, which is no reason not to serve.
        let _ = thread::Builder::new().name("log".to_owned()).spawn(move || write(&writes, lost, running));
        Lines { tray, ended: Mutex::new(ended) }
    }

    /// Writes what `put` adds as one line, if there is room. Never waits for whoever reads.
    pub(super) fn write(&self, put: impl FnOnce(&mut String)) {
        let mut waiting = self.tray.waiting();
        if waiting.lines >= QUEUE {
            waiting.lost += 1;
            return;
        }
        put(&mut waiting.text);
        waiting.text.push('\n');
        waiting.lines += 1;
        let asleep = std::mem::take(&mut waiting.asleep);
        // Not before the lock is given back: the thread would wake up only to wait for it.
        drop(waiting);
        if asleep {
            self.tray.came.notify_one();
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.tray.waiting().closed = true;
        self.tray.came.notify_one();
        if let Ok(ended) = self.ended.get_mut() {
            let _ = ended.recv_timeout(LAST_WORDS);
        }
    }
}

impl Tray {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a line; false when none will come any more.
    fn has_more(&self) -> bool {
        let mut waiting = self.waiting();
        while waiting.lines == 0 && !waiting.closed {
            waiting.asleep = true;
            waiting = self.came.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.lines > 0
    }

    /// Takes all that waits and leaves `text`, which is empty, in its place.
    fn take(&self, text: &mut String) -> u64 {
        let mut waiting = self.waiting();
        std::mem::swap(&mut waiting.text, text);
        waiting.lines = 0;
        std::mem::take(&mut waiting.lost)
    }
}

/// Writes until no more can come. Dropping `_running` tells so.
fn write(tray: &Tray, lost: impl Fn(u64) -> String, _running: Sender<()>) {
    let mut text = String::new();
    while tray.has_more() {
        thread::sleep(LINGER);
        let count = tray.take(&mut text);
        if count > 0 {
            text.push_str(&lost(count));
            text.push('\n');
        }
        // In one piece, so that lines of other writers do not get in between. A log that cannot be written must not
        // stop the desk.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        text.clear();
        if text.capacity() > ROOM {
            text = String::new();
        }
    }
}
