//! `frontdesk audit`: whether the record of calls is whole, and the record itself.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use frontdesk_store::audit::AuditReport;
use frontdesk_store::{AuditReader, AuditSelection, PostgresAudit, StoreError};
use tokio::runtime::Runtime;

use super::output::{Existing, Output};
use super::{Failure, runtime, where_it_is};
use crate::cli::{AuditCommand, Export, Place};
use crate::config::Database;
use crate::folder;

pub(super) fn audit(command: AuditCommand) -> Result<ExitCode, Failure> {
    match command {
        AuditCommand::Verify(verify) => {
            let report = match open(verify.place)? {
                Reader::Embedded(reader) => reader.verify()?,
                Reader::Postgres(runtime, reader) => runtime.block_on(reader.verify())?,
            };
            writeln!(io::stdout().lock(), "{}", describe(&report))?;
            Ok(match report.is_intact() {
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
        Database::Postgres(address) => {
            let runtime = runtime()?;
            let reader = runtime.block_on(PostgresAudit::open(&address, &master))?;
            Reader::Postgres(runtime, Box::new(reader))
        }
    })
}

/// Who reads the chains, by where they are.
enum Reader {
    Embedded(AuditReader),
    Postgres(Runtime, Box<PostgresAudit>),
}

impl Reader {
    fn knows(&self, tenant: &str) -> Result<bool, Failure> {
        Ok(match self {
            Reader::Embedded(reader) => reader.knows(tenant)?,
            Reader::Postgres(runtime, reader) => runtime.block_on(reader.knows(tenant))?,
        })
    }

    fn export(&self, selection: &AuditSelection, out: &mut dyn Write) -> Result<u64, Failure> {
        let take = |chain: &str, link: i64, record: &str| {
            let chain = frontdesk_wire::answer::quote(chain);
            // The record is an object; its place in the chain becomes its first members.
            writeln!(out, "{{\"chain\":{chain},\"link\":{link},{}", record.strip_prefix('{').unwrap_or(record))
        };
        Ok(match self {
            Reader::Embedded(reader) => reader.export(selection, take)?,
            Reader::Postgres(runtime, reader) => runtime.block_on(reader.export(selection, take))?,
        })
    }
}

fn hand_out(export: Export) -> Result<ExitCode, Failure> {
    let selection = AuditSelection {
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
    if let Some(tenant) = &selection.tenant
        && !reader.knows(tenant)?
    {
        return Err(format!(
            "there is no tenant {tenant:?} here, so nothing was recorded of it. `frontdesk client list` shows the tenants of clients."
        )
        .into());
    }
    match &export.output {
        Some(path) => {
            let mut output = Output::open(path, existing)?;
            let count = reader.export(&selection, &mut output)?;
            output.finish()?;
            eprintln!("{count} records written to {}", path.display());
        }
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            let written = reader.export(&selection, &mut out).and_then(|_| Ok(out.flush()?));
            match written {
                // Whoever read has enough, as `head` has.
                Err(failure) if is_closed_pipe(&failure) => {}
                written => written?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn is_closed_pipe(failure: &Failure) -> bool {
    let error = match failure.downcast_ref::<StoreError>() {
        Some(StoreError::Io { error, .. }) => Some(error),
        Some(_) | None => failure.downcast_ref::<io::Error>(),
    };
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn describe(report: &AuditReport) -> String {
    let mut lines = Vec::new();
    for chain in &report.chains {
        lines.push(match &chain.broken {
            None => format!("holds   {}  {} records in {} links", chain.chain, chain.records, chain.links),
            Some((seq, why)) => format!("BROKEN  {}  at link {seq}: {why}", chain.chain),
        });
    }
    lines.push(match report.is_intact() {
        true if report.chains.is_empty() => "Nothing has been recorded yet.".to_owned(),
        true => "The audit record is whole.".to_owned(),
        false => {
            "The audit record was changed or is incomplete. Keep this data folder as it is and look into it.".to_owned()
        }
    });
    lines.join("\n")
}
