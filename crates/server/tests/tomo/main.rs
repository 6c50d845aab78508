//! A partner's mount over real HTTPS: who is let in, what the wire tolerates, maintenance, and the demo.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod authentication;
mod certificates;
mod demo;
mod maintenance;
mod stage;
mod tenants;
mod wire;
