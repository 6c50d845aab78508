//! The engine from outside: requests go into `serve` as they would come from the network, and the
//! answers stand beside them word for word. The contract is a library that lends books.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod dispatch;
mod parts;
mod pipeline;
mod support;
