//! `frontdesk completions` and `frontdesk man`: both made from the definition of the command line, so neither can be
//! out of date.

use std::fs;
use std::io;
use std::process::ExitCode;

use clap::CommandFactory as _;

use super::Failure;
use crate::cli::{Cli, Completions, Man};

pub(super) fn completions(command: Completions) -> ExitCode {
    clap_complete::generate(command.shell, &mut Cli::command(), "frontdesk", &mut io::stdout().lock());
    ExitCode::SUCCESS
}

pub(super) fn man(command: Man) -> Result<ExitCode, Failure> {
    fs::create_dir_all(&command.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &command.folder))
        .map_err(|error| format!("cannot write manual pages to {}: {error}", command.folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
