//! `frontdesk config`: what is configured, and whether it can be served.

use std::io::{self, Write as _};
use std::process::ExitCode;

use frontdesk_store::reach;

use super::{Failure, runtime, settings};
use crate::cli::ConfigCommand;
use crate::config::{Certificate, Database, show};
use crate::net;

pub(super) fn config(command: ConfigCommand) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    match command {
        ConfigCommand::Check(file) => {
            let loaded = settings(file.config, Vec::new())?;
            if let Certificate::Files { certificate, key } = &loaded.config.certificate {
                net::load(certificate, key)?;
            }
            if let Database::Postgres(address) = &loaded.config.database {
                runtime()?.block_on(reach(address))?;
            }
            for warning in &loaded.warnings {
                writeln!(out, "warning: {warning}")?;
            }
            writeln!(out, "The configuration can be served.")?;
        }
        ConfigCommand::Show(file) => {
            let loaded = settings(file.config, Vec::new())?;
            write!(out, "{}", show(&loaded.origins))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
