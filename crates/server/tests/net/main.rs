//! The HTTPS transport over real sockets: who is served, who is cut, and when.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail by panicking")]

#[expect(dead_code, reason = "these tests read no JSON")]
#[path = "../support/mod.rs"]
mod support;

mod calls;
mod certificates;
mod desk;
mod limits;
mod shutdown;
mod slow;
mod tls;
