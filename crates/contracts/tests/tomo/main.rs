//! The TOMO contract's listing shape: literal answers, and the tools through the engine with stores in memory and on
//! disk.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod backend;
mod cars;
mod completions;
mod fact_lists;
mod facts;
mod lifecycle;
mod listing_bookings;
mod listing_bounds;
mod listing_changes;
mod listing_examples;
mod listing_imports;
mod listing_parallel;
mod listing_search;
mod support;
