//! The databases that are measured, and what differs between them: where seeded data is kept, how each server is told
//! of it, and how many leads it holds. Everything else is the same for all.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
}

impl Database {
    pub const ALL: &'static [Database] = &[Database::Sqlite];

    pub fn name(self) -> &'static str {
        match self {
            Database::Sqlite => "sqlite",
        }
    }

    /// A copy of seeded data, so that what is kept for the next run stays as it was made.
    pub fn copy(self, seeded: &Path, to: &Path) -> Outcome<()> {
        match self {
            Database::Sqlite => {
                if to.exists() {
                    fs::remove_dir_all(to)?;
                }
                copy_folder(seeded, to)
            }
        }
    }

    /// What the reference is given as its database.
    pub fn reference(self, data: &Path) -> PathBuf {
        match self {
            Database::Sqlite => frontdesk::folder::database(data),
        }
    }

    /// How many leads there are, counted past both servers.
    pub fn leads(self, data: &Path) -> Outcome<u64> {
        match self {
            Database::Sqlite => {
                let connection = rusqlite::Connection::open(frontdesk::folder::database(data))?;
                let count: i64 = connection.query_row("SELECT count(*) FROM lead", [], |row| row.get(0))?;
                Ok(count.try_into()?)
            }
        }
    }
}

/// Modes are copied too: keys that others could read would be refused.
fn copy_folder(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
