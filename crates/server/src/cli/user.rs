//! `frontdesk user`: the people who may log in and connect agents. A password is never an argument, because other users can
//! see arguments.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::admin_client::{AdminClient, NeededData};
use super::table::table;
use super::{CliError, DataArgs, StoreGuard, run_server};
use crate::admin::{AdminRequest, AdminResponse, UserRequest, UserResponse, UserRow};

/// Add, list, invite, disable and reset the people who may log in.
#[derive(Debug, Args)]
#[command(
    long_about = "A user logs in with a browser and decides what an agent may do for them: for one of their tenants, and \
        no more than their role allows. A reader may pass on reading, staff reading and changing, a manager everything, \
        sensitive data among it.\n\n\
        These commands work while a server is running on the same data folder, and take effect within a second.",
    arg_required_else_help = true,
    subcommand_required = true
)]
pub(super) struct UserArgs {
    #[command(subcommand)]
    pub(super) command: UserCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum UserCommand {
    Add(AddUserArgs),
    Invite(InviteUserArgs),
    List(ListUsersArgs),
    /// Keep a user out: sessions, connected agents and their tokens end
    #[command(after_help = "Example:\n  frontdesk user disable ada@north.example")]
    Disable(UserNameArgs),
    /// Let a disabled user in again; agents have to be connected again
    #[command(after_help = "Example:\n  frontdesk user enable ada@north.example")]
    Enable(UserNameArgs),
    /// End a user's password and sessions; prints a link to choose a new one
    #[command(after_help = "\
The link works once, within a day. Agents stay connected.

Example:
  frontdesk user reset ada@north.example")]
    Reset(UserNameArgs),
}

/// Who they are and what they may act for.
#[derive(Debug, Args)]
pub(super) struct NewUserArgs {
    /// What they log in with, such as an e-mail address
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// A tenant that they may act for
    #[arg(long = "tenant", value_name = "ID", num_args = 1.., required_unless_present_any = ["groups", "all"])]
    pub(super) tenants: Vec<String>,
    /// A group of tenants that they may act for, one at a time
    #[arg(long = "group", value_name = "GROUP", num_args = 1..)]
    pub(super) groups: Vec<String>,
    /// They may act for every tenant, also later ones
    #[arg(long, conflicts_with_all = ["tenants", "groups"])]
    pub(super) all: bool,
    /// What they may pass on to an agent: reader, staff or manager
    #[arg(long, value_name = "ROLE", default_value = "staff", value_parser = ["reader", "staff", "manager"])]
    pub(super) role: String,
}

/// Add a user with a password, which is asked for.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  frontdesk user add ada@north.example --tenant TENANT_ID
  frontdesk user add ada@north.example --all --role manager
  printf %s \"$PASSWORD\" | frontdesk user add ada@north.example \\
      --tenant TENANT_ID --password-stdin")]
pub(super) struct AddUserArgs {
    #[command(flatten)]
    pub(super) user: NewUserArgs,
    /// Read the password from the standard input, up to its end or the first line break
    #[arg(long)]
    pub(super) password_stdin: bool,
    #[command(flatten)]
    data: DataArgs,
    /// Print the user as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Add a user who chooses a password; prints a link to send them.
#[derive(Debug, Args)]
#[command(after_help = "\
The link works once, within a day; `frontdesk user reset` makes a new one.

Example:
  frontdesk user invite ada@north.example --tenant TENANT_ID")]
pub(super) struct InviteUserArgs {
    #[command(flatten)]
    pub(super) user: NewUserArgs,
    #[command(flatten)]
    data: DataArgs,
    /// Print the user and the link as one line of JSON
    #[arg(long)]
    json: bool,
}

/// List the users.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  frontdesk user list --json")]
pub(super) struct ListUsersArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print one line of JSON for each user
    #[arg(long)]
    json: bool,
}

/// One user, by their name.
#[derive(Debug, Args)]
pub(super) struct UserNameArgs {
    /// The name, as `frontdesk user list` shows it
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    #[command(flatten)]
    data: DataArgs,
    /// Print the answer as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: UserArgs) -> Result<ExitCode, CliError> {
    let add = |user: NewUserArgs, password| {
        let NewUserArgs { name, tenants, groups, all, role } = user;
        UserRequest::Add { name, role, tenants, groups, all, password }
    };
    let (request, data, json) = match args.command {
        UserCommand::Add(args) => {
            let password = read_password(args.password_stdin)?;
            (add(args.user, Some(password)), args.data, args.json)
        }
        UserCommand::Invite(args) => (add(args.user, None), args.data, args.json),
        UserCommand::List(args) => (UserRequest::List, args.data, args.json),
        UserCommand::Disable(args) => (UserRequest::Disable { name: args.name }, args.data, args.json),
        UserCommand::Enable(args) => (UserRequest::Enable { name: args.name }, args.data, args.json),
        UserCommand::Reset(args) => (UserRequest::Reset { name: args.name }, args.data, args.json),
    };
    let needed = match request {
        UserRequest::Add { .. } => NeededData::MayBeNew,
        UserRequest::List | UserRequest::Disable { .. } | UserRequest::Enable { .. } | UserRequest::Reset { .. } => {
            NeededData::Existing
        }
    };
    let request = AdminRequest::User { request };
    let guard = StoreGuard::default();
    let response = run_server(&guard, async { AdminClient::open(data, needed, &guard).await?.send(request).await })?;
    let AdminResponse::User(response) = response else {
        return Err("the running server is another version of Frontdesk".into());
    };
    let mut out = io::stdout().lock();
    match (&response, json) {
        (UserResponse::Changed { user, link }, true) => {
            let mut object = serde_json::to_value(user)?;
            if let Some(object) = object.as_object_mut() {
                object.insert("link".to_owned(), serde_json::json!(link));
            }
            writeln!(out, "{object}")?;
        }
        (UserResponse::Changed { user, link }, false) => writeln!(out, "{}", describe(user, link.as_deref()))?,
        (UserResponse::Listed(users), true) => {
            for user in users {
                writeln!(out, "{}", serde_json::to_string(user)?)?;
            }
        }
        (UserResponse::Listed(users), false) if users.is_empty() => {
            writeln!(out, "There are no users yet; see `frontdesk user add --help`.")?;
        }
        (UserResponse::Listed(users), false) => writeln!(out, "{}", list(users))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// From the terminal without showing it, or from the standard input.
fn read_password(from_stdin: bool) -> Result<String, CliError> {
    let input = io::stdin();
    if from_stdin {
        let mut text = String::new();
        input.take(4096).read_to_string(&mut text)?;
        return Ok(text.lines().next().unwrap_or_default().to_owned());
    }
    if !input.is_terminal() {
        return Err("there is no terminal to ask for the password; pass it with --password-stdin".into());
    }
    eprint!("Password, at least 12 characters (it is not shown): ");
    let password = without_echo(|| {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line.trim_end_matches(['\r', '\n']).to_owned())
    });
    eprintln!();
    Ok(password?)
}

/// The terminal shows nothing that is typed meanwhile.
fn without_echo<T>(work: impl FnOnce() -> T) -> T {
    let set = |mode: &str| std::process::Command::new("stty").arg(mode).status();
    let hidden = set("-echo");
    let result = work();
    if hidden.is_ok() {
        let _ = set("echo");
    }
    result
}

fn describe(user: &UserRow, link: Option<&str>) -> String {
    let mut lines = vec![
        format!("user         {}", user.id),
        format!("name         {}", user.name),
        format!("role         {}", user.role),
        format!("tenants      {}", user.tenants.join(" ")),
        format!("state        {}", user.state),
    ];
    lines.extend(link.map(|link| format!("link         {link}   (works once, within a day)")));
    lines.join("\n")
}

fn list(users: &[UserRow]) -> String {
    let head = ["NAME", "ROLE", "TENANTS", "STATE", "AGENTS"].map(str::to_owned);
    let rows = users.iter().map(|user| {
        [
            user.name.clone(),
            user.role.clone(),
            user.tenants.join(" "),
            user.state.clone(),
            user.connected_agents.to_string(),
        ]
    });
    table(head, rows)
}
