//! `frontdesk connect`: what to paste into an MCP client, and nothing else, on standard output; what to know about it on
//! standard error. Secrets are never printed, because they are known only when they are made.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::admin_client::{AdminClient, NeededData};
use super::{CliError, DataArgs, StoreGuard, data_flag, load_config, run_server};
use crate::admin::{AdminRequest, AdminResponse, MountDescription, ServerDescription, send_request};
use crate::config::Config;
use crate::connect::{self, CLIENTS, ConnectClient, Installation, LoginKind, StdioArguments};
use crate::data_dir;

/// Print what to paste into an MCP client.
#[derive(Debug, Args)]
#[command(
    long_about = "Prints what to paste into an MCP client, with the URL, the CA file and the client id of this installation: \
        the paste on standard output, what to know about it on standard error.\n\n\
        A running server is asked for its addresses; otherwise those of the configuration are printed. Clients that open a \
        browser need the URL only. Others need a client id and secret, see `frontdesk client add`; the secret is not printed.",
    after_help = "\
Examples:
  frontdesk connect claude-code
  frontdesk connect cursor > .cursor/mcp.json
  frontdesk connect python --client CLIENT_ID > agent.py
  frontdesk connect curl --contract CONTRACT --config frontdesk.toml | sh"
)]
pub(super) struct ConnectArgs {
    /// The client to connect
    #[arg(value_name = "CLIENT", value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name)))]
    target: String,
    /// The contract to connect to [default: the first one mounted]
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
    /// The client id to use [default: the first client with scopes of the contract]
    #[arg(long = "client", value_name = "ID")]
    client: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) fn run(args: ConnectArgs) -> Result<ExitCode, CliError> {
    let client = connect::find(&args.target).ok_or("there is no such client; see `frontdesk connect --help`")?;
    let config = load_config(args.data.config.clone(), data_flag(args.data.data.as_deref()))?.config;
    let guard = StoreGuard::default();
    let installation = run_server(&guard, installation(&args, client, config, &guard))?;
    io::stdout().lock().write_all(connect::paste(client, &installation).as_bytes())?;
    let mut notes = io::stderr().lock();
    for note in connect::notes(client, &installation) {
        writeln!(notes, "# {note}")?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn installation(
    args: &ConnectArgs,
    client: &ConnectClient,
    config: Config,
    guard: &StoreGuard,
) -> Result<Installation, CliError> {
    let socket = data_dir::admin_socket(&config.data);
    let server = match send_request(&socket, &AdminRequest::Describe).await {
        Some(Ok(AdminResponse::Description(description))) => description,
        Some(Ok(_)) => return Err("the running server gave another answer; use the same version".into()),
        Some(Err(why)) => return Err(why.into()),
        None => ServerDescription::new(&config),
    };
    let (mount, is_first) = chosen(&server, args.contract.as_deref())?;
    let contract = (!is_first).then(|| mount.contract.clone());
    let stdio = match &args.data.config {
        Some(file) => StdioArguments { flag: "--config", path: absolute(file)?, contract: contract.clone() },
        None => StdioArguments { flag: "--data", path: absolute(&config.data)?, contract: contract.clone() },
    };
    let client_id = match client.login {
        LoginKind::Browser => String::new(),
        LoginKind::Secret => client_id(args.client.as_deref(), mount, config, guard).await?,
    };
    Ok(Installation {
        name: Installation::name_of(contract.as_deref()),
        url: mount.url.clone(),
        public_url: server.public_url.clone(),
        ca_file: server.ca_file.clone(),
        client_id,
        scopes: mount.scopes.clone(),
        program: std::env::current_exe()?.display().to_string(),
        stdio,
        reach: server.reach,
    })
}

/// The mount of the contract, and whether it is the one that is served without naming one.
fn chosen<'s>(server: &'s ServerDescription, wanted: Option<&str>) -> Result<(&'s MountDescription, bool), CliError> {
    let mut mounts = server.mounts.iter().enumerate();
    let found = mounts.find(|(_, mount)| wanted.is_none_or(|wanted| mount.contract == wanted));
    let (index, mount) = found.ok_or_else(|| {
        let mounted: Vec<&str> = server.mounts.iter().map(|mount| mount.contract.as_str()).collect();
        format!("no client can be connected to that contract here; there are: {}", mounted.join(", "))
    })?;
    Ok((mount, index == 0))
}

/// The id that was asked for, if it is one; otherwise the first that can call this mount.
async fn client_id(
    wanted: Option<&str>,
    mount: &MountDescription,
    config: Config,
    guard: &StoreGuard,
) -> Result<String, CliError> {
    let admin = AdminClient::open_at(config, NeededData::Existing, guard).await?;
    let AdminResponse::Clients(list) = admin.send(AdminRequest::ListClients).await? else {
        return Err("the running server gave another answer; use the same version".into());
    };
    let mut active = list.clients.into_iter().filter(|client| client.revoked_at.is_none());
    match wanted {
        Some(wanted) => match active.find(|client| client.id == wanted) {
            Some(client) => Ok(client.id),
            None => Err(format!("there is no active client {wanted}; see `frontdesk client list`").into()),
        },
        None => {
            let found = active.find(|client| client.scopes.iter().any(|scope| mount.scopes.contains(scope)));
            let none = "there is no client with a scope of this contract; add one with `frontdesk client add`";
            found.map(|client| client.id).ok_or_else(|| none.into())
        }
    }
}

fn absolute(path: &PathBuf) -> io::Result<String> {
    Ok(std::path::absolute(path)?.display().to_string())
}
