//! `frontdesk audit`: proves that the record of who saw what is whole, and takes it out. No command changes a record.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::Place;

/// Prove or export the record of who saw and did what.
#[derive(Debug, Args)]
#[command(
    long_about = "Every call leaves a record, and each record holds the hash of the one before it, so that a record that \
        was changed or removed can be noticed.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub struct Audit {
    #[command(subcommand)]
    pub command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    Verify(Verify),
    Export(Export),
}

/// Check that no record was changed or removed.
#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 0 when every chain holds, and names the first record that does not.

Examples:
  frontdesk audit verify
  frontdesk audit verify --config frontdesk.toml")]
pub struct Verify {
    #[command(flatten)]
    pub place: Place,
}

/// Write records as lines of JSON.
#[derive(Debug, Args)]
#[command(after_help = "\
Each line names its chain and the number of its link in it, as
`frontdesk audit verify` does. A file has its name only once it is whole. A pipe
or a device, such as /dev/stdout, is written to as it is.

Examples:
  frontdesk audit export --output audit.jsonl
  frontdesk audit export --tenant TENANT_ID --since 2026-01-31T00:00:00Z")]
pub struct Export {
    #[command(flatten)]
    pub place: Place,
    /// Only records from this moment on
    #[arg(long, value_name = "RFC3339", value_parser = moment)]
    pub since: Option<OffsetDateTime>,
    /// Only records of this tenant: what was read, changed and refused there
    #[arg(long, visible_alias = "dealership", value_name = "ID")]
    pub tenant: Option<String>,
    /// The file to write, readable by its owner alone [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write over a file that is there already
    #[arg(long, requires = "output")]
    pub force: bool,
}

fn moment(text: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(text, &Rfc3339)
        .map_err(|_| "write date, time and zone, such as 2026-01-31T09:30:00Z or 2026-01-31T09:30:00+01:00".to_owned())
}
