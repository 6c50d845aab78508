//! A partner's mount over real HTTPS: who is let in, what the wire tolerates, maintenance, and the demo.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod authentication;
mod backend_kills;
mod backend_stage;
mod backend_troubles;
mod certificates;
mod completion_stage;
mod completions;
mod demo;
mod latency;
mod maintenance;
mod notifications;
mod shared_pages;
mod stage;
mod tenants;
mod wire;
