//! `frontdesk stdio`: MCP for the one program that has started the process. A secret is never an argument, because other
//! users can see arguments.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use clap::Args;
use tokio::time::Instant;

use super::{CliError, DataArgs, StoreGuard, load_config, run_server};
use crate::admin::{self, AdminService};
use crate::app::{
    App, DataBackend, OnDatabaseDown, OpenMounts, SiteNotice, abort_tasks, flush_tally, flush_traces,
    install_signal_handlers, register_tenants, run_import_worker, run_retention, run_tally_flush,
};
use crate::config::{MountConfig, StdioLogin, login};
use crate::data_dir::{self, DataDir, DataDirError};
use crate::net::{Shutdown, ShutdownReason};
use crate::stdio::{Relay, RelayEnd, RelayError, StdioCredentials, not_mounted, serve_stdio};
use crate::telemetry::Log;
use crate::telemetry::traces::{self, listed};

/// Serve one MCP client over standard input and output.
#[derive(Debug, Args)]
#[command(
    long_about = "Speaks MCP over standard input and output, one JSON message per line, for a desktop client that starts \
        its servers itself. Tools, limits and audit log are the same as over HTTPS.\n\n\
        The caller comes from the environment: FRONTDESK_CLIENT_ID and FRONTDESK_CLIENT_SECRET as `frontdesk client \
        add` printed them, or FRONTDESK_TOKEN with an access token. A site mounted with auth = [\"none\"] needs neither. \
        If a server runs on the data folder, it answers: any number of clients up to 64 can start this command beside it. \
        Otherwise the command opens the data itself, and only one can. It ends with its input or with the server, and \
        logs to standard error.",
    after_help = "\
Examples:
  FRONTDESK_CLIENT_ID=cli_.. FRONTDESK_CLIENT_SECRET=fds_.. \\
      frontdesk stdio --data frontdesk-data

In the configuration of a desktop client:
  {\"mcpServers\": {\"frontdesk\": {
     \"command\": \"frontdesk\",
     \"args\": [\"stdio\", \"--data\", \"/srv/frontdesk-data\"],
     \"env\": {\"FRONTDESK_CLIENT_ID\": \"cli_..\",
             \"FRONTDESK_CLIENT_SECRET\": \"fds_..\"}}}}"
)]
pub(super) struct StdioArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The contract to serve [default: the first one mounted]
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
}

pub(super) fn run(args: StdioArgs) -> Result<ExitCode, CliError> {
    let login = login();
    let data = args.data.data.map(|data| ("FRONTDESK_DATA", data.display().to_string()));
    let loaded = load_config(args.data.config, data.into_iter().collect())?;
    let config = loaded.config;
    let guard = StoreGuard::default();
    run_server(&guard, async {
        let shutdown = install_signal_handlers()?;
        let offered = login.as_ref().ok().cloned();
        if let Some(opened) = Relay::open(&data_dir::stdio_socket(&config.data), args.contract.clone(), offered).await {
            return relay(opened, login, shutdown, config.deadlines.drain).await;
        }
        let wanted = args.contract.as_deref();
        let found = config.mounts.iter().find(|mount| wanted.is_none_or(|wanted| mount.contract == wanted));
        let mount = found.ok_or_else(|| not_mounted(&config.mounts))?;
        let endpoint = mount.endpoint();
        let login = if MountConfig::needs_no_token(mount) { None } else { Some(login?) };
        let data_dir = DataDir::lock_existing(&config.data, &config.master_key, &config.database).map_err(explain)?;
        let backend = DataBackend::open(data_dir, &config.database).await?;
        guard.hold(&backend.store);
        let traces = traces::prepare(&config.traces).map_err(|errors| listed(&errors))?;
        let socket = data_dir::admin_socket(backend.data_dir.path());
        let (opened, notices) =
            OpenMounts::open(&config, &backend.clock, OnDatabaseDown::Retry, &OpenMounts::default()).await?;
        register_tenants(&config, &backend).await?;
        let log = Arc::new(Log::new(config.log.format, Arc::clone(&backend.clock)));
        log.install();
        notices.iter().for_each(SiteNotice::log);
        let current = Arc::new(ArcSwap::from_pointee(App::open(backend, config, opened, log)));
        let service = AdminService::with_app(Arc::clone(&current));
        admin::serve(socket, Arc::new(service), shutdown.clone()).await?;
        let tasks = [
            tokio::spawn(run_tally_flush(Arc::clone(&current))),
            tokio::spawn(run_retention(Arc::clone(&current))),
            tokio::spawn(run_import_worker(Arc::clone(&current))),
        ];
        let app = current.load_full();
        app.traces.set_exporter(traces);
        let result = match StdioCredentials::new(Arc::clone(&current), endpoint.clone(), login).await {
            Ok(credentials) => {
                serve_stdio(Arc::clone(&current), endpoint, credentials, shutdown.clone()).await;
                Ok(ExitCode::SUCCESS)
            }
            Err(why) => Err(why.into()),
        };
        shutdown.request(ShutdownReason::InputClosed);
        abort_tasks(tasks).await;
        flush_tally(&app).await;
        flush_traces(&app, Instant::now() + app.config.deadlines.drain).await;
        result
    })
}

/// The server that runs on the data folder answers.
async fn relay(
    opened: Result<Relay, RelayError>,
    login: Result<StdioLogin, &'static str>,
    shutdown: Shutdown,
    drain: Duration,
) -> Result<ExitCode, CliError> {
    let relay = match (opened, login) {
        (Ok(relay), _) => relay,
        // What is wrong with the variables is known here only.
        (Err(RelayError::LoginNeeded), Err(why)) => return Err(why.into()),
        (Err(error), _) => return Err(error.into()),
    };
    match relay.run(shutdown, drain).await {
        RelayEnd::Client => {}
        RelayEnd::Server => {
            let text = "frontdesk: the server has stopped, and this session with it; start the server and reconnect";
            writeln!(io::stderr().lock(), "{text}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// No server answers on its socket, so whoever locks the folder is a command, or a server that has just started.
fn explain(error: DataDirError) -> CliError {
    if let DataDirError::Locked { path } = &error {
        return format!(
            "another `frontdesk stdio` or command is using {}, and only one can without a server. Start `frontdesk serve` \
             on this folder and then any number of clients; or end the other command, or name another folder with --data",
            path.display()
        )
        .into();
    }
    error.into()
}
