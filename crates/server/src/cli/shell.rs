//! `frontdesk completions` and `frontdesk man`: both are generated from the definition of the command line, so neither
//! can be out of date.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use super::{CliError, definition};

/// Print the completions of a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  frontdesk completions bash > /etc/bash_completion.d/frontdesk
  frontdesk completions zsh > /usr/local/share/zsh/site-functions/_frontdesk
  frontdesk completions fish > ~/.config/fish/completions/frontdesk.fish")]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Write the manual pages, one for each command.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  frontdesk man /usr/local/share/man/man1")]
pub(super) struct ManArgs {
    /// The folder to write into; it is created if missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn run_completions(args: CompletionsArgs) -> ExitCode {
    clap_complete::generate(args.shell, &mut definition(), "frontdesk", &mut io::stdout().lock());
    ExitCode::SUCCESS
}

pub(super) fn run_man(args: ManArgs) -> Result<ExitCode, CliError> {
    fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(definition(), &args.folder))
        .map_err(|error| format!("cannot write manual pages to {}: {error}", args.folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
