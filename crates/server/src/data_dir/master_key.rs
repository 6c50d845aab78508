//! The file of the master key: 64 hexadecimal digits and, on a line of its own, that the rows of the database carry MACs.
//! With that line a database whose rows have none is refused, so whoever can write only to the database cannot have
//! rows trusted that he has changed.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;
use frontdesk_store::UnauthenticatedRows;
use zeroize::Zeroizing;

use super::{DataDirError, decode_hex, encode_hex, unusable};

/// The second line, once the rows of the database carry MACs.
const AUTHENTICATED: &str = "rows authenticated";

/// The text of a key file is shorter.
const KEY_FILE_ROOM: usize = 256;

/// What the file contains.
#[derive(Debug, Clone)]
pub struct MasterKey {
    pub key: SealKey,
    /// What to do with a database whose rows have no MACs.
    pub rows: UnauthenticatedRows,
}

impl MasterKey {
    pub fn read(path: &Path) -> Result<MasterKey, DataDirError> {
        let failed = |error| unusable(path, error);
        let mut file = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(DataDirError::KeyMissing { path: path.to_owned() });
            }
            opened => opened.map_err(failed)?,
        };
        if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(DataDirError::KeyExposed { path: path.to_owned() });
        }
        // With room for more than a key: text that has to be moved to grow would leave a copy behind.
        let mut text = Zeroizing::new(String::with_capacity(KEY_FILE_ROOM));
        file.read_to_string(&mut text).map_err(failed)?;
        MasterKey::parse(&text).ok_or_else(|| DataDirError::InvalidKey { path: path.to_owned() })
    }

    fn parse(text: &str) -> Option<MasterKey> {
        let mut lines = text.trim().lines().map(str::trim);
        let key = SealKey::from_bytes(decode_hex(lines.next()?)?);
        let rows = match lines.next() {
            None => UnauthenticatedRows::Adopt,
            Some(AUTHENTICATED) => UnauthenticatedRows::Refuse,
            Some(_) => return None,
        };
        lines.next().is_none().then_some(MasterKey { key, rows })
    }

    /// A new key for a new database, whose rows will all carry MACs.
    pub(super) fn create(path: &Path, random: &dyn Random) -> Result<(), DataDirError> {
        MasterKey { key: SealKey::random(random), rows: UnauthenticatedRows::Refuse }.write(path)
    }

    /// The key in this file, which is created unless a rotation was interrupted after that.
    pub fn read_or_create(path: &Path, random: &dyn Random) -> Result<MasterKey, DataDirError> {
        if !path.exists() {
            MasterKey::create(path, random)?;
        }
        MasterKey::read(path)
    }

    /// Remembers that the rows of the database carry MACs. A file that cannot be replaced stays as it is: it may be on a
    /// read-only volume, and then the operator adds the line.
    pub fn remember_macs(&self, path: &Path) {
        if self.rows == UnauthenticatedRows::Refuse {
            return;
        }
        let known = MasterKey { key: self.key.clone(), rows: UnauthenticatedRows::Refuse };
        if let Err(error) = known.write(path) {
            let path = path.display();
            tracing::warn!(
                %path, %error, line = AUTHENTICATED,
                "the master key file cannot be replaced: add the line to it, so that rows without MACs are refused"
            );
        }
    }

    /// The complete key is on disk before it is renamed, and renamed before anything is encrypted with it, so that a
    /// crash leaves neither half a key nor data without its key.
    pub fn write(&self, path: &Path) -> Result<(), DataDirError> {
        let failed = |error| DataDirError::Unusable { path: path.to_owned(), error };
        let temporary = path.with_added_extension("new");
        let _ = fs::remove_file(&temporary);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary).map_err(failed)?;
        let mut text = Zeroizing::new(String::with_capacity(KEY_FILE_ROOM));
        text.push_str(&encode_hex(self.key.expose()));
        text.push('\n');
        if self.rows == UnauthenticatedRows::Refuse {
            text.push_str(AUTHENTICATED);
            text.push('\n');
        }
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&temporary, path).map_err(failed)?;
        match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed),
            None => Ok(()),
        }
    }
}

/// Where a new master key is until it takes the place of the old one.
pub fn next_key_file(path: &Path) -> PathBuf {
    path.with_added_extension("next")
}

/// Puts a new key into the place of the old one; a crash leaves one of them.
pub fn replace_key(next: &Path, path: &Path) -> Result<(), DataDirError> {
    let failed = |error| DataDirError::Unusable { path: path.to_owned(), error };
    fs::rename(next, path).map_err(failed)?;
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Option<UnauthenticatedRows> {
        MasterKey::parse(text).map(|master| master.rows)
    }

    #[test]
    fn a_key_file_says_whether_rows_carry_macs() {
        let key = "07".repeat(32);
        assert_eq!(rows(&key), Some(UnauthenticatedRows::Adopt));
        assert_eq!(rows(&format!("{key}\n")), Some(UnauthenticatedRows::Adopt));
        assert_eq!(rows(&format!("{key}\nrows authenticated\n")), Some(UnauthenticatedRows::Refuse));
        assert_eq!(rows(&format!("{key}\nrows trusted")), None);
        assert_eq!(rows(&format!("{key}\nrows authenticated\n{key}")), None);
        assert_eq!(rows("07"), None);
    }
}
