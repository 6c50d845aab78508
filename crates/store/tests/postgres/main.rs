//! The suite on PostgreSQL, and what only a database server can be asked.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod arriving;
mod house;
mod load;
mod nodes;
mod outages;
mod pressure;
#[expect(dead_code, reason = "the desk's own tests use more of it")]
mod server;
#[path = "../suite/mod.rs"]
mod suite;
mod tls;
mod walls;

mod portable {
    crate::every_behaviour!(crate::house::subject);
}
