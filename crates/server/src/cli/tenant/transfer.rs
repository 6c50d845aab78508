//! `frontdesk tenant export` and `import`: one tenant into a file, and from the file into another database. A file is
//! checked completely before anything is written, and existing data is never overwritten or deleted.

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use frontdesk_engine::TenantId;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tenant::GroupId;
use frontdesk_engine::ports::{Clock as _, Random};
use frontdesk_engine::seal::installation_key::{InstallationKey, InstallationPublicKey};
use frontdesk_store::installation_key;
use frontdesk_store::transfer::{ImportCheck, ImportTarget, Manifest, TenantExport, TenantImport};
use serde_json::{Value, json};

use super::super::progress::ProgressBar;
use super::super::{CliError, DataArgs, DataPaths, counted, resolve_paths};
use crate::admin::{AdminRequest, AdminService, import_record, send_request};
use crate::app::{DataBackend, data_location, existing_root_key};
use crate::config::DatabaseConfig;
use crate::data_dir::{self, DataDir, DataDirError};
use crate::export_file::{
    ExportFileError, ExportFiles, ExportReader, ExportSummary, ExportWriter, read_key, verify_sender,
};
use crate::system::{SystemClock, SystemRandom};

/// Write a tenant into one encrypted file, also while a server is running.
#[derive(Debug, Args)]
#[command(
    long_about = "Writes a consistent snapshot of the tenant into one new file, encrypted with a new key that is written \
        beside it. Both together give access to everything, so send them over two different channels. The master key is \
        in neither.\n\n\
        A running server continues meanwhile, and what it writes after the snapshot is not in the file: for a move, stop \
        it first. The file is signed with this installation's key, and the public key that is printed lets the receiver \
        check where it comes from: tell it over a channel that you trust. Clients that act for this tenant only are exported with their ids and secrets; clients of several \
        tenants are listed at the end and must be added on the new server. The tenant stays here unchanged.",
    after_help = "\
Examples:
  frontdesk tenant export --tenant TENANT_ID moving.desk
  frontdesk tenant export --tenant TENANT_ID moving.desk \\
      --key /safe/moving.key --config frontdesk.toml"
)]
pub(super) struct ExportTenantArgs {
    /// The tenant's id
    #[arg(long, value_name = "ID")]
    tenant: String,
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file for the key; it must not exist [default: FILE.key]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// Print a summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Import a tenant that was exported elsewhere.
#[derive(Debug, Args)]
#[command(
    long_about = "Checks the whole file before anything is written, then imports the tenant in one transaction: an import \
        that is interrupted leaves nothing behind. A tenant that exists here already is never overwritten. Every row is \
        checked as if it had been written through the tools.\n\n\
        `--sender` is the public key that the sending installation printed with the export: a file that it did not sign is \
        refused. `--unverified` imports a file whoever wrote it, and the audit log says so.\n\n\
        A server with the embedded database must be stopped meanwhile; on PostgreSQL its servers may continue. The audit \
        log is chained again with this server's master key, its numbers stay, and the next record names its origin.",
    after_help = "\
Examples:
  frontdesk tenant import moving.desk --sender PUBLIC_KEY
  frontdesk tenant import moving.desk --sender PUBLIC_KEY \\
      --key /safe/moving.key --config frontdesk.toml"
)]
pub(super) struct ImportTenantArgs {
    /// A file written by `frontdesk tenant export`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The key that was written with it [default: FILE.key]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The public key of the installation that wrote the file
    #[arg(long, value_name = "PUBLIC_KEY", conflicts_with = "unverified")]
    sender: Option<String>,
    /// Import the file whoever wrote it
    #[arg(long)]
    unverified: bool,
    #[command(flatten)]
    data: DataArgs,
    /// Print a summary as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn export(args: ExportTenantArgs) -> Result<(), CliError> {
    let paths = resolve_paths(args.data)?;
    data_dir::require_data(&paths.data, &paths.key_file, &paths.database)?;
    let Some(tenant) = TenantId::parse(&args.tenant) else {
        return Err("a tenant id has 1 to 64 letters, digits, `_` or `-`".into());
    };
    let key_file = args.key.unwrap_or_else(|| args.file.with_added_extension("key"));
    let files = ExportFiles::choose(&args.file, &key_file)?;
    // Personal data is about to leave: the audit log says so first.
    let lock = record_export(&paths, &tenant).await?;
    let root = existing_root_key(&paths.data, &paths.key_file, &paths.database).await?;
    let location = data_location(&paths.data, &paths.database);
    let sender = installation_key(&location, &root).await?;
    let export = TenantExport::open(&location, &root, &tables(), &tenant).await?;
    let written = write_rows(&export, files, &sender).await?;
    drop(lock);
    let manifest = export.manifest();
    let mut out = io::stdout().lock();
    if args.json {
        let mut object = summary(manifest);
        for (name, value) in [
            ("file", json!(args.file)),
            ("key_file", json!(key_file)),
            ("bytes", json!(written.bytes)),
            ("sha256", json!(written.sha256)),
            ("sender", json!(sender.public_key().to_string())),
        ] {
            object.insert(name.to_owned(), value);
        }
        return Ok(writeln!(out, "{}", Value::Object(object))?);
    }
    writeln!(
        out,
        "{} of {tenant} written to {}, {} bytes\nSHA-256 {}\n\
         The key is in {}; both files together give access to everything. Send them over two different channels.\n\
         The receiver names this installation with: --sender {}\n\
         Later changes to {tenant} are not in the file.",
        counted(written.rows, "row"),
        args.file.display(),
        written.bytes,
        written.sha256,
        key_file.display(),
        sender.public_key(),
    )?;
    Ok(write!(out, "{}", skipped_clients(manifest))?)
}

/// The server that holds the folder writes the audit record; without one, this process does, and locks the folder
/// meanwhile.
async fn record_export(paths: &DataPaths, tenant: &TenantId) -> Result<Option<DataBackend>, CliError> {
    let DataPaths { data, key_file, database } = paths;
    let request = AdminRequest::RecordExport { tenant: tenant.as_str().to_owned() };
    if let Some(response) = send_request(&data_dir::admin_socket(data), &request).await {
        response?;
        return Ok(None);
    }
    let backend = DataBackend::open(DataDir::lock_existing(data, key_file, database)?, database).await?;
    AdminService::new(&backend).handle(request).await?;
    Ok(Some(backend))
}

async fn write_rows(
    export: &TenantExport,
    mut files: ExportFiles,
    sender: &InstallationKey,
) -> Result<ExportSummary, CliError> {
    let random: Arc<dyn Random> = Arc::new(SystemRandom);
    let (key, out) = files.create(random.as_ref())?;
    let head = json!({
        "frontdesk": env!("CARGO_PKG_VERSION"),
        "at": SystemClock.now().to_rfc3339(),
        "manifest": export.manifest().to_json(),
    });
    let writer = ExportWriter::new(BufWriter::new(out), key, random, &head);
    let mut writer = writer.map_err(|error| files.failed(error))?;
    let mut progress = ProgressBar::new("exporting", export.manifest().rows());
    export
        .rows(|table, row| {
            progress.step();
            writer.row(table, &row)
        })
        .await?;
    let (out, summary) = writer.finish(sender).map_err(|error| files.failed(error))?;
    let out = out.into_inner().map_err(io::IntoInnerError::into_error).map_err(|error| files.failed(error))?;
    files.finish(&out)?;
    progress.end();
    Ok(summary)
}

pub(super) async fn import(args: ImportTenantArgs) -> Result<(), CliError> {
    let paths = resolve_paths(args.data)?;
    let key_file = args.key.unwrap_or_else(|| args.file.with_added_extension("key"));
    let sender = sender(args.sender.as_deref(), args.unverified)?;
    let (manifest, digest) = check(&args.file, &key_file, sender.as_ref())?;
    let lock = lock_for_import(&paths).await?;
    let target = ImportTarget {
        location: data_location(&paths.data, &paths.database),
        master: existing_root_key(&paths.data, &paths.key_file, &paths.database).await?,
        random: Arc::new(SystemRandom),
        tables: tables(),
    };
    let mut import = TenantImport::open(&target, &manifest).await?;
    let mut progress = ProgressBar::new("importing", manifest.rows());
    let (mut reader, _) = ExportReader::open(&args.file, &read_key(&key_file)?)?;
    while let Some((table, row)) = reader.row()? {
        import.put(table, row).await?;
        progress.step();
    }
    if reader.digest() != digest {
        return Err(format!("{} was changed while it was imported. Nothing was imported.", args.file.display()).into());
    }
    let now = SystemClock.now();
    import.finish(now, &import_record(now, &manifest, sender.as_ref())).await?;
    progress.end();
    drop(lock);
    let mut out = io::stdout().lock();
    if args.json {
        return Ok(writeln!(out, "{}", Value::Object(summary(&manifest)))?);
    }
    let tenant = &manifest.tenant.id;
    writeln!(out, "{} of {tenant} ({}) imported.", counted(manifest.rows(), "row"), manifest.tenant.name)?;
    if let Some(group) = manifest.tenant.group.as_ref().map(GroupId::as_str) {
        writeln!(out, "It was in group {group} there and is in none here; see `frontdesk tenant update --help`.")?;
    }
    write!(out, "{}", skipped_clients(&manifest))?;
    let (file, key) = (args.file.display(), key_file.display());
    Ok(writeln!(out, "Its agents get new tokens here with the same ids and secrets. Delete {file} and {key}.")?)
}

/// `None` if the operator does not want to know.
fn sender(public_key: Option<&str>, unverified: bool) -> Result<Option<InstallationPublicKey>, CliError> {
    match (public_key, unverified) {
        (Some(text), _) => InstallationPublicKey::parse(text).map(Some).ok_or_else(|| {
            "that is not the public key of an installation. `frontdesk tenant export` prints it there, as fdpub_…"
                .into()
        }),
        (None, true) => Ok(None),
        (None, false) => {
            Err("say who sent the file: --sender PUBLIC_KEY, which `frontdesk tenant export` printed there. \
             A file whose sender you cannot ask is imported with --unverified, and the audit log says so."
                .into())
        }
    }
}

/// Reads the whole file: an import that cannot be finished is not begun. Also returns the file's hash.
fn check(
    file: &Path,
    key_file: &Path,
    sender: Option<&InstallationPublicKey>,
) -> Result<(Manifest, [u8; 32]), CliError> {
    if !file.is_file() {
        let file = file.display();
        return Err(format!("there is no file {file}; name one written by `frontdesk tenant export`").into());
    }
    if let Some(sender) = sender {
        verify_sender(file, sender)?;
    }
    let (mut reader, head) = ExportReader::open(file, &read_key(key_file)?)?;
    let manifest = head.get("manifest").and_then(Manifest::from_json);
    let manifest = manifest.ok_or_else(|| ExportFileError::NotAnExport { path: file.to_owned() })?;
    let mut progress = ProgressBar::new("checking", manifest.rows());
    let mut rows = ImportCheck::new(&tables(), &manifest)?;
    while let Some((table, row)) = reader.row()? {
        rows.row(table, row)?;
        progress.step();
    }
    rows.finish()?;
    progress.end();
    Ok((manifest, reader.digest()))
}

/// Creates the tables, and the master key if there is none yet. On PostgreSQL a running server has done so and may
/// continue: the tenant is visible only when the import is committed.
async fn lock_for_import(paths: &DataPaths) -> Result<Option<DataBackend>, CliError> {
    let DataPaths { data, key_file, database } = paths;
    match (DataDir::lock(data).map(|locked| locked.with_key_file(key_file)), database) {
        (Err(DataDirError::Locked { .. }), DatabaseConfig::Postgres(_)) => Ok(None),
        (locked, DatabaseConfig::Embedded | DatabaseConfig::Postgres(_)) => {
            Ok(Some(DataBackend::open(locked?, database).await?))
        }
    }
}

fn tables() -> Vec<&'static TableSpec> {
    frontdesk_contracts::all().iter().flat_map(|contract| contract.tables.clone()).collect()
}

fn summary(manifest: &Manifest) -> serde_json::Map<String, Value> {
    let tables = manifest.tables.iter().map(|one| (one.table.clone(), json!(one.rows)));
    let clients = manifest.shared_clients.iter().map(|(id, name)| json!({"id": id, "name": name}));
    serde_json::Map::from_iter([
        ("tenant".to_owned(), json!(manifest.tenant.id.as_str())),
        ("name".to_owned(), json!(manifest.tenant.name)),
        ("rows".to_owned(), json!(manifest.rows())),
        ("tables".to_owned(), Value::Object(tables.collect())),
        ("clients_left_behind".to_owned(), clients.collect()),
    ])
}

fn skipped_clients(manifest: &Manifest) -> String {
    if manifest.shared_clients.is_empty() {
        return String::new();
    }
    let mut text =
        "These clients act for other tenants too and are not exported. Add a client for each on the new server \
                    (`frontdesk client add`), and give the agent its new id and secret:\n"
            .to_owned();
    for (id, name) in &manifest.shared_clients {
        text.push_str(&format!("  {id}  {name}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_is_singular() {
        assert_eq!([0, 1, 2].map(|rows| counted(rows, "row")), ["0 rows", "1 row", "2 rows"]);
    }
}
