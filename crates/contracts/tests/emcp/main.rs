//! The eMCP toolset from outside: its answers as literal text, and its tools driven through the engine over a made-up
//! site that SQLite, MariaDB and PostgreSQL hold alike.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod chance;
mod defects;
mod failures;
mod greeting;
mod judge;
mod measuring;
mod models;
mod published;
mod searching;
mod spelling;
mod support;
mod variables;
mod walking;
mod watch;
