//! The HTTPS transport over real sockets: who is served, who is cut, and when.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod calls;
mod certificates;
mod limits;
mod shutdown;
mod slow;
mod test_server;
mod tls;
