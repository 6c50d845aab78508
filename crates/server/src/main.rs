//! The binary `frontdesk`: reads the command line and runs one command.

use std::process::ExitCode;

use clap::Parser as _;
use frontdesk::cli::Cli;
use frontdesk::commands;

fn main() -> ExitCode {
    match commands::run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("frontdesk: {error}");
            ExitCode::FAILURE
        }
    }
}
