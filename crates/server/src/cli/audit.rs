//! `frontdesk audit`: verifies that the audit log is complete and unchanged, anchors it, and exports it. No command
//! changes a record.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use frontdesk_contracts as contracts;
use frontdesk_engine::delivery::DELIVERY;
use frontdesk_engine::dispatch::TASK;
use frontdesk_engine::import::IMPORT;
use frontdesk_engine::ports::Clock as _;
use frontdesk_engine::relay::RELAY;
use frontdesk_engine::seal::installation_key::InstallationPublicKey;
use frontdesk_store::audit::{
    AnchorFinding, AnchorReport, AnchorStart, AuditReport, ComparedTable, RowRemoval, anchor_key,
};
use frontdesk_store::{AuditReader, AuditSelection, PostgresAudit, StoreError, installation_key};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::runtime::Runtime;

use super::output::{IfExists, OutputFile};
use super::{CliError, DataArgs, DataPaths, counted, resolve_paths, runtime};
use crate::app::existing_root_key;
use crate::audit_anchor::{self, AnchorSource, Appended};
use crate::config::DatabaseConfig;
use crate::data_dir;
use crate::system::SystemClock;

/// Verify, anchor or export the audit log.
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
    Anchor(AnchorArgs),
    Export(ExportArgs),
}

/// Check that no record was changed or deleted.
#[derive(Debug, Args)]
#[command(
    long_about = "Checks every link of every chain, that every chain that was ever begun is there and not older than the \
        sealed summary of all chains, and that every row of a tenant has the version that its last audited write made.\n\n\
        A database that was put back whole, from a copy, agrees with itself: only anchors that were kept elsewhere show it.",
    after_help = "\
Exits with 0 when everything is as it was written; otherwise it names what is
not. Rows whose last write was before this release, or whose record retention
has deleted, cannot be compared; they are counted.

Examples:
  frontdesk audit verify
  frontdesk audit verify --anchor /mnt/worm/anchors.jsonl --public-key fdpub_..."
)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Compare with the anchors in this file
    #[arg(long, value_name = "FILE")]
    pub(super) anchor: Option<PathBuf>,
    /// The installation's public key, as `frontdesk audit anchor --public-key` prints it. Without it, the key that the
    /// file names is trusted
    #[arg(long, value_name = "KEY", requires = "anchor", value_parser = parse_public_key)]
    pub(super) public_key: Option<InstallationPublicKey>,
}

/// Print a signed anchor of the audit chains, to keep elsewhere.
#[derive(Debug, Args)]
#[command(
    long_about = "An anchor is one line of JSON: how often the summary of all chains was sealed, the last link of each \
        chain, and a signature by the installation's Ed25519 key. Kept where nobody who can write to the database can \
        write, it proves later that nothing up to then is missing, and that the database was not put back.\n\n\
        A server appends them by itself with `audit.anchor = \"FILE\"`.",
    after_help = "\
A line in a file names only the chains that have grown since the line before
it, and the digest of that line.

Examples:
  frontdesk audit anchor --append /mnt/worm/anchors.jsonl
  frontdesk audit anchor | ssh vault 'cat >> anchors.jsonl'
  frontdesk audit anchor --public-key"
)]
pub(super) struct AnchorArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Append to this file, if something has changed since its last line
    #[arg(long, value_name = "FILE", conflicts_with = "public_key")]
    pub(super) append: Option<PathBuf>,
    /// Print only the public key, for those who verify
    #[arg(long)]
    pub(super) public_key: bool,
}

fn parse_public_key(text: &str) -> Result<InstallationPublicKey, String> {
    InstallationPublicKey::parse(text)
        .ok_or_else(|| "a public key begins with fdpub_; `frontdesk audit anchor --public-key` prints it".to_owned())
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
        AuditCommand::Verify(args) => verify(args),
        AuditCommand::Anchor(args) => anchor(args),
        AuditCommand::Export(args) => export(args),
    }
}

fn verify(args: VerifyArgs) -> Result<ExitCode, CliError> {
    let reader = open(args.data)?;
    let tables = compared_tables();
    let report = match &reader {
        ChainReader::Embedded(reader) => reader.verify(&tables)?,
        ChainReader::Postgres(runtime, reader) => runtime.block_on(reader.verify(&tables))?,
    };
    let mut lines = describe(&report);
    let mut is_intact = report.is_intact();
    if let Some(file) = &args.anchor {
        let (key, trust) = match args.public_key {
            Some(key) => (key, "with the given public key"),
            None => (named_key(file)?, "with the public key that the file names; give --public-key to be sure of it"),
        };
        let anchors = reader.compare(file, key)?;
        is_intact &= anchors.findings.is_empty();
        lines.extend(describe_anchors(&anchors, trust));
    }
    lines.push(verdict(&report, is_intact).to_owned());
    writeln!(io::stdout().lock(), "{}", lines.join("\n"))?;
    Ok(if is_intact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn anchor(args: AnchorArgs) -> Result<ExitCode, CliError> {
    let source = anchor_source(args.data)?;
    let runtime = runtime()?;
    let (at, handle) = (SystemClock.now(), runtime.handle());
    let mut out = io::stdout().lock();
    if args.public_key {
        let key = runtime.block_on(installation_key(&source.location(), &source.root))?;
        writeln!(out, "{}", key.public_key())?;
    } else if let Some(file) = &args.append {
        let done = match source.append(file, at, handle)? {
            Appended::Line => "an anchor was appended to",
            Appended::Nothing => "nothing has changed since the last anchor in",
        };
        writeln!(out, "{done} {}", file.display())?;
    } else if let Some(line) = source.line(&AnchorStart::default(), at, handle)? {
        writeln!(out, "{line}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Every table with rows of tenants. Retention removes rows of the engine's own tables without a record.
pub(super) fn compared_tables() -> Vec<ComparedTable> {
    let expiring = [TASK.name, IMPORT.name, DELIVERY.name, RELAY.name];
    let removal = |name| if expiring.contains(&name) { RowRemoval::ByRetention } else { RowRemoval::Audited };
    let mut tables: Vec<ComparedTable> = Vec::new();
    for table in contracts::all().iter().flat_map(|contract| contract.tables.clone()) {
        if !tables.iter().any(|known| known.table.name == table.name) {
            tables.push(ComparedTable { table, removal: removal(table.name) });
        }
    }
    tables
}

fn named_key(file: &Path) -> Result<InstallationPublicKey, CliError> {
    let unreadable = |error| format!("cannot read {}: {error}", file.display());
    let first = audit_anchor::lines(file).map_err(unreadable)?.next().transpose().map_err(unreadable)?;
    let key = first.as_deref().and_then(anchor_key);
    Ok(key.ok_or_else(|| format!("{} has no audit anchor in its first line", file.display()))?)
}

fn anchor_source(args: DataArgs) -> Result<AnchorSource, CliError> {
    let DataPaths { data, key_file, database } = resolve_paths(args)?;
    data_dir::require_data(&data, &key_file, &database)?;
    let root = runtime()?.block_on(existing_root_key(&data, &key_file, &database))?;
    Ok(AnchorSource { data, database, root })
}

/// Reading needs no lock: a server may write meanwhile.
fn open(args: DataArgs) -> Result<ChainReader, CliError> {
    let AnchorSource { data, database, root } = anchor_source(args)?;
    Ok(match database {
        DatabaseConfig::Embedded => ChainReader::Embedded(AuditReader::open(&data_dir::database_file(&data), &root)),
        DatabaseConfig::Postgres(address) => {
            let runtime = runtime()?;
            let reader = runtime.block_on(PostgresAudit::open(&address, &root))?;
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

    fn compare(&self, file: &Path, key: InstallationPublicKey) -> Result<AnchorReport, CliError> {
        let lines = audit_anchor::lines(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Ok(match self {
            ChainReader::Embedded(reader) => reader.verify_anchors(key, lines)?,
            ChainReader::Postgres(runtime, reader) => runtime.block_on(reader.verify_anchors(key, lines))?,
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

fn describe(report: &AuditReport) -> Vec<String> {
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
    lines.extend(report.findings.iter().map(|finding| format!("FOUND   {finding}")));
    if report.more_findings > 0 {
        lines.push(format!("FOUND   and {} more", report.more_findings));
    }
    if report.rows.compared > 0 || report.rows.without_record > 0 {
        let rows = counted(report.rows.compared, "row");
        lines.push(format!("rows    {rows} compared with the last audited write"));
    }
    if report.rows.without_record > 0 {
        let rows = counted(report.rows.without_record, "row");
        lines.push(format!(
            "rows    {rows} not compared: the record of the last write is older than this release or deleted"
        ));
    }
    lines
}

fn describe_anchors(report: &AnchorReport, trust: &str) -> Vec<String> {
    let (anchors, held) = (counted(report.lines, "anchor"), counted(report.held, "link"));
    let mut lines = vec![format!("anchor  {anchors} read, {trust}"), format!("anchor  {held} as anchored")];
    if report.deleted > 0 {
        let links = counted(report.deleted, "anchored link");
        lines.push(format!("anchor  {links} deleted since by retention or an erasure"));
    }
    if report.before_restore > 0 {
        let links = counted(report.before_restore, "anchored link");
        lines.push(format!("anchor  {links} lost by a restored backup, which is on record"));
    }
    let found = |finding: &AnchorFinding| format!("FOUND   anchor in line {}: {}", finding.line, finding.what);
    lines.extend(report.findings.iter().map(found));
    if report.more_findings > 0 {
        lines.push(format!("FOUND   and {} more", report.more_findings));
    }
    lines
}

fn verdict(report: &AuditReport, is_intact: bool) -> &'static str {
    if !is_intact {
        "The audit log was changed or is incomplete. Keep this data folder unchanged and investigate."
    } else if report.chains.is_empty() {
        "The audit log is empty."
    } else {
        "The audit log is complete and unchanged."
    }
}
