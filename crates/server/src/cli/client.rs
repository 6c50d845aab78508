//! `frontdesk client`: who may ask for tokens. A secret is never an argument, because arguments are visible to others.

use clap::{Args, Subcommand};

use super::Place;

/// Add, list, rotate and revoke the clients that may call.
#[derive(Debug, Args)]
#[command(
    long_about = "A client is a program that may ask for access tokens: its id and secret, the tenants it may act for and \
        the scopes it may have.\n\n\
        These commands work while a server is running on the same data folder, and take effect within a second.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub struct Client {
    #[command(subcommand)]
    pub command: ClientCommand,
}

#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    Add(Add),
    List(List),
    /// Give a client a new secret; the old one and its tokens stop working
    #[command(after_help = "\
The new secret is printed once. Whoever held the old one is out: tokens that
were issued already end within a second, and a new one needs the new secret.

Example:
  frontdesk client rotate CLIENT_ID")]
    Rotate(ClientId),
    /// End a client: its secret and its tokens stop working
    #[command(after_help = "\
This cannot be undone; add a new client instead. Tokens end within a second.

Example:
  frontdesk client revoke CLIENT_ID")]
    Revoke(ClientId),
}

/// Let a program ask for tokens; prints its id and secret once.
#[derive(Debug, Args)]
#[command(after_help = "\
Give a client the least it needs. `--tenant` and `--scope` may be repeated.

Examples:
  frontdesk client add --name 'Stock finder' --tenant TENANT_ID \\
      --scope amcp:inventory:read
  frontdesk client add --name 'First one' --tenant TENANT_ID --new-tenant \\
      --scope amcp:inventory:read
  frontdesk client add --name 'Lead desk' --tenant TENANT_ID \\
      --scope amcp:leads:read --scope amcp:leads:write --json
  frontdesk client add --name 'Reader of a CMS site' --tenant site \\
      --scope mcp:read --scope mcp:call")]
pub struct Add {
    /// What people call it; shown in lists and in the audit
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// A tenant that it may act for
    #[arg(long = "tenant", visible_alias = "dealership", value_name = "ID", num_args = 1.., required = true)]
    pub tenants: Vec<String>,
    /// Make tenants that do not exist yet, empty, instead of refusing them
    #[arg(long)]
    pub new_tenant: bool,
    /// A scope that it may ask for
    #[arg(long = "scope", value_name = "SCOPE", num_args = 1.., required = true)]
    pub scopes: Vec<String>,
    #[command(flatten)]
    pub place: Place,
    /// Print the client as one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// List the clients, without their secrets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  frontdesk client list
  frontdesk client list --json --config frontdesk.toml")]
pub struct List {
    #[command(flatten)]
    pub place: Place,
    /// Print one line of JSON for each client
    #[arg(long)]
    pub json: bool,
}

/// One client, named by its id.
#[derive(Debug, Args)]
pub struct ClientId {
    /// The client's id, as `frontdesk client list` shows it
    #[arg(value_name = "ID")]
    pub id: String,
    #[command(flatten)]
    pub place: Place,
    /// Print the answer as one line of JSON
    #[arg(long)]
    pub json: bool,
}
