//! Making a SQLite file that is not Frontdesk's own from a script, for demonstrations. A file that is there is never
//! touched.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rusqlite::Connection;

use crate::StoreError;

/// Makes the file unless it is there, for its owner alone. It has its name only once it is whole and on disk.
pub fn make_sample(path: &Path, script: impl FnOnce() -> String) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    let failed = |error| StoreError::Io { path: path.to_owned(), error };
    let draft = path.with_added_extension("part");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
    let connection = Connection::open(&draft)?;
    // Nothing is lost if this fails in its middle: the draft is thrown away.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(&script())?;
    drop(connection);
    File::open(&draft).and_then(|file| file.sync_all()).and_then(|()| fs::rename(&draft, path)).map_err(failed)
}
