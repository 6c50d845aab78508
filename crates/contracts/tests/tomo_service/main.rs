//! The service shape of the TOMO contract: providers, slots and bookings, on own records and on a dealership's workshop.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::indexing_slicing, reason = "a test stops at the first surprise")]
#![expect(clippy::panic, reason = "a test fails by panicking")]

mod booking;
mod data;
mod search;
mod support;
