//! `frontdesk token`: tokens for clients that can only send a header and cannot ask for one themselves.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::admin_client::{AdminClient, NeededData};
use super::table::table;
use super::{CliError, DataArgs, StoreGuard, run_server};
use crate::admin::{AdminRequest, AdminResponse, TokenRequest, TokenResponse, TokenView};

/// Issue, list and revoke tokens for clients that can only send a header.
#[derive(Debug, Args)]
#[command(
    long_about = "A client gets its tokens from the token endpoint, a few minutes at a time. Some tools can only send a \
        header that somebody has pasted into their settings: for those the operator issues a token that is valid for \
        days. It never counts as a login.",
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
    List(ListTokensArgs),
    Revoke(RevokeTokenArgs),
}

/// Issue a token for a client; prints it once.
#[derive(Debug, Args)]
#[command(after_help = "\
The token has exactly the scopes that you name; the client must be registered
for them. It ends after the days that you name, with the client, with a new
secret of the client, or by `frontdesk token revoke`. The audit log names the
client and the scopes, not the token.

Examples:
  frontdesk token issue --client CLIENT_ID --scope SCOPE
  frontdesk token issue --client CLIENT_ID --scope SCOPE --scope OTHER_SCOPE \\
      --days 7 --json --config frontdesk.toml")]
pub(super) struct IssueTokenArgs {
    /// The client's id, as `frontdesk client list` shows it
    #[arg(long, value_name = "ID")]
    pub(super) client: String,
    /// A scope that the token has
    #[arg(long = "scope", value_name = "SCOPE", num_args = 1.., required = true)]
    pub(super) scopes: Vec<String>,
    /// For how many days it is valid, at most what `token.operator_days` allows
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(super) days: u32,
    /// The path of the mount that it is for [default: the first one with these scopes]
    #[arg(long, value_name = "PATH")]
    pub(super) mount: Option<String>,
    #[command(flatten)]
    data: DataArgs,
    /// Print the token as one line of JSON
    #[arg(long)]
    json: bool,
}

/// List the tokens that are valid, without the tokens themselves.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  frontdesk token list --json")]
pub(super) struct ListTokensArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print one line of JSON for each token
    #[arg(long)]
    json: bool,
}

/// End a token within a second.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  frontdesk token revoke tok_0123456789abcdef")]
pub(super) struct RevokeTokenArgs {
    /// The token's id, as `frontdesk token list` shows it
    #[arg(value_name = "ID")]
    pub(super) id: String,
    #[command(flatten)]
    data: DataArgs,
    /// Print the answer as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: TokenArgs) -> Result<ExitCode, CliError> {
    let (request, data, json) = match args.command {
        TokenCommand::Issue(IssueTokenArgs { client, scopes, days, mount, data, json }) => {
            (TokenRequest::Issue { client, scopes, mount, days }, data, json)
        }
        TokenCommand::List(list) => (TokenRequest::List, list.data, list.json),
        TokenCommand::Revoke(revoke) => (TokenRequest::Revoke { id: revoke.id }, revoke.data, revoke.json),
    };
    let request = AdminRequest::Token { request };
    let guard = StoreGuard::default();
    let response =
        run_server(&guard, async { AdminClient::open(data, NeededData::Existing, &guard).await?.send(request).await })?;
    let AdminResponse::Token(response) = response else {
        return Err("the running server is another version of Frontdesk".into());
    };
    let mut out = io::stdout().lock();
    match (&response, json) {
        (TokenResponse::Issued(view), true) => writeln!(out, "{}", serde_json::to_string(view)?)?,
        (TokenResponse::Issued(view), false) => writeln!(out, "{}", describe(view))?,
        (TokenResponse::Listed(views), true) => {
            for view in views {
                writeln!(out, "{}", serde_json::to_string(view)?)?;
            }
        }
        (TokenResponse::Listed(views), false) if views.is_empty() => {
            writeln!(out, "There are no tokens; see `frontdesk token issue --help`.")?;
        }
        (TokenResponse::Listed(views), false) => writeln!(out, "{}", list(views))?,
        (TokenResponse::Revoked(id), true) => {
            writeln!(out, "{}", serde_json::json!({"id": id, "revoked": true}))?;
        }
        (TokenResponse::Revoked(id), false) => writeln!(out, "Token {id} is revoked; it ends within a second.")?,
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(view: &TokenView) -> String {
    let TokenView { id, token, client, resource, scopes, expires_at, .. } = view;
    format!(
        "token    {}   (shown once, stored as a hash)\nid       {id}\nclient   {client}\nmount    {resource}\n\
         scopes   {}\nuntil    {expires_at}",
        token.as_deref().unwrap_or_default(),
        scopes.join(" ")
    )
}

fn list(views: &[TokenView]) -> String {
    let head = ["TOKEN", "CLIENT", "MOUNT", "SCOPES", "UNTIL"].map(str::to_owned);
    let rows = views.iter().map(|view| {
        [view.id.clone(), view.client.clone(), view.resource.clone(), view.scopes.join(" "), view.expires_at.clone()]
    });
    table(head, rows)
}
