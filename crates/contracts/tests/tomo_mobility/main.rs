//! The mobility shape of the TOMO contract: estimates, rides, their drivers and what becomes of them.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod advancing;
mod booking;
mod changes;
mod data;
#[path = "../tomo_common/desk.rs"]
mod desk;
mod estimates;
mod examples;
#[path = "../tomo/fact_lists.rs"]
mod fact_lists;
mod fares;
mod imports;
mod parallel;
mod privacy;
mod rating_and_sharing;
mod support;
mod tracking;
