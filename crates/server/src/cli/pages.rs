//! Texts that are made from the command line's own definition, for shells and for `man`. They are made when the program
//! is installed and so are left out of the help.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print the completions of a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  frontdesk completions bash > /etc/bash_completion.d/frontdesk
  frontdesk completions zsh > /usr/local/share/zsh/site-functions/_frontdesk
  frontdesk completions fish > ~/.config/fish/completions/frontdesk.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Write the manual pages, one for each command.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  frontdesk man /usr/local/share/man/man1")]
pub struct Man {
    /// The folder to write into; it is made if there is none
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
