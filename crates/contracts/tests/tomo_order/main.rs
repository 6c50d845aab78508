//! The order shape of the TOMO contract: restaurants, dishes, carts, orders, their stages and tracking.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod arithmetic;
mod cart;
mod data;
mod desk;
mod erasure;
mod examples;
#[path = "../tomo/fact_lists.rs"]
mod fact_lists;
mod facts;
mod imports;
mod orders;
mod parallel;
mod refusals;
mod sandbox;
mod search;
mod stages;
mod support;
mod tracking;
