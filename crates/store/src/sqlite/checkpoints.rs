//! Bringing the log home beside the writer, so that nobody who writes waits for it: a thread of its own moves the bulk,
//! the writer only what came meanwhile. Nothing depends on that thread; without it the writer moves all.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::StoreError;

/// In pages of the log.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// From here on it is brought home. With fewer, the pages that every write touches are brought home again and
    /// again; with more, a start after a crash has more to read.
    begin: i64,
    /// So many must have come since the last time, or a reader who stands in the way would be tried at every write.
    stride: i64,
    /// Here the writer waits for the thread, so that the log cannot grow without end.
    most: i64,
}

const LIMITS: Limits = Limits { begin: 8_192, stride: 1_024, most: 32_768 };
/// What came during the first pass is little enough for a second, and what comes during that one for the writer.
const PASSES: usize = 2;
const BUSY: Duration = Duration::from_secs(5);

pub struct Checkpoints {
    limits: Limits,
    /// Gone once the thread is to end.
    orders: Option<SyncSender<()>>,
    done: Receiver<()>,
    stage: Stage,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Resting,
    /// The thread has its order.
    Beside,
}

impl Checkpoints {
    /// For the one connection that writes to this file.
    pub fn start(writer: &Connection, path: &Path) -> Result<Checkpoints, StoreError> {
        Checkpoints::with(LIMITS, writer, path)
    }

    fn with(limits: Limits, writer: &Connection, path: &Path) -> Result<Checkpoints, StoreError> {
        writer.pragma_update(None, "wal_autocheckpoint", 0)?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let (orders, ordered) = sync_channel(1);
        let (finish, done) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("checkpoints".to_owned())
            .spawn(move || {
                while ordered.recv().is_ok() {
                    for _ in 0..PASSES {
                        bring_home(&connection);
                    }
                    if finish.send(()).is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| StoreError::Folder { path: path.to_owned(), error })?;
        Ok(Checkpoints { limits, orders: Some(orders), done, stage: Stage::Resting, thread: Some(thread) })
    }

    /// To be called between two transactions of the writer, best when everybody has been answered.
    pub fn tend(&mut self, writer: &Connection) {
        let Ok(log) = Log::of(writer) else {
            return;
        };
        match self.stage {
            Stage::Resting => {
                if log.pages < self.limits.begin || log.pages - log.home < self.limits.stride {
                    return;
                }
                match self.orders.as_ref().map(|orders| orders.try_send(())) {
                    Some(Ok(())) => self.stage = Stage::Beside,
                    Some(Err(_)) | None => bring_home(writer),
                }
            }
            Stage::Beside => {
                let done = match log.pages < self.limits.most {
                    true => self.done.try_recv(),
                    false => self.done.recv().map_err(|_| TryRecvError::Disconnected),
                };
                match done {
                    Err(TryRecvError::Empty) => {}
                    // Only when all of it is home does the next write begin the log anew.
                    Ok(()) | Err(TryRecvError::Disconnected) => {
                        self.stage = Stage::Resting;
                        bring_home(writer);
                    }
                }
            }
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How long the log is, and how much of it is home.
struct Log {
    pages: i64,
    home: i64,
}

impl Log {
    fn of(connection: &Connection) -> Result<Log, rusqlite::Error> {
        connection
            .prepare_cached("PRAGMA wal_checkpoint(NOOP)")?
            .query_row([], |row| Ok(Log { pages: row.get(1)?, home: row.get(2)? }))
    }
}

/// As far as readers allow. What cannot be moved now stays in the log, where it is just as safe, and is tried again.
fn bring_home(connection: &Connection) {
    let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Limits = Limits { begin: 16, stride: 4, most: 64 };

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

    fn longest_log(connection: &Connection, checkpoints: &mut Checkpoints) -> i64 {
        let mut longest = 0;
        for _ in 0..2_000 {
            add(connection);
            longest = longest.max(Log::of(connection).unwrap().pages);
            checkpoints.tend(connection);
        }
        longest
    }

    #[test]
    fn a_log_that_is_written_to_without_pause_begins_anew_and_loses_nothing() {
        let (path, connection) = written("checkpoints");
        let mut checkpoints = Checkpoints::with(SMALL, &connection, &path).unwrap();
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
        let mut checkpoints = Checkpoints::with(SMALL, &connection, &path).unwrap();
        checkpoints.orders = None;
        checkpoints.thread.take().unwrap().join().unwrap();
        let longest = longest_log(&connection, &mut checkpoints);
        assert!((16..16 + 8).contains(&longest), "{longest} pages");
    }

    #[test]
    fn a_reader_who_stands_in_the_way_keeps_what_it_sees_and_the_log_begins_anew_after_it() {
        let (path, connection) = written("checkpoints-reader");
        let mut checkpoints = Checkpoints::with(SMALL, &connection, &path).unwrap();
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
        let left = Log::of(&connection).unwrap().pages;
        assert!(left < 64 + 8, "{left} pages");
    }
}
