//! Backups of the database while it is in use, and the check of a backup before it is restored. What is sealed stays
//! sealed: the master key is not needed and not included.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::StoreError;
use crate::error::DatabaseKind;
use crate::sql::ddl;

/// Writes a snapshot of the database into a new file that only its owner can read, and returns its size. Writers are
/// not blocked. The file gets its name only when it is complete and on disk.
pub fn back_up(database: &Path, to: &Path) -> Result<u64, StoreError> {
    let failed = |error| StoreError::Io { path: to.to_owned(), error };
    if to.exists() {
        return Err(StoreError::FileExists { path: to.to_owned() });
    }
    let partial = to.with_added_extension("part");
    let _ = fs::remove_file(&partial);
    let copied = copy(database, &partial).and_then(|()| {
        inspect(&partial)?;
        let file = File::open(&partial).map_err(failed)?;
        file.sync_all().and_then(|()| fs::rename(&partial, to)).map_err(failed)?;
        Ok(file.metadata().map_err(failed)?.len())
    });
    if copied.is_err() {
        let _ = fs::remove_file(&partial);
    }
    let length = copied?;
    // The rename is durable only after the folder is synced.
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    Ok(length)
}

/// Checks that a file is an intact Frontdesk database that this version can open.
pub fn inspect(file: &Path) -> Result<(), StoreError> {
    check_file(file).map_err(|error| error.of_file(file))
}

fn check_file(file: &Path) -> Result<(), StoreError> {
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
    if verdict == "ok" { Ok(()) } else { Err(StoreError::Damaged { path: file.to_owned(), why: verdict }) }
}

fn copy(database: &Path, partial: &Path) -> Result<(), StoreError> {
    // Created before SQLite does, which would let others read it.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(partial)
        .map_err(|error| StoreError::Io { path: partial.to_owned(), error })?;
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute("VACUUM INTO ?1", [partial.to_string_lossy()])?;
    Ok(())
}
