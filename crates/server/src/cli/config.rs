//! `frontdesk config`: validates and shows the configuration.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use frontdesk_contracts::ENTRIES;
use frontdesk_engine::ports::Clock;
use frontdesk_store::check_connection;

use super::admin_client::{AdminClient, NeededData};
use super::{CliError, StoreGuard, data_flag, load_config, run_server, runtime, with_flags};
use crate::admin::{AdminRequest, AdminResponse, TenantList, TenantRequest, TenantResponse, TenantView};
use crate::app::{OnDatabaseDown, OpenMounts, TenantCurrency, check_currencies};
use crate::config::{CertificateConfig, CheckedConfig, Config, DatabaseConfig, MountConfig, check, show};
use crate::data_dir::require_data;
use crate::system::SystemClock;
use crate::telemetry::traces;
use crate::{data_dir, net};

/// Check or show the configuration.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    pub(super) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Report every problem at once, each with what to do about it
    #[command(after_help = "\
Exits with 0 when the configuration can be served, also when there are warnings.
A PostgreSQL database is connected to once: its certificate, password and role
are checked. So is the database of every site that is mounted, and its secrets
are read. With a partner mounted its credentials are read, and the currency of
its tenant is checked: the running server is asked, or the data is opened as by
any other command. Nothing else is changed.

Example:
  frontdesk config check --config frontdesk.toml")]
    Check(ConfigFileArgs),
    /// Print every key with its value in effect and its source
    #[command(after_help = "\
The output is itself a configuration file: each line ends with a comment,
`default`, `file` or `environment`. Secrets in the file are masked.

Examples:
  frontdesk config show                            all defaults
  frontdesk config show --config frontdesk.toml | grep -v '# default'")]
    Show(ConfigFileArgs),
}

#[derive(Debug, Args)]
pub(super) struct ConfigFileArgs {
    /// The configuration file [default: the file that FRONTDESK_CONFIG names, or none]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The data folder, as it will be given to `frontdesk serve`
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
}

pub(super) fn run(args: ConfigArgs) -> Result<ExitCode, CliError> {
    let mut out = io::stdout().lock();
    match args.command {
        ConfigCommand::Check(file) => {
            let checked = check(file.config.as_deref(), with_flags(data_flag(file.data.as_deref())), ENTRIES);
            let CheckReport { problems, notices } = try_out(&checked)?;
            if !problems.is_empty() {
                return Err(listed(&problems).into());
            }
            let warnings = checked.loaded.warnings.iter().map(ToString::to_string);
            for warning in warnings.chain(notices) {
                writeln!(out, "warning: {warning}")?;
            }
            writeln!(out, "{}", success(&checked.loaded.config.database))?;
        }
        ConfigCommand::Show(file) => {
            let loaded = load_config(file.config, data_flag(file.data.as_deref()))?;
            write!(out, "{}", show(&loaded.settings))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Claims only what was checked: at startup a server also checks the tables in PostgreSQL, and changes them.
fn success(database: &DatabaseConfig) -> &'static str {
    match database {
        DatabaseConfig::Embedded => "The configuration is valid.",
        DatabaseConfig::Postgres(_) => {
            "The configuration is valid: PostgreSQL can be reached, and its role has the privileges it needs. Its tables, \
             and whether they belong to the master key, are checked when `frontdesk serve` starts."
        }
    }
}

struct CheckReport {
    /// What prevents a start.
    problems: Vec<String>,
    /// What a start would log, and serve anyway.
    notices: Vec<String>,
}

/// Problems of the values, then of the files and databases that valid values name: all of them, so that one run is
/// enough.
fn try_out(checked: &CheckedConfig) -> Result<CheckReport, CliError> {
    let mut problems: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
    let mut notices = Vec::new();
    let config = &checked.loaded.config;
    if let CertificateConfig::Files { certificate, key } = &config.certificate
        && checked.are_valid(&["tls.certificate", "tls.key"])
    {
        problems.extend(net::check(certificate, key).iter().map(|error| format!("tls: {error}")));
    }
    if checked.are_valid(&["data", "master_key"]) {
        problems.extend(data_dir::check(&config.data, &config.master_key).iter().map(|error| format!("data: {error}")));
    }
    if checked.are_valid(&["traces.endpoint", "traces.ca", "traces.headers_file"])
        && let Err(errors) = traces::prepare(&config.traces)
    {
        problems.extend(errors.iter().map(ToString::to_string));
    }
    if let DatabaseConfig::Postgres(address) = &config.database
        && checked.are_valid(&["database", "database_ca"])
        && let Err(error) = runtime()?.block_on(check_connection(address))
    {
        problems.push(format!("database: {error}"));
    }
    let needs_opening = |mount: &MountConfig| mount.site.is_some() || mount.partner.is_some();
    if config.mounts.iter().any(needs_opening) && checked.are_valid(&["mount"]) {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        // As at startup: a server must come up before the databases that it reads.
        match runtime()?.block_on(OpenMounts::open(config, &clock, OnDatabaseDown::Retry, &OpenMounts::default())) {
            Ok((_, found)) => notices = found.iter().map(ToString::to_string).collect(),
            Err(errors) => problems.extend(errors.0),
        }
    }
    let has_partner = config.mounts.iter().any(|mount| mount.partner.is_some());
    if has_partner && problems.is_empty() {
        match tenant_currencies(config)? {
            Some(known) => problems.extend(check_currencies(config, &known)),
            None => notices
                .push("mount: the currencies of the tenants were not checked, because there is no data yet".to_owned()),
        }
    }
    Ok(CheckReport { problems, notices })
}

/// What the tenants count in, from the running server or from the data; none if there is no data yet.
fn tenant_currencies(config: &Config) -> Result<Option<Vec<TenantCurrency>>, CliError> {
    if require_data(&config.data, &config.master_key, &config.database).is_err() {
        return Ok(None);
    }
    let guard = StoreGuard::default();
    run_server(&guard, async {
        let client = AdminClient::open_at(config.clone(), NeededData::Existing, &guard).await?;
        let response = client.send(AdminRequest::Tenant { request: TenantRequest::List }).await?;
        let AdminResponse::Tenant(TenantResponse::Tenants(TenantList { tenants, .. })) = response else {
            return Err("the running server is another version of Frontdesk".into());
        };
        let currency = |tenant: TenantView| TenantCurrency { tenant: tenant.id, currency: tenant.currency };
        Ok(Some(tenants.into_iter().map(currency).collect()))
    })
}

fn listed(problems: &[String]) -> String {
    let head = match problems.len() {
        1 => "the configuration has a problem:".to_owned(),
        count => format!("the configuration has {count} problems:"),
    };
    let lines: String = problems.iter().map(|problem| format!("\n  {problem}")).collect();
    format!("{head}{lines}")
}
