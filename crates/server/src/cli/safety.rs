//! `frontdesk backup` and `frontdesk restore`: a copy of the data, and the way back. The master key takes neither way.

use std::path::PathBuf;

use clap::Args;

use super::Place;

/// Copy the data into one file, also while a server is running.
#[derive(Debug, Args)]
#[command(
    long_about = "Writes the database as it is at one moment into one new file. A running server goes on reading and \
        writing meanwhile.\n\n\
        The master key is not in the file, and without it nothing personal in the file can be read: keep a copy of \
        master.key in another place than the backups. Development certificates are not in it either.",
    after_help = "\
Examples:
  frontdesk backup /mnt/backups/desk-$(date +%F).db
  frontdesk backup desk.db --config frontdesk.toml"
)]
pub struct Backup {
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub place: Place,
}

/// Make a data folder from a backup.
#[derive(Debug, Args)]
#[command(
    long_about = "Checks a backup and makes a data folder of it. The folder must be empty or hold nothing but the \
        master.key that belongs to the backup; with the key, it is also proven that the data can be opened and that \
        its audit record is whole.\n\n\
        Everything is as it was at the moment of the backup: clients that were revoked or rotated since have their \
        old state again.",
    after_help = "\
Examples:
  install -d -m 700 restored && install -m 600 /safe/master.key restored/
  frontdesk restore /mnt/backups/desk-2026-01-31.db --data restored"
)]
pub struct Restore {
    /// A file that `frontdesk backup` has written
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub place: Place,
}
