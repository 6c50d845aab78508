//! Errors of reading a site's database. Their texts are for operators and say what to do next.

use std::fmt;

use frontdesk_engine::{Fault, FaultKind};

/// Why a site's database cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SiteDbError {
    /// The address is invalid, and why.
    Address(String),
    /// This build has no driver for the database; the cargo feature that brings it.
    MissingDriver { database: &'static str, feature: &'static str },
    /// The prefix has characters that no table prefix has.
    Prefix(String),
    /// There are no tables of a site under this prefix, but under those in `found`.
    NoSite { prefix: String, found: Vec<String> },
    /// The database rejects us or is none: why, and what to do about it.
    Unreachable(String),
    /// The database does not answer. It may do so later.
    Down(String),
}

impl SiteDbError {
    #[cfg(any(test, not(feature = "mysql")))]
    pub(super) fn missing_mysql_driver() -> SiteDbError {
        SiteDbError::MissingDriver { database: "MySQL and MariaDB", feature: "mysql" }
    }
}

impl fmt::Display for SiteDbError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SiteDbError::Address(reason) => write!(out, "the address of the site's database is invalid: {reason}"),
            SiteDbError::MissingDriver { database, feature } => write!(
                out,
                "this build cannot read {database}: it was compiled without the cargo feature `{feature}`, which is on \
                 by default. Build it with --features {feature}"
            ),
            SiteDbError::Prefix(prefix) => write!(
                out,
                "{prefix:?} is no table prefix: use letters, digits and _ only, as in the site's own configuration"
            ),
            SiteDbError::NoSite { prefix, found } if found.is_empty() => write!(
                out,
                "the database has no table {prefix}site_content, nor one with another prefix. Check that it is the \
                 site's database and that this user may read its tables"
            ),
            SiteDbError::NoSite { prefix, found } => {
                let found: Vec<String> = found.iter().map(|prefix| format!("\"{prefix}\"")).collect();
                write!(
                    out,
                    "the database has no table {prefix}site_content. Tables of a site were found with these prefixes: \
                     {}. Set `prefix` to one of them",
                    found.join(", ")
                )
            }
            SiteDbError::Unreachable(reason) => write!(out, "cannot read the site's database: {reason}"),
            SiteDbError::Down(reason) => {
                write!(out, "cannot read the site's database: {reason}. Check its address and that the server runs")
            }
        }
    }
}

impl std::error::Error for SiteDbError {}

/// Why a query returned no rows.
#[derive(Debug)]
pub(super) enum ReadError {
    /// The connection is closed; the query may succeed on a new one.
    ConnectionLost(String),
    /// The server rejects new connections.
    LoginRejected(String),
    /// It took too long, or the database is busy.
    Unavailable(String),
    TooLarge,
    /// The tables or columns differ from those that were introspected.
    SchemaChanged(String),
    /// The database would reject it again.
    Rejected(String),
    /// The query itself is invalid on every database.
    Invalid(Box<Fault>),
}

impl ReadError {
    pub(super) fn timed_out() -> ReadError {
        ReadError::Unavailable("the site's database took too long".to_owned())
    }

    /// The same as an error of opening the database.
    pub(super) fn at_opening(self) -> SiteDbError {
        match self {
            ReadError::ConnectionLost(reason) | ReadError::Unavailable(reason) => SiteDbError::Down(reason),
            ReadError::LoginRejected(reason) | ReadError::Rejected(reason) | ReadError::SchemaChanged(reason) => {
                SiteDbError::Unreachable(reason)
            }
            ReadError::TooLarge => SiteDbError::Unreachable("its list of columns is too long".to_owned()),
            ReadError::Invalid(fault) => SiteDbError::Unreachable(fault.message.into_owned()),
        }
    }
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> ReadError {
        ReadError::Invalid(Box::new(fault))
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Fault {
        match error {
            ReadError::ConnectionLost(cause) | ReadError::LoginRejected(cause) | ReadError::Unavailable(cause) => {
                Fault::unavailable(cause)
            }
            ReadError::TooLarge => Fault::new(
                FaultKind::AnswerTooLarge,
                "The answer is larger than allowed. Ask for fewer rows or fields.",
            ),
            ReadError::SchemaChanged(cause) | ReadError::Rejected(cause) => Fault::internal(cause),
            ReadError::Invalid(fault) => *fault,
        }
    }
}
