//! `frontdesk stdio`: the desk for the one program that has started it.

use std::process::ExitCode;
use std::sync::Arc;

use tokio::time::Instant;

use super::{Failure, Held, run_desk, settings};
use crate::cli;
use crate::config::{Config, Mount, login};
use crate::current::Current;
use crate::folder::{self, Folder, FolderError};
use crate::house::{House, Vaults};
use crate::operator::{Registrar, attend};
use crate::run::{close_traces, empty_tally, end, forget, heed_signals, write_tally};
use crate::sites::{self, IfDown, Sites};
use crate::stdio::{Pass, converse};
use crate::traces::{self, listed};

pub(super) fn stdio(command: cli::Stdio) -> Result<ExitCode, Failure> {
    let login = login();
    let data = command.place.data.map(|data| ("FRONTDESK_DATA", data.display().to_string()));
    let loaded = settings(command.place.config, data.into_iter().collect())?;
    let config = loaded.config;
    let wanted = command.contract.as_deref();
    let at = config.mounts.iter().position(|mount| wanted.is_none_or(|wanted| mount.contract == wanted));
    let Some(at) = at else {
        let mounted: Vec<&str> = config.mounts.iter().map(|mount| mount.contract.as_str()).collect();
        return Err(format!("that contract is not mounted; there are: {}", mounted.join(", ")).into());
    };
    let endpoint = config.mounts.get(at).map(Mount::endpoint).unwrap_or_default();
    let asks_nobody = config.mounts.get(at).is_some_and(Mount::asks_nobody);
    let login = if asks_nobody { None } else { Some(login?) };
    let held = Held::default();
    run_desk(&held, async {
        let shutdown = heed_signals()?;
        let folder = Folder::take_existing(&config.data, &config.database)
            .map_err(|error| explain(error, &config, &endpoint))?;
        let vaults = Vaults::open(folder, &config.database).await?;
        held.hold(&vaults.store);
        let traces = traces::prepare(&config.traces).map_err(|errors| listed(&errors))?;
        let socket = folder::operator_socket(vaults.folder.path());
        attend(socket, Arc::new(Registrar::new(&vaults)), shutdown.clone()).await?;
        let (sites, notices) = Sites::open(&config, &vaults.clock, IfDown::Waits, &Sites::default()).await?;
        sites::register(&config, &vaults).await?;
        let current = Arc::new(Current::new(House::open(vaults, config, sites)));
        let jobs = [tokio::spawn(write_tally(Arc::clone(&current))), tokio::spawn(forget(Arc::clone(&current)))];
        let house = current.house();
        for notice in &notices {
            house.log.say(notice);
        }
        house.traces.follow(traces, &house.log);
        let at = house.mounts.iter().position(|(path, _)| *path == endpoint).unwrap_or_default();
        let ended = match Pass::new(Arc::clone(&house), at, login).await {
            Ok(pass) => {
                converse(Arc::clone(&house), at, pass, shutdown.clone()).await;
                Ok(ExitCode::SUCCESS)
            }
            Err(why) => Err(why.into()),
        };
        shutdown.request();
        end(jobs).await;
        empty_tally(&house).await;
        close_traces(&house, Instant::now() + house.config.deadlines.drain).await;
        ended
    })
}

/// Whoever holds the folder serves the same tools over HTTPS, to the same client.
fn explain(error: FolderError, config: &Config, endpoint: &str) -> Failure {
    if let FolderError::InUse { path } = &error {
        let endpoint = config.public_url.at(endpoint);
        return format!(
            "another Frontdesk is using {}, and only one can. If it is a server, let the MCP client connect to it over \
             https, with the same client id and secret (by this configuration to {endpoint}); otherwise end the other \
             one, or name another folder with --data",
            path.display()
        )
        .into();
    }
    error.into()
}
