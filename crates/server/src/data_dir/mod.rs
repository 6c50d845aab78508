//! The data folder: its lock, its files and its master key. Only one process at a time locks it for writing; the master
//! key is readable by its owner only.

mod master_key;

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontdesk_engine::ports::Random;
use zeroize::Zeroizing;

use crate::config::DatabaseConfig;

pub use master_key::{MasterKey, next_key_file, replace_key};

#[derive(Debug)]
pub enum DataDirError {
    Unusable { path: PathBuf, error: io::Error },
    KeyExposed { path: PathBuf },
    DirExposed { path: PathBuf },
    InvalidKey { path: PathBuf },
    KeyMissing { path: PathBuf },
    NoData { path: PathBuf },
    OtherOwner { path: PathBuf, owner: String },
    Locked { path: PathBuf },
}

impl fmt::Display for DataDirError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataDirError::Unusable { path, error } if is_full(error) => write!(
                out,
                "there is no space left to write {} ({error}). Free some space on its disk, or name another folder with --data.",
                path.display()
            ),
            DataDirError::Unusable { path, error } => write!(
                out,
                "cannot use {}: {error}. Check its owner and permissions, or name another folder with --data.",
                path.display()
            ),
            DataDirError::KeyExposed { path } => write!(
                out,
                "{} can be read by others; consider everything encrypted with it disclosed. Run: chmod 600 {}",
                path.display(),
                path.display()
            ),
            DataDirError::DirExposed { path } => write!(
                out,
                "{} is accessible to other users, and it contains the master key. Run: chmod 700 {}",
                path.display(),
                path.display()
            ),
            DataDirError::InvalidKey { path } => write!(
                out,
                "{} is not a master key (64 hexadecimal digits). Restore the file that was created with this data folder.",
                path.display()
            ),
            DataDirError::KeyMissing { path } => write!(
                out,
                "{} is missing, and without it the encrypted data cannot be read. \
                 Restore the file that was created with this data folder.",
                path.display()
            ),
            DataDirError::NoData { path } => write!(
                out,
                "there is no Frontdesk data in {}. Start `frontdesk demo` or `frontdesk serve` once, or name the folder with --data.",
                path.display()
            ),
            DataDirError::OtherOwner { path, owner } => write!(
                out,
                "{} belongs to another user, {owner}, and only that user has access. \
                 Run the command as that user, with: sudo -u '{owner}'",
                path.display()
            ),
            DataDirError::Locked { path } => write!(
                out,
                "another Frontdesk is using {}. Stop it, or name another folder with --data.",
                path.display()
            ),
        }
    }
}

impl std::error::Error for DataDirError {}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// The folder while this process locks it: until the last clone is dropped.
#[derive(Debug, Clone)]
pub struct DataDir {
    path: PathBuf,
    key_file: PathBuf,
    _lock: Arc<File>,
}

impl DataDir {
    /// Locks the folder, and creates it if it does not exist.
    pub fn lock(path: &Path) -> Result<DataDir, DataDirError> {
        let failed = |error| unusable(path, error);
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        if fs::metadata(path).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(DataDirError::DirExposed { path: path.to_owned() });
        }
        let mut options = OpenOptions::new();
        let lock = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = lock.open(path.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(DataDirError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(DataDir { path: path.to_owned(), key_file: master_key_file(path), _lock: Arc::new(lock) })
    }

    /// Locks a folder that must contain data already.
    pub fn lock_existing(path: &Path, key_file: &Path, database: &DatabaseConfig) -> Result<DataDir, DataDirError> {
        require_data(path, key_file, database)?;
        Ok(DataDir::lock(path)?.with_key_file(key_file))
    }

    /// With the master key in another file than that of the folder.
    pub fn with_key_file(self, key_file: &Path) -> DataDir {
        DataDir { key_file: key_file.to_owned(), ..self }
    }

    pub fn key_file(&self) -> &Path {
        &self.key_file
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the key if there is neither a key nor a database yet.
    pub fn master_key(&self, random: &dyn Random) -> Result<MasterKey, DataDirError> {
        if !self.key_file.exists() && !database_file(&self.path).exists() {
            MasterKey::create(&self.key_file, random)?;
        }
        MasterKey::read(&self.key_file)
    }
}

/// Everything that prevents a server from using this folder. Nothing is created or locked.
pub fn check(path: &Path, key_file: &Path) -> Vec<DataDirError> {
    let failed = |error| unusable(path, error);
    let Ok(metadata) = fs::metadata(path) else {
        // It will be created in the nearest parent folder that exists.
        let above = path.ancestors().skip(1).find(|above| above.as_os_str().is_empty() || above.exists());
        let above = above.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return try_writing(above).map_err(failed).err().into_iter().collect();
    };
    let mut errors = Vec::new();
    if metadata.permissions().mode() & 0o077 != 0 && metadata.is_dir() {
        errors.push(DataDirError::DirExposed { path: path.to_owned() });
    }
    errors.extend(try_writing(path).map_err(failed).err());
    if key_file.exists() || database_file(path).exists() {
        errors.extend(MasterKey::read(key_file).err());
    }
    errors
}

fn try_writing(folder: &Path) -> io::Result<()> {
    let trial = folder.join(format!(".frontdesk-check-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&trial)?;
    fs::remove_file(&trial)
}

/// Fails if the folder contains no data. With PostgreSQL, only the key is in the folder.
pub fn require_data(path: &Path, key_file: &Path, database: &DatabaseConfig) -> Result<(), DataDirError> {
    let file = match database {
        DatabaseConfig::Embedded => database_file(path),
        DatabaseConfig::Postgres(_) => key_file.to_owned(),
    };
    match file.try_exists() {
        Ok(true) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(unusable(&file, error)),
        Ok(false) | Err(_) => Err(DataDirError::NoData { path: path.to_owned() }),
    }
}

/// Names the owner if the path, or a parent folder that cannot be read, belongs to another user.
fn unusable(path: &Path, error: io::Error) -> DataDirError {
    let seen = path.ancestors().find_map(|path| fs::metadata(path).ok().map(|metadata| (path, metadata)));
    // Not by /proc/self: it belongs to root while core dumps are disabled.
    let reader = rustix::process::geteuid().as_raw();
    match seen {
        Some((seen, metadata))
            if error.kind() == io::ErrorKind::PermissionDenied
                && metadata.mode() & 0o007 == 0
                && reader != metadata.uid() =>
        {
            DataDirError::OtherOwner { path: seen.to_owned(), owner: user_name(metadata.uid()) }
        }
        Some(_) | None => DataDirError::Unusable { path: path.to_owned(), error },
    }
}

/// As `sudo -u` accepts it: a number for a user without a name.
fn user_name(user: u32) -> String {
    let number = user.to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut lines = users.lines().map(|line| line.split(':'));
    let name = lines.find_map(|mut fields| fields.next().filter(|_| fields.nth(1) == Some(number.as_str())));
    name.map_or(format!("#{number}"), str::to_owned)
}

pub fn database_file(folder: &Path) -> PathBuf {
    folder.join("frontdesk.db")
}

pub fn tls_dir(folder: &Path) -> PathBuf {
    folder.join("tls")
}

pub fn admin_socket(folder: &Path) -> PathBuf {
    folder.join("operator.sock")
}

/// Where a server accepts the sessions of `frontdesk stdio`.
pub fn stdio_socket(folder: &Path) -> PathBuf {
    folder.join("stdio.sock")
}

/// Writes the link that makes the first user into a file that only its owner can read.
pub fn write_setup_link(folder: &Path, link: &str) -> Result<PathBuf, DataDirError> {
    let path = folder.join("setup-link");
    let _ = fs::remove_file(&path);
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(&path);
    opened.and_then(|mut file| writeln!(file, "{link}")).map_err(|error| unusable(&path, error))?;
    Ok(path)
}

/// Where the master key is unless `master_key` names another file.
pub fn master_key_file(folder: &Path) -> PathBuf {
    folder.join("master.key")
}

/// A key as its file holds it.
pub(crate) fn encode_hex(bytes: &[u8; 32]) -> Zeroizing<String> {
    let digit = |bits: u8| char::from_digit(u32::from(bits), 16).unwrap_or('0');
    let mut text = Zeroizing::new(String::with_capacity(2 * bytes.len()));
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

pub(crate) fn decode_hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
