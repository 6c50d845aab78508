//! `frontdesk client`: which programs may ask for tokens. A request goes to the server that holds the data folder, or is
//! handled here if no server runs. A secret is never an argument, because other users can see arguments.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::admin_client::{AdminClient, NeededData};
use super::table::table;
use super::{CliError, DataArgs, StoreGuard, run_server, warn_of_refused_rows};
use crate::admin::{AdminRequest, AdminResponse, ClientList, ClientView, UnknownTenants};

/// Add, list, rotate and revoke the clients that may call.
#[derive(Debug, Args)]
#[command(
    long_about = "A client is a program that may ask for access tokens: its id and secret, the tenants or groups it may act for and \
        the scopes it may have.\n\n\
        These commands work while a server is running on the same data folder, and take effect within a second.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub(super) struct ClientArgs {
    #[command(subcommand)]
    pub(super) command: ClientCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ClientCommand {
    Add(AddClientArgs),
    List(ListClientsArgs),
    /// Give a client a new secret; the old one and its tokens stop working
    #[command(after_help = "\
The new secret is printed once. The old secret stops working: tokens that were
issued already end within a second, and a new one needs the new secret.

Example:
  frontdesk client rotate CLIENT_ID")]
    Rotate(ClientIdArgs),
    /// End a client: its secret and its tokens stop working
    #[command(after_help = "\
This cannot be undone; add a new client instead. Tokens end within a second.

Example:
  frontdesk client revoke CLIENT_ID")]
    Revoke(ClientIdArgs),
}

/// Let a program ask for tokens; prints its id and secret once.
#[derive(Debug, Args)]
#[command(after_help = "\
Give a client as few scopes as it needs. `--tenant`, `--group` and `--scope`
can be repeated. An unknown scope is refused with the list of scopes that
exist. A token of a client of groups is for the tenants that are in them when
it is issued; every call names one of them.

Examples:
  frontdesk client add --name 'Search agent' --tenant TENANT_ID --scope SCOPE
  frontdesk client add --name 'Fleet agent' --group GROUP --scope SCOPE
  frontdesk client add --name 'First agent' --tenant TENANT_ID --new-tenant \\
      --scope SCOPE
  frontdesk client add --name 'Sales agent' --tenant TENANT_ID \\
      --scope SCOPE --scope OTHER_SCOPE --json
  frontdesk client add --name 'Reader of a CMS site' --tenant site \\
      --scope mcp:read --scope mcp:call")]
pub(super) struct AddClientArgs {
    /// A name for people; shown by `frontdesk client list` (the audit log has the id only)
    #[arg(long, value_name = "NAME")]
    pub(super) name: String,
    /// A tenant that it may act for
    #[arg(long = "tenant", value_name = "ID", num_args = 1.., required_unless_present = "groups")]
    pub(super) tenants: Vec<String>,
    /// A group of tenants that it may act for, one at a time
    #[arg(long = "group", value_name = "GROUP", num_args = 1..)]
    pub(super) groups: Vec<String>,
    /// Create tenants that do not exist yet, empty, instead of refusing them
    #[arg(long)]
    pub(super) new_tenant: bool,
    /// A scope that it may ask for
    #[arg(long = "scope", value_name = "SCOPE", num_args = 1.., required = true)]
    pub(super) scopes: Vec<String>,
    #[command(flatten)]
    data: DataArgs,
    /// Print the client as one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// List the clients, without their secrets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  frontdesk client list
  frontdesk client list --json --config frontdesk.toml")]
pub(super) struct ListClientsArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print one line of JSON for each client
    #[arg(long)]
    json: bool,
}

/// One client, named by its id.
#[derive(Debug, Args)]
pub(super) struct ClientIdArgs {
    /// The client's id, as `frontdesk client list` shows it
    #[arg(value_name = "ID")]
    pub(super) id: String,
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// Print the answer as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: ClientArgs) -> Result<ExitCode, CliError> {
    let (request, data, json) = match args.command {
        ClientCommand::Add(add) => {
            let unknown_tenants = if add.new_tenant { UnknownTenants::Create } else { UnknownTenants::Reject };
            let AddClientArgs { name, tenants, groups, scopes, .. } = add;
            (AdminRequest::AddClient { name, tenants, groups, scopes, unknown_tenants }, add.data, add.json)
        }
        ClientCommand::List(list) => (AdminRequest::ListClients, list.data, list.json),
        ClientCommand::Rotate(client) => (AdminRequest::RotateClient { id: client.id }, client.data, client.json),
        ClientCommand::Revoke(client) => (AdminRequest::RevokeClient { id: client.id }, client.data, client.json),
    };
    let response = send(request, data)?;
    if let AdminResponse::Clients(list) = &response {
        warn_of_refused_rows(list.refused, "client")?;
    }
    let mut out = io::stdout().lock();
    if json {
        for line in json_lines(&response)? {
            writeln!(out, "{line}")?;
        }
    } else {
        writeln!(out, "{}", describe(&response))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A first client may be added before the first start; everything else needs existing data.
fn send(request: AdminRequest, args: DataArgs) -> Result<AdminResponse, CliError> {
    let needed = match request {
        AdminRequest::AddClient { .. } => NeededData::MayBeNew,
        AdminRequest::ListClients
        | AdminRequest::RotateClient { .. }
        | AdminRequest::RevokeClient { .. }
        | AdminRequest::IssueToken { .. }
        | AdminRequest::RecordExport { .. }
        | AdminRequest::Import { .. }
        | AdminRequest::Export { .. }
        | AdminRequest::ErasePerson { .. }
        | AdminRequest::Maintenance { .. }
        | AdminRequest::ResumeRetention
        | AdminRequest::Advance { .. }
        | AdminRequest::Deliveries { .. }
        | AdminRequest::Describe
        | AdminRequest::ServiceLevel { .. }
        | AdminRequest::Key { .. }
        | AdminRequest::Tenant { .. } => NeededData::Existing,
    };
    let guard = StoreGuard::default();
    run_server(&guard, async { AdminClient::open(args, needed, &guard).await?.send(request).await })
}

/// One flat object per client, independent of the format of the admin socket.
fn json_lines(response: &AdminResponse) -> serde_json::Result<Vec<String>> {
    match response {
        AdminResponse::Secret { client, secret, new_tenants } => {
            let mut object = serde_json::to_value(client)?;
            if let Some(object) = object.as_object_mut() {
                object.insert("secret".to_owned(), json!(secret));
                object.insert("new_tenants".to_owned(), json!(new_tenants));
            }
            Ok(vec![object.to_string()])
        }
        AdminResponse::Clients(list) => list.clients.iter().map(serde_json::to_string).collect(),
        AdminResponse::Revoked { id } => Ok(vec![json!({"id": id, "revoked": true}).to_string()]),
        AdminResponse::Key(_)
        | AdminResponse::Recorded
        | AdminResponse::Token(_)
        | AdminResponse::Tenant(_)
        | AdminResponse::Import(_)
        | AdminResponse::Export(_)
        | AdminResponse::Maintenance(_)
        | AdminResponse::Advanced(_)
        | AdminResponse::Deliveries(_)
        | AdminResponse::ServiceLevels(_)
        | AdminResponse::Description(_)
        | AdminResponse::ErasePerson(_) => Ok(Vec::new()),
    }
}

fn describe(response: &AdminResponse) -> String {
    match response {
        AdminResponse::Secret { client, secret, new_tenants } => {
            let mut lines = vec![
                format!("client   {}", client.id),
                format!("secret   {secret}   (shown once, stored as a hash)"),
                format!("name     {}", client.name),
                format!("tenants  {}", client.tenants.join(" ")),
                format!("groups   {}", client.groups.join(" ")),
                format!("scopes   {}", client.scopes.join(" ")),
            ];
            // A client has tenants, groups or both.
            lines.retain(|line| !line.ends_with(' '));
            if !new_tenants.is_empty() {
                lines.push(format!("New and empty: {}", new_tenants.join(" ")));
                lines.push("Bring its records in with `frontdesk import`; see `frontdesk import --help`.".to_owned());
                lines.push(
                    "A tenant that exists elsewhere is moved by `frontdesk tenant import`, to an id that is new here."
                        .to_owned(),
                );
            }
            lines.join("\n")
        }
        AdminResponse::Clients(ClientList { clients, .. }) if clients.is_empty() => {
            "There are no clients yet; see `frontdesk client add --help`.".to_owned()
        }
        AdminResponse::Clients(ClientList { clients, .. }) => list(clients),
        AdminResponse::Key(_)
        | AdminResponse::Recorded
        | AdminResponse::Token(_)
        | AdminResponse::Tenant(_)
        | AdminResponse::Import(_)
        | AdminResponse::Export(_)
        | AdminResponse::Maintenance(_)
        | AdminResponse::Advanced(_)
        | AdminResponse::Deliveries(_)
        | AdminResponse::ServiceLevels(_)
        | AdminResponse::Description(_)
        | AdminResponse::ErasePerson(_) => String::new(),
        AdminResponse::Revoked { id } => format!("Client {id} is revoked; its tokens end within a second."),
    }
}

fn list(clients: &[ClientView]) -> String {
    let head = ["CLIENT", "NAME", "TENANTS", "GROUPS", "SCOPES", "STATE"].map(str::to_owned);
    let rows = clients.iter().map(|client| {
        let or_dash = |words: &[String]| if words.is_empty() { "-".to_owned() } else { words.join(" ") };
        [
            client.id.clone(),
            client.name.clone(),
            or_dash(&client.tenants),
            or_dash(&client.groups),
            client.scopes.join(" "),
            client.revoked_at.as_ref().map_or("active".to_owned(), |at| format!("revoked {at}")),
        ]
    });
    table(head, rows)
}
