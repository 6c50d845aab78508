//! `frontdesk backup` and `frontdesk restore`. Neither copies the master key, and neither overwrites anything.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use frontdesk_engine::Fault;
use frontdesk_store::{AuditReader, StoreError, back_up, inspect};
use serde_json::json;

use super::audit::compared_tables;
use super::{CliError, DataArgs, resolve_paths, runtime};
use crate::app::{DataBackend, existing_root_key};
use crate::config::DatabaseConfig;
use crate::data_dir::{self, DataDir, DataDirError};

/// Copy the data into one file, also while a server is running.
#[derive(Debug, Args)]
#[command(
    long_about = "Writes a consistent snapshot of the database into one new file. A running server continues to read and \
        write meanwhile.\n\n\
        The master key is not in the file, and without it no personal data in the file can be decrypted: keep a copy of \
        master.key in another place than the backups. Development certificates are not in it either.",
    after_help = "\
Examples:
  frontdesk backup /mnt/backups/desk-$(date +%F).db
  frontdesk backup desk.db --config frontdesk.toml"
)]
pub(super) struct BackupArgs {
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

/// Create a data folder from a backup.
#[derive(Debug, Args)]
#[command(
    long_about = "Checks a backup and creates a data folder from it. The folder must be empty or contain only the \
        master.key that belongs to the backup; with the key, the restored database is opened and its audit log is \
        verified.\n\n\
        Everything is as it was at the time of the backup: clients that were revoked or rotated since then have their \
        old state again.",
    after_help = "\
Examples:
  install -d -m 700 restored && install -m 600 /safe/master.key restored/
  frontdesk restore /mnt/backups/desk-2026-01-31.db --data restored"
)]
pub(super) struct RestoreArgs {
    /// A file written by `frontdesk backup`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

/// Works beside a running server, because SQLite allows other readers.
pub(super) fn run_backup(args: BackupArgs) -> Result<ExitCode, CliError> {
    let data = embedded(args.data)?;
    data_dir::require_data(&data, &DatabaseConfig::Embedded)?;
    let bytes = back_up(&data_dir::database_file(&data), &args.file)?;
    writeln!(
        io::stdout().lock(),
        "{bytes} bytes written to {}\n\
         The master key is not in it, and without the key no personal data in it can be decrypted.\n\
         Keep a copy of {} in another place.",
        args.file.display(),
        data_dir::master_key_file(&data).display(),
    )?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn run_restore(args: RestoreArgs) -> Result<ExitCode, CliError> {
    let data = embedded(args.data)?;
    let backup = &args.file;
    if !backup.is_file() {
        return Err(format!("there is no file {}; name one written by `frontdesk backup`", backup.display()).into());
    }
    inspect(backup).map_err(|error| invalid(backup, &error))?;
    require_empty(&data)?;
    let data_dir = DataDir::lock(&data)?;
    let key = data_dir::master_key_file(&data);
    // An unusable key is reported before anything is copied.
    let master = if key.exists() { Some(data_dir::read_master_key(&key)?) } else { None };
    let database = data_dir::database_file(&data);
    copy(backup, &database).map_err(|error| format!("cannot write {}: {error}", database.display()))?;
    let mut out = io::stdout().lock();
    let restored = format!("{} restored into {}", backup.display(), data.display());
    if master.is_none() {
        writeln!(
            out,
            "{restored}\n\
             A backup contains no master key. Put the one that belongs to it at {}, readable by its owner only,\n\
             then check that both belong together: frontdesk audit verify --data {}",
            key.display(),
            data.display(),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = runtime()?;
    match runtime.block_on(DataBackend::open(data_dir, &DatabaseConfig::Embedded)) {
        Ok(backend) => runtime.block_on(record_restore(&backend))?,
        Err(error) => {
            discard(&database);
            return Err(format!("the backup was not restored: {error}").into());
        }
    }
    writeln!(out, "{restored}")?;
    let root = runtime.block_on(existing_root_key(&data, &DatabaseConfig::Embedded))?;
    if !AuditReader::open(&database, &root).verify(&compared_tables())?.is_intact() {
        return Err(
            "the data was restored, but its audit log was changed or is incomplete; see `frontdesk audit verify`"
                .into(),
        );
    }
    writeln!(out, "It was opened with the master key in the folder, and its audit log is complete and unchanged.")?;
    Ok(ExitCode::SUCCESS)
}

/// With a backup the audit record goes back to an earlier time, and anchors show it. The summary counts the restore, so
/// that it is told from a database that somebody put back.
async fn record_restore(backend: &DataBackend) -> Result<(), CliError> {
    let at = backend.clock.now();
    let record = json!({"at": at.to_rfc3339(), "operator": "restore", "outcome": "ok"}).to_string();
    let failed = |fault: Fault| format!("the restore was not recorded: {}", fault.cause.unwrap_or_default());
    backend.store.count_restore(at, record).await.map_err(failed)?;
    backend.store.seal_audit().await.map_err(failed)?;
    Ok(())
}

fn invalid(backup: &Path, error: &StoreError) -> String {
    let why = if let StoreError::Damaged { why, .. } = error {
        why
    } else if let StoreError::NotOurs { .. } = error {
        "it is not a Frontdesk database"
    } else {
        return format!("{} cannot be restored: {error}", backup.display());
    };
    let next = "Use another file written by `frontdesk backup`.";
    format!("{} cannot be restored, because it is not a complete backup: {why}. {next}", backup.display())
}

/// PostgreSQL has its own tools, which do this better.
fn embedded(args: DataArgs) -> Result<PathBuf, CliError> {
    match resolve_paths(args)? {
        (data, DatabaseConfig::Embedded) => Ok(data),
        (_, DatabaseConfig::Postgres(_)) => {
            Err("the data is in PostgreSQL: back it up with pg_dump and restore it with pg_restore".into())
        }
    }
}

/// The key, and the lock of an earlier attempt, are allowed.
fn require_empty(data: &Path) -> Result<(), CliError> {
    let entries = match fs::read_dir(data) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| DataDirError::Unusable { path: data.to_owned(), error })?,
    };
    for entry in entries {
        let name = entry?.file_name();
        if name != "master.key" && name != "lock" {
            return Err(format!(
                "{} is not empty: it contains {}. Name a new folder with --data, or one with only its master.key.",
                data.display(),
                name.to_string_lossy(),
            )
            .into());
        }
    }
    Ok(())
}

fn copy(backup: &Path, database: &Path) -> io::Result<()> {
    let temporary = database.with_added_extension("new");
    let _ = fs::remove_file(&temporary);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    io::copy(&mut File::open(backup)?, &mut file)?;
    file.sync_all()?;
    fs::rename(&temporary, database)?;
    database.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// The folder is as before, ready for the right key.
fn discard(database: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        let _ = fs::remove_file(name);
    }
}
