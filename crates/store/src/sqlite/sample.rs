//! Creating a SQLite file from a script, for the demo site. An existing file is not changed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rusqlite::Connection;

use crate::StoreError;

/// Creates the file unless it exists; only its owner can read it. It gets its name only when it is complete and on disk.
pub fn make_sample(path: &Path, script: impl FnOnce() -> String) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    let failed = |error| StoreError::Io { path: path.to_owned(), error };
    let partial = path.with_added_extension("part");
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial).map_err(failed)?;
    run(&partial, &script()).map_err(|error| StoreError::from(error).of_file(path))?;
    File::open(&partial).and_then(|file| file.sync_all()).and_then(|()| fs::rename(&partial, path)).map_err(failed)
}

fn run(partial: &Path, script: &str) -> rusqlite::Result<()> {
    let connection = Connection::open(partial)?;
    // No journal is needed, because a partial file is discarded.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(script)
}
