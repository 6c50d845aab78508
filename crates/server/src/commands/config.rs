//! `frontdesk config`: what is configured, and whether it can be served.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use frontdesk_engine::ports::Clock;
use frontdesk_store::check_connection;

use super::{Failure, runtime, settings};
use crate::cli::ConfigCommand;
use crate::config::{Certificate, Database, Examined, environment, examine, show};
use crate::ports::SystemClock;
use crate::sites::{IfDown, Sites};
use crate::{folder, net, traces};

pub(super) fn config(command: ConfigCommand) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    match command {
        ConfigCommand::Check(file) => {
            let examined = examine(file.config.as_deref(), environment(), frontdesk_contracts::ENTRIES);
            let Tried { problems, notices } = tried(&examined)?;
            if !problems.is_empty() {
                return Err(listed(&problems).into());
            }
            let warnings = examined.loaded.warnings.iter().map(ToString::to_string);
            for warning in warnings.chain(notices) {
                writeln!(out, "warning: {warning}")?;
            }
            writeln!(out, "{}", checked(&examined.loaded.config.database))?;
        }
        ConfigCommand::Show(file) => {
            let loaded = settings(file.config, Vec::new())?;
            write!(out, "{}", show(&loaded.origins))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// No more than what was tried: a server also looks at what is in PostgreSQL, and changes it.
fn checked(database: &Database) -> &'static str {
    match database {
        Database::Embedded => "The configuration can be served.",
        Database::Postgres(_) => {
            "Nothing is wrong with the configuration: PostgreSQL can be reached, and its role may serve. The tables in it \
             and whether they belong to the master key are checked when `frontdesk serve` starts."
        }
    }
}

struct Tried {
    /// What keeps a desk from starting.
    problems: Vec<String>,
    /// What a desk says when it starts, and serves all the same.
    notices: Vec<String>,
}

/// What is wrong with the values, and then with what those that are right name: all of it, so that one run is enough.
fn tried(examined: &Examined) -> Result<Tried, Failure> {
    let mut problems: Vec<String> = examined.problems.iter().map(ToString::to_string).collect();
    let mut notices = Vec::new();
    let config = &examined.loaded.config;
    if let Certificate::Files { certificate, key } = &config.certificate
        && examined.means(&["tls.certificate", "tls.key"])
    {
        problems.extend(net::examine(certificate, key).iter().map(|error| format!("tls: {error}")));
    }
    if examined.means(&["data"]) {
        problems.extend(folder::examine(&config.data).iter().map(|error| format!("data: {error}")));
    }
    if examined.means(&["traces.endpoint", "traces.ca", "traces.headers_file"])
        && let Err(errors) = traces::prepare(&config.traces)
    {
        problems.extend(errors.iter().map(ToString::to_string));
    }
    if let Database::Postgres(address) = &config.database
        && examined.means(&["database", "database_ca"])
        && let Err(error) = runtime()?.block_on(check_connection(address))
    {
        problems.push(format!("database: {error}"));
    }
    if config.mounts.iter().any(|mount| mount.site.is_some()) && examined.means(&["mount"]) {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        // As the start does it: a desk must come up before the databases that it reads.
        match runtime()?.block_on(Sites::open(config, &clock, IfDown::Waits, &Sites::default())) {
            Ok((_, said)) => notices = said,
            Err(errors) => problems.extend(errors.0),
        }
    }
    Ok(Tried { problems, notices })
}

fn listed(problems: &[String]) -> String {
    let head = match problems.len() {
        1 => "the configuration has a problem:".to_owned(),
        count => format!("the configuration has {count} problems:"),
    };
    let lines: String = problems.iter().map(|problem| format!("\n  {problem}")).collect();
    format!("{head}{lines}")
}
