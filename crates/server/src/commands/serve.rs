//! `frontdesk serve`: the business that a configuration describes.

use std::process::ExitCode;
use std::sync::Arc;

use frontdesk_engine::ports::Clock as _;
use frontdesk_store::StoreError;
use tokio::task::{JoinHandle, spawn_blocking};

use super::{Failure, Held, run_desk, settings};
use crate::certificates::{Certificates, prepare};
use crate::cli;
use crate::config::{Loaded, environment, load};
use crate::folder::{self, Folder};
use crate::house::{House, Vaults};
use crate::net::{self, Drained, Setting, Shutdown};
use crate::operator::{Registrar, attend};
use crate::ports::SystemClock;
use crate::reload::Reload;
use crate::run::{Bound, Hangup, heed_hangup, heed_signals, run};
use crate::sites::{self, IfDown, Sites};
use crate::traces::{self, listed};

pub(super) fn serve(command: cli::Serve) -> Result<ExitCode, Failure> {
    let loaded = settings(command.config.clone(), Vec::new())?;
    let file = command.config;
    let reread = Box::new(move || load(file.as_deref(), environment(), frontdesk_contracts::ENTRIES));
    let held = Held::default();
    run_desk(&held, async {
        // Before anything is open: a signal that comes early must not end what is about to serve.
        let hangup = heed_hangup()?;
        let opened = open(&loaded, Setting::Key("listen"), &held, |_| Ok(())).await?;
        let reload = Reload::new(loaded.clone(), opened.bound.public.local_addr(), reread);
        for warning in &loaded.warnings {
            opened.house.log.say(&warning.to_string());
        }
        opened.house.log.say(&format!("serving {}", opened.house.config.public_url));
        keep_open(opened, Hangup::Reloads(hangup, Box::new(reload))).await
    })
}

/// A desk with everything bound and read, a moment before its first call.
pub(super) struct Opened {
    pub(super) house: House,
    pub(super) bound: Bound,
    shutdown: Shutdown,
    /// The development authority's certificate, if that is what vouches for us.
    pub(super) ca_file: Option<std::path::PathBuf>,
}

/// Ports first: they are what most often is not free, and nothing has been made yet when they are not.
/// The operator's socket last, yet before anybody is told that the desk is open: an order may follow at once.
/// `furnish` is given the data folder as soon as it is ours, on a thread of its own.
pub(super) async fn open(
    loaded: &Loaded,
    listen: Setting,
    held: &Held,
    furnish: impl FnOnce(&Folder) -> Result<(), StoreError> + Send + 'static,
) -> Result<Opened, Failure> {
    let shutdown = heed_signals()?;
    let public = net::bind(loaded.config.listen, listen).await?;
    let operator = net::bind(loaded.config.operator.listen, Setting::Key("operator.listen")).await?;
    let config = loaded.bound_to(public.local_addr());
    let folder = Folder::take(&config.data)?;
    // The three wait mostly for the disk, so they wait together. None needs another, each gives its files their names
    // only once they are whole, and all have ended before it is said that one has failed.
    let furnished = beside(&folder, furnish);
    let settled = config.clone();
    let prepared = beside(&folder, move |_| prepare(&settled, SystemClock.now()));
    let vaults = Vaults::open(folder, &config.database).await;
    let (furnished, prepared) = (furnished.await, prepared.await);
    furnished??;
    let vaults = vaults?;
    held.hold(&vaults.store);
    let prepared = prepared??;
    let traces = traces::prepare(&config.traces).map_err(|errors| listed(&errors))?;
    let (sites, notices) = Sites::open(&config, &vaults.clock, IfDown::Waits, &Sites::default()).await?;
    let ca_file = prepared.ca_file.clone();
    let bound = Bound { public, operator, certificates: Certificates::new(prepared, vaults.clock.now()) };
    let socket = folder::operator_socket(vaults.folder.path());
    attend(socket, Arc::new(Registrar::new(&vaults)), shutdown.clone()).await?;
    sites::register(&config, &vaults).await?;
    let house = House::open(vaults, config, sites);
    for notice in &notices {
        house.log.say(notice);
    }
    house.traces.follow(traces, &house.log);
    Ok(Opened { house, bound, shutdown, ca_file })
}

/// Works on a thread of its own, which holds the folder until it is done.
fn beside<T: Send + 'static>(folder: &Folder, work: impl FnOnce(&Folder) -> T + Send + 'static) -> JoinHandle<T> {
    let folder = folder.clone();
    spawn_blocking(move || work(&folder))
}

pub(super) async fn keep_open(opened: Opened, hangup: Hangup) -> Result<ExitCode, Failure> {
    let log = Arc::clone(&opened.house.log);
    match run(opened.house, opened.bound, hangup, opened.shutdown).await {
        Drained::Finished => {}
        Drained::Cut(left) => log.say(&format!("closed with {left} connections still busy after the drain deadline")),
    }
    Ok(ExitCode::SUCCESS)
}
