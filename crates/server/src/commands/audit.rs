//! `frontdesk audit`: whether the record of calls is whole, and the record itself.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::ExitCode;

use frontdesk_engine::seal::Key;
use frontdesk_store::audit::Report;
use frontdesk_store::{Address, AuditReader, PostgresAudit, Selection};

use super::{Failure, runtime, where_it_is};
use crate::cli::{AuditCommand, Export, Place};
use crate::config::Database;
use crate::folder;

pub(super) fn audit(command: AuditCommand) -> Result<ExitCode, Failure> {
    match command {
        AuditCommand::Verify(verify) => {
            let report = match open(verify.place)? {
                Reader::Embedded(reader) => reader.verify()?,
                Reader::Postgres(address, master) => {
                    runtime()?.block_on(async { PostgresAudit::open(&address, &master).await?.verify().await })?
                }
            };
            writeln!(io::stdout().lock(), "{}", describe(&report))?;
            Ok(match report.holds() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            })
        }
        AuditCommand::Export(export) => hand_out(export),
    }
}

/// Reading needs no lock: a server may go on writing meanwhile.
fn open(place: Place) -> Result<Reader, Failure> {
    let (data, database) = where_it_is(place)?;
    folder::must_have_data(&data, &database)?;
    let master = folder::read_key(&folder::key_file(&data))?;
    Ok(match database {
        Database::Embedded => Reader::Embedded(AuditReader::open(&folder::database(&data), &master)),
        Database::Postgres(address) => Reader::Postgres(address, master),
    })
}

/// Who reads the chains, by where they are.
enum Reader {
    Embedded(AuditReader),
    Postgres(Address, Key),
}

fn hand_out(export: Export) -> Result<ExitCode, Failure> {
    let selection = Selection {
        since: export
            .since
            .map_or(0, |since| i64::try_from(since.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()),
        tenant: export.tenant,
    };
    let existing = match export.force {
        true => Existing::Overwritten,
        false => Existing::Kept,
    };
    let reader = open(export.place)?;
    let mut out: Box<dyn Write> = match &export.output {
        Some(path) => Box::new(BufWriter::new(create(path, existing)?)),
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    let take = |chain: &str, link: i64, record: &str| {
        let chain = frontdesk_wire::answer::quote(chain);
        // The record is an object; its place in the chain becomes its first members.
        writeln!(out, "{{\"chain\":{chain},\"link\":{link},{}", record.strip_prefix('{').unwrap_or(record))
    };
    let count = match reader {
        Reader::Embedded(reader) => reader.export(&selection, take)?,
        Reader::Postgres(address, master) => runtime()?
            .block_on(async { PostgresAudit::open(&address, &master).await?.export(&selection, take).await })?,
    };
    out.flush()?;
    if let Some(path) = &export.output {
        eprintln!("{count} records written to {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Kept,
    Overwritten,
}

/// It says who saw whom, so it is for its owner's eyes alone, also where a file of that name was for everybody's.
fn create(path: &Path, existing: Existing) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    let options = options.write(true).mode(0o600);
    let opened = match existing {
        Existing::Overwritten => options.create(true).truncate(true).open(path),
        Existing::Kept => options.create_new(true).open(path),
    };
    let written = opened.and_then(|file| {
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(file)
    });
    written.map_err(|error| {
        let path = path.display();
        let why = match error.kind() == io::ErrorKind::AlreadyExists {
            true => format!("{path} is there already. Name another file with --output, or overwrite it with --force."),
            false => format!("cannot write {path}: {error}. Name another file with --output."),
        };
        why.into()
    })
}

fn describe(report: &Report) -> String {
    let mut lines = Vec::new();
    for chain in &report.chains {
        lines.push(match &chain.broken {
            None => format!("holds   {}  {} records in {} links", chain.chain, chain.records, chain.links),
            Some((seq, why)) => format!("BROKEN  {}  at link {seq}: {why}", chain.chain),
        });
    }
    lines.push(match report.holds() {
        true if report.chains.is_empty() => "Nothing has been recorded yet.".to_owned(),
        true => "The audit record is whole.".to_owned(),
        false => {
            "The audit record was changed or is incomplete. Keep this data folder as it is and look into it.".to_owned()
        }
    });
    lines.join("\n")
}
