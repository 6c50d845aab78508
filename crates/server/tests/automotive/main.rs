//! The automotive contract over real HTTPS, clause by clause, as an agent meets it.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod all_domains;
mod crash;
mod credit;
mod cursors;
mod faults;
mod idempotency;
mod imports;
mod isolation;
mod paging;
mod parallel;
mod requests;
mod resources;
mod rest;
mod schema;
mod shapes;
mod side_effects;
mod surface;
mod tenancy;
