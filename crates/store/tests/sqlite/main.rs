//! The suite on SQLite, and what only a database in a file can be asked.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod arriving;
mod at_rest;
mod audit;
mod dispatched;
mod house;
mod load;
mod opening;
mod search_terms;
mod writer;

mod portable {
    frontdesk_testkit::every_behaviour!(crate::house::subject);
}
