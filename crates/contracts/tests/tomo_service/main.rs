//! The service shape of the TOMO contract: providers, slots and bookings, on own records and on a dealership's workshop.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod booking;
mod changes;
mod data;
mod examples;
#[path = "../tomo/fact_lists.rs"]
mod fact_lists;
mod facts;
mod imports;
mod lifecycle;
mod parallel;
mod prices;
mod sandbox;
mod search;
mod slots;
mod support;
mod workshop;
