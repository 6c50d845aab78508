//! The file of a SQLite site: whether it is still the same one, and whether reading it does no harm to the site.

use std::collections::HashMap;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::error::Failure;

/// Which file it is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    /// Nothing if there is no file.
    pub(super) fn of(path: &Path) -> Option<Identity> {
        let known = std::fs::metadata(path).ok()?;
        Some(Identity { device: known.dev(), number: known.ino() })
    }
}

/// Whoever opens a file in WAL mode first makes the two files beside it, and they are then his. The site could not write
/// any more if they were ours.
pub(super) fn may_be_read_beside(path: &Path, file: Identity) -> Result<(), Failure> {
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        Path::new(&name).exists()
    };
    let marks = match beside("-wal") && beside("-shm") {
        true => Marks::There,
        false => Marks::Absent,
    };
    // Where nobody says who we are, the site's owner has to know.
    let (Some(owner), Some(reader)) = (owner_of(path), owner_of(Path::new("/proc/self"))) else {
        return Ok(());
    };
    match would_take_the_marks(&header_once(path, file), marks, owner, reader) {
        false => Ok(()),
        true => Err(Failure::Refused(format!(
            "{} is in WAL mode and belongs to another user. Reading it now would make files beside it that the site cannot \
             write. Run the desk as the site's user, or give the site another journal mode (PRAGMA journal_mode = DELETE)",
            path.display()
        ))),
    }
}

pub(super) fn cannot_open(path: &Path) -> String {
    format!(
        "{} cannot be opened. The file must be there and readable; if the site uses it in WAL mode, its folder must be writable too",
        path.display()
    )
}

/// Whether the files beside the database that readers keep their marks in are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marks {
    There,
    Absent,
}

/// The first bytes of the file say whether it is in WAL mode. What the superuser makes is given to the file's owner.
fn would_take_the_marks(header: &[u8], marks: Marks, owner: u32, reader: u32) -> bool {
    header.get(18..20) == Some(&[2, 2]) && marks == Marks::Absent && reader != owner && reader != 0
}

/// A file is read so only once, before SQLite opens it for the first time: whoever closes a file ends all locks that
/// his process has on it, SQLite's own among them.
fn header_once(path: &Path, file: Identity) -> Vec<u8> {
    static KNOWN: Mutex<Option<HashMap<Identity, Vec<u8>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().entry(file).or_insert_with(|| header(path)).clone()
}

fn header(path: &Path) -> Vec<u8> {
    let mut header = Vec::new();
    // A file that cannot be read is told when it is opened.
    let _ = std::fs::File::open(path).and_then(|file| file.take(20).read_to_end(&mut header));
    header
}

fn owner_of(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|known| known.uid())
}

#[cfg(test)]
mod tests {
    use super::{Marks, header, would_take_the_marks};

    #[test]
    fn only_a_stranger_who_comes_first_would_take_the_files_of_a_site_in_wal_mode() {
        let folder = std::env::temp_dir().join(format!("fdwal-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let of = |mode: &str| {
            let path = folder.join(mode);
            let made = rusqlite::Connection::open(&path).unwrap();
            made.execute_batch(&format!("PRAGMA journal_mode = {mode}; CREATE TABLE t (id integer)")).unwrap();
            drop(made);
            header(&path)
        };
        let (wal, delete) = (of("WAL"), of("DELETE"));
        let (site, desk, root) = (1000, 1001, 0);
        assert!(would_take_the_marks(&wal, Marks::Absent, site, desk));
        assert!(!would_take_the_marks(&wal, Marks::There, site, desk));
        assert!(!would_take_the_marks(&wal, Marks::Absent, site, site));
        assert!(!would_take_the_marks(&wal, Marks::Absent, site, root));
        assert!(!would_take_the_marks(&delete, Marks::Absent, site, desk));
        assert!(!would_take_the_marks(&[], Marks::Absent, site, desk));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
