//! Errors of the store. Their text is for operators and logs and never reaches a caller.

mod conversions;
mod database_kind;
mod fault;
mod postgres;

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

pub use database_kind::DatabaseKind;

#[derive(Debug)]
pub enum StoreError {
    /// The SQLite library has a bug that can corrupt databases.
    OldLibrary {
        version: &'static str,
    },
    /// The data was written by a newer version of Frontdesk.
    NewerSchema {
        database: DatabaseKind,
        found: i64,
        known: i64,
    },
    /// A table has columns that this version does not know.
    UnknownColumn {
        database: DatabaseKind,
        table: String,
        column: String,
    },
    /// Rows exist, and the declaration has gained something that cannot be computed for them.
    NoIndexFunction {
        table: &'static str,
        gained: String,
    },
    /// Two rows have the same value in a column that has become unique.
    NotUnique {
        table: &'static str,
        column: &'static str,
        /// The tenant and two of the rows, if they are known.
        rows: Option<[String; 3]>,
    },
    /// The columns of a row could not be computed.
    RowNotIndexed {
        table: &'static str,
        tenant: String,
        id: String,
        why: String,
    },
    /// A file that is not a Frontdesk database.
    NotOurs {
        path: PathBuf,
    },
    Damaged {
        path: PathBuf,
        why: String,
    },
    /// No space is left for a database file.
    DiskFull {
        path: PathBuf,
    },
    /// A file that would have to be overwritten.
    FileExists {
        path: PathBuf,
    },
    /// A PostgreSQL database without Frontdesk tables.
    NoData,
    /// A PostgreSQL database without the tables of this version.
    NotInitialized,
    /// The master key is not that of this database.
    WrongKey,
    /// The row of the installation, which has its signing key, is missing.
    NoInstallation,
    /// The sealed summary of the audit chains is missing or was changed.
    NoSummary,
    /// A line that should be an audit anchor is none.
    NotAnAnchor,
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
    Database(rusqlite::Error),
    Postgres(tokio_postgres::Error),
    /// No connection to the database could be opened.
    Unreachable(String),
    /// The server's certificate was not accepted.
    Untrusted(String),
    /// Row-level security does not apply to the role.
    Role {
        role: String,
        why: &'static str,
    },
    /// Row-level security of a table is missing or was changed.
    RlsMissing {
        table: String,
    },
    /// The rows of the database had MACs the last time, and have none now.
    MacsRemoved,
    /// The MAC of a row is missing or wrong.
    RowRefused {
        table: String,
        id: String,
    },
    /// The database has something that Frontdesk does not make, such as a trigger.
    UnexpectedSchema {
        what: String,
    },
    /// The MAC of a backup is wrong.
    BackupAltered {
        path: PathBuf,
    },
    /// A backup without a MAC.
    BackupWithoutMac {
        path: PathBuf,
    },
    /// A queue is full.
    Busy,
    /// The transaction was not committed.
    NotCommitted(String),
    /// It is unknown whether the transaction was committed.
    OutcomeUnknown,
    /// A record about people is not as it was read.
    RecordConflict,
    UnknownTenant,
    /// The tenant is being erased, or was erased while a call for it was under way.
    TenantErased,
    /// A tenant cannot be erased completely: this version does not know a table that holds rows of it.
    UnknownRows {
        table: String,
    },
    /// A table that was not declared when the store was opened.
    UnknownTable(&'static str),
    /// A stored value has another type than its column.
    UnexpectedValue {
        column: usize,
    },
    /// The writer has stopped.
    Closed,
    /// An import of a tenant that exists already.
    TenantExists(String),
    /// An import of a row that exists already.
    DuplicateRow {
        table: String,
    },
    /// An import of a row that Frontdesk does not write. `why` has none of its values.
    InvalidRow {
        table: String,
        /// Of the table's rows, from 1.
        number: u64,
        why: String,
    },
    /// An import from a version with other columns.
    SchemaMismatch {
        table: String,
    },
    /// An import in which rows are missing.
    Incomplete {
        table: String,
        expected: u64,
        received: u64,
    },
    /// An export of an audit chain that was tampered with.
    BrokenChain {
        chain: String,
        seq: i64,
        why: &'static str,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::OldLibrary { version } => write!(
                out,
                "SQLite {version} can corrupt databases in WAL mode; Frontdesk needs 3.51.3 or newer. Build with the bundled library."
            ),
            StoreError::NewerSchema { database, found, known } => {
                database.write_newer(out, format_args!("schema {found}, this one knows {known}"))
            }
            StoreError::UnknownColumn { database, table, column } => {
                database.write_newer(out, format_args!("table {table} has a column {column}"))
            }
            StoreError::NoIndexFunction { table, gained } => write!(
                out,
                "table {table} has rows, and this version looks them up by {gained}, which it cannot compute for rows \
                 that exist. Start the earlier version again, and report this as a bug."
            ),
            StoreError::NotUnique { table, column, rows } => {
                match rows {
                    Some([tenant, one, other]) => write!(
                        out,
                        "tenant {tenant} has two rows of table {table} ({one} and {other}) with the same value in column \
                         {column}"
                    )?,
                    None => write!(out, "two rows of table {table} have the same value in column {column}")?,
                }
                write!(
                    out,
                    ", which must be unique in this version. Restore the backup from before the upgrade with the earlier \
                     version, change or remove one of the rows there, and upgrade or export again."
                )
            }
            StoreError::RowNotIndexed { table, tenant, id, why } => write!(
                out,
                "row {id} of table {table} of tenant {tenant} could not be indexed for this version: {why}. The row was not \
                 changed. Report this as a bug."
            ),
            StoreError::NotOurs { path } => write!(out, "{} is not a Frontdesk database", path.display()),
            StoreError::Damaged { path, why } => write!(
                out,
                "{} is damaged: {why}. Keep the folder, and make a new one from a backup and its master.key: \
                 frontdesk restore BACKUP --data NEW_FOLDER",
                path.display()
            ),
            StoreError::FileExists { path } => {
                write!(out, "{} already exists and is not overwritten. Name another file.", path.display())
            }
            StoreError::NoData => {
                write!(
                    out,
                    "there is no Frontdesk data in the PostgreSQL database. Start `frontdesk serve` with it once."
                )
            }
            StoreError::NotInitialized => write!(
                out,
                "this version of Frontdesk has not set up the database yet. Start `frontdesk serve` with it, \
                 or stop the server that uses the data folder, and import again."
            ),
            StoreError::NoSummary => {
                write!(out, "the summary of the audit chains is missing or was changed. Run `frontdesk audit verify`.")
            }
            StoreError::NotAnAnchor => write!(
                out,
                "the last line of the file is no audit anchor. Name another file, or remove an incomplete last line."
            ),
            StoreError::NoInstallation => write!(
                out,
                "this database has no signing key. Start `frontdesk serve` with it once; if it had one before, run \
                 `frontdesk audit verify`."
            ),
            StoreError::WrongKey => write!(
                out,
                "the master key does not open this database. Put back the master.key file that was made with it."
            ),
            StoreError::DiskFull { path } => write!(
                out,
                "there is no space left to write {}. Free some space on its disk, or name another folder with --data.",
                path.display()
            ),
            StoreError::Io { path, error } if error.kind() == std::io::ErrorKind::StorageFull => {
                StoreError::DiskFull { path: path.clone() }.fmt(out)
            }
            StoreError::Io { path, error } => {
                write!(
                    out,
                    "cannot use {}: {error}. Check the free space, and that the folder exists and may be written.",
                    path.display()
                )
            }
            StoreError::Database(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => write!(
                out,
                "database: {error}. Free some space on the disk of the data folder, or name another folder with --data."
            ),
            StoreError::Database(error) => write!(out, "database: {error}"),
            StoreError::Postgres(error) => write!(out, "database: {}", postgres::describe(error)),
            StoreError::Unreachable(why) => {
                write!(out, "cannot connect to PostgreSQL: {why}. Check `database` and that the server runs.")
            }
            StoreError::Untrusted(why) => write!(out, "cannot connect to PostgreSQL by TLS: {why}."),
            StoreError::Role { role, why } => write!(
                out,
                "the PostgreSQL role {role} {why}, so row-level security would not apply to it. \
                 Use a role made with: CREATE ROLE name LOGIN NOSUPERUSER NOBYPASSRLS"
            ),
            StoreError::RlsMissing { table } => write!(
                out,
                "row-level security of the table {table} is not as Frontdesk made it. Look into who changed it; then run: \
                 ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; ALTER TABLE {table} FORCE ROW LEVEL SECURITY, \
                 and drop policies that are not named frontdesk"
            ),
            StoreError::MacsRemoved => write!(
                out,
                "the rows of this database have no MACs, although they had them when this master key was used last: the \
                 database was put back to an earlier release, or changed by somebody without the key. Restore a backup."
            ),
            StoreError::RowRefused { table, id } => write!(
                out,
                "row {id} of table {table} was changed in the database without the key, and is not shown. Find out who \
                 wrote to the database, and restore the row from a backup."
            ),
            StoreError::UnexpectedSchema { what } => write!(
                out,
                "the {what} in the database is not as Frontdesk makes it, and could change what is read or written. Find \
                 out who wrote to the database, and restore a backup from before."
            ),
            StoreError::BackupAltered { path } => write!(
                out,
                "{} was changed after it was written, or with another master key. Use another backup, or the \
                 master.key that it was made with.",
                path.display()
            ),
            StoreError::BackupWithoutMac { path } => write!(
                out,
                "{} has no MAC: it was made by an earlier release, or its end was cut off, and anybody could have changed \
                 it. If you are sure that nobody has, add --unverified.",
                path.display()
            ),
            StoreError::Busy => write!(out, "the queue is full"),
            StoreError::NotCommitted(why) => write!(out, "not committed: {why}"),
            StoreError::OutcomeUnknown => write!(out, "it is unknown whether this was written"),
            StoreError::RecordConflict => write!(out, "a record was changed meanwhile"),
            StoreError::UnknownTenant => write!(out, "the tenant is not registered"),
            StoreError::TenantErased => write!(
                out,
                "the tenant is being erased. Run `frontdesk tenant erase` again to complete it if it was interrupted."
            ),
            StoreError::UnknownRows { table } => write!(
                out,
                "table {table} has rows of this tenant, and this version of Frontdesk does not know the table. Erase the \
                 tenant with the version that wrote them."
            ),
            StoreError::UnknownTable(name) => {
                write!(out, "the table {name} was not declared when the store was opened")
            }
            StoreError::UnexpectedValue { column } => {
                write!(out, "column {column} of a row has a value of another type than expected")
            }
            StoreError::Closed => write!(out, "the database is closed"),
            StoreError::TenantExists(tenant) => write!(
                out,
                "tenant {tenant} already exists in this database, and an import overwrites nothing. \
                 Import it into another database."
            ),
            StoreError::DuplicateRow { table } if table == "fd_client" => {
                write!(out, "a client with the same id already exists in this database. Import into another database.")
            }
            StoreError::DuplicateRow { table } => {
                write!(out, "a row of table {table} already exists in this database. Import into another database.")
            }
            StoreError::InvalidRow { table, number, why } => write!(
                out,
                "row {number} of table {table} is not one that Frontdesk writes: {why}. Nothing was imported. \
                 Ask the sender for a new export, and do not import this one."
            ),
            StoreError::SchemaMismatch { table } => write!(
                out,
                "table {table} has other columns in this database. Import with the version of Frontdesk that made the \
                 export, and upgrade afterwards."
            ),
            StoreError::Incomplete { table, expected, received } => {
                write!(out, "the manifest lists {expected} rows of table {table}, and {received} were received")
            }
            StoreError::BrokenChain { chain, seq, why } => write!(
                out,
                "the audit chain {chain} is broken at link {seq}: {why}. Check it with `frontdesk audit verify`."
            ),
        }
    }
}

impl std::error::Error for StoreError {}

impl StoreError {
    pub(crate) fn from_connect(error: tokio_postgres::Error) -> StoreError {
        match postgres::tls_failure(&error) {
            Some(why) => StoreError::Untrusted(why),
            None => StoreError::Unreachable(postgres::describe(&error)),
        }
    }

    /// The same error, naming the SQLite file where the file is the cause.
    pub(crate) fn of_file(self, file: &Path) -> StoreError {
        let StoreError::Database(error) = self else { return self };
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                StoreError::Damaged { path: file.to_owned(), why: error.to_string() }
            }
            Some(ErrorCode::DiskFull) => StoreError::DiskFull { path: file.to_owned() },
            Some(ErrorCode::SystemIoFailure) => {
                StoreError::Io { path: file.to_owned(), error: std::io::Error::other(error) }
            }
            Some(_) | None => StoreError::Database(error),
        }
    }

    /// The error of each member of a batch that failed with this one.
    pub(crate) fn for_batch_member(&self) -> StoreError {
        if matches!(self, StoreError::OutcomeUnknown) {
            StoreError::OutcomeUnknown
        } else if matches!(self, StoreError::TenantErased) {
            StoreError::TenantErased
        } else {
            StoreError::NotCommitted(self.to_string())
        }
    }
}
