//! `frontdesk dealership`: one tenant, taken from one database to another. Nothing here removes one.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// Move a dealership to another desk or another database.
#[derive(Debug, Args)]
#[command(
    long_about = "Takes one dealership with everything that is kept for it from one desk to another, whichever databases \
        they use: its data, its events with their numbers, its idempotency keys, its clients, and its audit record.",
    after_help = "\
A move, step by step:
  1. stop the old desk, so that no call comes between
  2. frontdesk dealership export --dealership ID moving.desk     on the old desk
  3. bring moving.desk and moving.desk.key to the new desk, each by another way
  4. frontdesk dealership import moving.desk                     on the new desk
  5. send its agents to the new address; their ids and secrets stay the same",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub struct Dealership {
    #[command(subcommand)]
    pub command: DealershipCommand,
}

#[derive(Debug, Subcommand)]
pub enum DealershipCommand {
    Export(ExportDealership),
    Import(ImportDealership),
}

/// Write a dealership into one sealed file, also while a server is running.
#[derive(Debug, Args)]
#[command(
    long_about = "Writes the dealership as it is at one moment into one new file, sealed with a key of its own that is \
        written beside it. Whoever has both can read everything, so send them by two ways. The master key is in neither.\n\n\
        A running server goes on meanwhile, and what it writes after that moment is not in the file: for a move, stop it \
        first. Clients that act for this dealership alone come along with their ids and secrets; clients of several \
        dealerships are named at the end and have to be added on the other side. The dealership stays here as it is.",
    after_help = "\
Examples:
  frontdesk dealership export --dealership ID moving.desk
  frontdesk dealership export --dealership ID moving.desk \\
      --key /safe/moving.key --config frontdesk.toml"
)]
pub struct ExportDealership {
    /// The dealership's id
    #[arg(long = "dealership", visible_alias = "tenant", value_name = "ID")]
    pub tenant: String,
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The file for the key; it must not exist [default: FILE.key]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    #[command(flatten)]
    pub place: Place,
    /// Print what was written as one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// Take in a dealership that was exported elsewhere.
#[derive(Debug, Args)]
#[command(
    long_about = "Checks the whole file before anything is written, then takes the dealership in at once or not at all: \
        an import that is stopped leaves nothing. A dealership that is here already is never written over.\n\n\
        A desk with the embedded database must be stopped meanwhile; on PostgreSQL its servers may run on. The audit \
        record is linked anew with this desk's master key, its numbers stay, and the next record says where it came from.",
    after_help = "\
Examples:
  frontdesk dealership import moving.desk
  frontdesk dealership import moving.desk \\
      --key /safe/moving.key --config frontdesk.toml"
)]
pub struct ImportDealership {
    /// A file that `frontdesk dealership export` has written
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The key that was made with it [default: FILE.key]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    #[command(flatten)]
    pub place: Place,
    /// Print what was taken in as one line of JSON
    #[arg(long)]
    pub json: bool,
}
