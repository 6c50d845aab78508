//! `frontdesk client`: which programs may ask for tokens. A request goes to the server that holds the data folder, or is
//! handled here if no server runs. A secret is never an argument, because other users can see arguments.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use frontdesk_contracts as contracts;
use frontdesk_engine::model::tool::Effect;
use serde_json::json;

use super::{CliError, DataArgs, resolve_paths, runtime};
use crate::admin::{AdminRequest, AdminResponse, AdminService, ClientView, UnknownTenants, send_request};
use crate::app::DataBackend;
use crate::config::DatabaseConfig;
use crate::data_dir::{self, DataDir};

/// Add, list, rotate and revoke the clients that may call.
#[derive(Debug, Args)]
#[command(
    long_about = "A client is a program that may ask for access tokens: its id and secret, the tenants it may act for and \
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
Give a client as few scopes as it needs. `--tenant` and `--scope` can be
repeated. An unknown scope is refused with the list of scopes that exist.

Examples:
  frontdesk client add --name 'Search agent' --tenant TENANT_ID --scope SCOPE
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
    #[arg(long = "tenant", value_name = "ID", num_args = 1.., required = true)]
    pub(super) tenants: Vec<String>,
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
            let (name, tenants, scopes) = (add.name, add.tenants, add.scopes);
            (AdminRequest::AddClient { name, tenants, scopes, unknown_tenants }, add.data, add.json)
        }
        ClientCommand::List(list) => (AdminRequest::ListClients, list.data, list.json),
        ClientCommand::Rotate(client) => (AdminRequest::RotateClient { id: client.id }, client.data, client.json),
        ClientCommand::Revoke(client) => (AdminRequest::RevokeClient { id: client.id }, client.data, client.json),
    };
    let response = send(request, data)?;
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

fn send(request: AdminRequest, args: DataArgs) -> Result<AdminResponse, CliError> {
    let (data, database) = resolve_paths(args)?;
    runtime()?.block_on(async {
        if let Some(response) = send_request(&data_dir::admin_socket(&data), &request).await {
            return Ok(response?);
        }
        // The folder stays locked until the request is handled, so that no server starts on it meanwhile.
        let backend = open_backend(&data, &database, &request).await?;
        Ok(AdminService::new(&backend).handle(request).await?)
    })
}

/// A first client may be added before the first start; everything else needs existing data.
async fn open_backend(data: &Path, database: &DatabaseConfig, request: &AdminRequest) -> Result<DataBackend, CliError> {
    let data_dir = match request {
        AdminRequest::AddClient { .. } => DataDir::lock(data)?,
        AdminRequest::ListClients
        | AdminRequest::RotateClient { .. }
        | AdminRequest::RevokeClient { .. }
        | AdminRequest::RecordExport { .. } => DataDir::lock_existing(data, database)?,
    };
    Ok(DataBackend::open(data_dir, database).await?)
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
        AdminResponse::Clients(clients) => clients.iter().map(serde_json::to_string).collect(),
        AdminResponse::Revoked { id } => Ok(vec![json!({"id": id, "revoked": true}).to_string()]),
        AdminResponse::Recorded => Ok(Vec::new()),
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
                format!("scopes   {}", client.scopes.join(" ")),
            ];
            if !new_tenants.is_empty() {
                lines.push(format!("New and empty: {}", new_tenants.join(" ")));
                lines.push(format!("Data comes in by the tools {}.", adding_tools().join(" and ")));
                lines.push(
                    "A tenant that exists elsewhere is moved by `frontdesk tenant import`, to an id that is new here."
                        .to_owned(),
                );
            }
            lines.join("\n")
        }
        AdminResponse::Clients(clients) if clients.is_empty() => {
            "There are no clients yet; see `frontdesk client add --help`.".to_owned()
        }
        AdminResponse::Clients(clients) => table(clients),
        AdminResponse::Recorded => String::new(),
        AdminResponse::Revoked { id } => format!("Client {id} is revoked; its tokens end within a second."),
    }
}

/// The tools that add records, of every contract.
fn adding_tools() -> Vec<String> {
    let contracts = contracts::all();
    let tools = contracts.iter().flat_map(|contract| &contract.tools);
    tools.filter(|tool| tool.spec.effect == Effect::Adds).map(|tool| format!("`{}`", tool.spec.name)).collect()
}

fn table(clients: &[ClientView]) -> String {
    let head = ["CLIENT", "NAME", "TENANTS", "SCOPES", "STATE"].map(str::to_owned);
    let rows = clients.iter().map(|client| {
        [
            client.id.clone(),
            client.name.clone(),
            client.tenants.join(" "),
            client.scopes.join(" "),
            client.revoked_at.as_ref().map_or("active".to_owned(), |at| format!("revoked {at}")),
        ]
    });
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(column, cell)| {
                    let widest = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
                    format!("{cell:<width$}", width = widest.unwrap_or_default())
                })
                .collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect();
    lines.join("\n")
}
