//! `frontdesk serve`: serves what a configuration describes. `demo` starts the same way.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use arc_swap::ArcSwap;
use clap::Args;
use frontdesk_contracts::ENTRIES;
use frontdesk_engine::ports::Clock as _;
use tokio::task::{JoinHandle, spawn_blocking};

use super::{CliError, StoreGuard, data_flag, load_config, run_server, with_flags};
use crate::admin::{self, AdminService};
use crate::app::{
    App, BoundListeners, DataBackend, OnDatabaseDown, OnSighup, OpenMounts, Reload, SiteNotice, install_sighup_handler,
    install_signal_handlers, register_tenants, serve_until_shutdown,
};
use crate::config::{LoadedConfig, load};
use crate::data_dir::{self, DataDir};
use crate::net::{
    self, AddressSource, CertificateEvent, CertificateWatcher, DrainResult, Shutdown, prepare_certificate,
};
use crate::stdio::StdioListener;
use crate::system::SystemClock;
use crate::telemetry::Log;
use crate::telemetry::traces::{self, listed};

/// Serve what a configuration file describes.
#[derive(Debug, Args)]
#[command(
    long_about = "Serves over HTTPS what the configuration describes. `FRONTDESK_*` variables override the file: \
        FRONTDESK_LISTEN=0.0.0.0:8443 sets `listen`.\n\n\
        Ctrl-C or SIGTERM stops accepting calls, finishes the running ones and exits with 0. SIGHUP reloads the \
        configuration: if it is valid, it takes effect except for keys that need a restart; otherwise the current one \
        stays. The log says which, and names those keys. Changed certificate files are loaded without a signal.",
    after_help = "\
Examples:
  frontdesk config check --config frontdesk.toml   find every problem first
  frontdesk serve --config frontdesk.toml
  FRONTDESK_CONFIG=frontdesk.toml frontdesk serve"
)]
pub(super) struct ServeArgs {
    /// The configuration file [default: the file that FRONTDESK_CONFIG names, or none]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The data folder [default: the one that the configuration names, or frontdesk-data]
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
}

pub(super) fn run(args: ServeArgs) -> Result<ExitCode, CliError> {
    let ServeArgs { config: file, data } = args;
    let loaded = load_config(file.clone(), data_flag(data.as_deref()))?;
    let read_config = Box::new(move || load(file.as_deref(), with_flags(data_flag(data.as_deref())), ENTRIES));
    let guard = StoreGuard::default();
    run_server(&guard, async {
        // Before anything is open: an early SIGHUP must not end the process.
        let sighup = install_sighup_handler()?;
        let started = start(&loaded, LISTEN, &guard, |_| Ok(())).await?;
        print_first_link(&started.app.load_full()).await?;
        let reload = Reload::new(loaded.clone(), started.listeners.public.local_addr(), read_config);
        loaded.log_warnings();
        run_started(started, OnSighup::Reload(sighup, Box::new(reload))).await
    })
}

/// While nobody can log in, whoever starts the server gets a link with which the first user is made. It is on
/// standard output: the log is on standard error.
async fn print_first_link(app: &App) -> Result<(), CliError> {
    let users = app.identity.users();
    if app.token_resources.is_empty() || users.has_users().await.map_err(|fault| fault.message.into_owned())? {
        return Ok(());
    }
    let secret = users.first_user_link().await?;
    let link = admin::setup_link(app, &secret);
    writeln!(
        io::stdout().lock(),
        "Nobody can log in yet. Make the first user here, once, within a day:\n  {link}\nor with `frontdesk user add`."
    )?;
    Ok(())
}

/// Where the addresses come from, for error messages.
#[derive(Clone, Copy)]
pub(super) struct ListenSources {
    pub(super) public: AddressSource,
    pub(super) admin: AddressSource,
}

const LISTEN: ListenSources =
    ListenSources { public: AddressSource::Key("listen"), admin: AddressSource::Key("operator.listen") };

/// An app with everything open, ready for its first call.
pub(super) struct StartedApp {
    pub(super) app: Arc<ArcSwap<App>>,
    pub(super) listeners: BoundListeners,
    shutdown: Shutdown,
    /// The certificate of the development CA, if the server's certificate comes from it.
    pub(super) ca_file: Option<PathBuf>,
}

/// Ports first: they are the most likely to be taken, and nothing has been created yet when they are. The admin socket
/// before anybody is told that the server is ready: a command may follow at once. `seed` runs on a thread of its own as
/// soon as the data folder is locked.
pub(super) async fn start(
    loaded: &LoadedConfig,
    sources: ListenSources,
    guard: &StoreGuard,
    seed: impl FnOnce(&DataDir) -> Result<(), String> + Send + 'static,
) -> Result<StartedApp, CliError> {
    let shutdown = install_signal_handlers()?;
    let public = net::bind(loaded.config.listen, sources.public).await?;
    let admin = net::bind(loaded.config.admin.listen, sources.admin).await?;
    let config = loaded.bound_to(public.local_addr());
    let data_dir = DataDir::lock(&config.data)?.with_key_file(&config.master_key);
    // Database, certificate and seed data mostly wait for the disk, so they are prepared in parallel. None needs another,
    // each renames its files into place when they are complete, and all have ended before a failure is reported.
    let seeded = spawn_with(&data_dir, seed);
    let for_certificate = config.clone();
    let certificate = spawn_with(&data_dir, move |_| prepare_certificate(&for_certificate, SystemClock.now()));
    let backend = DataBackend::open(data_dir, &config.database).await;
    let (seeded, certificate) = (seeded.await, certificate.await);
    seeded??;
    let backend = backend?;
    guard.hold(&backend.store);
    let certificate = certificate??;
    let traces = traces::prepare(&config.traces).map_err(|errors| listed(&errors))?;
    let (opened, notices) =
        OpenMounts::open(&config, &backend.clock, OnDatabaseDown::Retry, &OpenMounts::default()).await?;
    let (ca_file, event) = (certificate.ca_file.clone(), certificate.event());
    let certificates = CertificateWatcher::new(certificate, backend.clock.now());
    let stdio = Some(StdioListener::bind(&data_dir::stdio_socket(backend.data_dir.path()))?);
    let listeners = BoundListeners { public, admin, certificates, stdio };
    let socket = data_dir::admin_socket(backend.data_dir.path());
    register_tenants(&config, &backend).await?;
    let log = Arc::new(Log::new(config.log.format, Arc::clone(&backend.clock)));
    log.install();
    notices.iter().for_each(SiteNotice::log);
    event.iter().for_each(CertificateEvent::log);
    let app = App::open(backend, config, opened, log);
    app.traces.set_exporter(traces);
    let app = Arc::new(ArcSwap::from_pointee(app));
    let service = AdminService::with_app(Arc::clone(&app));
    admin::serve(socket, Arc::new(service), shutdown.clone()).await?;
    Ok(StartedApp { app, listeners, shutdown, ca_file })
}

/// Runs on a thread of its own, which keeps the data folder locked until it has ended.
fn spawn_with<T: Send + 'static>(
    data_dir: &DataDir,
    work: impl FnOnce(&DataDir) -> T + Send + 'static,
) -> JoinHandle<T> {
    let data_dir = data_dir.clone();
    spawn_blocking(move || work(&data_dir))
}

pub(super) async fn run_started(started: StartedApp, on_sighup: OnSighup) -> Result<ExitCode, CliError> {
    let app = started.app.load_full();
    log_start(&app, &started.listeners);
    // The log is flushed when its last reference is dropped.
    let _log = Arc::clone(&app.log);
    drop(app);
    let shutdown = started.shutdown.clone();
    match serve_until_shutdown(started.app, started.listeners, on_sighup, started.shutdown).await {
        DrainResult::Finished => {}
        DrainResult::Aborted(connections) => {
            tracing::warn!(connections, "shutdown: connections aborted after the drain deadline");
        }
    }
    if let Some(request) = shutdown.first_request() {
        let millis = u64::try_from(request.at.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(reason = request.reason.as_str(), millis, "stopped");
    }
    Ok(ExitCode::SUCCESS)
}

fn log_start(app: &App, listeners: &BoundListeners) {
    let mounts = app.mounts.iter().map(|(path, mount)| format!("{} at {path}", mount.contract.id));
    tracing::info!(
        url = %app.config.public_url,
        version = env!("CARGO_PKG_VERSION"),
        data = %app.config.data.display(),
        mounts = mounts.collect::<Vec<_>>().join(", "),
        listen = %listeners.public.local_addr(),
        operator = %listeners.admin.local_addr(),
        "serving"
    );
}
