//! The command line as a user has it: the real binary in an empty environment, what it prints, and how it ends.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod audits;
mod backups;
mod booking_erasures;
mod broken_files;
mod certificates;
mod clients;
mod collectors;
mod configurations;
mod demo_banner;
mod dispatch;
mod doctor;
mod erasures;
mod exports;
mod help;
mod http_pages;
mod imports;
mod logins;
mod logs;
mod manifests;
mod manuals;
mod metrics;
mod operator_tokens;
mod refusals;
mod reloads;
mod signals;
mod simulations;
mod site_callers;
mod sites;
mod sockets;
mod stdio;
mod tenant_transfer;
mod tenants;
mod traces;
