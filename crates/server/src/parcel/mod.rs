//! The file a tenant travels in. It begins with a line that says what it is and in which format; then come blocks,
//! each sealed with the file's own key for its place in the order, so that none can be left out, moved or changed;
//! the last one says how many rows there were, and a SHA-256 of everything before it ends the file.
//!
//! The key is a file of its own, made by the export and readable by its owner alone. It must travel another way:
//! whoever has both has everything the tenant has. Neither master key is ever in either.

mod field;
mod files;
mod key;
mod read;
mod write;

use std::fmt;
use std::io;
use std::path::PathBuf;

pub use files::Files;
pub use key::{make_key, read_key};
pub use read::Parcel;
pub use write::{Packer, Sent};

/// The first line, before the number of the format.
const NAME: &str = "frontdesk-tenant ";
const FORMAT: u32 = 1;
/// No block may claim to be longer.
const LONGEST: usize = 64 * 1024 * 1024;

/// Which block it is, for the seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Manifest,
    Rows,
    End,
}

impl Block {
    fn word(self) -> &'static str {
        match self {
            Block::Manifest => "manifest",
            Block::Rows => "rows",
            Block::End => "end",
        }
    }
}

#[derive(Debug)]
pub enum ParcelError {
    Unusable {
        path: PathBuf,
        error: io::Error,
    },
    /// What an export is to write is there.
    Taken {
        path: PathBuf,
    },
    /// So is the rest of another export.
    Left {
        path: PathBuf,
    },
    /// The key would take the place of the rows.
    Shared {
        path: PathBuf,
    },
    NotOurs {
        path: PathBuf,
    },
    Newer {
        path: PathBuf,
        format: u32,
    },
    Damaged {
        path: PathBuf,
    },
    WrongKey {
        path: PathBuf,
    },
    Exposed {
        path: PathBuf,
    },
    BadKey {
        path: PathBuf,
    },
}

impl fmt::Display for ParcelError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParcelError::Unusable { path, error } => write!(out, "cannot use {}: {error}", path.display()),
            ParcelError::Taken { path } => write!(out, "{} is there already; name another file", path.display()),
            ParcelError::Left { path } => write!(
                out,
                "{} is there already: another export is under way, or has ended in its middle. \
                 Name another file, or remove it",
                path.display()
            ),
            ParcelError::Shared { path } => {
                write!(out, "{} is needed for the rows; name another file for the key with --key", path.display())
            }
            ParcelError::NotOurs { path } => {
                write!(out, "{} is no file that `frontdesk dealership export` has written", path.display())
            }
            ParcelError::Newer { path, format } => write!(
                out,
                "{} is in format {format}, and this Frontdesk knows formats up to {FORMAT}. \
                 Import it with the version that wrote it, or a newer one.",
                path.display()
            ),
            ParcelError::Damaged { path } => write!(
                out,
                "{} was cut off or changed on its way. Copy it again, and compare its SHA-256 with the one that the export printed.",
                path.display()
            ),
            ParcelError::WrongKey { path } => write!(
                out,
                "the key does not open {}. Name the key file that was made with it with --key.",
                path.display()
            ),
            ParcelError::Exposed { path } => write!(
                out,
                "{} can be read by others, and with it the whole dealership can. Run: chmod 600 {}",
                path.display(),
                path.display()
            ),
            ParcelError::BadKey { path } => {
                write!(out, "{} is no key of a dealership's file (64 hexadecimal digits)", path.display())
            }
        }
    }
}

impl std::error::Error for ParcelError {}

#[cfg(test)]
mod tests;
