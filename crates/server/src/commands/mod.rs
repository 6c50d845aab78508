//! The commands of the command line, one file each.

mod audit;
mod client;
mod config;
mod dealership;
mod demo;
mod output;
mod pages;
mod progress;
mod safety;
mod serve;
mod stdio;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use frontdesk_store::Backend;

use crate::cli::{Cli, Command, Place};
use crate::config::{Database, Loaded, environment, load};

/// How long what runs beside a desk may go on after its end.
const LAST_WORK: Duration = Duration::from_secs(1);

/// What a command could not do, in words for the person who typed it.
pub type Failure = Box<dyn Error>;

pub fn run(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Demo(demo) => demo::demo(demo),
        Command::Serve(serve) => serve::serve(serve),
        Command::Client(client) => client::client(client.command),
        Command::Config(config) => config::config(config.command),
        Command::Audit(audit) => audit::audit(audit.command),
        Command::Dealership(dealership) => dealership::dealership(dealership.command),
        Command::Backup(backup) => safety::backup(backup),
        Command::Restore(restore) => safety::restore(restore),
        Command::Stdio(stdio) => stdio::stdio(stdio),
        Command::Completions(shell) => Ok(pages::completions(shell)),
        Command::Man(man) => pages::man(man),
    }
}

fn settings(file: Option<PathBuf>, flags: Vec<(&str, String)>) -> Result<Loaded, Failure> {
    let flags = flags.into_iter().map(|(name, value)| (name.to_owned(), value));
    Ok(load(file.as_deref(), environment().chain(flags), frontdesk_contracts::ENTRIES)?)
}

/// The data folder and the database that goes with it.
fn where_it_is(place: Place) -> Result<(PathBuf, Database), Failure> {
    let flags = place.data.map(|data| ("FRONTDESK_DATA", data.display().to_string()));
    let config = settings(place.config, flags.into_iter().collect())?.config;
    Ok((config.data, config.database))
}

/// Runs a desk to its end. Whoever is still asking the system for a collector's address then is not waited for: nothing
/// that was promised depends on it. The store is waited for, however long its last records take.
fn run_desk<T>(held: &Held, desk: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime()?;
    let ended = runtime.block_on(desk);
    runtime.shutdown_timeout(LAST_WORK);
    held.close();
    ended
}

/// The store of a desk, held until every task has ended. Whoever lets go of a store last waits for its writer, and that
/// must not be a task that is cut off after its last work.
#[derive(Default)]
struct Held(Mutex<Option<Arc<dyn Backend>>>);

impl Held {
    fn hold(&self, store: &Arc<dyn Backend>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(store));
    }

    fn close(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
