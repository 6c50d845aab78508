//! The command line, one file per command: its arguments and what it does.

mod admin_client;
mod advance;
mod audit;
mod backup;
mod client;
mod config;
mod connect;
mod contract;
mod data_args;
mod deliveries;
mod demo;
mod demo_banner;
mod demo_partner;
mod demo_user;
mod erase;
mod export;
mod import;
mod key;
mod maintenance;
mod manifest;
mod output;
mod probe;
mod progress;
mod retention;
mod serve;
mod shell;
mod status;
mod stdio;
mod table;
mod tenant;
mod token;
mod user;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use frontdesk_contracts::ENTRIES;
use frontdesk_store::Backend;

use crate::config::{DatabaseConfig, LoadedConfig, environment, load};
use audit::AuditArgs;
use backup::{BackupArgs, RestoreArgs};
use client::ClientArgs;
use config::ConfigArgs;
use connect::ConnectArgs;
use data_args::DataArgs;
use demo::DemoArgs;
use export::ExportRecordsArgs;
use import::ImportArgs;
use key::KeyArgs;
use maintenance::MaintenanceArgs;
use retention::RetentionArgs;
use serve::ServeArgs;
use shell::{CompletionsArgs, ManArgs};
use stdio::StdioArgs;
use tenant::TenantArgs;
use token::TokenArgs;
use user::UserArgs;

/// How long tasks may go on after the server has ended.
const TASK_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a command failed, as a sentence for the person who typed it.
pub type CliError = Box<dyn Error>;

/// Serve a business's data and actions to AI agents over MCP.
#[derive(Debug, Parser)]
#[command(
    name = "frontdesk",
    version,
    long_about = "Frontdesk serves a business's data and actions to AI agents over MCP, under a published contract.\n\n\
        It authenticates callers, checks their scopes, executes a retried write once, and keeps an audit log of every \
        call.",
    after_help = "\
Start here:
  frontdesk demo                              a working server with made-up data

For real:
  frontdesk config check --config FILE        validate the configuration
  frontdesk serve --config FILE               serve it
  frontdesk tenant add --help                 add a business
  frontdesk user add --help                   let a person log in
  frontdesk client add --help                 give a program access
  frontdesk connect --help                    what to paste into an MCP client
  frontdesk import RECORDS FILE               bring your own records in
  frontdesk export RECORDS                    write records into a file
  frontdesk backup FILE                       copy the data, also while serving
  frontdesk tenant --help                     change, move or erase a tenant

`frontdesk COMMAND --help` explains a command. Every key of the file is in
docs/configuration.md.",
    arg_required_else_help = true,
    subcommand_required = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(DemoArgs),
    Serve(ServeArgs),
    Client(ClientArgs),
    Connect(ConnectArgs),
    Config(ConfigArgs),
    Audit(AuditArgs),
    Key(KeyArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Import(Box<ImportArgs>),
    Export(ExportRecordsArgs),
    Tenant(TenantArgs),
    Token(TokenArgs),
    User(UserArgs),
    Maintenance(MaintenanceArgs),
    Retention(RetentionArgs),
    Stdio(StdioArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Runs the command that these arguments name; the first one is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<ExitCode, CliError> {
    let matches = definition().get_matches_from(arguments);
    if let Some((command, arguments)) = contract::find(&matches) {
        return contract::run(command, arguments);
    }
    if let Some((command, arguments)) = probe::find(&matches) {
        return probe::run(command, arguments);
    }
    if let Some((entry, arguments)) = manifest::find(&matches) {
        return manifest::run(entry, arguments);
    }
    if let Some((entry, arguments)) = advance::find(&matches) {
        return advance::run(entry, arguments);
    }
    if let Some((entry, name, arguments)) = deliveries::find(&matches) {
        return deliveries::run(entry, name, arguments);
    }
    if let Some((entry, arguments)) = status::find(&matches) {
        return status::run(entry, arguments);
    }
    if let Some((entry, spec, arguments)) = erase::find(&matches) {
        return erase::run(entry, spec, arguments);
    }
    parse(&matches)?.run()
}

/// Every command: those of the server, and those that contracts bring.
fn definition() -> clap::Command {
    let commands = Cli::command().subcommands(ENTRIES.iter().filter_map(contract::definition));
    commands.subcommands(erase::definitions())
}

fn parse(matches: &ArgMatches) -> Result<Command, clap::Error> {
    Cli::from_arg_matches(matches).map(|cli| cli.command)
}

impl Command {
    fn run(self) -> Result<ExitCode, CliError> {
        match self {
            Command::Demo(args) => demo::run(args),
            Command::Serve(args) => serve::run(args),
            Command::Client(args) => client::run(args),
            Command::Connect(args) => connect::run(args),
            Command::Config(args) => config::run(args),
            Command::Audit(args) => audit::run(args),
            Command::Import(args) => import::run(*args),
            Command::Export(args) => export::run(args),
            Command::Tenant(args) => tenant::run(args),
            Command::Token(args) => token::run(args),
            Command::User(args) => user::run(args),
            Command::Maintenance(args) => maintenance::run(args),
            Command::Key(args) => key::run(args),
            Command::Retention(args) => retention::run(args),
            Command::Backup(args) => backup::run_backup(args),
            Command::Restore(args) => backup::run_restore(args),
            Command::Stdio(args) => stdio::run(args),
            Command::Completions(args) => Ok(shell::run_completions(args)),
            Command::Man(args) => shell::run_man(args),
        }
    }
}

/// `1 row`, `2 rows`.
fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A list without some of its rows says so, on stderr because the list itself may be read by a program.
fn warn_of_refused_rows(rows: usize, noun: &str) -> io::Result<()> {
    if rows == 0 {
        return Ok(());
    }
    let rows = counted(u64::try_from(rows).unwrap_or(u64::MAX), noun);
    writeln!(
        io::stderr().lock(),
        "{rows} refused: the row was changed in the database without the master key, and gives no access. \
         Find out who wrote to the database, and restore a backup."
    )
}

fn load_config(file: Option<PathBuf>, flags: Vec<(&str, String)>) -> Result<LoadedConfig, CliError> {
    Ok(load(file.as_deref(), with_flags(flags), ENTRIES)?)
}

/// The environment, in which flags replace variables.
fn with_flags(flags: Vec<(&str, String)>) -> impl Iterator<Item = (String, String)> {
    environment().chain(flags.into_iter().map(|(name, value)| (name.to_owned(), value)))
}

/// `--data`, as a variable.
fn data_flag(data: Option<&Path>) -> Vec<(&'static str, String)> {
    data.map(|data| ("FRONTDESK_DATA", data.display().to_string())).into_iter().collect()
}

/// Where a command finds its data.
struct DataPaths {
    data: PathBuf,
    /// The file of the master key.
    key_file: PathBuf,
    database: DatabaseConfig,
}

fn resolve_paths(args: DataArgs) -> Result<DataPaths, CliError> {
    let config = load_config(args.config, data_flag(args.data.as_deref()))?.config;
    Ok(DataPaths { data: config.data, key_file: config.master_key, database: config.database })
}

/// Runs a server to its end. Tasks that still run then, such as a name lookup for the trace collector, are given up
/// after a moment. The store is always closed completely.
fn run_server<T>(guard: &StoreGuard, server: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = runtime()?;
    let result = runtime.block_on(server);
    runtime.shutdown_timeout(TASK_SHUTDOWN_TIMEOUT);
    guard.close();
    result
}

/// Holds the store until every task has ended. Dropping the last reference to a store waits for its writer, which must
/// not happen in a task that is given up after a moment.
#[derive(Default)]
struct StoreGuard(Mutex<Option<Arc<dyn Backend>>>);

impl StoreGuard {
    fn hold(&self, store: &Arc<dyn Backend>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(store));
    }

    fn close(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

#[cfg(test)]
mod tests;
