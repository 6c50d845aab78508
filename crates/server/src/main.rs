//! The binary `frontdesk`: reads the command line and runs one command.

use std::process::ExitCode;

fn main() -> ExitCode {
    frontdesk::system::disable_core_dumps();
    match frontdesk::cli::run(std::env::args_os()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("frontdesk: {error}");
            ExitCode::FAILURE
        }
    }
}
