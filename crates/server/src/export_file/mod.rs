//! The export file of a tenant. Its first line names the format; then come blocks, each encrypted with the file's own key
//! and bound to its position, so that none can be removed, moved or changed; the last block contains the number of rows.
//! A SHA-256 of everything before it and the sending installation's signature of that end the file.
//!
//! The key is a file of its own, created by the export and readable by its owner only. It must be sent over another
//! channel: both together give access to all data of the tenant. Neither contains a master key.

mod files;
mod key;
mod reader;
mod row;
mod signature;
mod writer;

use std::fmt;
use std::io;
use std::path::PathBuf;

pub use files::ExportFiles;
pub use key::{create_key, read_key};
pub use reader::ExportReader;
pub use signature::verify_sender;
pub use writer::{ExportSummary, ExportWriter};

/// The first line, before the format number.
const MAGIC: &str = "frontdesk-tenant ";
/// Format 1 had no signature.
const FORMAT: u32 = 2;
/// Longer blocks are refused.
const MAX_BLOCK: usize = 64 * 1024 * 1024;

/// The type of a block, which is authenticated with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Manifest,
    Rows,
    End,
}

impl Block {
    fn as_str(self) -> &'static str {
        match self {
            Block::Manifest => "manifest",
            Block::Rows => "rows",
            Block::End => "end",
        }
    }
}

#[derive(Debug)]
pub enum ExportFileError {
    Unusable {
        path: PathBuf,
        error: io::Error,
    },
    /// A file that the export would write exists.
    Exists {
        path: PathBuf,
    },
    /// So does the temporary file of another export.
    Unfinished {
        path: PathBuf,
    },
    /// The key and the rows would be the same file.
    SameFile {
        path: PathBuf,
    },
    NotAnExport {
        path: PathBuf,
    },
    NewerFormat {
        path: PathBuf,
        format: u32,
    },
    Damaged {
        path: PathBuf,
    },
    WrongKey {
        path: PathBuf,
    },
    /// It is of a release that did not sign.
    Unsigned {
        path: PathBuf,
    },
    /// It is signed, but not by the named installation, or it was changed by somebody who has its key.
    OtherSender {
        path: PathBuf,
    },
    KeyExposed {
        path: PathBuf,
    },
    InvalidKey {
        path: PathBuf,
    },
}

impl fmt::Display for ExportFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportFileError::Unusable { path, error } => write!(out, "cannot use {}: {error}", path.display()),
            ExportFileError::Exists { path } => write!(out, "{} exists already; name another file", path.display()),
            ExportFileError::Unfinished { path } => write!(
                out,
                "{} exists already: another export is running, or was interrupted. \
                 Name another file, or delete it",
                path.display()
            ),
            ExportFileError::SameFile { path } => {
                write!(out, "{} is used for the rows; name another file for the key with --key", path.display())
            }
            ExportFileError::NotAnExport { path } => {
                write!(out, "{} is not a file written by `frontdesk tenant export`", path.display())
            }
            ExportFileError::NewerFormat { path, format } => write!(
                out,
                "{} is in format {format}, and this version of Frontdesk reads formats up to {FORMAT}. \
                 Import it with the version that wrote it, or a newer one.",
                path.display()
            ),
            ExportFileError::Damaged { path } => write!(
                out,
                "{} is truncated or was changed. Copy it again, and compare its SHA-256 with the one that the export printed.",
                path.display()
            ),
            ExportFileError::WrongKey { path } => write!(
                out,
                "the key does not decrypt {}. Name the key file that was written with it with --key.",
                path.display()
            ),
            ExportFileError::Unsigned { path } => write!(
                out,
                "{} has no signature, because an earlier version of Frontdesk wrote it. Export the tenant again with this \
                 version, or import it with --unverified if you know where it comes from.",
                path.display()
            ),
            ExportFileError::OtherSender { path } => write!(
                out,
                "{} was not signed by the installation that --sender names. Compare the public key with the one that \
                 `frontdesk tenant export` printed there, and do not import the file if they are the same.",
                path.display()
            ),
            ExportFileError::KeyExposed { path } => write!(
                out,
                "{} can be read by other users, and it decrypts all data of the tenant. Run: chmod 600 {}",
                path.display(),
                path.display()
            ),
            ExportFileError::InvalidKey { path } => {
                write!(out, "{} is not the key of an export file (64 hexadecimal digits)", path.display())
            }
        }
    }
}

impl std::error::Error for ExportFileError {}

#[cfg(test)]
mod tests;
