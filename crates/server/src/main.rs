//! The binary `frontdesk`: reads the command line and runs one command.

use std::process::ExitCode;

fn main() -> ExitCode {
    match frontdesk::cli::run(std::env::args_os()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("frontdesk: {error}");
            ExitCode::FAILURE
        }
    }
}
