//! The command line: what can be said and how it is explained. It only reads arguments; running a command is not done here.

mod audit;
mod client;
mod dealership;
mod pages;
mod place;
mod safety;
mod stdio;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use audit::{Audit, AuditCommand, Export, Verify};
pub use client::{Add, Client, ClientCommand, ClientId, List};
pub use dealership::{Dealership, DealershipCommand, ExportDealership, ImportDealership};
pub use pages::{Completions, Man};
pub use place::Place;
pub use safety::{Backup, Restore};
pub use stdio::Stdio;

/// The front desk between a business and AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "frontdesk",
    version,
    long_about = "Frontdesk serves a business's data and actions to AI agents over MCP, under a published contract.\n\n\
        It checks who is calling and what they may see, takes an order once even if it is asked three times, and \
        writes down who saw what.",
    after_help = "\
Start here:
  frontdesk demo                              a working desk with made-up data

For real:
  frontdesk config check --config desk.toml   is this file right?
  frontdesk serve --config desk.toml          serve it
  frontdesk client add --help                 let somebody in
  frontdesk backup FILE                       copy the data, also while serving
  frontdesk dealership --help                 move a dealership elsewhere

`frontdesk COMMAND --help` explains a command. Every key of the file is in
docs/configuration.md.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(Demo),
    Serve(Serve),
    Client(Client),
    Config(ConfigCommands),
    Audit(Audit),
    Backup(Backup),
    Restore(Restore),
    Dealership(Dealership),
    Stdio(Stdio),
    Completions(Completions),
    Man(Man),
}

/// Serve made-up data, ready to be called with curl.
#[derive(Debug, Args)]
#[command(
    long_about = "Makes a data folder with a certificate authority, a certificate, demo data and a client for each demo \
        tenant and a small website with a client of its own, serves it over HTTPS, and prints a card with everything \
        needed to call it.\n\n\
        A second start reuses the folder. Secrets are shown on the first start only, since they are kept only hashed; \
        --new-secrets makes and shows new ones. Ctrl-C finishes running calls and stops.",
    after_help = "\
Examples:
  frontdesk demo
  frontdesk demo --data /tmp/desk --listen 127.0.0.1:0   any free port
  frontdesk demo --new-secrets                           the old ones were lost
  frontdesk demo --json                                  the card, for scripts"
)]
pub struct Demo {
    /// The folder for everything the demo makes [default: frontdesk-data]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where to serve; port 0 picks a free one [default: 127.0.0.1:8443]
    #[arg(long, value_name = "ADDR:PORT", value_parser = crate::config::address)]
    pub listen: Option<SocketAddr>,
    /// Give the demo's clients new secrets and show them; the old ones stop working
    #[arg(long)]
    pub new_secrets: bool,
    /// Print the card as one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// Serve as a configuration file says.
#[derive(Debug, Args)]
#[command(
    long_about = "Serves over HTTPS what the configuration says. Settings come from the file, and `FRONTDESK_*` variables \
        outrank it: FRONTDESK_LISTEN=0.0.0.0:8443 sets `listen`.\n\n\
        Ctrl-C or SIGTERM stops taking calls, finishes the running ones and exits with 0. SIGHUP reads the \
        configuration again: it is checked and put into effect whole, or the last good one stays; the log says which, \
        and what needs a restart. Changed certificate files are taken in by themselves.",
    after_help = "\
Examples:
  frontdesk config check --config frontdesk.toml   find every mistake first
  frontdesk serve --config frontdesk.toml
  FRONTDESK_CONFIG=frontdesk.toml frontdesk serve"
)]
pub struct Serve {
    /// The configuration file [default: the file that FRONTDESK_CONFIG names, or none]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Check or show the configuration.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub struct ConfigCommands {
    #[command(subcommand)]
    pub command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Report every mistake at once, each with what to do about it
    #[command(after_help = "\
Exits with 0 when the configuration can be served, also when there are warnings.
A PostgreSQL database is called once: it must be there, prove itself and let
this role in. So is the database of every site that is mounted, and its secrets
are read. Nothing is changed.

Example:
  frontdesk config check --config frontdesk.toml")]
    Check(ConfigFile),
    /// Print every key with its value in effect and where it came from
    #[command(after_help = "\
The output is itself a configuration file: each line ends with a comment,
`default`, `file` or `environment`. Secrets that stand in the file are masked.

Examples:
  frontdesk config show                            all defaults
  frontdesk config show --config frontdesk.toml | grep -v '# default'")]
    Show(ConfigFile),
}

#[derive(Debug, Args)]
pub struct ConfigFile {
    /// The configuration file [default: the file that FRONTDESK_CONFIG names, or none]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[cfg(test)]
mod tests;
