//! What can keep a store from opening or a statement from running. Its text is for operators and logs
//! and never reaches a caller.

use std::fmt;
use std::path::PathBuf;

use frontdesk_engine::Fault;

#[derive(Debug)]
pub enum StoreError {
    /// The library linked in has a known way to corrupt databases.
    OldLibrary {
        version: &'static str,
    },
    /// The data was written by a newer Frontdesk.
    NewerSchema {
        found: i64,
        known: i64,
    },
    /// A kind's table has columns this Frontdesk does not know.
    UnknownColumn {
        table: String,
        column: String,
    },
    /// The master key does not open this database.
    WrongKey,
    Folder {
        path: PathBuf,
        error: std::io::Error,
    },
    Database(rusqlite::Error),
    /// More is waiting to be written than can be.
    Busy,
    /// The group this belonged to was not committed.
    NotCommitted(String),
    /// The writer has stopped.
    Closed,
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::OldLibrary { version } => write!(
                out,
                "SQLite {version} can corrupt databases in WAL mode; Frontdesk needs 3.51.3 or newer. Build with the bundled library."
            ),
            StoreError::NewerSchema { found, known } => write!(
                out,
                "the data folder is from a newer version of Frontdesk (schema {found}, this one knows {known}). \
                 Start the newer version, or name another folder with --data."
            ),
            StoreError::UnknownColumn { table, column } => write!(
                out,
                "the data folder is from a newer version of Frontdesk (table {table} has a column {column}). \
                 Start the newer version, or name another folder with --data."
            ),
            StoreError::WrongKey => write!(
                out,
                "the master key does not open this database. Put back the master.key file that was made with it."
            ),
            StoreError::Folder { path, error } => {
                write!(out, "cannot use {}: {error}. Check that the folder exists and may be written.", path.display())
            }
            StoreError::Database(error) => write!(out, "database: {error}"),
            StoreError::Busy => write!(out, "too much is waiting to be written"),
            StoreError::NotCommitted(why) => write!(out, "not committed: {why}"),
            StoreError::Closed => write!(out, "the database is closed"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Database(error)
    }
}

/// A statement that fails changes nothing, so the caller may try again.
impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::unavailable(error.to_string())
    }
}
