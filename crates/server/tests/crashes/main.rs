//! The desk and its databases are killed, starved of disk and locked out, under load and at moments left to chance:
//! what was answered is there once, what was not can be asked for again, and nothing is there by half.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

#[expect(dead_code, reason = "each test binary uses its own part of the support")]
#[path = "../../../store/tests/postgres/server.rs"]
mod server;
#[expect(dead_code, reason = "each test binary uses its own part of the support")]
#[path = "../support/mod.rs"]
mod support;

mod chance;
mod full;
mod gone;
mod ledger;
mod line;
mod load;
mod locked;
mod rounds;
mod stage;
mod tables;
