//! `frontdesk tenant erase`. It sends one request after the other until nothing is left; each of them is short, so that
//! it can be interrupted at any point and a running server goes on serving.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use frontdesk_engine::ports::registry::ErasureReport;
use serde_json::json;

use super::super::admin_client::{AdminClient, NeededData};
use super::super::{CliError, DataArgs, StoreGuard, counted, load_config};
use super::profile::unexpected;
use crate::admin::{AdminRequest, AdminResponse, TenantRequest, TenantResponse};

/// Erase a tenant with everything that belongs to it.
#[derive(Debug, Args)]
#[command(
    long_about = "Deletes every row of the tenant, its events, idempotency keys and dispatched tasks, its audit chain, its \
        key, and the clients that belong to it alone. Clients of several tenants lose it. This cannot be undone.\n\n\
        From the first moment on no token is issued for it and no call for it succeeds; other tenants are served as \
        before. If it is interrupted, run it again: it continues.\n\n\
        The audit log of this server says when it began and ended, how many rows there were, and how the erased chain \
        ended. What was read of the tenant stays in the log of reads until `audit.retain_days_reads` is over. Backups \
        and exports that were made before still hold the tenant: delete them, or keep them no longer than you must.",
    after_help = "\
It asks for the id once more. In a script, `--confirm` says it.

Examples:
  frontdesk tenant erase TENANT_ID
  frontdesk tenant erase TENANT_ID --confirm TENANT_ID --json"
)]
pub(super) struct EraseTenantArgs {
    /// The tenant's id
    #[arg(value_name = "ID")]
    id: String,
    /// The tenant's id once more, instead of typing it
    #[arg(long, value_name = "ID")]
    confirm: Option<String>,
    #[command(flatten)]
    data: DataArgs,
    /// Print a summary as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn erase(args: EraseTenantArgs) -> Result<(), CliError> {
    refuse_mounted(&args)?;
    let guard = StoreGuard::default();
    let client = AdminClient::open(args.data, NeededData::Existing, &guard).await?;
    let shown = client.send(AdminRequest::Tenant { request: TenantRequest::Show { id: args.id.clone() } }).await?;
    let AdminResponse::Tenant(TenantResponse::Tenant(tenant)) = shown else {
        return Err(unexpected());
    };
    confirm(&args.id, &tenant.name, args.confirm)?;
    let report = loop {
        let request = AdminRequest::Tenant { request: TenantRequest::Erase { id: args.id.clone() } };
        match client.send(request).await? {
            AdminResponse::Tenant(TenantResponse::Erasing(_)) => {}
            AdminResponse::Tenant(TenantResponse::Erased(report)) => break report,
            AdminResponse::Tenant(TenantResponse::Tenant(_) | TenantResponse::Tenants(_))
            | AdminResponse::Secret { .. }
            | AdminResponse::Clients(_)
            | AdminResponse::Revoked { .. }
            | AdminResponse::Token(_)
            | AdminResponse::Import(_)
            | AdminResponse::Export(_)
            | AdminResponse::Maintenance(_)
            | AdminResponse::Advanced(_)
            | AdminResponse::Deliveries(_)
            | AdminResponse::ServiceLevels(_)
            | AdminResponse::Description(_)
            | AdminResponse::ErasePerson(_)
            | AdminResponse::Key(_)
            | AdminResponse::Recorded => return Err(unexpected()),
        }
    };
    let mut out = io::stdout().lock();
    if args.json {
        let ErasureReport { rows, clients, chain } = report;
        let object = json!({"tenant": args.id, "rows": rows, "clients": clients, "chain": chain});
        return Ok(writeln!(out, "{object}")?);
    }
    Ok(writeln!(out, "{}", describe(&args.id, &report))?)
}

/// Its next start would create the tenant again.
fn refuse_mounted(args: &EraseTenantArgs) -> Result<(), CliError> {
    let mounts = load_config(args.data.config.clone(), Vec::new())?.config.mounts;
    let is_served = mounts.iter().filter_map(|mount| mount.site.as_deref()).any(|site| site.tenant.as_str() == args.id);
    if is_served {
        let id = &args.id;
        return Err(format!(
            "the configuration mounts a site for tenant `{id}`. Remove that [[mount]], reload the server, and erase it then"
        )
        .into());
    }
    Ok(())
}

/// A slip of the finger must not erase a business.
fn confirm(id: &str, name: &str, confirmed: Option<String>) -> Result<(), CliError> {
    let typed = match confirmed {
        Some(typed) => typed,
        None if io::stdin().is_terminal() => {
            let mut err = io::stderr().lock();
            write!(
                err,
                "This erases tenant {id} ({name}) with everything that belongs to it, and cannot be undone.\n\
                 Type its id to go on: "
            )?;
            err.flush()?;
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line)?;
            line
        }
        None => {
            return Err(format!("nothing was erased. Without a terminal, say it once more: --confirm {id}").into());
        }
    };
    if typed.trim() == id { Ok(()) } else { Err(format!("nothing was erased: that is not `{id}`").into()) }
}

fn describe(id: &str, report: &ErasureReport) -> String {
    let rows = counted(report.rows.values().sum(), "row");
    let (links, clients) = (counted(report.chain.links, "link"), counted(report.clients, "client"));
    let mut text = format!("Tenant {id} is erased: {rows}, {clients}, and its audit chain of {links}.");
    if report.chain.seq > 0 {
        text.push_str(&format!("\nThe last link was {}, {}.", report.chain.seq, report.chain.hash));
    }
    if !report.chain.intact {
        text.push_str("\nThe chain was not as it had been written; the audit log says so.");
    }
    text.push_str("\nBackups and exports that were made before still hold it; delete them as your rules ask for.");
    text
}
