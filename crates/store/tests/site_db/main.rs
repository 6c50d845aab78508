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
mod opening;
mod queries;
mod random;
mod writing;
