//! Copies of the database while it is in use, and a look at a copy before it is trusted. A copy holds
//! what the file holds, so everything sealed in it stays sealed: the master key is never near it.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::StoreError;
use crate::error::DatabaseKind;
use crate::sql::ddl;

/// Writes the database as it is at one moment into a new file, for its owner alone; its size. Whoever
/// writes meanwhile is not held up. The file has its name only once it is whole and on disk.
pub fn back_up(database: &Path, to: &Path) -> Result<u64, StoreError> {
    let failed = |error| StoreError::Io { path: to.to_owned(), error };
    if to.exists() {
        return Err(StoreError::FileExists { path: to.to_owned() });
    }
    let draft = to.with_added_extension("part");
    let _ = fs::remove_file(&draft);
    let copied = copy(database, &draft).and_then(|()| {
        inspect(&draft)?;
        let file = File::open(&draft).map_err(failed)?;
        file.sync_all().and_then(|()| fs::rename(&draft, to)).map_err(failed)?;
        Ok(file.metadata().map_err(failed)?.len())
    });
    if copied.is_err() {
        let _ = fs::remove_file(&draft);
    }
    let length = copied?;
    // The name is durable only when the folder is.
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    Ok(length)
}

/// Says whether a file is a whole database of Frontdesk that this version can open.
pub fn inspect(file: &Path) -> Result<(), StoreError> {
    match look_into(file) {
        Err(StoreError::Database(error))
            if matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)) =>
        {
            Err(StoreError::Damaged { path: file.to_owned(), why: error.to_string() })
        }
        looked => looked,
    }
}

fn look_into(file: &Path) -> Result<(), StoreError> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = ddl::MIGRATIONS.len() as i64;
    if found > known {
        return Err(StoreError::NewerSchema { database: DatabaseKind::Sqlite, found, known });
    }
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'fd_tenant'", [], |row| row.get(0))?;
    if found == 0 || tables == 0 {
        return Err(StoreError::NotOurs { path: file.to_owned() });
    }
    let verdict: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    match verdict == "ok" {
        true => Ok(()),
        false => Err(StoreError::Damaged { path: file.to_owned(), why: verdict }),
    }
}

fn copy(database: &Path, draft: &Path) -> Result<(), StoreError> {
    // Made before SQLite makes it, because SQLite would let others read it.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(draft)
        .map_err(|error| StoreError::Io { path: draft.to_owned(), error })?;
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute("VACUUM INTO ?1", [draft.to_string_lossy()])?;
    Ok(())
}
