//! The data folder: who may use it, and what lies in it. Only one process at a time holds it for
//! writing; the master key in it is readable by its owner alone.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontdesk_engine::ports::Random;
use frontdesk_engine::seal::SealKey;

use crate::config::Database;

#[derive(Debug)]
pub enum FolderError {
    Unusable { path: PathBuf, error: io::Error },
    Exposed { path: PathBuf },
    Shared { path: PathBuf },
    BadKey { path: PathBuf },
    LostKey { path: PathBuf },
    Missing { path: PathBuf },
    Foreign { path: PathBuf, owner: String },
    InUse { path: PathBuf },
}

impl fmt::Display for FolderError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FolderError::Unusable { path, error } => write!(
                out,
                "cannot use {}: {error}. Check its owner and permissions, or name another folder with --data.",
                path.display()
            ),
            FolderError::Exposed { path } => write!(
                out,
                "{} can be read by others; everything sealed with it must be considered open. Run: chmod 600 {}",
                path.display(),
                path.display()
            ),
            FolderError::Shared { path } => write!(
                out,
                "others on this machine can reach into {}, which holds the keys of this desk. Run: chmod 700 {}",
                path.display(),
                path.display()
            ),
            FolderError::BadKey { path } => write!(
                out,
                "{} is not a master key (64 hexadecimal digits). Put back the file that was made with this data folder.",
                path.display()
            ),
            FolderError::LostKey { path } => write!(
                out,
                "{} is missing, and nothing that was sealed with it can be read without it. \
                 Put back the file that was made with this data folder.",
                path.display()
            ),
            FolderError::Missing { path } => write!(
                out,
                "there is no Frontdesk data in {}. Start `frontdesk demo` or `frontdesk serve` once, or name the folder with --data.",
                path.display()
            ),
            FolderError::Foreign { path, owner } => write!(
                out,
                "{} belongs to another user, {owner}, and nobody else may use it. \
                 Run the command as that user, with: sudo -u '{owner}'",
                path.display()
            ),
            FolderError::InUse { path } => write!(
                out,
                "another Frontdesk is using {}. Stop it, or name another folder with --data.",
                path.display()
            ),
        }
    }
}

impl std::error::Error for FolderError {}

/// The folder while this process holds it, which it does until the last copy of this is gone.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    _lock: Arc<File>,
}

impl Folder {
    /// Takes the folder, making it if there is none.
    pub fn take(path: &Path) -> Result<Folder, FolderError> {
        let failed = |error| unusable(path, error);
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        if fs::metadata(path).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(FolderError::Shared { path: path.to_owned() });
        }
        let mut options = OpenOptions::new();
        let lock = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = lock.open(path.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(Folder { path: path.to_owned(), _lock: Arc::new(lock) })
    }

    /// Takes a folder that must have data in it already.
    pub fn take_existing(path: &Path, database: &Database) -> Result<Folder, FolderError> {
        must_have_data(path, database)?;
        Folder::take(path)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn master_key(&self, random: &dyn Random) -> Result<SealKey, FolderError> {
        let path = key_file(&self.path);
        if !path.exists() && !database(&self.path).exists() {
            create_key(&path, random)?;
        }
        read_key(&path)
    }
}

/// Everything that would keep a desk from using this folder. It is made by nobody here, and whoever holds it goes on.
pub fn examine(path: &Path) -> Vec<FolderError> {
    let failed = |error| unusable(path, error);
    let Ok(facts) = fs::metadata(path) else {
        // A desk will make it, in the first folder above it that is there.
        let above = path.ancestors().skip(1).find(|above| above.as_os_str().is_empty() || above.exists());
        let above = above.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return try_writing(above).map_err(failed).err().into_iter().collect();
    };
    let mut errors = Vec::new();
    if facts.permissions().mode() & 0o077 != 0 && facts.is_dir() {
        errors.push(FolderError::Shared { path: path.to_owned() });
    }
    errors.extend(try_writing(path).map_err(failed).err());
    let key = key_file(path);
    if key.exists() || database(path).exists() {
        errors.extend(read_key(&key).err());
    }
    errors
}

fn try_writing(folder: &Path) -> io::Result<()> {
    let trial = folder.join(format!(".frontdesk-check-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&trial)?;
    fs::remove_file(&trial)
}

/// Of a desk on PostgreSQL only the key is in the folder.
pub fn must_have_data(path: &Path, database: &Database) -> Result<(), FolderError> {
    let file = match database {
        Database::Embedded => self::database(path),
        Database::Postgres(_) => key_file(path),
    };
    match file.try_exists() {
        Ok(true) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(unusable(&file, error)),
        Ok(false) | Err(_) => Err(FolderError::Missing { path: path.to_owned() }),
    }
}

/// What is closed belongs to somebody: it, or the folder above it that cannot be looked into.
fn unusable(path: &Path, error: io::Error) -> FolderError {
    let seen = path.ancestors().find_map(|path| fs::metadata(path).ok().map(|facts| (path, facts)));
    let reader = fs::metadata("/proc/self").ok().map(|facts| facts.uid());
    match seen {
        Some((seen, facts))
            if error.kind() == io::ErrorKind::PermissionDenied
                && facts.mode() & 0o007 == 0
                && reader.is_some_and(|reader| reader != facts.uid()) =>
        {
            FolderError::Foreign { path: seen.to_owned(), owner: name_of(facts.uid()) }
        }
        Some(_) | None => FolderError::Unusable { path: path.to_owned(), error },
    }
}

/// As `sudo -u` takes it: a number where nobody knows the name.
fn name_of(user: u32) -> String {
    let number = user.to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut lines = users.lines().map(|line| line.split(':'));
    let name = lines.find_map(|mut fields| fields.next().filter(|_| fields.nth(1) == Some(number.as_str())));
    name.map_or(format!("#{number}"), str::to_owned)
}

pub fn database(folder: &Path) -> PathBuf {
    folder.join("frontdesk.db")
}

pub fn certificates(folder: &Path) -> PathBuf {
    folder.join("tls")
}

pub fn operator_socket(folder: &Path) -> PathBuf {
    folder.join("operator.sock")
}

pub fn key_file(folder: &Path) -> PathBuf {
    folder.join("master.key")
}

pub fn read_key(path: &Path) -> Result<SealKey, FolderError> {
    let failed = |error| unusable(path, error);
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(FolderError::LostKey { path: path.to_owned() });
        }
        opened => opened.map_err(failed)?,
    };
    if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
        return Err(FolderError::Exposed { path: path.to_owned() });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    unhex(text.trim()).map(SealKey::from_bytes).ok_or_else(|| FolderError::BadKey { path: path.to_owned() })
}

/// The whole key is on disk before it has its name, and the name before anything is sealed with it, so
/// that no crash leaves half a key or sealed data without one.
fn create_key(path: &Path, random: &dyn Random) -> Result<(), FolderError> {
    let failed = |error| FolderError::Unusable { path: path.to_owned(), error };
    let draft = path.with_extension("key.new");
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
    let key = SealKey::random(random);
    let text: String = key.expose().iter().map(|byte| format!("{byte:02x}")).collect();
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&draft, path).map_err(failed)?;
    match path.parent() {
        Some(folder) => File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed),
        None => Ok(()),
    }
}

pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
