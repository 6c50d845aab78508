//! Bringing the log checkpointed beside the writer, so that nobody who writes waits for it: a thread of its own moves the bulk,
//! the writer only what came meanwhile. Nothing depends on that thread; without it the writer moves all.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::StoreError;

/// In pages of the log.
#[derive(Debug, Clone, Copy)]
struct WalLimits {
    /// From here on it is brought checkpointed. With fewer, the pages that every write touches are brought checkpointed again and
    /// again; with more, a start after a crash has more to read.
    start: i64,
    /// So many must have come since the last time, or a reader who stands in the way would be tried at every write.
    min_new: i64,
    /// Here the writer waits for the thread, so that the log cannot grow without end.
    max: i64,
}

const LIMITS: WalLimits = WalLimits { start: 8_192, min_new: 1_024, max: 32_768 };
/// What came during the first pass is little enough for a second, and what comes during that one for the writer.
const PASSES: usize = 2;
const BUSY: Duration = Duration::from_secs(5);

pub struct Checkpointer {
    limits: WalLimits,
    /// Gone once the thread is to end.
    requests: Option<SyncSender<()>>,
    done: Receiver<()>,
    stage: Stage,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    /// The thread has its order.
    Running,
}

impl Checkpointer {
    /// For the one connection that writes to this file.
    pub fn start(writer: &Connection, path: &Path) -> Result<Checkpointer, StoreError> {
        Checkpointer::with(LIMITS, writer, path)
    }

    fn with(limits: WalLimits, writer: &Connection, path: &Path) -> Result<Checkpointer, StoreError> {
        writer.pragma_update(None, "wal_autocheckpoint", 0)?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
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
        Ok(Checkpointer { limits, requests: Some(requests), done, stage: Stage::Idle, thread: Some(thread) })
    }

    /// To be called between two transactions of the writer, best when everybody has been answered.
    pub fn maybe_checkpoint(&mut self, writer: &Connection) {
        let Ok(log) = WalStatus::of(writer) else {
            return;
        };
        match self.stage {
            Stage::Idle => {
                if log.pages < self.limits.start || log.pages - log.checkpointed < self.limits.min_new {
                    return;
                }
                match self.requests.as_ref().map(|requests| requests.try_send(())) {
                    Some(Ok(())) => self.stage = Stage::Running,
                    Some(Err(_)) | None => checkpoint(writer),
                }
            }
            Stage::Running => {
                let done = match log.pages < self.limits.max {
                    true => self.done.try_recv(),
                    false => self.done.recv().map_err(|_| TryRecvError::Disconnected),
                };
                match done {
                    Err(TryRecvError::Empty) => {}
                    // Only when all of it is checkpointed does the next write start the log anew.
                    Ok(()) | Err(TryRecvError::Disconnected) => {
                        self.stage = Stage::Idle;
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

/// How long the log is, and how much of it is checkpointed.
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

/// As far as readers allow. What cannot be moved now stays in the log, where it is just as safe, and is tried again.
fn checkpoint(connection: &Connection) {
    let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: WalLimits = WalLimits { start: 16, min_new: 4, max: 64 };

    /// A file of its own and the connection that writes to it.
    fn written(name: &str) -> (std::path::PathBuf, Connection) {
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

    fn longest_log(connection: &Connection, checkpoints: &mut Checkpointer) -> i64 {
        let mut longest = 0;
        for _ in 0..2_000 {
            add(connection);
            longest = longest.max(WalStatus::of(connection).unwrap().pages);
            checkpoints.maybe_checkpoint(connection);
        }
        longest
    }

    #[test]
    fn a_log_that_is_written_to_without_pause_begins_anew_and_loses_nothing() {
        let (path, connection) = written("checkpoints");
        let mut checkpoints = Checkpointer::with(SMALL, &connection, &path).unwrap();
        let longest = longest_log(&connection, &mut checkpoints);
        drop(checkpoints);
        // A row takes about four pages, and the writer looks after each.
        assert!((16..64 + 8).contains(&longest), "{longest} pages");
        let (rows, sound): (i64, String) = connection
            .query_row("SELECT count(*), (SELECT integrity_check FROM pragma_integrity_check) FROM t", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((rows, sound.as_str()), (2_000, "ok"));
    }

    #[test]
    fn without_its_thread_the_writer_brings_the_log_home() {
        let (path, connection) = written("checkpoints-alone");
        let mut checkpoints = Checkpointer::with(SMALL, &connection, &path).unwrap();
        checkpoints.requests = None;
        checkpoints.thread.take().unwrap().join().unwrap();
        let longest = longest_log(&connection, &mut checkpoints);
        assert!((16..16 + 8).contains(&longest), "{longest} pages");
    }

    #[test]
    fn a_reader_who_stands_in_the_way_keeps_what_it_sees_and_the_log_begins_anew_after_it() {
        let (path, connection) = written("checkpoints-reader");
        let mut checkpoints = Checkpointer::with(SMALL, &connection, &path).unwrap();
        add(&connection);
        let reader = Connection::open(&path).unwrap();
        let count = || reader.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        assert_eq!(count(), 1);
        let longest = longest_log(&connection, &mut checkpoints);
        assert_eq!(count(), 1);
        assert!(longest > 4_000, "{longest} pages: nothing may be begun anew under a reader");
        reader.execute_batch("COMMIT").unwrap();
        longest_log(&connection, &mut checkpoints);
        assert_eq!(count(), 4_001);
        let left = WalStatus::of(&connection).unwrap().pages;
        assert!(left < 64 + 8, "{left} pages");
    }
}
