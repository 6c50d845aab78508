//! `frontdesk token`: a token for a person whom the operator knows, where a tool needs a recent login. There is no
//! interactive login yet.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::admin_client::{AdminClient, NeededData};
use super::{CliError, DataArgs, StoreGuard, run_server};
use crate::admin::{AdminRequest, AdminResponse, TokenRequest, TokenView};

/// Issue a token that counts as a login.
#[derive(Debug, Args)]
#[command(
    long_about = "Some tools need a person who has logged in within the last five minutes, such as those about credit \
        applications. A token from the token endpoint never counts as a login. Until there is an interactive login, the \
        operator issues one for somebody they know.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    pub(super) command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    Issue(IssueTokenArgs),
}

/// Issue a token for a client; prints it once.
#[derive(Debug, Args)]
#[command(after_help = "\
Make sure that you know who asks before you issue one: whoever has the token
counts as logged in for five minutes, then the token ends. It has exactly the
scopes that you name; the client must be registered for them. The audit log
names the client and the scopes, not the token.

Examples:
  frontdesk token issue --client CLIENT_ID --scope SCOPE --step-up
  frontdesk token issue --client CLIENT_ID --scope SCOPE --scope OTHER_SCOPE \\
      --step-up --json --config frontdesk.toml")]
pub(super) struct IssueTokenArgs {
    /// The client's id, as `frontdesk client list` shows it
    #[arg(long, value_name = "ID")]
    pub(super) client: String,
    /// A scope that the token has
    #[arg(long = "scope", value_name = "SCOPE", num_args = 1.., required = true)]
    pub(super) scopes: Vec<String>,
    /// Confirm that somebody you know has logged in; other tokens come from the token endpoint
    #[arg(long, required = true)]
    pub(super) step_up: bool,
    /// The path of the mount that it is for [default: the first one with these scopes]
    #[arg(long, value_name = "PATH")]
    pub(super) mount: Option<String>,
    #[command(flatten)]
    data: DataArgs,
    /// Print the token as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: TokenArgs) -> Result<ExitCode, CliError> {
    let TokenCommand::Issue(IssueTokenArgs { client, scopes, mount, data, json, .. }) = args.command;
    let request = AdminRequest::IssueToken { request: TokenRequest { client, scopes, mount } };
    let guard = StoreGuard::default();
    let response =
        run_server(&guard, async { AdminClient::open(data, NeededData::Existing, &guard).await?.send(request).await })?;
    let view = match response {
        AdminResponse::Token(view) => view,
        AdminResponse::Secret { .. }
        | AdminResponse::Clients(_)
        | AdminResponse::Revoked { .. }
        | AdminResponse::Key(_)
        | AdminResponse::Recorded
        | AdminResponse::Import(_)
        | AdminResponse::Export(_)
        | AdminResponse::ErasePerson(_)
        | AdminResponse::Maintenance(_)
        | AdminResponse::Advanced(_)
        | AdminResponse::Deliveries(_)
        | AdminResponse::ServiceLevels(_)
        | AdminResponse::Description(_)
        | AdminResponse::Tenant(_) => return Err("the running server is another version of Frontdesk".into()),
    };
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(&view)?)?;
    } else {
        writeln!(out, "{}", describe(&view))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(view: &TokenView) -> String {
    let TokenView { token, client, resource, scopes, expires_at } = view;
    format!(
        "token    {token}   (shown once, stored as a hash)\nclient   {client}\nmount    {resource}\nscopes   {}\n\
         until    {expires_at}",
        scopes.join(" ")
    )
}
