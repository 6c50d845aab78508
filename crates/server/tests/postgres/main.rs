//! A whole desk on PostgreSQL, and two of them on one database.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

#[expect(dead_code, reason = "each test binary uses its own part of the support")]
#[path = "../../../store/tests/postgres/server.rs"]
mod server;
#[expect(dead_code, reason = "each test binary uses its own part of the support")]
#[path = "../support/mod.rs"]
mod support;

mod desks;
mod moves;
mod serving;
