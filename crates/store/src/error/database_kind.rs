//! Which of the two databases an error is about.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
}

impl DatabaseKind {
    pub(super) fn write_newer(self, out: &mut fmt::Formatter<'_>, how: fmt::Arguments<'_>) -> fmt::Result {
        let (what, next) = match self {
            DatabaseKind::Sqlite => ("data folder", "name another folder with --data"),
            DatabaseKind::Postgres => ("PostgreSQL database", "name another one in `database`"),
        };
        write!(out, "the {what} is from a newer version of Frontdesk ({how}). Start the newer version, or {next}.")
    }
}
