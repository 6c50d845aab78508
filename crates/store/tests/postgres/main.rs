//! The suite on PostgreSQL, and what only a database server can be asked.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod arriving;
mod house;
mod load;
mod nodes;
mod outages;
mod pressure;
mod tls;
mod walls;

mod portable {
    frontdesk_testkit::every_behaviour!(crate::house::subject);
}
