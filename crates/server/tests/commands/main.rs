//! The command line as a user has it: the real binary in an empty environment, what it prints, and how it ends.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod audits;
mod backups;
mod cards;
mod certificates;
mod clients;
mod collectors;
mod configurations;
mod dispatched;
mod help;
mod logs;
mod manuals;
mod metrics;
mod moves;
mod pages;
mod refusals;
mod reloads;
mod signals;
mod sites;
mod sockets;
mod stdio;
mod traces;
mod visitors;
