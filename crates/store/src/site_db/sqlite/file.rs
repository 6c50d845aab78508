//! The file of a SQLite site: whether it is still the same file, and whether opening it would harm the site.

use std::collections::HashMap;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::site_db::error::ReadError;

/// Device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// None if there is no file.
    pub(super) fn of(path: &Path) -> Option<FileId> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(FileId { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// The first connection to a file in WAL mode creates its `-wal` and `-shm` files. If they belonged to our user, the
/// site could no longer write.
pub(super) fn check_wal_ownership(path: &Path, file: FileId) -> Result<(), ReadError> {
    let exists = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        Path::new(&name).exists()
    };
    let wal_files = if exists("-wal") && exists("-shm") { WalFiles::Present } else { WalFiles::Absent };
    let Some(owner) = owner_of(path) else {
        return Ok(());
    };
    // Not by /proc/self: it belongs to root while core dumps are disabled.
    let reader = rustix::process::geteuid().as_raw();
    if would_own_wal_files(&header_once(path, file), wal_files, owner, reader) {
        return Err(ReadError::Rejected(format!(
            "{} is in WAL mode and belongs to another user. Opening it now would create files beside it that the site \
             cannot write. Run Frontdesk as the site's user, or change the site's journal mode (PRAGMA journal_mode = \
             DELETE)",
            path.display()
        )));
    }
    Ok(())
}

pub(super) fn cannot_open(path: &Path) -> String {
    format!(
        "{} cannot be opened. The file must exist and be readable; if the site uses it in WAL mode, its folder must be \
         writable too",
        path.display()
    )
}

/// Whether the `-wal` and `-shm` files exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalFiles {
    Present,
    Absent,
}

/// Bytes 18 and 19 of the header are 2 in WAL mode. Files that the superuser creates are given to the file's owner.
fn would_own_wal_files(header: &[u8], wal_files: WalFiles, owner: u32, reader: u32) -> bool {
    header.get(18..20) == Some(&[2, 2]) && wal_files == WalFiles::Absent && reader != owner && reader != 0
}

/// Reads the header only before SQLite opens the file for the first time: closing a file drops all POSIX locks that the
/// process has on it, including SQLite's.
fn header_once(path: &Path, file: FileId) -> Vec<u8> {
    static HEADERS: Mutex<Option<HashMap<FileId, Vec<u8>>>> = Mutex::new(None);
    let mut headers = HEADERS.lock().unwrap_or_else(PoisonError::into_inner);
    headers.get_or_insert_default().entry(file).or_insert_with(|| header(path)).clone()
}

fn header(path: &Path) -> Vec<u8> {
    let mut header = Vec::new();
    // An unreadable file is reported when SQLite opens it.
    let _ = std::fs::File::open(path).and_then(|file| file.take(20).read_to_end(&mut header));
    header
}

fn owner_of(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|metadata| metadata.uid())
}

#[cfg(test)]
mod tests {
    use super::{WalFiles, header, would_own_wal_files};

    #[test]
    fn only_another_user_who_opens_first_would_own_wal_files() {
        let folder = std::env::temp_dir().join(format!("fdwal-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let header_in = |mode: &str| {
            let path = folder.join(mode);
            let connection = rusqlite::Connection::open(&path).unwrap();
            connection.execute_batch(&format!("PRAGMA journal_mode = {mode}; CREATE TABLE t (id integer)")).unwrap();
            drop(connection);
            header(&path)
        };
        let (wal, delete) = (header_in("WAL"), header_in("DELETE"));
        let (site, desk, root) = (1000, 1001, 0);
        assert!(would_own_wal_files(&wal, WalFiles::Absent, site, desk));
        assert!(!would_own_wal_files(&wal, WalFiles::Present, site, desk));
        assert!(!would_own_wal_files(&wal, WalFiles::Absent, site, site));
        assert!(!would_own_wal_files(&wal, WalFiles::Absent, site, root));
        assert!(!would_own_wal_files(&delete, WalFiles::Absent, site, desk));
        assert!(!would_own_wal_files(&[], WalFiles::Absent, site, desk));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
