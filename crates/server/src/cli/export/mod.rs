//! `frontdesk export`: writes records into a file for people and their programs, page by page. Personal data is masked
//! unless the command asks for it.

mod csv;

use std::collections::BTreeSet;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use super::admin_client::{AdminClient, NeededData};
use super::output::{IfExists, OutputFile};
use super::progress::ProgressBar;
use super::{CliError, DataArgs, StoreGuard, counted, run_server};
use crate::admin::{AdminRequest, AdminResponse, ExportReply, ExportStep, ExportTask, PersonalData};
use csv::CsvWriter;

/// Write records into a CSV or JSON lines file.
#[derive(Debug, Args)]
#[command(
    long_about = "Writes all records of one kind, the oldest first: as CSV for spreadsheets, with one column for each field, \
        or as one JSON object a line. `frontdesk import` reads the file again. It works while a server is running on the \
        same data folder; what changes meanwhile may or may not be in the file.\n\n\
        Personal data is masked as in lists. With --with-personal-data it is in the file as it is stored; keep such a file \
        like the data itself. The audit log says when an export began, whether personal data was in it, and how many \
        records were written.\n\n\
        A text that a spreadsheet would take for a formula, because it begins with = + - @, a tab or a carriage return, \
        gets an apostrophe in front, which `frontdesk import` removes.",
    after_help = "\
Examples:
  frontdesk export RECORDS --output records.csv
  frontdesk export RECORDS --tenant TENANT_ID --format jsonl | gzip > lines.gz
  frontdesk export RECORDS --with-personal-data --output people.csv"
)]
pub(super) struct ExportRecordsArgs {
    /// What is exported, in the plural; an unknown name is refused with the list of those that exist
    #[arg(value_name = "RECORDS")]
    resource: String,
    /// How the file is written
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    format: ExportFormat,
    /// The tenant whose records are exported [default: the only one]
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Write personal data as it is stored instead of masked
    #[arg(long)]
    with_personal_data: bool,
    /// The file to write, readable by its owner only; it must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    Csv,
    Jsonl,
}

pub(super) fn run(args: ExportRecordsArgs) -> Result<ExitCode, CliError> {
    let guard = StoreGuard::default();
    run_server(&guard, export(args, &guard))
}

async fn export(args: ExportRecordsArgs, guard: &StoreGuard) -> Result<ExitCode, CliError> {
    let target = Target::open(args.output.as_deref())?;
    let task = ExportTask {
        resource: args.resource,
        tenant: args.tenant.unwrap_or_default(),
        personal: if args.with_personal_data { PersonalData::Included } else { PersonalData::Masked },
    };
    let client = AdminClient::open(args.data, NeededData::Existing, guard).await?;
    let mut source = ExportSource::start(client, task).await?;
    let rows = match args.format {
        ExportFormat::Csv => source.write_csv(target).await?,
        ExportFormat::Jsonl => source.write_lines(target).await?,
    };
    let (resource, tenant) = (&source.task.resource, &source.task.tenant);
    let mut err = io::stderr().lock();
    let written = counted(rows, "record");
    match (&args.output, source.task.personal) {
        (Some(file), PersonalData::Included) => writeln!(
            err,
            "{written} ({resource} of {tenant}) written to {}, with personal data: keep the file as you keep the data.",
            file.display()
        )?,
        (Some(file), PersonalData::Masked) => {
            writeln!(err, "{written} ({resource} of {tenant}) written to {}; personal data is masked.", file.display())?
        }
        (None, PersonalData::Included | PersonalData::Masked) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the records go.
enum Target {
    File(OutputFile),
    Stdout(BufWriter<io::Stdout>),
}

impl Target {
    fn open(output: Option<&Path>) -> Result<Target, CliError> {
        Ok(match output {
            Some(path) => Target::File(OutputFile::open(path, IfExists::Fail)?),
            None => Target::Stdout(BufWriter::new(io::stdout())),
        })
    }

    fn finish(self) -> Result<(), CliError> {
        match self {
            Target::File(file) => file.finish(),
            Target::Stdout(mut out) => Ok(out.flush()?),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File(file) => file.write(bytes),
            Target::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File(file) => file.flush(),
            Target::Stdout(out) => out.flush(),
        }
    }
}

/// The records of an export that has been started.
struct ExportSource {
    client: AdminClient,
    task: ExportTask,
    columns: Vec<String>,
    members: Vec<String>,
    rows: u64,
}

impl ExportSource {
    async fn start(client: AdminClient, task: ExportTask) -> Result<ExportSource, CliError> {
        match send(&client, &task, ExportStep::Start).await? {
            ExportReply::Started { tenant, columns, members, rows } => {
                Ok(ExportSource { client, task: ExportTask { tenant, ..task }, columns, members, rows })
            }
            ExportReply::Page { .. } | ExportReply::Finished => Err(other_version()),
        }
    }

    /// Vendors' fields are declared nowhere, so all records are read twice: first for the names of the columns.
    async fn write_csv(&mut self, target: Target) -> Result<u64, CliError> {
        let mut vendors = BTreeSet::new();
        self.each("reading", |row| {
            let row = object(row)?;
            vendors.extend(row.into_iter().map(|(name, _)| name).filter(|name| !self.members.contains(name)));
            Ok(())
        })
        .await?;
        let columns = self.columns.iter().cloned().chain(vendors.iter().cloned());
        let mut writer = CsvWriter::new(target, columns.collect())?;
        let rows = self
            .each("exporting", |row| {
                let row = object(row)?;
                let is_new = |name: &&String| !self.members.contains(name) && !vendors.contains(*name);
                if let Some(name) = row.keys().find(is_new) {
                    return Err(format!("a record has got a new field, {name}, meanwhile; repeat the export").into());
                }
                Ok(writer.row(&row)?)
            })
            .await?;
        self.finish(writer.into_inner(), rows).await
    }

    async fn write_lines(&mut self, mut target: Target) -> Result<u64, CliError> {
        let rows = self.each("exporting", |row| Ok(writeln!(target, "{row}")?)).await?;
        self.finish(target, rows).await
    }

    async fn finish(&self, target: Target, rows: u64) -> Result<u64, CliError> {
        target.finish()?;
        match send(&self.client, &self.task, ExportStep::Finish(rows)).await? {
            ExportReply::Finished => Ok(rows),
            ExportReply::Started { .. } | ExportReply::Page { .. } => Err(other_version()),
        }
    }

    /// Every record, the oldest first; how many there were.
    async fn each(
        &self,
        verb: &'static str,
        mut visit: impl FnMut(&str) -> Result<(), CliError>,
    ) -> Result<u64, CliError> {
        let mut progress = io::stderr().is_terminal().then(|| ProgressBar::new(verb, self.rows));
        let (mut after, mut count) = (None, 0);
        loop {
            let reply = send(&self.client, &self.task, ExportStep::Page(after)).await?;
            let ExportReply::Page { rows, next } = reply else { return Err(other_version()) };
            for row in &rows {
                visit(row)?;
                count += 1;
                progress.iter_mut().for_each(ProgressBar::step);
            }
            if next.is_none() {
                progress.into_iter().for_each(ProgressBar::end);
                return Ok(count);
            }
            after = next;
        }
    }
}

async fn send(client: &AdminClient, task: &ExportTask, step: ExportStep) -> Result<ExportReply, CliError> {
    match client.send(AdminRequest::Export { task: task.clone(), step }).await? {
        AdminResponse::Export(reply) => Ok(reply),
        AdminResponse::Secret { .. }
        | AdminResponse::Clients(_)
        | AdminResponse::Revoked { .. }
        | AdminResponse::Key(_)
        | AdminResponse::Recorded
        | AdminResponse::Token(_)
        | AdminResponse::Import(_)
        | AdminResponse::Tenant(_)
        | AdminResponse::Maintenance(_)
        | AdminResponse::Advanced(_)
        | AdminResponse::Deliveries(_)
        | AdminResponse::ServiceLevels(_)
        | AdminResponse::Description(_)
        | AdminResponse::ErasePerson(_) => Err(other_version()),
    }
}

fn other_version() -> CliError {
    "the running server is another version of Frontdesk".into()
}

/// The message of the parser would quote the record.
fn object(row: &str) -> Result<Map<String, Value>, CliError> {
    serde_json::from_str(row).map_err(|_| "a stored record cannot be read".into())
}
