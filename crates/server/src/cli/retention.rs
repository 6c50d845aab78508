//! `frontdesk retention`: whether expired records are being deleted, and the operator's word that the clock is right.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{CliError, DataArgs, data_flag, load_config, runtime};
use crate::admin::{AdminRequest, send_request};
use crate::app::stored_pause;
use crate::data_dir;

/// Show whether expired records are deleted, and let it go on after a pause.
#[derive(Debug, Args)]
#[command(
    long_about = "Idempotency keys, finished tasks and audit records are deleted when they have expired. By a clock that is set \
        wrong, everything has. So deleting pauses, and the log says so, when the clock was set by more than an hour while \
        the server runs, and at a start whose clock lies further after the newest record than records are kept.\n\n\
        It goes on only by `resume`, which is recorded in the audit log. Check the clock first.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub(super) struct RetentionArgs {
    #[command(subcommand)]
    command: RetentionCommand,
}

#[derive(Debug, Subcommand)]
enum RetentionCommand {
    /// Show whether it is paused, and why
    #[command(after_help = "\
Example:
  frontdesk retention status")]
    Status(DataArgs),
    /// Say that the clock is right: expired records are deleted again
    #[command(after_help = "\
Example:
  date && frontdesk retention resume")]
    Resume(DataArgs),
}

pub(super) fn run(args: RetentionArgs) -> Result<ExitCode, CliError> {
    let mut out = io::stdout().lock();
    match args.command {
        RetentionCommand::Status(data) => {
            let config = load_config(data.config, data_flag(data.data.as_deref()))?.config;
            match stored_pause(&config.data) {
                None => writeln!(out, "Expired records are deleted.")?,
                Some(reason) => writeln!(
                    out,
                    "Paused: {reason}. Nothing is deleted. Check the clock, then run `frontdesk retention resume`."
                )?,
            }
        }
        RetentionCommand::Resume(data) => {
            let config = load_config(data.config, data_flag(data.data.as_deref()))?.config;
            let socket = data_dir::admin_socket(&config.data);
            let Some(response) = runtime()?.block_on(send_request(&socket, &AdminRequest::ResumeRetention)) else {
                let data = config.data.display();
                return Err(format!("no server runs on {data}. Start it first; it deletes nothing until then").into());
            };
            response?;
            writeln!(out, "Expired records are deleted again.")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
