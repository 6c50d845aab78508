//! Where the requests of a command are handled: by the server that holds the data folder, or by this process with an app
//! of its own if no server runs.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::{CliError, DataArgs, StoreGuard, data_flag, load_config};
use crate::admin::{AdminRequest, AdminResponse, AdminService, is_served, send_request};
use crate::app::{App, DataBackend, OpenMounts};
use crate::config::Config;
use crate::data_dir::{self, DataDir};
use crate::telemetry::Log;

/// Sends admin requests, also those that run calls.
pub(super) enum AdminClient {
    /// To the server at this socket.
    Server(PathBuf),
    /// Nobody else uses the data folder until this value is dropped.
    Local(AdminService),
}

/// Whether a request makes sense before the first start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeededData {
    Existing,
    /// The folder and the database are created if they are missing.
    MayBeNew,
}

impl AdminClient {
    pub(super) async fn open(args: DataArgs, needed: NeededData, guard: &StoreGuard) -> Result<AdminClient, CliError> {
        let config = load_config(args.config, data_flag(args.data.as_deref()))?.config;
        AdminClient::open_at(config, needed, guard).await
    }

    /// By a configuration that has been read already.
    pub(super) async fn open_at(
        config: Config,
        needed: NeededData,
        guard: &StoreGuard,
    ) -> Result<AdminClient, CliError> {
        let socket = data_dir::admin_socket(&config.data);
        if is_served(&socket).await {
            return Ok(AdminClient::Server(socket));
        }
        let app = open_app(config, needed, guard).await?;
        Ok(AdminClient::Local(AdminService::with_app(Arc::new(ArcSwap::from_pointee(app)))))
    }

    pub(super) async fn send(&self, request: AdminRequest) -> Result<AdminResponse, CliError> {
        let response = match self {
            AdminClient::Server(socket) => match send_request(socket, &request).await {
                Some(response) => response,
                None => Err("the server has stopped meanwhile; repeat the command".to_owned()),
            },
            AdminClient::Local(service) => service.handle(request).await,
        };
        Ok(response?)
    }
}

/// An app without listeners, background tasks and log, for calls that a command makes. Foreign databases stay closed:
/// nothing of theirs is stored here. `guard` closes the store when the command ends.
async fn open_app(mut config: Config, needed: NeededData, guard: &StoreGuard) -> Result<App, CliError> {
    config.mounts.retain(|mount| mount.site.is_none());
    let data_dir = match needed {
        NeededData::MayBeNew => DataDir::lock(&config.data)?.with_key_file(&config.master_key),
        NeededData::Existing => DataDir::lock_existing(&config.data, &config.master_key, &config.database)?,
    };
    let backend = DataBackend::open(data_dir, &config.database).await?;
    guard.hold(&backend.store);
    let log = Arc::new(Log::silent(Arc::clone(&backend.clock)));
    Ok(App::open(backend, config, OpenMounts::default(), log))
}
