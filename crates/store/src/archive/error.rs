//! What can keep a site's database from being read. Its text is for operators, and says what to do next.

use std::fmt;

use frontdesk_engine::{Fault, FaultKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveError {
    /// The address cannot be used, and why.
    Address(String),
    /// The prefix has letters that no prefix has.
    Prefix(String),
    /// No tables of a site are under this prefix; these are the prefixes under which there are.
    NoSite { prefix: String, found: Vec<String> },
    /// The database is there and has refused us, or is none: why, and what to do about it.
    Unreachable(String),
    /// Nobody answers where the database should be. It may be there later.
    Down(String),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::Address(why) => write!(out, "the address of the site's database cannot be used: {why}"),
            ArchiveError::Prefix(prefix) => {
                write!(
                    out,
                    "{prefix:?} is no table prefix: it has letters, digits and _ only. Write it as the site's own configuration does"
                )
            }
            ArchiveError::NoSite { prefix, found } if found.is_empty() => write!(
                out,
                "the database has no table {prefix}site_content, nor one with another prefix. Check that it is the site's \
                 database and that this user may read its tables"
            ),
            ArchiveError::NoSite { prefix, found } => {
                let found: Vec<String> = found.iter().map(|prefix| format!("\"{prefix}\"")).collect();
                write!(
                    out,
                    "the database has no table {prefix}site_content. Tables of a site were found under: {}. Write one of \
                     them as `prefix`",
                    found.join(", ")
                )
            }
            ArchiveError::Unreachable(why) => write!(out, "cannot read the site's database: {why}"),
            ArchiveError::Down(why) => {
                write!(out, "cannot read the site's database: {why}. Check its address and that the server runs")
            }
        }
    }
}

impl std::error::Error for ArchiveError {}

/// Why a statement gave no rows.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection is gone; on another one it may work.
    Gone(String),
    /// It took too long, or the database has no room for it now.
    Unavailable(String),
    TooLarge,
    /// The database has other tables or columns than it had when it was looked at.
    Changed(String),
    /// The database would refuse it again.
    Refused(String),
    /// What is asked for is wrong, whatever the database says.
    Told(Box<Fault>),
}

impl Failure {
    /// What it means to somebody who is opening the database.
    pub(crate) fn at_opening(self) -> ArchiveError {
        match self {
            Failure::Gone(why) | Failure::Unavailable(why) => ArchiveError::Down(why),
            Failure::Refused(why) | Failure::Changed(why) => ArchiveError::Unreachable(why),
            Failure::TooLarge => ArchiveError::Unreachable("its list of columns is too long".to_owned()),
            Failure::Told(fault) => ArchiveError::Unreachable(fault.message.into_owned()),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Told(Box::new(fault))
    }
}

/// Looking again at a database that was open before.
impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Failure {
        Failure::Unavailable(error.to_string())
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Fault {
        match failure {
            Failure::Gone(why) | Failure::Unavailable(why) => Fault::unavailable(why),
            Failure::TooLarge => Fault::new(
                FaultKind::AnswerTooLarge,
                "The answer is larger than allowed. Ask for fewer rows or fields.",
            ),
            Failure::Changed(why) | Failure::Refused(why) => Fault::internal(why),
            Failure::Told(fault) => *fault,
        }
    }
}
