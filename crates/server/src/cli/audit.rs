//! `frontdesk audit`: verifies that the audit log is complete and unchanged, and exports it. No command changes a record.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use frontdesk_store::audit::AuditReport;
use frontdesk_store::{AuditReader, AuditSelection, PostgresAudit, StoreError};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::runtime::Runtime;

use super::output::{IfExists, OutputFile};
use super::{CliError, DataArgs, DataPaths, counted, resolve_paths, runtime};
use crate::config::DatabaseConfig;
use crate::data_dir::{self, MasterKey};

/// Verify or export the audit log.
#[derive(Debug, Args)]
#[command(
    long_about = "Every call leaves an audit record; a flood of refusals leaves their count. Records are stored in links, and \
        each link contains the hash of the one before it, so that a changed or deleted record is detected.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    pub(super) command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    Verify(VerifyArgs),
    Export(ExportArgs),
}

/// Check that no record was changed or deleted.
#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 0 when every chain is valid; otherwise it names the first link
that is not.

Examples:
  frontdesk audit verify
  frontdesk audit verify --config frontdesk.toml")]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    data: DataArgs,
}

/// Write records as lines of JSON.
#[derive(Debug, Args)]
#[command(after_help = "\
Each line has the name of its chain and the number of its link, as
`frontdesk audit verify` shows them. The file gets its name only when it is
complete. A pipe or a device, such as /dev/stdout, is written to directly.

Examples:
  frontdesk audit export --output audit.jsonl
  frontdesk audit export --tenant TENANT_ID --since 2026-01-31T00:00:00Z")]
pub(super) struct ExportArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Only records from this time on
    #[arg(long, value_name = "RFC3339", value_parser = parse_time)]
    pub(super) since: Option<OffsetDateTime>,
    /// Only records of this tenant: what was read, changed and refused there
    #[arg(long, value_name = "ID")]
    pub(super) tenant: Option<String>,
    /// The file to write, readable by its owner only [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,
}

fn parse_time(text: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(text, &Rfc3339)
        .map_err(|_| "write date, time and zone, such as 2026-01-31T09:30:00Z or 2026-01-31T09:30:00+01:00".to_owned())
}

pub(super) fn run(args: AuditArgs) -> Result<ExitCode, CliError> {
    match args.command {
        AuditCommand::Verify(args) => {
            let report = match open(args.data)? {
                ChainReader::Embedded(reader) => reader.verify()?,
                ChainReader::Postgres(runtime, reader) => runtime.block_on(reader.verify())?,
            };
            writeln!(io::stdout().lock(), "{}", describe(&report))?;
            Ok(if report.is_intact() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        AuditCommand::Export(args) => export(args),
    }
}

/// Reading needs no lock: a server may write meanwhile.
fn open(args: DataArgs) -> Result<ChainReader, CliError> {
    let DataPaths { data, key_file, database } = resolve_paths(args)?;
    data_dir::require_data(&data, &key_file, &database)?;
    let master = MasterKey::read(&key_file)?.key;
    Ok(match database {
        DatabaseConfig::Embedded => ChainReader::Embedded(AuditReader::open(&data_dir::database_file(&data), &master)),
        DatabaseConfig::Postgres(address) => {
            let runtime = runtime()?;
            let reader = runtime.block_on(PostgresAudit::open(&address, &master))?;
            ChainReader::Postgres(runtime, Box::new(reader))
        }
    })
}

/// Reads the audit chains of either database.
enum ChainReader {
    Embedded(AuditReader),
    Postgres(Runtime, Box<PostgresAudit>),
}

impl ChainReader {
    fn knows(&self, tenant: &str) -> Result<bool, CliError> {
        Ok(match self {
            ChainReader::Embedded(reader) => reader.knows(tenant)?,
            ChainReader::Postgres(runtime, reader) => runtime.block_on(reader.knows(tenant))?,
        })
    }

    fn export(&self, selection: &AuditSelection, out: &mut dyn Write) -> Result<u64, CliError> {
        let write = |chain: &str, link: i64, record: &str| {
            let chain = frontdesk_wire::answer::quote(chain);
            // The record is a JSON object; chain and link become its first members.
            writeln!(out, "{{\"chain\":{chain},\"link\":{link},{}", record.strip_prefix('{').unwrap_or(record))
        };
        Ok(match self {
            ChainReader::Embedded(reader) => reader.export(selection, write)?,
            ChainReader::Postgres(runtime, reader) => runtime.block_on(reader.export(selection, write))?,
        })
    }
}

fn export(args: ExportArgs) -> Result<ExitCode, CliError> {
    let selection = AuditSelection {
        since: args
            .since
            .map_or(0, |since| i64::try_from(since.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()),
        tenant: args.tenant,
    };
    let if_exists = if args.force { IfExists::Overwrite } else { IfExists::Fail };
    let reader = open(args.data)?;
    if let Some(tenant) = &selection.tenant
        && !reader.knows(tenant)?
    {
        return Err(format!(
            "there is no tenant {tenant:?} and no record of one. `frontdesk client list` shows the tenants of clients."
        )
        .into());
    }
    match &args.output {
        Some(path) => {
            let mut output = OutputFile::open(path, if_exists)?;
            let count = reader.export(&selection, &mut output)?;
            output.finish()?;
            eprintln!("{} written to {}", counted(count, "record"), path.display());
        }
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            let written = reader.export(&selection, &mut out).and_then(|_| Ok(out.flush()?));
            match written {
                // The reader has closed the pipe, as `head` does.
                Err(error) if is_closed_pipe(&error) => {}
                written => written?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn is_closed_pipe(error: &CliError) -> bool {
    let error = match error.downcast_ref::<StoreError>() {
        Some(StoreError::Io { error, .. }) => Some(error),
        Some(_) | None => error.downcast_ref::<io::Error>(),
    };
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn describe(report: &AuditReport) -> String {
    let mut lines = Vec::new();
    for chain in &report.chains {
        lines.push(match &chain.broken {
            None => {
                let (records, links) = (counted(chain.records, "record"), counted(chain.links, "link"));
                format!("valid   {}  {records} in {links}", chain.chain)
            }
            Some((seq, why)) => format!("BROKEN  {}  at link {seq}: {why}", chain.chain),
        });
    }
    let verdict = if !report.is_intact() {
        "The audit log was changed or is incomplete. Keep this data folder unchanged and investigate."
    } else if report.chains.is_empty() {
        "The audit log is empty."
    } else {
        "The audit log is complete and unchanged."
    };
    lines.push(verdict.to_owned());
    lines.join("\n")
}
