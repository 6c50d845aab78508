//! Which data folder a command works on: named directly or by a configuration file.

use std::path::PathBuf;

use clap::Args;

/// At most one is given; without either, the configuration's defaults apply.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[group(id = "data_args", multiple = false)]
pub(super) struct DataArgs {
    /// The data folder [default: frontdesk-data]
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// The configuration file that names the data folder
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}
