//! WAL checkpoints in the background: a thread of its own copies most pages, and the writer only those that were
//! written meanwhile. If the thread has ended, the writer copies all of them.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::StoreError;

/// In pages of the WAL.
#[derive(Debug, Clone, Copy)]
struct WalLimits {
    /// Where a checkpoint starts. With a smaller value, pages that every write changes are copied again and again;
    /// with a larger one, recovery after a crash takes longer.
    start: i64,
    /// At least this many pages must be new, or a long read would cause an attempt after every write.
    min_new: i64,
    /// Where the writer waits for the thread, so that the WAL cannot grow without limit.
    max: i64,
}

const LIMITS: WalLimits = WalLimits { start: 4_096, min_new: 512, max: 32_768 };
/// The second pass copies what was written during the first, and leaves little for the writer.
const PASSES: usize = 2;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

pub struct Checkpointer {
    limits: WalLimits,
    /// `None` once the thread is to end.
    requests: Option<SyncSender<()>>,
    done: Receiver<()>,
    state: CheckpointState,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckpointState {
    Idle,
    /// The thread has been told to checkpoint.
    Running,
}

impl Checkpointer {
    /// For the only connection that writes to this file.
    pub fn start(writer: &Connection, path: &Path) -> Result<Checkpointer, StoreError> {
        Checkpointer::with(LIMITS, writer, path)
    }

    fn with(limits: WalLimits, writer: &Connection, path: &Path) -> Result<Checkpointer, StoreError> {
        writer.pragma_update(None, "wal_autocheckpoint", 0)?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let (requests, requested) = sync_channel(1);
        let (finish, done) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("checkpoints".to_owned())
            .spawn(move || {
                while requested.recv().is_ok() {
                    for _ in 0..PASSES {
                        checkpoint(&connection);
                    }
                    if finish.send(()).is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| StoreError::Io { path: path.to_owned(), error })?;
        Ok(Checkpointer { limits, requests: Some(requests), done, state: CheckpointState::Idle, thread: Some(thread) })
    }

    /// To be called between two transactions of the writer, after the replies.
    pub fn maybe_checkpoint(&mut self, writer: &Connection) {
        let Ok(wal) = WalStatus::of(writer) else {
            return;
        };
        match self.state {
            CheckpointState::Idle => {
                if wal.pages < self.limits.start || wal.pages - wal.checkpointed < self.limits.min_new {
                    return;
                }
                match self.requests.as_ref().map(|requests| requests.try_send(())) {
                    Some(Ok(())) => self.state = CheckpointState::Running,
                    Some(Err(_)) | None => checkpoint(writer),
                }
            }
            CheckpointState::Running => {
                let done = if wal.pages < self.limits.max {
                    self.done.try_recv()
                } else {
                    self.done.recv().map_err(|_| TryRecvError::Disconnected)
                };
                match done {
                    Err(TryRecvError::Empty) => {}
                    // SQLite restarts the WAL only when all of its pages are checkpointed.
                    Ok(()) | Err(TryRecvError::Disconnected) => {
                        self.state = CheckpointState::Idle;
                        checkpoint(writer);
                    }
                }
            }
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The pages of the WAL, and how many of them are checkpointed.
struct WalStatus {
    pages: i64,
    checkpointed: i64,
}

impl WalStatus {
    fn of(connection: &Connection) -> Result<WalStatus, rusqlite::Error> {
        connection
            .prepare_cached("PRAGMA wal_checkpoint(NOOP)")?
            .query_row([], |row| Ok(WalStatus { pages: row.get(1)?, checkpointed: row.get(2)? }))
    }
}

/// As far as readers allow. Pages that cannot be copied now stay in the WAL until the next attempt.
fn checkpoint(connection: &Connection) {
    let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: WalLimits = WalLimits { start: 16, min_new: 4, max: 64 };

    /// A new file and the connection that writes to it.
    fn create(name: &str) -> (std::path::PathBuf, Connection) {
        let path = std::env::temp_dir().join(format!("frontdesk-{name}-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, filling BLOB)").unwrap();
        (path, connection)
    }

    fn add(connection: &Connection) {
        connection.execute("INSERT INTO t (filling) VALUES (zeroblob(6000))", []).unwrap();
    }

    fn longest_wal(connection: &Connection, checkpoints: &mut Checkpointer) -> i64 {
        let mut longest = 0;
        for _ in 0..2_000 {
            add(connection);
            longest = longest.max(WalStatus::of(connection).unwrap().pages);
            checkpoints.maybe_checkpoint(connection);
        }
        longest
    }

    #[test]
    fn continuous_writes_restart_the_wal_and_lose_nothing() {
        let (path, connection) = create("checkpoints");
        let mut checkpoints = Checkpointer::with(SMALL, &connection, &path).unwrap();
        let longest = longest_wal(&connection, &mut checkpoints);
        drop(checkpoints);
        // A row takes about four pages, and the WAL is checked after each row.
        assert!((16..64 + 8).contains(&longest), "{longest} pages");
        let (rows, sound): (i64, String) = connection
            .query_row("SELECT count(*), (SELECT integrity_check FROM pragma_integrity_check) FROM t", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((rows, sound.as_str()), (2_000, "ok"));
    }

    #[test]
    fn without_its_thread_the_writer_checkpoints() {
        let (path, connection) = create("checkpoints-alone");
        let mut checkpoints = Checkpointer::with(SMALL, &connection, &path).unwrap();
        checkpoints.requests = None;
        checkpoints.thread.take().unwrap().join().unwrap();
        let longest = longest_wal(&connection, &mut checkpoints);
        assert!((16..16 + 8).contains(&longest), "{longest} pages");
    }

    #[test]
    fn a_long_read_keeps_its_snapshot_and_delays_the_restart() {
        let (path, connection) = create("checkpoints-reader");
        let mut checkpoints = Checkpointer::with(SMALL, &connection, &path).unwrap();
        add(&connection);
        let reader = Connection::open(&path).unwrap();
        let count = || reader.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        assert_eq!(count(), 1);
        let longest = longest_wal(&connection, &mut checkpoints);
        assert_eq!(count(), 1);
        assert!(longest > 4_000, "{longest} pages: the WAL must not restart while a read is running");
        reader.execute_batch("COMMIT").unwrap();
        longest_wal(&connection, &mut checkpoints);
        assert_eq!(count(), 4_001);
        let left = WalStatus::of(&connection).unwrap().pages;
        assert!(left < 64 + 8, "{left} pages");
    }
}
