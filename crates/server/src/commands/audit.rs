//! `frontdesk audit`: whether the record of calls is whole, and the record itself.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use frontdesk_store::audit::Report;
use frontdesk_store::{AuditReader, Selection};

use super::{Failure, data_folder};
use crate::cli::{AuditCommand, Export, Place};
use crate::folder;

pub(super) fn audit(command: AuditCommand) -> Result<ExitCode, Failure> {
    match command {
        AuditCommand::Verify(verify) => {
            let report = open(verify.place)?.verify()?;
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
fn open(place: Place) -> Result<AuditReader, Failure> {
    let data = data_folder(place)?;
    let database = folder::database(&data);
    if !database.exists() {
        return Err(folder::FolderError::Missing { path: data }.into());
    }
    let master = folder::read_key(&folder::key_file(&data))?;
    Ok(AuditReader::open(&database, &master))
}

fn hand_out(export: Export) -> Result<ExitCode, Failure> {
    let selection = Selection {
        since: export
            .since
            .map_or(0, |since| i64::try_from(since.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()),
        tenant: export.tenant,
    };
    let reader = open(export.place)?;
    let mut out: Box<dyn Write> =
        match &export.output {
            Some(path) => Box::new(BufWriter::new(File::create(path).map_err(|error| {
                format!("cannot write {}: {error}. Name another file with --output.", path.display())
            })?)),
            None => Box::new(BufWriter::new(io::stdout().lock())),
        };
    let count = reader.export(&selection, |chain, record| {
        let chain = frontdesk_wire::answer::quote(chain);
        // The record is an object; the chain it belongs to becomes its first member.
        writeln!(out, "{{\"chain\":{chain},{}", record.strip_prefix('{').unwrap_or(record))
    })?;
    out.flush()?;
    if let Some(path) = &export.output {
        eprintln!("{count} records written to {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
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
