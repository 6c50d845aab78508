//! Which desk a command is about: a data folder, named by itself or by a configuration.

use std::path::PathBuf;

use clap::Args;

/// At most one is given; with neither, the configuration's own defaults say where the data is.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[group(id = "place", multiple = false)]
pub struct Place {
    /// The data folder [default: frontdesk-data]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The configuration file that names the data folder
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
