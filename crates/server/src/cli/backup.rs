//! `frontdesk backup` and `frontdesk restore`. Neither copies the master key, and neither overwrites anything.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use frontdesk_engine::Fault;
use frontdesk_engine::seal::SealKey;
use frontdesk_store::{AuditReader, BackupMac, BackupTrust, StoreError, UnauthenticatedRows, back_up, extract_backup};
use serde_json::json;

use super::audit::compared_tables;
use super::{CliError, DataArgs, DataPaths, resolve_paths, runtime};
use crate::admin::unverified_restore_record;
use crate::app::{DataBackend, existing_root_key};
use crate::config::DatabaseConfig;
use crate::data_dir::{self, DataDir, DataDirError, MasterKey};

/// Copy the data into one file, also while a server is running.
#[derive(Debug, Args)]
#[command(
    long_about = "Writes a consistent snapshot of the database into one new file. A running server continues to read and \
        write meanwhile.\n\n\
        The master key is not in the file, and without it no personal data in the file can be decrypted: keep a copy of \
        master.key in another place than the backups. The file ends with a MAC, which is made with the key: one that was \
        changed by somebody without the key is not restored. Development certificates are not in it either.",
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
    long_about = "Checks a backup and creates a data folder from it. The folder must contain only the master.key that \
        belongs to the backup, or nothing if `master_key` names the key. Before anything is put in place, the MAC of the \
        backup and its schema are verified; then the database is opened and its audit log is verified.\n\n\
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
    /// Restore a backup of an earlier release, which has no MAC. Anybody could have changed it; the audit log says so
    #[arg(long)]
    unverified: bool,
    #[command(flatten)]
    data: DataArgs,
}

/// Works beside a running server, because SQLite allows other readers.
pub(super) fn run_backup(args: BackupArgs) -> Result<ExitCode, CliError> {
    let DataPaths { data, key_file, .. } = embedded(args.data)?;
    data_dir::require_data(&data, &key_file, &DatabaseConfig::Embedded)?;
    let master = MasterKey::read(&key_file)?;
    let bytes = back_up(&data_dir::database_file(&data), &args.file, &master.key)?;
    writeln!(
        io::stdout().lock(),
        "{bytes} bytes written to {}\n\
         The master key is not in it, and without the key no personal data in it can be decrypted.\n\
         Keep a copy of {} in another place.",
        args.file.display(),
        key_file.display(),
    )?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn run_restore(args: RestoreArgs) -> Result<ExitCode, CliError> {
    let DataPaths { data, key_file, .. } = embedded(args.data)?;
    let backup = &args.file;
    if !backup.is_file() {
        return Err(format!("there is no file {}; name one written by `frontdesk backup`", backup.display()).into());
    }
    require_empty(&data)?;
    // An unusable key is reported before anything is written.
    let master = MasterKey::read(&key_file)?;
    let data_dir = DataDir::lock(&data)?.with_key_file(&key_file);
    let trust = if args.unverified { BackupTrust::Unverified } else { BackupTrust::Verified };
    let database = data_dir::database_file(&data);
    let mac = extract(backup, &database, &master.key, trust)?;
    let rows = match mac {
        BackupMac::Right => master.rows,
        // Its rows may be of a release without MACs, too.
        BackupMac::Missing => UnauthenticatedRows::Adopt,
    };
    let runtime = runtime()?;
    let opened =
        DataBackend::open_with(data_dir, &DatabaseConfig::Embedded, MasterKey { key: master.key.clone(), rows });
    let backend = runtime.block_on(opened).map_err(|error| {
        discard(&database);
        format!("the backup was not restored: {error}")
    })?;
    if mac == BackupMac::Missing {
        let record = unverified_restore_record(backend.clock.now());
        let recorded = runtime.block_on(backend.store.record_administration(record));
        recorded.map_err(|fault| fault.cause.unwrap_or_else(|| fault.message.into_owned()))?;
    }
    runtime.block_on(record_restore(&backend))?;
    drop(backend);
    let mut out = io::stdout().lock();
    writeln!(out, "{} restored into {}", backup.display(), data.display())?;
    let root = runtime.block_on(existing_root_key(&data, &key_file, &DatabaseConfig::Embedded))?;
    if !AuditReader::open(&database, &root).verify(&compared_tables())?.is_intact() {
        return Err(
            "the data was restored, but its audit log was changed or is incomplete; see `frontdesk audit verify`"
                .into(),
        );
    }
    writeln!(out, "It was opened with the master key, and its audit log is complete and unchanged.")?;
    if mac == BackupMac::Missing {
        writeln!(
            out,
            "It had no MAC, so nothing says that nobody has changed it; the audit log has a record of that."
        )?;
    }
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

/// The database gets its name only when the MAC and the schema have been verified.
fn extract(backup: &Path, database: &Path, key: &SealKey, trust: BackupTrust) -> Result<BackupMac, CliError> {
    let tables: Vec<_> = frontdesk_contracts::all().iter().flat_map(|contract| contract.tables.clone()).collect();
    let temporary = database.with_added_extension("new");
    let extracted = extract_backup(backup, &temporary, key, trust, &tables);
    let mac = extracted.map_err(|error| invalid(backup, &error))?;
    let placed = fs::rename(&temporary, database)
        .and_then(|()| database.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all()));
    placed.map_err(|error| format!("cannot write {}: {error}", database.display()))?;
    Ok(mac)
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
fn embedded(args: DataArgs) -> Result<DataPaths, CliError> {
    let paths = resolve_paths(args)?;
    match paths.database {
        DatabaseConfig::Embedded => Ok(paths),
        DatabaseConfig::Postgres(_) => {
            Err("the data is in PostgreSQL: back it up with pg_dump and restore it with pg_restore".into())
        }
    }
}

/// The key, and what an earlier attempt has left, are allowed.
fn require_empty(data: &Path) -> Result<(), CliError> {
    let entries = match fs::read_dir(data) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| DataDirError::Unusable { path: data.to_owned(), error })?,
    };
    for entry in entries {
        let name = entry?.file_name();
        if !["master.key", "lock", "frontdesk.db.new"].iter().any(|allowed| name == *allowed) {
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

/// The folder is as before, ready for the right key.
fn discard(database: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        let _ = fs::remove_file(name);
    }
}
