//! `frontdesk tenant`: the businesses that are served. They are added, shown, changed, moved to another server and
//! erased.

mod erase;
mod profile;
mod transfer;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{CliError, runtime};
use erase::EraseTenantArgs;
use profile::{AddTenantArgs, ListTenantsArgs, ShowTenantArgs, UpdateTenantArgs};
use transfer::{ExportTenantArgs, ImportTenantArgs};

/// Add, change, move and erase tenants.
#[derive(Debug, Args)]
#[command(
    long_about = "A tenant is one business: every row, event and idempotency key belongs to exactly one. It has an id and a \
        name and, if you like, an address, a time zone, opening hours, a currency and a group. Clients can be registered \
        for tenants and for groups (`frontdesk client add --help`).\n\n\
        `add`, `list`, `show`, `update` and `erase` work while a server is running on the same data folder.",
    after_help = "\
A move to another server, step by step:
  1. stop the old server, so that no call changes the data meanwhile
  2. frontdesk tenant export --tenant TENANT_ID FILE     on the old server
  3. bring FILE and FILE.key to the new server, over two different channels
  4. frontdesk tenant import FILE                        on the new server
  5. give its agents the new address; their ids and secrets stay the same
  6. frontdesk tenant erase TENANT_ID                    on the old server",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub(super) struct TenantArgs {
    #[command(subcommand)]
    command: TenantCommand,
}

#[derive(Debug, Subcommand)]
enum TenantCommand {
    Add(AddTenantArgs),
    List(ListTenantsArgs),
    Show(ShowTenantArgs),
    Update(UpdateTenantArgs),
    Export(ExportTenantArgs),
    Import(ImportTenantArgs),
    Erase(EraseTenantArgs),
}

pub(super) fn run(args: TenantArgs) -> Result<ExitCode, CliError> {
    runtime()?.block_on(async {
        match args.command {
            TenantCommand::Add(args) => profile::add(args).await,
            TenantCommand::List(args) => profile::list(args).await,
            TenantCommand::Show(args) => profile::show(args).await,
            TenantCommand::Update(args) => profile::update(args).await,
            TenantCommand::Export(args) => transfer::export(args).await,
            TenantCommand::Import(args) => transfer::import(args).await,
            TenantCommand::Erase(args) => erase::erase(args).await,
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
