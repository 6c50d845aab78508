//! Backups of the database while it is in use, and the check of a backup before it is restored. What is sealed stays
//! sealed: the master key is not included. A backup ends with a MAC over all of it, so that one that somebody has edited
//! is not restored.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek as _, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::seal::SealKey;
use rusqlite::{Connection, OpenFlags};

use super::schema_check::{SchemaScope, check_schema};
use crate::StoreError;
use crate::error::DatabaseKind;
use crate::sql::ddl;

/// What the key of the MAC is derived from the master key for.
const PURPOSE: &str = "backup";
/// Before the MAC, at the end of the file.
const MAGIC: &[u8; 16] = b"frontdesk backup";
const MAC_BYTES: usize = 32;
const TRAILER_BYTES: usize = MAGIC.len() + MAC_BYTES;
/// So much is read at a time.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Whether a backup without a MAC is restored. One with a wrong MAC never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupTrust {
    Verified,
    /// The operator vouches for it.
    Unverified,
}

/// What was found at the end of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupMac {
    Right,
    /// It was made by a release without MACs, or the MAC was cut off.
    Missing,
}

/// Writes a snapshot of the database into a new file that only its owner can read, and returns its size. Writers are
/// not blocked. The file gets its name only when it is complete and on disk.
pub fn back_up(database: &Path, to: &Path, master: &SealKey) -> Result<u64, StoreError> {
    let failed = |error| StoreError::Io { path: to.to_owned(), error };
    if to.exists() {
        return Err(StoreError::FileExists { path: to.to_owned() });
    }
    let partial = to.with_added_extension("part");
    let _ = fs::remove_file(&partial);
    let copied = copy(database, &partial).and_then(|()| {
        check_integrity(&partial)?;
        add_mac(&partial, master).map_err(failed)?;
        let file = File::open(&partial).map_err(failed)?;
        file.sync_all().and_then(|()| fs::rename(&partial, to)).map_err(failed)?;
        Ok(file.metadata().map_err(failed)?.len())
    });
    if copied.is_err() {
        let _ = fs::remove_file(&partial);
    }
    let length = copied?;
    // The rename is durable only after the folder is synced.
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    Ok(length)
}

/// Writes the database of a backup into a new file that only its owner can read. SQLite opens nothing before the MAC was
/// verified. What is left of a refused one is removed.
pub fn extract_backup(
    backup: &Path,
    to: &Path,
    master: &SealKey,
    trust: BackupTrust,
    tables: &[&'static TableSpec],
) -> Result<BackupMac, StoreError> {
    let _ = fs::remove_file(to);
    let extracted = extract(backup, to, master).and_then(|mac| match (mac, trust) {
        (Some(false), _) => Err(StoreError::BackupAltered { path: backup.to_owned() }),
        (None, BackupTrust::Verified) => {
            // A file that is no database at all is said to be that.
            check_integrity(to)?;
            Err(StoreError::BackupWithoutMac { path: backup.to_owned() })
        }
        (None, BackupTrust::Unverified) => Ok(BackupMac::Missing),
        (Some(true), _) => Ok(BackupMac::Right),
    });
    let checked = extracted.and_then(|mac| {
        check_integrity(to)?;
        let connection = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        check_schema(&connection, tables, SchemaScope::Backup)?;
        Ok(mac)
    });
    if checked.is_err() {
        let _ = fs::remove_file(to);
    }
    checked
}

/// Copies what is before the trailer. Whether the MAC is right; `None` if there is no trailer.
fn extract(backup: &Path, to: &Path, master: &SealKey) -> Result<Option<bool>, StoreError> {
    let read_failed = |error| StoreError::Io { path: backup.to_owned(), error };
    let write_failed = |error| StoreError::Io { path: to.to_owned(), error };
    let mut file = File::open(backup).map_err(read_failed)?;
    let stored = read_trailer(&mut file).map_err(read_failed)?;
    let length = file.metadata().map_err(read_failed)?.len();
    let length = if stored.is_some() { length.saturating_sub(TRAILER_BYTES as u64) } else { length };
    file.seek(SeekFrom::Start(0)).map_err(read_failed)?;
    let out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(write_failed)?;
    let mut out = BufWriter::new(out);
    let mut mac = BackupMacState::new(master);
    let mut reader = file.take(length);
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    while read_chunk(&mut reader, &mut chunk).map_err(read_failed)? {
        mac.update(&chunk);
        out.write_all(&chunk).map_err(write_failed)?;
    }
    let out = out.into_inner().map_err(io::IntoInnerError::into_error).map_err(write_failed)?;
    out.sync_all().map_err(write_failed)?;
    let computed = mac.finish();
    Ok(stored.map(|stored| stored.iter().zip(computed).fold(0, |all, (one, other)| all | (one ^ other)) == 0))
}

fn read_trailer(file: &mut File) -> io::Result<Option<[u8; MAC_BYTES]>> {
    if file.metadata()?.len() < TRAILER_BYTES as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-i64::try_from(TRAILER_BYTES).unwrap_or_default()))?;
    let (mut magic, mut mac) = ([0; MAGIC.len()], [0; MAC_BYTES]);
    file.read_exact(&mut magic)?;
    file.read_exact(&mut mac)?;
    Ok((magic == *MAGIC).then_some(mac))
}

fn add_mac(file: &Path, master: &SealKey) -> io::Result<()> {
    let mut mac = BackupMacState::new(master);
    let mut reader = BufReader::new(File::open(file)?);
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    while read_chunk(&mut reader, &mut chunk)? {
        mac.update(&chunk);
    }
    let mut file = OpenOptions::new().append(true).open(file)?;
    file.write_all(MAGIC)?;
    file.write_all(&mac.finish())?;
    file.sync_all()
}

/// Whether there was anything left to read.
fn read_chunk(reader: &mut impl Read, chunk: &mut Vec<u8>) -> io::Result<bool> {
    chunk.clear();
    reader.by_ref().take(CHUNK_BYTES as u64).read_to_end(chunk)?;
    Ok(!chunk.is_empty())
}

/// The MAC over everything so far: each chunk is hashed together with the MAC over those before it.
struct BackupMacState {
    key: SealKey,
    mac: [u8; MAC_BYTES],
    bytes: u64,
}

impl BackupMacState {
    fn new(master: &SealKey) -> BackupMacState {
        BackupMacState { key: master.derive(PURPOSE), mac: [0; MAC_BYTES], bytes: 0 }
    }

    fn update(&mut self, chunk: &[u8]) {
        self.bytes += chunk.len() as u64;
        self.mac = self.key.digest(&[b"chunk", &self.mac, chunk]);
    }

    fn finish(self) -> [u8; MAC_BYTES] {
        self.key.digest(&[b"end", &self.mac, &self.bytes.to_be_bytes()])
    }
}

/// Checks that a file is an intact Frontdesk database that this version can open.
fn check_integrity(file: &Path) -> Result<(), StoreError> {
    check_file(file).map_err(|error| error.of_file(file))
}

fn check_file(file: &Path) -> Result<(), StoreError> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = ddl::MIGRATIONS.len() as i64;
    if found > known {
        return Err(StoreError::NewerSchema { database: DatabaseKind::Sqlite, found, known });
    }
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'fd_tenant'", [], |row| row.get(0))?;
    if found == 0 || tables == 0 {
        return Err(StoreError::NotOurs { path: file.to_owned() });
    }
    let verdict: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(StoreError::Damaged { path: file.to_owned(), why: verdict }) }
}

fn copy(database: &Path, partial: &Path) -> Result<(), StoreError> {
    // Created before SQLite does, which would let others read it.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(partial)
        .map_err(|error| StoreError::Io { path: partial.to_owned(), error })?;
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute("VACUUM INTO ?1", [partial.to_string_lossy()])?;
    Ok(())
}
