//! The reader of a site's database through the engine's port: the same rows from SQLite, MariaDB and PostgreSQL.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]

mod casts;
mod changing;
mod charsets;
mod large;
mod lazy;
mod limits;
#[expect(dead_code, reason = "the bench uses more of it")]
mod mariadb;
mod opening;
mod queries;
mod random;
#[path = "../postgres/server.rs"]
#[expect(dead_code, reason = "the desk's own tests use more of it")]
mod server;
mod three;
mod writing;
