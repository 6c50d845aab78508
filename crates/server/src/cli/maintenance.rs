//! `frontdesk maintenance`: closes tools for a while without stopping the server. It talks to the running server only:
//! without one nobody can call.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::table::table;
use super::{CliError, DataArgs, data_flag, load_config, runtime};
use crate::admin::{AdminRequest, AdminResponse, MaintenanceAction, MaintenanceState, MaintenanceView, send_request};
use crate::data_dir;

/// Close tools for maintenance while the server runs, and open them again.
#[derive(Debug, Args)]
#[command(
    long_about = "While a mount is closed, every call of a tool is refused and changes nothing, with the code that its contract \
        has for maintenance. Initialization and lists of tools go on, so that callers still find the server.\n\n\
        It ends with `off`, or when the server stops; a reload changes nothing. To close a mount for longer, set \
        `maintenance = true` in its [[mount]] table, if its contract has that key.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub(super) struct MaintenanceArgs {
    #[command(subcommand)]
    pub(super) command: MaintenanceCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum MaintenanceCommand {
    /// Refuse calls of tools from now on
    #[command(after_help = "\
Examples:
  frontdesk maintenance on
  frontdesk maintenance on --mount PATH --config frontdesk.toml")]
    On(MountArgs),
    /// Answer calls of tools again
    #[command(after_help = "\
Example:
  frontdesk maintenance off")]
    Off(MountArgs),
    /// Show which mounts are closed, and what callers get
    #[command(after_help = "\
Example:
  frontdesk maintenance status")]
    Status(MountArgs),
}

#[derive(Debug, Args)]
pub(super) struct MountArgs {
    /// The path of one mount [default: all of them]
    #[arg(long, value_name = "PATH")]
    pub(super) mount: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) fn run(args: MaintenanceArgs) -> Result<ExitCode, CliError> {
    let (action, args) = match args.command {
        MaintenanceCommand::On(args) => (MaintenanceAction::On, args),
        MaintenanceCommand::Off(args) => (MaintenanceAction::Off, args),
        MaintenanceCommand::Status(args) => (MaintenanceAction::Status, args),
    };
    let config = load_config(args.data.config, data_flag(args.data.data.as_deref()))?.config;
    let socket = data_dir::admin_socket(&config.data);
    let request = AdminRequest::Maintenance { action, mount: args.mount };
    let Some(response) = runtime()?.block_on(send_request(&socket, &request)) else {
        let data = config.data.display();
        return Err(format!("no server runs on {data}, so nobody can call. Name the folder of a running one").into());
    };
    let views = match response? {
        AdminResponse::Maintenance(views) => views,
        AdminResponse::Secret { .. }
        | AdminResponse::Clients(_)
        | AdminResponse::Revoked { .. }
        | AdminResponse::Key(_)
        | AdminResponse::Recorded
        | AdminResponse::Token(_)
        | AdminResponse::Import(_)
        | AdminResponse::Export(_)
        | AdminResponse::ErasePerson(_)
        | AdminResponse::Advanced(_)
        | AdminResponse::Deliveries(_)
        | AdminResponse::ServiceLevels(_)
        | AdminResponse::Description(_)
        | AdminResponse::Tenant(_) => return Err("the running server is another version of Frontdesk".into()),
    };
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&views)?)?;
    } else {
        let head = ["MOUNT", "CONTRACT", "TOOLS"].map(str::to_owned);
        writeln!(out, "{}", table(head, views.iter().map(row)))?;
        if action == MaintenanceAction::Off
            && views.iter().any(|view| view.state == MaintenanceState::ClosedByConfiguration)
        {
            writeln!(out, "What the configuration has closed stays closed: set `maintenance = false`, and reload.")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row(MaintenanceView { path, contract, state, status, code }: &MaintenanceView) -> [String; 3] {
    let what = match state {
        MaintenanceState::Open => "open".to_owned(),
        MaintenanceState::Closed => format!("closed: calls of tools get {code} with HTTP status {status}"),
        MaintenanceState::ClosedByConfiguration => {
            format!("closed by the configuration: calls of tools get {code} with HTTP status {status}")
        }
    };
    [path.clone(), contract.clone(), what]
}
