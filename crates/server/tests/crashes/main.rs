//! The desk and its databases are killed, starved of disk and locked out, under load and at moments left to chance:
//! what was answered is there once, what was not can be asked for again, and nothing is there by half.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod booking_tables;
mod bookings;
mod ending_calls;
mod ending_stage;
mod ending_tables;
mod endings;
mod erasing;
mod full;
mod gone;
mod imports;
mod line;
mod load;
mod locked;
mod order_log;
mod partner;
mod rounds;
mod seed;
mod stage;
mod tables;
