//! `frontdesk serve`: the business that a configuration describes.

use std::process::ExitCode;
use std::sync::Arc;

use frontdesk_engine::timestamp::Millis;
use time::OffsetDateTime;

use super::{Failure, runtime, settings};
use crate::cli;
use crate::config::{Certificate, Config, Loaded};
use crate::folder::{self, Folder};
use crate::house::{House, Vaults};
use crate::net::{self, Drained, Setting, Shutdown, Tls};
use crate::operator::{Registrar, attend};
use crate::run::{Bound, heed_signals, run};

pub(super) fn serve(command: cli::Serve) -> Result<ExitCode, Failure> {
    let loaded = settings(command.config, Vec::new())?;
    runtime()?.block_on(async {
        let opened = open(&loaded, Setting::Key("listen")).await?;
        for warning in &loaded.warnings {
            opened.house.log.say(&warning.to_string());
        }
        opened.house.log.say(&format!("serving {}", opened.house.config.public_url));
        keep_open(opened).await
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
pub(super) async fn open(loaded: &Loaded, listen: Setting) -> Result<Opened, Failure> {
    let shutdown = heed_signals()?;
    let public = net::bind(loaded.config.listen, listen).await?;
    let operator = net::bind(loaded.config.operator.listen, Setting::Key("operator.listen")).await?;
    let config = loaded.bound_to(public.local_addr());
    let vaults = Vaults::open(Folder::take(&config.data)?, &config.database).await?;
    let (tls, ca_file) = certificate(&config, vaults.clock.now())?;
    let bound = Bound { public, operator, tls: Arc::new(tls) };
    let socket = folder::operator_socket(vaults.folder.path());
    attend(socket, Arc::new(Registrar::new(&vaults)), shutdown.clone()).await?;
    Ok(Opened { house: House::open(vaults, config), bound, shutdown, ca_file })
}

fn certificate(config: &Config, now: Millis) -> Result<(Tls, Option<std::path::PathBuf>), Failure> {
    match &config.certificate {
        Certificate::Files { certificate, key } => Ok((Tls::new(net::load(certificate, key)?), None)),
        Certificate::Development => {
            let now = OffsetDateTime::from_unix_timestamp(now.seconds())?;
            let names = [config.public_url.host().to_owned()];
            let made = net::ensure(&folder::certificates(&config.data), &names, now)?;
            let tls = Tls::new(net::load(&made.certificate, &made.key)?);
            Ok((tls, Some(made.ca_file)))
        }
    }
}

pub(super) async fn keep_open(opened: Opened) -> Result<ExitCode, Failure> {
    let log = Arc::clone(&opened.house.log);
    match run(opened.house, opened.bound, opened.shutdown).await {
        Drained::Finished => {}
        Drained::Cut(left) => log.say(&format!("closed with {left} connections still busy after the drain deadline")),
    }
    Ok(ExitCode::SUCCESS)
}
