//! `frontdesk key`: the life of the master key.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::admin_client::{AdminClient, NeededData};
use super::{CliError, DataArgs, StoreGuard, run_server};
use crate::admin::{AdminRequest, AdminResponse, KeyAction, KeyState, KeyView};

/// Replace the master key.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub(super) struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Make a new master key and put it in the place of the old one
    #[command(
        long_about = "Makes a new master key, wraps the database's root key with it, and replaces master.key. A running \
            server goes on serving. If it is interrupted, run it again: it continues, and either key opens the database \
            until it has ended.\n\n\
            With the embedded database the old key opens it no longer afterwards. On PostgreSQL other nodes may have a copy \
            of the old key: copy the new master.key to each of them, and then run it once more with `--finish`.\n\n\
            Backups that were made before are opened by the key of their time: keep it with them, or delete both. The \
            keys of tenants stay as they are.",
        after_help = "\
Examples:
  frontdesk key rotate
  frontdesk key rotate --finish --config frontdesk.toml"
    )]
    Rotate(RotateArgs),
}

#[derive(Debug, Args)]
struct RotateArgs {
    /// Every node has the new key: the old one no longer opens the database
    #[arg(long)]
    finish: bool,
    #[command(flatten)]
    data: DataArgs,
    /// Print a summary as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: KeyArgs) -> Result<ExitCode, CliError> {
    let KeyCommand::Rotate(args) = args.command;
    let guard = StoreGuard::default();
    run_server(&guard, rotate(args, &guard))?;
    Ok(ExitCode::SUCCESS)
}

async fn rotate(args: RotateArgs, guard: &StoreGuard) -> Result<(), CliError> {
    let client = AdminClient::open(args.data, NeededData::Existing, guard).await?;
    let action = if args.finish { KeyAction::Finish } else { KeyAction::Rotate };
    let AdminResponse::Key(KeyView { state, master_key }) = client.send(AdminRequest::Key { action }).await? else {
        return Err("the running server gave another answer; it is another version of Frontdesk".into());
    };
    let mut out = io::stdout().lock();
    if args.json {
        return Ok(writeln!(out, "{}", json!({"state": state, "master_key": master_key}))?);
    }
    let text = match state {
        KeyState::Rotated => format!(
            "The master key was replaced: {master_key}\nThe old one no longer opens the database. Copy the new one to where \
             you keep it; backups that were made before need the old one."
        ),
        KeyState::BothAccepted => format!(
            "The master key was replaced: {master_key}\nThe old one opens the database too, for the other nodes. Copy the \
             new one to each of them, then run: frontdesk key rotate --finish"
        ),
        KeyState::NothingToFinish => "No other master key opens the database.".to_owned(),
    };
    Ok(writeln!(out, "{text}")?)
}
