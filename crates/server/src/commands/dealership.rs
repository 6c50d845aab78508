//! `frontdesk dealership`: one tenant into a file, and out of one. A file is checked whole before anything is
//! written, and what is here is never written over.

use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::ports::{Clock as _, Random};
use frontdesk_store::transfer::{DataLocation, ImportTarget, Manifest, TenantExport, TenantImport};
use serde_json::{Value, json};

use super::progress::Progress;
use super::{Failure, runtime, where_it_is};
use crate::cli::{DealershipCommand, ExportDealership, ImportDealership};
use crate::config::Database;
use crate::folder::{self, Folder, FolderError};
use crate::house::Vaults;
use crate::operator::{Order, Registrar, arrival_record, ask};
use crate::parcel::{Files, Packer, Parcel, ParcelError, Sent, read_key};
use crate::ports::{SystemClock, SystemRandom};

pub(super) fn dealership(command: DealershipCommand) -> Result<ExitCode, Failure> {
    runtime()?.block_on(async {
        match command {
            DealershipCommand::Export(command) => export(command).await,
            DealershipCommand::Import(command) => import(command).await,
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn export(command: ExportDealership) -> Result<(), Failure> {
    let (data, database) = where_it_is(command.place)?;
    folder::must_have_data(&data, &database)?;
    let Some(tenant) = TenantId::parse(&command.tenant) else {
        return Err("a dealership's id has 1 to 64 letters, digits, `_` or `-`".into());
    };
    let key_file = command.key.unwrap_or_else(|| command.file.with_added_extension("key"));
    let files = Files::choose(&command.file, &key_file)?;
    // Everything personal is about to leave: that is on record before it does.
    let held = note_export(&data, &database, &tenant).await?;
    let master = folder::read_key(&folder::key_file(&data))?;
    let departure = TenantExport::open(&home(&data, &database), &master, &kinds(), &tenant).await?;
    let sent = pack(&departure, files).await?;
    drop(held);
    let manifest = departure.manifest();
    let mut out = io::stdout().lock();
    if command.json {
        let mut said = summary(manifest);
        for (name, value) in [
            ("file", json!(command.file)),
            ("key_file", json!(key_file)),
            ("bytes", json!(sent.bytes)),
            ("sha256", json!(sent.sha256)),
        ] {
            said.insert(name.to_owned(), value);
        }
        return Ok(writeln!(out, "{}", Value::Object(said))?);
    }
    writeln!(
        out,
        "{} of {tenant} written to {}, {} bytes\nSHA-256 {}\n\
         Its key is {}; whoever has both can read everything. Send them by two ways.\n\
         What is written to {tenant} from now on is not in the file.",
        counted(sent.rows),
        command.file.display(),
        sent.bytes,
        sent.sha256,
        key_file.display(),
    )?;
    Ok(write!(out, "{}", left_behind(manifest))?)
}

/// The server that holds the folder writes the record; without one, this process does, and holds the folder meanwhile.
async fn note_export(data: &Path, database: &Database, tenant: &TenantId) -> Result<Option<Vaults>, Failure> {
    let order = Order::NoteExport { tenant: tenant.as_str().to_owned() };
    if let Some(answer) = ask(&folder::operator_socket(data), &order).await {
        answer?;
        return Ok(None);
    }
    let vaults = Vaults::open(Folder::take_existing(data, database)?, database).await?;
    Registrar::new(&vaults).carry_out(order).await?;
    Ok(Some(vaults))
}

async fn pack(departure: &TenantExport, mut files: Files) -> Result<Sent, Failure> {
    let random: Arc<dyn Random> = Arc::new(SystemRandom::default());
    let (key, out) = files.make(random.as_ref())?;
    let head = json!({
        "frontdesk": env!("CARGO_PKG_VERSION"),
        "at": SystemClock.now().to_rfc3339(),
        "manifest": departure.manifest().to_json(),
    });
    let begun = Packer::begin(BufWriter::new(out), key, random, &head);
    let mut packer = begun.map_err(|error| files.failed(error))?;
    let mut progress = Progress::new("exporting", departure.manifest().rows());
    departure
        .rows(|table, row| {
            progress.step();
            packer.row(table, &row)
        })
        .await?;
    let (out, sent) = packer.finish().map_err(|error| files.failed(error))?;
    let out = out.into_inner().map_err(io::IntoInnerError::into_error).map_err(|error| files.failed(error))?;
    files.finish(&out)?;
    progress.end();
    Ok(sent)
}

async fn import(command: ImportDealership) -> Result<(), Failure> {
    let (data, database) = where_it_is(command.place)?;
    let key_file = command.key.unwrap_or_else(|| command.file.with_added_extension("key"));
    let manifest = check(&command.file, &key_file)?;
    let held = hold(&data, &database).await?;
    let receiving = ImportTarget {
        location: home(&data, &database),
        master: folder::read_key(&folder::key_file(&data))?,
        random: Arc::new(SystemRandom::default()),
        kinds: kinds(),
    };
    let mut arrival = TenantImport::open(&receiving, &manifest).await?;
    let mut progress = Progress::new("importing", manifest.rows());
    let (mut parcel, _) = Parcel::open(&command.file, &read_key(&key_file)?)?;
    while let Some((table, row)) = parcel.row()? {
        arrival.put(table, row).await?;
        progress.step();
    }
    let now = SystemClock.now();
    arrival.finish(now, &arrival_record(now, &manifest)).await?;
    progress.end();
    drop(held);
    let mut out = io::stdout().lock();
    if command.json {
        return Ok(writeln!(out, "{}", Value::Object(summary(&manifest)))?);
    }
    let tenant = &manifest.tenant.id;
    let verb = if manifest.rows() == 1 { "is" } else { "are" };
    writeln!(out, "{} of {tenant} ({}) {verb} here now.", counted(manifest.rows()), manifest.tenant.name)?;
    write!(out, "{}", left_behind(&manifest))?;
    let (file, key) = (command.file.display(), key_file.display());
    Ok(writeln!(out, "Its agents log in again, here, with the same ids and secrets. Remove {file} and {key}.")?)
}

/// Reads the whole file: what cannot be taken in to its end is not begun.
fn check(file: &Path, key_file: &Path) -> Result<Manifest, Failure> {
    if !file.is_file() {
        let file = file.display();
        return Err(format!("there is no file {file}; name one that `frontdesk dealership export` has written").into());
    }
    let (mut parcel, head) = Parcel::open(file, &read_key(key_file)?)?;
    let manifest = head.get("manifest").and_then(Manifest::from_json);
    let manifest = manifest.ok_or_else(|| ParcelError::NotOurs { path: file.to_owned() })?;
    let mut progress = Progress::new("checking", manifest.rows());
    while parcel.row()?.is_some() {
        progress.step();
    }
    progress.end();
    Ok(manifest)
}

/// Makes the tables, and the master key if there is none yet. On PostgreSQL a server that holds the folder has done
/// so, and may go on: nobody sees the tenant before it is whole.
async fn hold(data: &Path, database: &Database) -> Result<Option<Vaults>, Failure> {
    match (Folder::take(data), database) {
        (Err(FolderError::InUse { .. }), Database::Postgres(_)) => Ok(None),
        (taken, Database::Embedded | Database::Postgres(_)) => Ok(Some(Vaults::open(taken?, database).await?)),
    }
}

fn home(data: &Path, database: &Database) -> DataLocation {
    match database {
        Database::Embedded => DataLocation::Sqlite(folder::database(data)),
        Database::Postgres(address) => DataLocation::Postgres(address.clone()),
    }
}

fn kinds() -> Vec<&'static TableSpec> {
    frontdesk_contracts::all().iter().flat_map(|contract| contract.tables.clone()).collect()
}

fn summary(manifest: &Manifest) -> serde_json::Map<String, Value> {
    let tables = manifest.tables.iter().map(|one| (one.table.clone(), json!(one.rows)));
    let clients = manifest.shared_clients.iter().map(|(id, name)| json!({"id": id, "name": name}));
    serde_json::Map::from_iter([
        ("dealership".to_owned(), json!(manifest.tenant.id.as_str())),
        ("name".to_owned(), json!(manifest.tenant.name)),
        ("rows".to_owned(), json!(manifest.rows())),
        ("tables".to_owned(), Value::Object(tables.collect())),
        ("clients_left_behind".to_owned(), clients.collect()),
    ])
}

fn counted(rows: u64) -> String {
    match rows {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    }
}

fn left_behind(manifest: &Manifest) -> String {
    if manifest.shared_clients.is_empty() {
        return String::new();
    }
    let mut text =
        "These clients act for other dealerships too and do not come along. Add a client for each on the new \
                    desk (`frontdesk client add`), and give the agent its new id and secret:\n"
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
    fn one_row_is_no_rows() {
        assert_eq!([0, 1, 2].map(counted), ["0 rows", "1 row", "2 rows"]);
    }
}
