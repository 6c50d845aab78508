//! What can keep a store from opening or a statement from running. Its text is for operators and logs
//! and never reaches a caller.

use std::fmt;
use std::path::PathBuf;

use frontdesk_engine::{Fault, FaultKind};
use rusqlite::ErrorCode;

mod postgres;

#[derive(Debug)]
pub enum StoreError {
    /// The library linked in has a known way to corrupt databases.
    OldLibrary {
        version: &'static str,
    },
    /// The data was written by a newer Frontdesk.
    NewerSchema {
        data: Data,
        found: i64,
        known: i64,
    },
    /// A kind's table has columns this Frontdesk does not know.
    UnknownColumn {
        data: Data,
        table: String,
        column: String,
    },
    /// A file that is no database of Frontdesk.
    NotOurs {
        path: PathBuf,
    },
    /// A database that is not whole.
    Damaged {
        path: PathBuf,
        why: String,
    },
    /// Nothing is written over, and this is there.
    FileExists {
        path: PathBuf,
    },
    /// A PostgreSQL database in which nothing of Frontdesk is.
    NoData,
    /// A PostgreSQL database without the tables of this version.
    NotSetUp,
    /// The master key does not open this database.
    WrongKey,
    Folder {
        path: PathBuf,
        error: std::io::Error,
    },
    Database(rusqlite::Error),
    Postgres(tokio_postgres::Error),
    /// No connection to the database could be made.
    Unreachable(String),
    /// The database is there, but nothing says that it is the right one.
    Untrusted(String),
    /// The role to connect with is not bound by row-level security.
    Role {
        role: String,
        why: &'static str,
    },
    /// A table lacks the wall between tenants.
    Unwalled {
        table: String,
    },
    /// More is waiting to be read or written than can be.
    Busy,
    /// The group this belonged to was not committed.
    NotCommitted(String),
    /// Handed to the writer, but nobody knows whether it was done.
    Unfinished,
    /// A plan or a key of a tenant that is not registered.
    UnknownTenant,
    /// A kind this store was not opened with.
    UnknownKind(&'static str),
    /// The writer has stopped.
    Closed,
    /// A tenant that is to arrive is here already.
    TenantExists(String),
    /// A row that is to arrive is here already.
    AlreadyThere {
        table: String,
    },
    /// A tenant comes from a Frontdesk with other tables.
    OtherShape {
        table: String,
    },
    /// Not all rows of a tenant have come.
    Incomplete {
        table: String,
        expected: u64,
        come: u64,
    },
    /// An audit chain that is not what was written goes nowhere.
    BrokenChain {
        chain: String,
        seq: i64,
        why: &'static str,
    },
}

/// Where the data is that this version cannot use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    Folder,
    Server,
}

impl Data {
    fn is_newer(self, out: &mut fmt::Formatter<'_>, how: fmt::Arguments<'_>) -> fmt::Result {
        let (what, next) = match self {
            Data::Folder => ("data folder", "name another folder with --data"),
            Data::Server => ("PostgreSQL database", "name another one in `database`"),
        };
        write!(out, "the {what} is from a newer version of Frontdesk ({how}). Start the newer version, or {next}.")
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::OldLibrary { version } => write!(
                out,
                "SQLite {version} can corrupt databases in WAL mode; Frontdesk needs 3.51.3 or newer. Build with the bundled library."
            ),
            StoreError::NewerSchema { data, found, known } => {
                data.is_newer(out, format_args!("schema {found}, this one knows {known}"))
            }
            StoreError::UnknownColumn { data, table, column } => {
                data.is_newer(out, format_args!("table {table} has a column {column}"))
            }
            StoreError::NotOurs { path } => write!(out, "{} is no database of Frontdesk", path.display()),
            StoreError::Damaged { path, why } => write!(out, "{} is damaged: {why}", path.display()),
            StoreError::FileExists { path } => {
                write!(out, "{} is there already, and no file is written over. Name another file.", path.display())
            }
            StoreError::NoData => {
                write!(
                    out,
                    "there is no Frontdesk data in the PostgreSQL database. Start `frontdesk serve` with it once."
                )
            }
            StoreError::NotSetUp => write!(
                out,
                "this version of Frontdesk has not set up the PostgreSQL database yet. Start `frontdesk serve` with it, \
                 or stop the server that uses the data folder, and import again."
            ),
            StoreError::WrongKey => write!(
                out,
                "the master key does not open this database. Put back the master.key file that was made with it."
            ),
            StoreError::Folder { path, error } => {
                write!(out, "cannot use {}: {error}. Check that the folder exists and may be written.", path.display())
            }
            StoreError::Database(error) => write!(out, "database: {error}"),
            StoreError::Postgres(error) => write!(out, "database: {}", postgres::describe(error)),
            StoreError::Unreachable(why) => {
                write!(out, "cannot connect to PostgreSQL: {why}. Check `database` and that the server runs.")
            }
            StoreError::Untrusted(why) => write!(out, "cannot connect to PostgreSQL by TLS: {why}."),
            StoreError::Role { role, why } => write!(
                out,
                "the PostgreSQL role {role} {why}, so row-level security would not hold it. \
                 Use a role made with: CREATE ROLE name LOGIN NOSUPERUSER NOBYPASSRLS"
            ),
            StoreError::Unwalled { table } => write!(
                out,
                "row-level security of the table {table} is not as Frontdesk made it. Look into who changed it; then run: \
                 ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; ALTER TABLE {table} FORCE ROW LEVEL SECURITY, \
                 and drop policies that are not named frontdesk"
            ),
            StoreError::Busy => write!(out, "too much is waiting"),
            StoreError::NotCommitted(why) => write!(out, "not committed: {why}"),
            StoreError::Unfinished => write!(out, "it is not known whether this was written"),
            StoreError::UnknownTenant => write!(out, "the tenant is not registered"),
            StoreError::UnknownKind(name) => write!(out, "the kind {name} was not declared when the store was opened"),
            StoreError::Closed => write!(out, "the database is closed"),
            StoreError::TenantExists(tenant) => write!(
                out,
                "{tenant} is here already, and what is here is never written over. Receive it with another database."
            ),
            StoreError::AlreadyThere { table } if table == "fd_client" => {
                write!(out, "one of its clients is here already under the same id. Receive it with another database.")
            }
            StoreError::AlreadyThere { table } => {
                write!(out, "a row of its table {table} is here already. Receive it with another database.")
            }
            StoreError::OtherShape { table } => write!(
                out,
                "its table {table} has other columns here. Use the version of Frontdesk that wrote it, and upgrade afterwards."
            ),
            StoreError::Incomplete { table, expected, come } => {
                write!(out, "{expected} rows of the table {table} were announced and {come} came")
            }
            StoreError::BrokenChain { chain, seq, why } => write!(
                out,
                "the audit chain {chain} does not hold at link {seq}: {why}. Look into it with `frontdesk audit verify`."
            ),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Database(error)
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> StoreError {
        StoreError::Postgres(error)
    }
}

impl StoreError {
    pub(crate) fn unreachable(error: tokio_postgres::Error) -> StoreError {
        match postgres::untrusted(&error) {
            Some(why) => StoreError::Untrusted(why),
            None => StoreError::Unreachable(postgres::describe(&error)),
        }
    }

    /// What everybody in a group is told when the group ends like this.
    pub(crate) fn for_the_group(&self) -> StoreError {
        match matches!(self, StoreError::Unfinished) {
            true => StoreError::Unfinished,
            false => StoreError::NotCommitted(self.to_string()),
        }
    }
}

/// A statement that fails changes nothing. Whether trying again can help depends on what failed.
impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        let cause = error.to_string();
        match error {
            StoreError::Busy | StoreError::NotCommitted(_) | StoreError::Closed => Fault::unavailable(cause),
            StoreError::Database(error) if passes(&error) => Fault::unavailable(cause),
            StoreError::Postgres(error) if postgres::passes(&error) => Fault::unavailable(cause),
            StoreError::Unreachable(_) | StoreError::Untrusted(_) => Fault::unavailable(cause),
            StoreError::Unfinished => {
                let message = "It is not known yet whether this was done. Look before you repeat it.";
                Fault::new(FaultKind::Unavailable, message).retry_after(1).caused_by(cause)
            }
            StoreError::Database(_)
            | StoreError::Postgres(_)
            | StoreError::Role { .. }
            | StoreError::Unwalled { .. }
            | StoreError::UnknownTenant
            | StoreError::TenantExists(_)
            | StoreError::AlreadyThere { .. }
            | StoreError::OtherShape { .. }
            | StoreError::Incomplete { .. }
            | StoreError::BrokenChain { .. }
            | StoreError::UnknownKind(_)
            | StoreError::NotOurs { .. }
            | StoreError::Damaged { .. }
            | StoreError::FileExists { .. }
            | StoreError::NoData
            | StoreError::NotSetUp
            | StoreError::WrongKey
            | StoreError::OldLibrary { .. }
            | StoreError::NewerSchema { .. }
            | StoreError::UnknownColumn { .. }
            | StoreError::Folder { .. } => Fault::internal(cause),
        }
    }
}

/// Locks are released and disks are cleared; a broken rule or an unreadable value stays.
fn passes(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::OperationInterrupted
                | ErrorCode::OperationAborted
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::SchemaChanged
        )
    )
}
