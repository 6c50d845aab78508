//! `frontdesk backup` and `frontdesk restore`. Neither ever touches a master key, and neither writes over anything.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use frontdesk_store::{AuditReader, StoreError, back_up, inspect};

use super::{Failure, runtime, where_it_is};
use crate::cli::{Backup, Place, Restore};
use crate::config::Database;
use crate::folder::{self, Folder, FolderError};
use crate::house::Vaults;

/// Works beside a running server, since the database lets anybody read who may read its file.
pub(super) fn backup(command: Backup) -> Result<ExitCode, Failure> {
    let data = embedded(command.place)?;
    folder::must_have_data(&data, &Database::Embedded)?;
    let bytes = back_up(&folder::database(&data), &command.file)?;
    writeln!(
        io::stdout().lock(),
        "{bytes} bytes written to {}\n\
         The master key is not in it, and without the key nothing personal in it can be read.\n\
         Keep a copy of {} in another place.",
        command.file.display(),
        folder::key_file(&data).display(),
    )?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn restore(command: Restore) -> Result<ExitCode, Failure> {
    let data = embedded(command.place)?;
    let backup = &command.file;
    if !backup.is_file() {
        return Err(
            format!("there is no file {}; name one that `frontdesk backup` has written", backup.display()).into()
        );
    }
    inspect(backup).map_err(|error| unfit(backup, &error))?;
    refuse_used(&data)?;
    let folder = Folder::take(&data)?;
    let key = folder::key_file(&data);
    // A key that cannot be used is said before anything is copied.
    let master = match key.exists() {
        true => Some(folder::read_key(&key)?),
        false => None,
    };
    let database = folder::database(&data);
    copy(backup, &database).map_err(|error| format!("cannot write {}: {error}", database.display()))?;
    let mut out = io::stdout().lock();
    let restored = format!("{} restored into {}", backup.display(), data.display());
    let Some(master) = master else {
        writeln!(
            out,
            "{restored}\n\
             A backup holds no master key. Put the one that belongs to it at {}, readable by its owner alone,\n\
             then prove that both fit: frontdesk audit verify --data {}",
            key.display(),
            data.display(),
        )?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Err(error) = runtime()?.block_on(Vaults::open(folder, &Database::Embedded)) {
        discard(&database);
        return Err(format!("the backup was not restored: {error}").into());
    }
    writeln!(out, "{restored}")?;
    if !AuditReader::open(&database, &master).verify()?.is_intact() {
        return Err("the data was restored, but its audit record is not whole; see `frontdesk audit verify`".into());
    }
    writeln!(out, "It opens with the master key that is there, and its audit record is whole.")?;
    Ok(ExitCode::SUCCESS)
}

fn unfit(backup: &Path, error: &StoreError) -> String {
    let why = if let StoreError::Damaged { why, .. } = error {
        why
    } else if let StoreError::NotOurs { .. } = error {
        "it is no database of Frontdesk"
    } else {
        return format!("{} cannot be restored: {error}", backup.display());
    };
    let next = "Use another one that `frontdesk backup` has written.";
    format!("{} cannot be restored, because it is no whole backup: {why}. {next}", backup.display())
}

/// A database of its own has tools of its own, and they copy it better than we could.
fn embedded(place: Place) -> Result<PathBuf, Failure> {
    match where_it_is(place)? {
        (data, Database::Embedded) => Ok(data),
        (_, Database::Postgres(_)) => {
            Err("the data is in PostgreSQL: copy it with pg_dump and bring it back with pg_restore".into())
        }
    }
}

/// What may lie in a folder that is to be filled: the key, and the lock of an attempt before.
fn refuse_used(data: &Path) -> Result<(), Failure> {
    let entries = match fs::read_dir(data) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| FolderError::Unusable { path: data.to_owned(), error })?,
    };
    for entry in entries {
        let name = entry?.file_name();
        if name != "master.key" && name != "lock" {
            return Err(format!(
                "{} is not empty: it holds {}. Name a new folder with --data, or one with nothing but its master.key.",
                data.display(),
                name.to_string_lossy(),
            )
            .into());
        }
    }
    Ok(())
}

fn copy(backup: &Path, database: &Path) -> io::Result<()> {
    let draft = database.with_added_extension("new");
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    io::copy(&mut File::open(backup)?, &mut file)?;
    file.sync_all()?;
    fs::rename(&draft, database)?;
    database.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// The folder is as it was before, ready for the right key.
fn discard(database: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        let _ = fs::remove_file(name);
    }
}
